//! What do the settings say of chunks, figures and tags?

use pikerag_coordinate::ingest::{Available, ChunkBy, TagParams};
use pikerag_extract::ChunkParams;
use pikerag_knowledge::{Origin, Role, TagClass, TagExample};

use super::Wiring;
use crate::config::ChunkingSetting;

impl Wiring {
    /// Which roles have a chat model, and whether there is an embedder.
    pub(crate) fn available(&self) -> Available {
        Available {
            chat: Role::ALL.into_iter().filter(|role| self.has_chat(*role)).collect(),
            embedder: self.embedder().is_ok_and(|embedder| embedder.is_some()),
        }
    }

    /// Who ends chunks, with the sizes that are set.
    pub(crate) fn chunk_by(&self, setting: ChunkingSetting) -> ChunkBy {
        let index = &self.settings.index;
        let max_tokens = index.max_tokens.unwrap_or(ChunkParams::default().max_tokens);
        match setting {
            ChunkingSetting::Structure => ChunkBy::Structure,
            ChunkingSetting::Enhanced => {
                ChunkBy::Model { min_tokens: index.min_tokens.unwrap_or(max_tokens / 3) }
            }
        }
    }

    /// Whether a model is named for figures.
    pub(super) fn describes(&self) -> bool {
        self.settings.roles.get(&Role::Describe).is_some_and(|own| own.model.is_some())
    }

    /// Tag classes that the settings declare, and how others are found.
    pub(super) fn tag_params(&self) -> TagParams {
        let (set, defaults) = (&self.settings.tags, TagParams::default());
        let mut classes = Vec::new();
        for class in &set.classes {
            let examples = class.examples.iter();
            let examples =
                examples.map(|text| TagExample { text: text.clone(), chunk: None }).collect();
            classes.push(TagClass::new(&class.name, &class.covers, examples, Origin::Declared));
        }
        TagParams { classes, find: set.find, sample: set.sample.unwrap_or(defaults.sample) }
    }
}
