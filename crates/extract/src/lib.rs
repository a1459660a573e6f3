//! How does a document become knowledge? Into sections and chunks with exact spans, into the names
//! it bears and mentions, into atoms, entities and relations.

mod atomize;
mod chunk;
pub mod cluster;
mod entities;
pub mod leiden;
mod links;
mod split;

pub use atomize::{Atomized, atomize_prompt, question_atoms, sentence_atoms};
pub use chunk::{ChunkParams, document_graph};
pub use entities::{entity_of, extract, extract_names, extract_prompt};

/// Version of everything this crate decides without a model; part of a file's recipe.
pub const VERSION: u32 = 2;
