//! What does reasoning need from outside? Three ports (`ChatModel`, `Embedder`,
//! `KnowledgeBase`), what indexing needs besides (`KnowledgeWriter`), and the call ledger.

mod base;
mod error;
mod models;
mod refusals;
mod stage;
mod tags;
mod writer;

pub use base::{BaseSummary, KnowledgeBase, Mentions, Scored, VectorSet};
pub use error::StoreError;
pub use models::{
    CallRecord, CallRef, ChatModel, ChatReply, ChatRequest, Claim, Embedder, FinishReason, Ledger,
    Message, ModelError, Role, Schema, TokenLogprob, Usage, Vector, mean_probability,
};
pub use refusals::{Refusal, RefusalCause, RefusalCount, RefusalWriter};
pub use stage::{ExtractBy, RecordsBy, Stage};
pub use tags::{ChunkTags, KeyedPair, TagReader, TagWriter};
pub use writer::{FileRecord, KnowledgeWriter, PutReport};

/// The cause of an error, kept for the chain.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;
