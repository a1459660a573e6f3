//! Which nodes fit a query? The two paths of PIKE-RAG Fig. 11, hybrid fusion, and hop retrieval;
//! each hit explains its score.

mod atoms;
mod chunks;
mod finder;
mod hops;
mod tags;

pub use atoms::{AtomHit, atoms};
pub use chunks::{hybrid, nearest};
pub use finder::{Finder, Hit, RetrieveError};
pub use hops::{HopParams, Walk, hops};
pub use tags::tagged;
