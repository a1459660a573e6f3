//! Turns a document into knowledge: sections and chunks with exact spans, names and mentions,
//! atoms, entities and relations.

mod atomize;
mod chunk;
mod entities;
mod identifiers;
mod keys;
mod links;
mod llm_chunking;
mod references;
mod sections;
#[cfg(test)]
mod sketch;
mod split;
mod statements;
mod tags;

pub use atomize::{Atomized, atomize_prompt, question_atoms, sentence_atoms};
pub use chunk::document_graph;
pub use entities::{entity_of, extract, extract_names, extract_prompt};
pub use llm_chunking::{
    ENHANCED_VERSION, EnhanceParams, Enhanced, enhanced_forecast, enhanced_graph,
};
pub use sections::{section_atoms, section_prompt};
pub use split::ChunkParams;
pub use statements::{statement_atoms, statements_prompt};

pub use tags::{
    FACTORED, Factor, chunk_tags, chunk_tags_prompt, factors_prompt, key_factors, map_tags,
    question_tags, tag_classes, tag_key,
};

/// Version of all decisions of this crate without a model; part of a file's recipe.
pub const VERSION: u32 = 2;
