//! What does indexing write? Each call of these ports is one transaction.

mod corpus;
mod data;
mod graph;
mod search;
