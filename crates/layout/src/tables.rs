//! Which words on a page stand in tables? Those between rules, those that leaders join and those that
//! stand under one another.

pub(crate) mod aligned;
mod columns;
pub(crate) mod leaders;
mod page_table;
pub(crate) mod ruled;
pub(crate) mod turned;

pub use page_table::PageTable;
