//! What does indexing write? Each call of these ports is one transaction.

mod corpus;
mod graph;
mod search;
