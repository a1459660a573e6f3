//! Finds chunks and nodes by vectors, words and names, within what a filter admits.

mod bm25;
pub(crate) mod hnsw;
mod index;
mod names;
mod near;
pub(crate) mod vectors;
pub(crate) mod words;
mod writer;
