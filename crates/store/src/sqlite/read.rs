//! Implements the ports that reasoning reads from, over SQLite and its derived indexes.

mod corpus;
mod data;
mod graph;
mod search;
