//! Where is the graph kept? One SQLite file holds everything; full text and vector codes are
//! indexes derived from it, stamped with the generation they were built from.

mod error;
mod fulltext;
mod phrases;
pub mod scan;
mod sidecar;
mod sqlite;
mod tokens;

pub use error::BaseProblem;
pub use sqlite::{
    Base, Copied, DATABASE, ExportLine, FileCounts, Finding, Freshness, Health, LAYOUT, Originals,
    Part, Remains, Repair,
};
