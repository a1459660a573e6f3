//! Contains the stages of indexing, related ones in one file. The table (`table.rs`) decides which of them
//! run.

pub(crate) mod atoms;
pub(crate) mod communities;
pub(crate) mod described;
pub(crate) mod documents;
pub(crate) mod entities;
pub(crate) mod records;
pub(crate) mod report;
pub(crate) mod reports;
pub(crate) mod sections;
pub(crate) mod shown;
pub(crate) mod tables;
pub(crate) mod tags;
pub(crate) mod tree;
pub(crate) mod vectors;
