//! Answers plans and statements over typed tables that another store keeps, in a database in memory.
