//! Keeps the typed tables of a base: a catalogue, and a table of SQLite for the rows of each shape.

mod catalogue;
mod combined;
mod compile;
mod expressions;
pub(super) mod functions;
mod naming;
mod plan;
mod settle;
mod shown;
mod statement;
mod survey;
mod sweep;
mod values;
mod write;

pub(super) use catalogue::{described, entries};
pub(super) use plan::{distinct, run_plan};
pub(super) use settle::{is_behind, settle};
pub(super) use statement::run_statement;
pub(super) use sweep::sweep;
pub(super) use write::{put_shapes, stale, write};
