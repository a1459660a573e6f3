//! Stores typed tables, and answers plans and statements over them in SQLite.

mod read;
mod settle;
mod shapes;
mod write;

pub(crate) use settle::{is_behind, settle};
pub(crate) use shapes::put_shapes;
