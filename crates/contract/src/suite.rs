//! Tests the promises of the ports, one function for each, on any store.
#![expect(missing_docs, reason = "a test is named by what holds")]

mod fixture;
mod graph;
mod jobs;
mod leases;
mod part;
mod read;
mod record;
mod structured;
mod verified;
mod write;

pub use graph::*;
pub use jobs::*;
pub use leases::*;
pub use part::*;
pub use read::*;
pub use record::*;
pub use structured::*;
pub use verified::*;
pub use write::*;
