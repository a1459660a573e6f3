//! Where is the graph kept? One SQLite file holds everything; full text and vector codes are
//! indexes derived from it, stamped with the generation they were built from.

mod error;
mod fulltext;
pub mod scan;
mod sidecar;
mod sqlite;
mod tokens;

pub use sqlite::{Base, DATABASE, ExportLine, FileCounts, Freshness, LAYOUT};
