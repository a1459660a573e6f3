//! Builds the knowledge base from files: `ingest` runs the stages of one table, `estimate` counts their
//! calls and tokens beforehand, and `waiting` lists pending work.

mod bill;
mod call_batch;
mod cluster;
mod database_fault;
mod embed;
mod error;
pub mod estimate;
mod fresh;
mod ingest;
mod leiden;
mod outcome;
mod params;
mod parts;
mod pending;
mod plan;
mod stage;
mod stages;
mod stamp;
mod table;
mod tools;
pub mod waiting;

pub use database_fault::DatabaseFault;
pub use error::FileError;
pub use ingest::{Learned, Sample, build, ingest, learn, pair_with_keys, read_files};
pub use outcome::{Outcome, Progress, Repeat, Report};
pub use params::{ChunkBy, Params, Repeats, Summarized, TagParams, recipe};
pub use plan::{Available, MissingPart};
pub use table::mark_in_words;
pub use tools::{FileReader, ReadFile, Tools, Watch};
