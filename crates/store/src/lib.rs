//! Where is the graph kept? One SQLite file holds everything; full text and vector codes are indexes derived
//! from it. Each says how far it has followed, and goes on from there.

mod error;
mod fulltext;
mod keys;
mod phrases;
pub mod scan;
mod sidecar;
mod sqlite;
mod tables;
mod tokens;

pub use error::BaseProblem;
pub use keys::KeysDatabase;
pub use sqlite::{
    Base, Copied, DATABASE, ExportLine, FileCounts, Finding, Freshness, Health, LAYOUT, Originals,
    Overwriting, Part, Remains, Repair, hold_at_most,
};
pub use tables::Tables;
