//! What are the columns of a table, and what are they called?

pub mod typing;
