//! What happens next? Indexing stage by stage; and, for a question, the methods of the papers, each
//! one plain function that reads like its algorithm.

mod certainty;
mod conclude;
pub mod decompose;
pub mod estimate;
mod gather;
pub mod ingest;
mod kit;
pub mod methods;
mod tagging;
mod verdict;

pub use gather::{Gather, Path};
pub use kit::{Certainty, Kit, LabelledQuestion, Models, Run, SolveError};
pub use methods::{Method, Overrides, UnknownMethod, solve};
pub use tagging::TagUse;
