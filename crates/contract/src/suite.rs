//! What do the ports promise? A test for each promise, whatever the store.
#![expect(missing_docs, reason = "a test is named by what holds")]

mod fixture;
mod graph;
mod jobs;
mod part;
mod read;
mod record;
mod verified;
mod write;

pub use graph::*;
pub use jobs::*;
pub use part::*;
pub use read::*;
pub use record::*;
pub use verified::*;
pub use write::*;
