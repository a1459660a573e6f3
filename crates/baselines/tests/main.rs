//! Are documents read into the base exactly and paid for once, and do methods walk their papers'
//! algorithms over it? On bases in temporary folders, with models that are played.
//!
//! One test binary, so that it is linked once and what the tests share is no dead code in any.
#![cfg(test)]

mod common;
mod ingest;
mod methods;
mod no_leak;
mod records;
mod said;
mod structures;
