//! Implements the ports that indexing writes to. Each call is one transaction.

mod corpus;
mod data;
mod graph;
mod search;
