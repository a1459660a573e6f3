//! Tests collecting on worlds whose answers are known.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod harder;
mod shelf;
