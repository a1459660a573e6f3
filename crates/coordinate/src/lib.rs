//! What happens next? Indexing stage by stage; and, for a question, the methods of the papers, each
//! one plain function that reads like its algorithm.

mod certainty;
mod conclude;
pub mod decompose;
pub mod estimate;
mod indexing;
pub mod ingest;
pub mod methods;
mod ports;
mod retrieval;
mod tagging;
mod verdict;

pub use methods::{Method, Overrides, UnknownMethod, solve};
pub use ports::{Certainty, LabelledQuestion, Models, Ports, Run, SolveError};
pub use retrieval::{Path, RetrievalParams};
pub use tagging::TagUse;
