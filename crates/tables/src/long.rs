//! Makes long tables of wide ones: a row for each period that names a column, and columns that tell tables of one header apart.

mod apart;
mod columns;
mod measured;
mod periods;
mod rows;
mod wide;

pub(crate) use periods::{Grain, period_named};
pub use rows::TypedRows;
