//! Tests that model output about documents is exact, traceable, paid once, and deleted with its
//! document (PIKE-RAG §5.1.2, §5.2).

mod chunks;
mod estimates;
mod fixture;
pub(crate) mod formats;
mod hostile;
mod prefix;
mod repeating;
mod tags;
