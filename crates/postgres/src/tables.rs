//! Stores typed tables, and answers plans and statements over them in SQLite.

mod catalogue;
mod mirror;
mod read;
mod settle;
mod shapes;
mod sweep;
mod write;

pub(crate) use mirror::Mirrors;
pub(crate) use settle::{is_behind, settle};
pub(crate) use shapes::put_shapes;
pub(crate) use sweep::sweep;
