//! What happens next? Indexing stage by stage; and, for a question, the methods of the papers, each
//! one plain function that reads like its algorithm.

mod conclude;
pub mod decompose;
pub mod estimate;
pub mod ingest;
mod kit;
pub mod methods;

pub use kit::{Kit, Models, Run, SolveError};
pub use methods::{Method, Overrides, UnknownMethod, solve};
