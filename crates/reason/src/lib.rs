//! Turns context into an answer, read by a model or quoted without one, and checks every citation
//! against the bytes it names.

mod cite;
mod columns;
mod combine;
mod coverage;
mod form;
mod quote;
mod read;
mod support;

pub use cite::{cite, verify};
pub use columns::columns_of;
pub use combine::{COMBINE, combine, short_answer, transcript};
pub use coverage::{Coverage, SentenceTerms};
pub use form::{how_to_answer, how_to_answer_alone, how_to_summarize};
pub use quote::{CloseSentence, FLOOR, Known, Quoted, context_tokens, evidence, fit, quote};
pub use read::{
    FIXED_TOKENS, Reading, ReplyLength, answer_in, missing_in, read, read_finally, tokens_beside,
};
pub use support::bearing_words;

use pikerag_knowledge::ChunkId;

/// Words ascribed to a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The chunk that they are ascribed to.
    pub chunk: ChunkId,
    /// The words as the model gave them: white space and more may differ from the source.
    pub quote: String,
}
