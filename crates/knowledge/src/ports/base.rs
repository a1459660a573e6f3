//! Which ports belong together? What reasoning reads, and what indexing reads and writes.

use super::{
    CorpusReader, CorpusWriter, GraphReader, GraphWriter, Progress, RefusalWriter, SearchIndex,
    SearchWriter, TagReader, TagWriter, VerifiedReader,
};

/// What reasoning reads.
pub trait KnowledgeBase:
    CorpusReader + SearchIndex + GraphReader + TagReader + VerifiedReader
{
}

impl<T> KnowledgeBase for T where
    T: CorpusReader + SearchIndex + GraphReader + TagReader + VerifiedReader + ?Sized
{
}

/// What indexing reads and writes.
pub trait KnowledgeWriter:
    KnowledgeBase + CorpusWriter + SearchWriter + GraphWriter + TagWriter + Progress + RefusalWriter
{
}

impl<T> KnowledgeWriter for T where
    T: KnowledgeBase
        + CorpusWriter
        + SearchWriter
        + GraphWriter
        + TagWriter
        + Progress
        + RefusalWriter
        + ?Sized
{
}
