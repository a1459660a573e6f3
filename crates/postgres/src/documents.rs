//! Stores and reads documents, files, chunks and records, and the progress of indexing.

mod content;
pub(crate) mod corrections;
mod counts;
mod originals;
pub(crate) mod progress;
pub(crate) mod put;
mod read;
mod records;
mod refusals;
mod results;
mod root;
mod texts;
mod uploads;
mod write;
