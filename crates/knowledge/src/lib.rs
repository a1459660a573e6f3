//! The words every other crate speaks: the three layers of the knowledge base (PIKE-RAG §3.1),
//! questions and answers, the typed trace, and the ports to models and storage. No IO.

pub mod answer;
pub mod distilled;
pub mod document;
mod error_chain;
pub mod graph;
pub mod id;
pub mod names;
pub mod ports;
pub mod records;
mod references;
pub mod run;
mod seeded;
pub mod tags;
pub mod trace;

pub use answer::{Answer, Check, Citation, Context, ContextChunk, Question, WrittenBy};
pub use distilled::{
    Child, Community, Entity, EntityMention, Extraction, LongDescription, Outline, OutlineRelation,
    Relation, RelationMention, Report, Structure, Summary,
};
pub use document::{
    Area, Block, BlockKind, Chunking, Document, Image, Link, PageBox, Problem, Span, Table,
};
pub use error_chain::error_chain;
pub use graph::{
    Atom, AtomKind, Chunk, ChunkKind, DocumentGraph, EdgeKind, LayerKind, NodeKind, Section, Source,
};
pub use id::{
    AtomId, ChunkId, CommunityId, EntityId, RecordId, RelationId, SectionId, SourceId, SummaryId,
    TagClassId, TagId,
};
pub use names::{NameKey, NameUse};
pub use ports::{
    BaseSummary, CallRecord, CallRef, ChatModel, ChatReply, ChatRequest, ChunkTags, Embedder,
    ExtractBy, FileRecord, FinishReason, KeyedPair, KnowledgeBase, KnowledgeWriter, Ledger,
    Mentions, Message, ModelError, PutReport, RecordsBy, Role, Schema, Scored, Stage, StoreError,
    TagReader, TagWriter, TokenLogprob, Usage, Vector, VectorSet, mean_probability,
};
pub use records::{Record, RecordField, RecordOrigin, RecordSchema, Value};
pub use references::{Reference, ReferenceKind};
pub use run::{
    Account, Change, Changed, Cost, ForkPoint, Millis, RunEvent, RunId, RunRecord, RunSink,
    RunState, RunStore,
};
pub use seeded::Seeded;
pub use tags::{Origin, Tag, TagClass, TagCount, TagExample, TagPair};
pub use trace::{
    Candidate, Consulted, Criterion, Event, JudgedBy, MappedTag, Spent, StopReason, Via,
};
