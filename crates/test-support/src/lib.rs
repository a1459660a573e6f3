//! Supports tests: a model server with faults on demand, a small world to ask about, hostile files,
//! and system calls that kill or fail.
//!
//! A dev-dependency only. All data is generated, so that the tests need no file outside the
//! repository.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "only tests use this: any failure here must end the test"
)]
#![expect(
    clippy::format_push_string,
    clippy::format_collect,
    reason = "generated code is clearest as it is written"
)]

mod absent;
mod data_sets;
#[doc(hidden)]
pub mod fuzz;
pub mod hostile;
mod interpose;
mod oracle;
mod random;
mod server;
mod sweep;
mod words;
mod world;

pub use absent::{absent, optional};
pub use data_sets::write_data_sets;
pub use interpose::{Interposer, Trouble};
pub use oracle::{Erring, OracleReply, full_oracle, oracle};
pub use server::canned;
pub use server::{Fault, Faults, Malformed, Received, Server, When};
pub use sweep::{Point, Sweep, Tally};
pub use world::{Sizes, World};
