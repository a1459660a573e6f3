//! What does reasoning read? The ports of the knowledge base over SQLite and its derived indexes.

mod corpus;
mod data;
mod graph;
mod search;
