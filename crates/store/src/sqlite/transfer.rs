//! Reads and writes the tables of a base row by row, for a copy to or from another store.
