//! Keeps a base in a folder: `base.sqlite` (write-ahead log) and the indexes derived from it.
//! Readers never wait for the writer.

mod admit;
mod backup;
mod base;
mod busy;
mod check;
mod claims;
mod codes;
mod corrections;
mod counters;
mod counts;
mod data;
mod dimensions;
mod distil;
mod export;
mod follow;
mod forget;
mod gate;
mod graph;
mod header;
mod idle;
mod inner;
mod jobs;
mod kept;
mod layers;
mod layouts;
mod leased;
mod ledger;
mod limits;
mod links;
mod loaded;
mod locks;
mod log;
mod mirror;
mod names;
mod opening;
mod originals;
mod origins;
mod progress;
mod put;
mod queue;
mod read;
mod readers;
mod records;
mod references;
mod refusals;
mod results;
mod root;
mod rows;
mod runs;
mod scope;
mod snapshot;
mod structured;
mod tags;
mod texts;
mod threads;
mod transfer;
mod tree;
mod vectors;
mod verified;
mod which;
mod write;

pub use backup::Copied;
pub use base::Base;
pub(crate) use busy::unless_busy;
pub use check::{CheckFact, Finding, Health, Part, Repair};
pub(crate) use claims::ProcessIdentity;
pub use export::ExportLine;
pub use forget::{Overwriting, Remains};
pub use inner::{DATABASE, Freshness};
pub use kept::{KeptBase, Line, RUN_BEAT, RUN_SILENT};
pub use layouts::LAYOUT;
pub use limits::{PageCaches, StoreLimits};
pub use originals::Originals;
pub use root::FileCounts;
pub use threads::{hold_at_most, on_one_thread};

/// What another store needs to give the same results.
pub mod shared {
    pub use super::claims::ProcessIdentity;
    pub use super::codes::{set_name, sets};
    pub use super::data::{FEWEST, Survey, chunk_rows, naming, without_facts};
    pub use super::export::tagged;
    pub use super::follow::searchable;
    pub use super::forget::asks;
    pub use super::graph::{Votes, each_once};
    pub use super::inner::next_opening;
    pub use super::ledger::later;
    pub use super::mirror::{
        Catalogue, CatalogueChunk, CataloguePart, CatalogueTable, MirroredRow, TableMirror,
        TableQuery,
    };
    pub use super::origins::collect_nodes;
    pub use super::references::{code, kind};
    pub use super::rows::{packed, unpacked};
    pub use super::texts::embedded;
    pub use super::transfer::{Cell, FileCopy, TakeRow};
    pub use crate::phrases::Phrases;
    pub use crate::scopes::{Filters, Scopes, next_scope};
}
