//! Defines the ports of reasoning: models and the base. Each port is small, so that a caller sees
//! only what it needs. [`KnowledgeBase`] and [`KnowledgeWriter`] combine them.

mod base;
mod corpus;
mod data;
mod embedder;
mod error;
mod graph;
mod jobs;
mod keys;
mod ledger;
mod models;
mod progress;
mod refusals;
mod reranker;
mod roles;
mod search;
mod shared_limits;
mod snapshot;
mod stage;
mod structured;
mod tags;
mod verified;
mod writer;

pub use base::{KnowledgeBase, KnowledgeWriter};
pub use corpus::{
    AtomQuery, Backlog, BaseState, BaseSummary, CorpusReader, Derived, RecordsOf, Which,
};
pub use data::{DataTables, DataWriter, RowPlace, RowReader, SqlLimits, TableShape};
pub use embedder::{CountedVectors, Embedder, Parted, PartedVectors, Vector, cosine};
pub use error::StoreError;
pub use graph::{
    ChunkLinks, ChunkList, ChunksOf, CommunityReport, GraphReader, GraphWriter, LinkKind,
    ShortDescription,
};
pub use jobs::{
    ChangeJob, DueJob, FileMark, HeldLeases, JobBill, JobFile, JobKind, JobPart, JobPriority,
    JobQuery, JobRecord, JobState, Jobs, Lease, LeaseAfter, PartsLeft, Share, StopLeases, TakenJob,
    Taking, files_of_part, next_part, put_back,
};
pub use keys::{
    ChargeEnd, Key, KeyCharge, KeyParams, KeyStore, KeyUse, LeftBehind, Picodollars, Reserved,
    Scope,
};
pub use ledger::{CallRecord, Claim, Ledger};
pub use models::{
    CallOrigin, CallRef, ChatModel, ChatReply, ChatRequest, DraftFields, FinishReason, Message,
    ModelError, Role, Schema, Timings, TokenLogprob, Usage, mean_probability,
};
pub use progress::{ChunkSet, Progress, StructureChange, TextToEmbed, Wanted};
pub use refusals::{Refusal, RefusalCause, RefusalCount, RefusalWriter};
pub use reranker::{Relevance, Reranker};
pub use roles::ChatModels;
pub use search::{
    Bearer, BearerList, NodeVector, Scored, SearchIndex, SearchWriter, SimilarTerm, VectorSet,
    nearest_atoms, nearest_chunks,
};
pub use shared_limits::{
    AmountCaps, Amounts, CapReply, CapRequest, RateRequest, SharedLimits, TakeRequest, Taken,
};
pub use snapshot::Snapshots;
pub use stage::{ExtractBy, RecordsBy, Stage};
pub use structured::{StructuredReader, StructuredWriter};
pub use tags::{
    ChunkTags, FoundTag, KeyedClass, KeyedPair, SampleKey, TagClasses, TagEdit, TagQuery,
    TagReader, TagWriter, pairs_from,
};
pub use verified::{VerifiedReader, VerifiedWriter};
pub use writer::{
    ChunkResults, CorpusWriter, FileRecord, InChunk, Kept, ModelTexts, PutReport, SourceSummary,
};

/// The cause of an error, kept for the chain.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;
