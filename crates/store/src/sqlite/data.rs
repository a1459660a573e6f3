//! Keeps the typed tables of a base: a catalogue, and a table of SQLite for the rows of each shape.

mod catalogue;
mod compile;
mod expressions;
pub(super) mod functions;
mod naming;
mod plan;
mod ports;
mod settle;
mod shown;
mod statement;
mod survey;
mod sweep;
mod values;
mod write;

pub(super) use sweep::sweep;
pub(super) use write::put_shapes;
