//! Stores typed tables, and answers plans and statements over them in SQLite.
