//! What is indexing made of? What it is asked for, what it works with, and its stages, in one table:
//! `ingest` runs them, `estimate` counts beforehand what they will take.

pub(crate) mod bill;
pub(crate) mod call_batch;
pub(crate) mod embed;
pub(crate) mod error;
pub(crate) mod fresh;
pub(crate) mod outcome;
pub(crate) mod params;
pub(crate) mod parts;
pub(crate) mod pending;
pub(crate) mod plan;
pub(crate) mod stage;
pub(crate) mod stages;
pub(crate) mod stamp;
pub(crate) mod table;
pub(crate) mod tools;
