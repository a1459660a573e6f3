//! Reads and advances counters in `meta` that only grow.

use pikerag_knowledge::Generation;
use rusqlite::{Connection, OptionalExtension};

/// Advances with every change of chunks; full text catches up with it.
pub(super) const TEXT_GENERATION: &str = "text_generation";

/// Advances with every change of what a filter can read: documents, chunks, sections, tags and
/// records. The triggers of layout 12 advance it.
pub(super) const FILTERABLE: &str = "filterable";

/// The mark in `meta` that forgotten content is not overwritten yet.
pub(super) const UNFINISHED: &str = "forgetting";

/// Advances with every forget operation, after which rows of the ledger may have other numbers.
pub(super) const FORGETTINGS: &str = "forgettings";

/// A counter of the `meta` table; 0 before its first advance.
pub(super) fn counter(connection: &Connection, key: &str) -> rusqlite::Result<i64> {
    connection
        .prepare_cached("SELECT CAST(value AS INTEGER) FROM meta WHERE key = ?1")?
        .query_row([key], |row| row.get(0))
        .optional()
        .map(Option::unwrap_or_default)
}

/// The generation of the documents.
pub(super) fn generation(connection: &Connection) -> rusqlite::Result<Generation> {
    Ok(Generation(counter(connection, TEXT_GENERATION)?.cast_unsigned()))
}

pub(super) fn advance(connection: &Connection, key: &str) -> rusqlite::Result<i64> {
    connection.execute(
        "INSERT INTO meta(key, value) VALUES (?1, '1')
         ON CONFLICT(key) DO UPDATE SET value = CAST(value AS INTEGER) + 1",
        [key],
    )?;
    counter(connection, key)
}
