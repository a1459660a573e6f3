//! Answers questions in recorded runs: our own methods, those of the papers that we implement, and the steps
//! that they share. Each method is one plain function that reads like its algorithm; `baselines` holds the
//! methods for comparison.

pub mod adaptive;
pub mod candidates;
mod catalogs;
pub mod certainty;
mod collections;
pub mod conclude;
pub mod context;
mod conversation;
pub mod crp_rag;
pub mod decompose;
mod editions;
mod feedback;
mod fill;
pub mod fitting;
mod fork;
mod grounds;
pub mod hop_rag;
pub mod kar3;
pub mod naive_rag;
mod named;
mod narrowing;
mod near;
pub mod organizing;
pub mod pike;
mod ports;
mod quoting;
pub mod ra_isf;
mod recall;
mod respelling;
pub mod retrieval;
mod run;
pub mod spec;
mod structure;
mod tag_use;
pub mod tagging;
pub mod unaided;
pub mod verdict;
mod verified_use;
mod widened;

pub use catalogs::Catalogs;
pub use conversation::{Speaker, Turn, standalone};
pub use editions::{ReadEditions, ReplacedDocument, mark_replaced, replaced_documents};
pub use feedback::Recall;
pub use fill::{FillSchema, FillSource, Filled, NotFilled, UnusableSchema, fill};
pub use fork::Retrace;
pub use grounds::find_support;
pub use near::nearest;
pub use ports::{
    Certainty, Demonstration, LabelledQuestion, Models, Perspective, Portion, Ports, RerankBy,
    Shares, SolveError, Tables,
};
pub use respelling::{in_documents_spelling, report_spelling};
pub use retrieval::{Path, RetrievalParams};
pub use run::{Clock, Finished, MethodLabel, Run, RunParams};
pub use tag_use::TagUse;
pub use verified_use::VerifiedUse;
