//! Keeps the typed tables of a base: a catalogue, and a table of SQLite for the rows of each shape.

mod catalogue;
pub mod chunk_rows;
mod combined;
mod compile;
mod expressions;
pub(super) mod functions;
pub mod naming;
mod plan;
mod settle;
mod shown;
mod statement;
mod survey;
mod sweep;
mod values;
mod write;

pub(super) use catalogue::{Entry, described, entries};
pub(super) use plan::{distinct, run_plan};
pub(super) use settle::{is_behind, settle};
pub(super) use statement::{named, run_statement};
pub use survey::{Survey, without_facts};
pub(super) use sweep::sweep;
pub(super) use values::Bound;
pub use write::FEWEST;
pub(super) use write::{put_shapes, stale, write};
