//! How does context become an answer? Read by a model or quoted as it stands; every citation is
//! checked against the bytes it names.

mod cite;
mod combine;
mod form;
mod quote;
mod read;
mod support;

pub use cite::{cite, verify};
pub use combine::{COMBINE, combine, short_answer, transcript};
pub use form::{how_to_answer, how_to_answer_alone};
pub use quote::{FLOOR, Known, Quoted, quote};
pub use read::{Reading, lacking, read};
pub use support::bearing_words;

use pikerag_knowledge::ChunkId;

/// Words that are said to stand in a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The chunk said to hold them.
    pub chunk: ChunkId,
    /// The words as the model gave them: white space and more may differ from the source.
    pub quote: String,
}
