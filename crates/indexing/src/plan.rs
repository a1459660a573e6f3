//! What is wanted, and who is there to do it? All that decides which stages run, and for which files.

use std::collections::BTreeSet;

use pikerag_extract::EnhanceParams;
use pikerag_knowledge::{FileRecord, Role, Structure};
use serde::{Serialize, Serializer};

use super::params::{ChunkBy, Params, recipe};

/// Who is there for what rules cannot do. What lacks its model is done by rules, or left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Available {
    /// Roles that have a chat model.
    pub chat: BTreeSet<Role>,
    /// Whether texts can be embedded.
    pub embedder: bool,
}

impl Available {
    /// A model for every role, and an embedder.
    pub fn all() -> Self {
        Self { chat: Role::ALL.iter().copied().collect(), embedder: true }
    }
}

/// What a run of indexing has before it.
pub(crate) struct Plan<'a> {
    pub(crate) params: &'a Params,
    pub(crate) available: &'a Available,
    /// The structures to build, those of earlier runs as well, in this order.
    pub(crate) wanted: Vec<Structure>,
}

/// What keeps a structure from being built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Lacking {
    /// No embedder, or nobody who writes summaries.
    #[error("the tree of summaries needs an embedder and a chat model")]
    TreeModels,
    /// Nobody who finds tags.
    #[error("tags need a chat model")]
    TagModel,
    /// Nothing to find tags of.
    #[error("no tag classes were found in the documents, and none are declared")]
    TagClasses,
}

impl Serialize for Lacking {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl Plan<'_> {
    pub(crate) fn has(&self, role: Role) -> bool {
        self.available.chat.contains(&role)
    }

    pub(crate) fn wants(&self, structure: Structure) -> bool {
        self.wanted.contains(&structure)
    }

    /// What keeps a structure from being built; `None` where nothing does.
    pub(crate) fn lacking(&self, structure: Structure) -> Option<Lacking> {
        match structure {
            Structure::Graph => None, // Names and sentences serve.
            Structure::Tree if self.available.embedder && self.has(Role::Summarize) => None,
            Structure::Tree => Some(Lacking::TreeModels),
            Structure::Tags if self.has(Role::Tag) => None,
            Structure::Tags => Some(Lacking::TagModel),
        }
    }

    /// The range of sizes within which a model ends chunks; `None` where structure does.
    pub(crate) fn cut_by_model(&self) -> Option<EnhanceParams> {
        let max_tokens = self.params.chunks.max_tokens;
        match self.params.chunk_by {
            ChunkBy::Model { min_tokens } if self.has(Role::Summarize) => {
                Some(EnhanceParams { min_tokens: min_tokens.min(max_tokens), max_tokens })
            }
            ChunkBy::Model { .. } | ChunkBy::Structure => None,
        }
    }

    /// Whether a model should end chunks, and there is none.
    pub(crate) fn lacks_cutter(&self) -> bool {
        self.params.chunk_by != ChunkBy::Structure && !self.has(Role::Summarize)
    }

    /// What a file's reading is recorded under.
    pub(crate) fn recipe(&self) -> String {
        match self.lacks_cutter() {
            true => recipe(&Params { chunk_by: ChunkBy::Structure, ..self.params.clone() }),
            false => recipe(self.params),
        }
    }

    /// Whether a file would be read as the base has it on record.
    pub(crate) fn is_read(&self, known: &FileRecord, hash: &str) -> bool {
        // What a model has cut once stays so where there is none today.
        let stays = self.lacks_cutter() && known.recipe == recipe(self.params);
        known.hash == hash && (stays || known.recipe == self.recipe())
    }
}
