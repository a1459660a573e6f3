//! Stores knowledge bases in PostgreSQL with pgvector. Many servers and workers use one database at
//! once; a base is a row of `pikerag.bases`, and its number comes first in every key and index.

mod admit;
mod base;
mod batches;
mod calls;
mod catalogue;
mod database;
mod documents;
mod error;
mod fault;
mod graph;
mod inner;
mod kept;
mod listener;
mod location;
mod meta;
mod migrations;
mod mirror;
mod records;
mod rows;
mod search;
mod shared_limits;
mod snapshot;
mod statistics;
mod sweep;
mod tables;
mod tls;
mod transfer;
mod tx;

pub use base::Base;
pub use calls::{
    BaseRemoval, BasesInPostgres, BegunResponse, KeysInPostgres, RESPONSE_LEASE, RequestName,
    ResponsesInPostgres, StoredResponse,
};
pub use database::{Connections, Database};
pub use error::ServerProblem;
pub use location::Location;
pub use shared_limits::LimitsInPostgres;
pub use transfer::{export_file, import};
