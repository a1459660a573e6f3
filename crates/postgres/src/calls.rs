//! Stores replies, claims, runs, jobs and access keys, and forgets documents.

mod check;
mod claims;
mod forget;
mod jobs;
mod keys;
mod ledger;
mod origins;
mod runs;

pub use keys::KeysInPostgres;
