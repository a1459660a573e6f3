//! Reads tables of databases as documents for indexing (PIKE-RAG §5.4: specialized databases).
//!
//! [`Snapshot`] connects with a read-only account and sees one state of the database, across all
//! tables. [`DatabaseReader`] gives each chosen table to indexing as if it were a file: its name is
//! `postgres://host/database/schema.table`, its content one document with all rows. A table that is
//! unchanged is neither parsed nor stored again.
//!
//! The password of a [`DatabaseUrl`] is never shown, stored or logged.

mod blocks;
mod catalog;
mod choice;
mod connect;
mod document;
mod layout;
mod limits;
mod reader;
mod rows;
mod snapshot;
mod stored;
mod url;

pub use self::choice::{BadPattern, Choice, TablePattern};
pub use self::limits::ReadLimits;
pub use self::reader::DatabaseReader;
pub use self::snapshot::Snapshot;
pub use self::url::DatabaseUrl;
