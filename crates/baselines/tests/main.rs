//! Tests that documents are read into the base exactly and paid for once, and that methods follow
//! their papers' algorithms. The bases are in temporary folders; the models are scripted.
//!
//! One test binary, so that it is linked once and shared helpers are never dead code.
#![cfg(test)]

mod common;
mod ingest;
mod methods;
mod model_output;
mod no_leak;
mod records;
mod repeats;
mod structures;
