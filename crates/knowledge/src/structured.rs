//! Defines the schemas that questions derived, and the passages that were read under them (PIKE-RAG §4.1, §5.4).

use crate::id::{ChunkId, RunId};
use crate::records::{Record, RecordSchema};
use crate::time::Millis;

/// A schema that a question derived, with its origin.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptSchema {
    /// The schema; its name differs from that of every declared one.
    pub schema: RecordSchema,
    /// The run that derived it.
    pub run: RunId,
    /// When it was derived.
    pub at: Millis,
}

impl KeptSchema {
    /// The most schemas that a base keeps.
    pub const MOST: usize = 64;
}

/// A passage that was read under a schema, and how much of the reading was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadPassage {
    /// The passage.
    pub chunk: ChunkId,
    /// When it was read.
    pub at: Millis,
    /// Values that it does not contain.
    pub invented: usize,
    /// Reported things without a whole key.
    pub incomplete: usize,
}

/// What a run structured: passages that it read as records of a schema.
#[derive(Clone, Debug, PartialEq)]
pub struct Structured {
    /// The schema, with the run that derived it or used it.
    pub kept: KeptSchema,
    /// The passages that the schema was derived from; empty if it was kept before.
    pub basis: Vec<ChunkId>,
    /// The passages, each with its records; they may be none.
    pub read: Vec<(ReadPassage, Vec<Record>)>,
}
