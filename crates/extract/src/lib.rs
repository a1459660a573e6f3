//! How does a document become knowledge? Into sections and chunks with exact spans, into the names
//! it bears and mentions, into atoms.

mod atomize;
mod chunk;
mod links;
mod split;

pub use atomize::{Atomized, atomize_prompt, question_atoms, sentence_atoms};
pub use chunk::{ChunkParams, document_graph};

/// Version of everything this crate decides without a model; part of a file's recipe.
pub const VERSION: u32 = 1;
