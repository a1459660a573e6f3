//! Tests collecting on worlds whose answers are known.

#![expect(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "tests")]

mod harder;
mod shelf;
