//! Stores replies, claims, runs, jobs, access keys and the names of made bases, and forgets documents.

mod bases;
mod check;
mod claims;
mod forget;
mod jobs;
mod keys;
mod ledger;
mod origins;
mod responses;
mod runs;
mod signs;
mod thread;

pub use bases::{BaseRemoval, BasesInPostgres};
pub use keys::KeysInPostgres;
pub use responses::{
    BegunResponse, RESPONSE_LEASE, RequestName, ResponsesInPostgres, StoredResponse,
};
