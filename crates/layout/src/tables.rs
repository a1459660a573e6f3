//! Finds the tables of a page: words between rules, words joined by leaders, and words aligned in
//! columns.

pub(crate) mod aligned;
mod columns;
pub(crate) mod leaders;
mod page_table;
pub(crate) mod ruled;
pub(crate) mod turned;

pub use page_table::PageTable;
