//! Copies a base between a SQLite file and a database, row by row, in both directions.
