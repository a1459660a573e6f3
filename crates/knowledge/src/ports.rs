//! What does reasoning need from outside? Four ports (`ChatModel`, `Scorer`, `Embedder`,
//! `KnowledgeBase`), what indexing needs besides (`KnowledgeWriter`), and the call ledger.

mod base;
mod models;
mod tags;
mod writer;

pub use base::{BaseSummary, KnowledgeBase, Mentions, Scored, StoreError, VectorSet};
pub use models::{
    CallRecord, ChatModel, ChatReply, ChatRequest, Embedder, Ledger, Message, ModelError, Role,
    Schema, Scorer, TokenLogprob, Usage, Vector, mean_probability,
};
pub use tags::{ChunkTags, KeyedPair, TagReader, TagWriter};
pub use writer::{ExtractBy, FileRecord, KnowledgeWriter, PutReport, RecordsBy, Stage};

/// The cause of an error, kept for the chain.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;
