//! Stores the knowledge base in one SQLite file. Full text and vector codes are indexes derived
//! from it; each records how far it has followed the database and continues from there.

mod error;
mod fulltext;
mod keys;
mod phrases;
mod scopes;
mod sidecar;
mod sqlite;
mod tables;
mod tokens;
mod uploads;

pub use error::BaseProblem;
pub use keys::KeysDatabase;
pub use sqlite::{
    Base, CheckFact, Copied, DATABASE, ExportLine, FileCounts, Finding, Freshness, Health,
    KeptBase, LAYOUT, Line, Originals, Overwriting, PageCaches, Part, RUN_BEAT, RUN_SILENT,
    Remains, Repair, StoreLimits, hold_at_most, on_one_thread, shared,
};
pub use tables::Tables;
pub use uploads::{
    BegunUpload, DroppedParts, FinishedUpload, SENDER_KEPT, StoredPart, StoredUpload,
    StoredUploads, UPLOAD_PIECE,
};
