//! Makes long tables from wide ones: a row for each period in the header, and columns that distinguish tables with the
//! same header.

mod apart;
mod columns;
mod measured;
mod periods;
mod rows;
mod wide;

pub use periods::{Grain, Period, period_named};
pub use rows::TypedRows;
