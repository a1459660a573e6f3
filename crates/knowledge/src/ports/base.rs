//! Combines the ports: those that reasoning reads, and those that indexing reads and writes.

use super::{
    CorpusReader, CorpusWriter, DataTables, DataWriter, GraphReader, GraphWriter, Progress,
    RefusalWriter, SearchIndex, SearchWriter, StructuredReader, TagReader, TagWriter,
    VerifiedReader,
};

/// The ports that reasoning reads.
pub trait KnowledgeBase:
    CorpusReader
    + SearchIndex
    + GraphReader
    + TagReader
    + VerifiedReader
    + StructuredReader
    + DataTables
{
}

impl<T> KnowledgeBase for T where
    T: CorpusReader
        + SearchIndex
        + GraphReader
        + TagReader
        + VerifiedReader
        + StructuredReader
        + DataTables
        + ?Sized
{
}

/// The ports that indexing reads and writes.
pub trait KnowledgeWriter:
    KnowledgeBase
    + CorpusWriter
    + DataWriter
    + SearchWriter
    + GraphWriter
    + TagWriter
    + Progress
    + RefusalWriter
{
}

impl<T> KnowledgeWriter for T where
    T: KnowledgeBase
        + CorpusWriter
        + DataWriter
        + SearchWriter
        + GraphWriter
        + TagWriter
        + Progress
        + RefusalWriter
        + ?Sized
{
}
