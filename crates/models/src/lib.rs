//! Provides models behind the ports: clients for OpenAI-compatible endpoints and rerankers,
//! servers of local models, and wrappers that make any model affordable and replayable.
//!
//! The wrappers, from the outside in, as [`chat_stack`] builds them, each its own type:
//!
//! 1. [`SingleFlight`]: identical requests at one time share one call.
//! 2. [`Recorded`]: a call that was made before is read from the ledger; a new reply is recorded
//!    before it is returned.
//! 3. [`Observed`]: shows the calls that have no reply yet.
//! 4. [`Retry`]: a busy endpoint is called again; an unreachable one is not called for a while.
//! 5. [`Limit`]: limits calls at one time and per minute.
//! 6. [`Together`]: the same limits for all processes over one store.
//! 7. [`Budget`]: meters calls, and makes one only if its highest possible cost fits under the cap,
//!    also one that [several processes share](SharedCap), and under that of its [`Payer`].
//! 8. [`OpenAiChat`]: sends the request.
//!
//! The budget is innermost because it books the cost of a single attempt: an attempt that timed out
//! may have been billed, and so may the next one. A call that waits in line or for a busy endpoint
//! holds no part of the budget, and costs nothing if it is dropped.

pub mod batch;
pub mod budget;
mod circuit;
mod draft;
pub mod estimate;
mod hosted;
pub mod ledger;
pub mod limit;
pub mod meter;
pub mod ollama;
pub mod open_calls;
pub mod open_models;
pub mod openai;
pub mod payer;
pub mod prefix;
mod process;
pub mod query_memo;
pub mod retry;
pub mod secret;
mod shared_cap;
pub mod single_flight;
pub mod speeds;
pub mod stack;
pub mod together;
pub mod upstream;

pub use batch::Batch;
pub use budget::{Budget, Portion};
pub use draft::DraftText;
pub use estimate::estimate_prompt;
pub use hosted::{ModelServer, Serving};
pub use ledger::{MemoryLedger, Mode, Pins, Recorded, RecordedEmbedder, RecordedReranker};
pub use limit::{Limit, Limiter, Limits};
pub use meter::{Cap, Meter, Price, Prices, Spending, Usd};
pub use open_calls::{Observed, OpenCalls, Paces};
pub use openai::{
    EmbeddingParams, Endpoint, EndpointReranker, OpenAiChat, OpenAiEmbedder, Structured, Transport,
    withheld_keys,
};
pub use payer::{Charge, ChargeOutcome, Hold, OnAccount, Payer};
pub use prefix::{Prefixed, Prefixes};
pub use query_memo::QueryMemo;
pub use retry::{Retry, RetryParams};
pub use secret::Secret;
pub use shared_cap::SharedCap;
pub use single_flight::SingleFlight;
pub use speeds::Speed;
pub use stack::{
    CallContext, StackParams, chat_stack, embed_stack, endpoint_identity, rerank_stack,
};
pub use together::{MemoryLimits, Together};
pub use upstream::{Upstream, Upstreams, share_upstream};
