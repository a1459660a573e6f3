//! What happens next? Indexing stage by stage; and, for a question, the methods of the papers, each
//! one plain function that reads like its algorithm.

mod candidates;
mod certainty;
mod conclude;
mod conversation;
pub mod decompose;
pub mod estimate;
mod fork;
mod grounds;
mod indexing;
pub mod ingest;
pub mod methods;
mod organizing;
mod pattern;
mod ports;
mod quoting;
mod recall;
mod retrieval;
mod run;
mod structuring;
mod tag_use;
mod tagging;
mod verdict;
pub mod waiting;

pub use conversation::{Turn, standalone};
pub use fork::Retrace;
pub use grounds::find_support;
pub use methods::{Method, Overrides, UnknownMethod, Weights, answer};
pub use ports::{
    Certainty, LabelledQuestion, Models, Perspective, Portion, Ports, RerankBy, Shares, SolveError,
    Tables,
};
pub use retrieval::{Path, RetrievalParams};
pub use run::{Clock, Finished, MethodLabel, Run, RunParams};
pub use tag_use::TagUse;
