//! Builds documents for the readers of all formats.

pub(crate) mod blocks;
pub(crate) mod cells;
pub(crate) mod file;
pub(crate) mod front_matter;
pub(crate) mod grid;
pub(crate) mod links;
pub(crate) mod record;
pub(crate) mod writing;
