//! Finds chunks and nodes by vectors, words and names, within what a filter admits.

pub(crate) mod admit;
mod bm25;
pub(crate) mod hnsw;
mod index;
mod names;
mod near;
pub(crate) mod vectors;
pub(crate) mod words;
mod writer;

/// The totals of full text that weights of words need, over the whole base.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct WordTotals {
    /// Chunks that can be searched.
    pub(crate) chunks: i64,
    /// The terms of all of them together.
    pub(crate) length: i64,
}
