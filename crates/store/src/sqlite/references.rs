//! Finds the references between documents, where the names of one match the links and mentions in
//! another's chunks. Nothing of it is stored, so nothing of it can be stale.

use pikerag_knowledge::{ChunkId, Reference, ReferenceKind, SourceId};
use rusqlite::Connection;

use super::rows;

/// A name that more documents than this have refers to none of them.
const NAMESAKES: i64 = 3;

/// The stored number of a name's kind; 4 for parts of a title that are no reference.
pub fn code(how: Option<ReferenceKind>) -> i64 {
    match how {
        Some(ReferenceKind::Link) => 0,
        Some(ReferenceKind::File) => 1,
        Some(ReferenceKind::Identifier) => 2,
        Some(ReferenceKind::Title) => 3,
        None => 4,
    }
}

/// The kind that [`code`] numbered.
pub fn kind(code: i64) -> ReferenceKind {
    let place = usize::try_from(code).unwrap_or(usize::MAX);
    ReferenceKind::ALL.get(place).copied().unwrap_or(ReferenceKind::Title)
}

/// The conditions of every reference. Links match addresses, and mentions match the other names.
/// Mentions of a document's own names do not count. An ambiguous name is no reference.
const MEETS: &str = "((n.how = -1 AND t.how = 0) OR (n.how = 0 AND t.how BETWEEN 1 AND 3))
    AND NOT EXISTS (SELECT 1 FROM source_names o WHERE o.source = c.source AND o.key = t.key)
    AND (SELECT count(DISTINCT x.source) FROM source_names x WHERE x.key = t.key AND x.how <= 3) <= ?2";

/// The references from a document, by target.
pub(super) fn from(connection: &Connection, source: SourceId) -> rusqlite::Result<Vec<Reference>> {
    let sql = format!(
        "SELECT c.source, t.source, n.chunk, t.how
         FROM chunks c JOIN names n ON n.chunk = c.id AND n.how <= 0
         JOIN source_names t ON t.key = n.key AND t.source <> ?1
         WHERE c.source = ?1 AND NOT c.hidden AND {MEETS} ORDER BY t.source, t.how, c.ordinal, c.id"
    );
    let mut found = read(connection, &sql, source)?;
    found.dedup_by_key(|reference| reference.to);
    Ok(found)
}

/// The references to a document, by referring document.
pub(super) fn to(connection: &Connection, source: SourceId) -> rusqlite::Result<Vec<Reference>> {
    let sql = format!(
        "SELECT c.source, t.source, n.chunk, t.how
         FROM source_names t JOIN names n ON n.key = t.key AND n.how <= 0
         JOIN chunks c ON c.id = n.chunk AND c.source <> ?1
         WHERE t.source = ?1 AND NOT c.hidden AND {MEETS} ORDER BY c.source, t.how, c.ordinal, c.id"
    );
    let mut found = read(connection, &sql, source)?;
    found.dedup_by_key(|reference| reference.from);
    Ok(found)
}

fn read(connection: &Connection, sql: &str, of: SourceId) -> rusqlite::Result<Vec<Reference>> {
    connection
        .prepare_cached(sql)?
        .query_map([of.0.cast_signed(), NAMESAKES], |row| {
            Ok(Reference {
                from: SourceId(rows::id(row, 0)?),
                to: SourceId(rows::id(row, 1)?),
                chunk: ChunkId(rows::id(row, 2)?),
                how: kind(row.get(3)?),
            })
        })?
        .collect()
}
