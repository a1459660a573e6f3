//! Decides which stages run and which files are read, from the parameters and the available models.

use std::collections::BTreeSet;

use pikerag_extract::EnhanceParams;
use pikerag_knowledge::{FileRecord, Role, Structure};
use serde::{Serialize, Serializer};

use super::params::{ChunkBy, Params, recipe};

/// The available models. Without its model, a stage runs by rules or is left out.
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

/// The plan of an indexing run.
pub(crate) struct Plan<'a> {
    pub(crate) params: &'a Params,
    pub(crate) available: &'a Available,
    /// The structures to build, including those of earlier runs, in this order.
    pub(crate) wanted: Vec<Structure>,
}

/// Why a structure cannot be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MissingPart {
    /// There is no embedder, or no model for summaries.
    #[error("the tree of summaries needs an embedder and a chat model")]
    TreeModels,
    /// There is no model for tags.
    #[error("tags need a chat model")]
    TagModel,
    /// There are no classes of tags.
    #[error("no tag classes were found in the documents, and none are declared")]
    TagClasses,
}

impl Serialize for MissingPart {
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

    /// Why a structure cannot be built; `None` if it can.
    pub(crate) fn missing_part(&self, structure: Structure) -> Option<MissingPart> {
        match structure {
            Structure::Graph => None, // Names and sentences need no model.
            Structure::Tree if self.available.embedder && self.has(Role::Summarize) => None,
            Structure::Tree => Some(MissingPart::TreeModels),
            Structure::Tags if self.has(Role::Tag) => None,
            Structure::Tags => Some(MissingPart::TagModel),
        }
    }

    /// The range of sizes within which a model cuts chunks; `None` if structure does.
    pub(crate) fn cut_by_model(&self) -> Option<EnhanceParams> {
        let max_tokens = self.params.chunks.max_tokens;
        match self.params.chunk_by {
            ChunkBy::Model { min_tokens } if self.has(Role::Summarize) => {
                Some(EnhanceParams { min_tokens: min_tokens.min(max_tokens), max_tokens })
            }
            ChunkBy::Model { .. } | ChunkBy::Structure => None,
        }
    }

    /// Whether a model should cut chunks and there is none.
    pub(crate) fn lacks_cutter(&self) -> bool {
        self.params.chunk_by != ChunkBy::Structure && !self.has(Role::Summarize)
    }

    /// The recipe that is recorded for a file.
    pub(crate) fn recipe(&self) -> String {
        match self.lacks_cutter() {
            true => recipe(&Params { chunk_by: ChunkBy::Structure, ..self.params.clone() }),
            false => recipe(self.params),
        }
    }

    /// Whether the base already has a file as this run would read it.
    pub(crate) fn is_read(&self, known: &FileRecord, hash: &str) -> bool {
        // Chunks cut by a model stay valid if there is no model now.
        let stays = self.lacks_cutter() && known.recipe == recipe(self.params);
        known.hash == hash && (stays || known.recipe == self.recipe())
    }
}
