//! Finds the references between documents, where the names of one match the links and mentions in
//! another's chunks. Nothing of it is stored, so nothing of it can be stale.

use pikerag_knowledge::{ChunkId, Reference, SourceId};
use pikerag_store::shared::kind;

use crate::fault::Sql;
use crate::rows;
use crate::tx::Tx;

/// A name that more documents than this have refers to none of them.
const NAMESAKES: i64 = 3;

/// The conditions of every reference. Links match addresses, and mentions match the other names.
/// Mentions of a document's own names do not count. An ambiguous name is no reference.
const MEETS: &str = "NOT c.hidden AND ((n.how = -1 AND t.how = 0) OR (n.how = 0 AND t.how BETWEEN 1 AND 3))
    AND NOT EXISTS (SELECT 1 FROM source_names o WHERE o.source = c.source AND o.key = t.key)
    AND (SELECT count(DISTINCT x.source) FROM source_names x WHERE x.key = t.key AND x.how <= 3) <= $2";

const COLUMNS: &str = "w.nth - 1, c.source, t.source, n.chunk, t.how
    FROM unnest($1::bigint[]) WITH ORDINALITY AS w(id, nth)";

/// The references from each of these documents, by target; each with the document's place in the list.
pub(super) async fn from(tx: &Tx, sources: &[i64]) -> Sql<Vec<(usize, Reference)>> {
    let sql = format!(
        "SELECT {COLUMNS}
         JOIN chunks c ON c.source = w.id JOIN names n ON n.chunk = c.id AND n.how <= 0
         JOIN source_names t ON t.key = n.key AND t.source <> w.id
         WHERE {MEETS} ORDER BY w.nth, t.source, t.how, c.ordinal, c.id"
    );
    let mut found = read(tx, &sql, sources).await?;
    found.dedup_by_key(|(place, reference)| (*place, reference.to));
    Ok(found)
}

/// The references to each of these documents, by referring document; each with the document's place.
pub(super) async fn to(tx: &Tx, sources: &[i64]) -> Sql<Vec<(usize, Reference)>> {
    let sql = format!(
        "SELECT {COLUMNS}
         JOIN source_names t ON t.source = w.id JOIN names n ON n.key = t.key AND n.how <= 0
         JOIN chunks c ON c.id = n.chunk AND c.source <> w.id
         WHERE {MEETS} ORDER BY w.nth, c.source, t.how, c.ordinal, c.id"
    );
    let mut found = read(tx, &sql, sources).await?;
    found.dedup_by_key(|(place, reference)| (*place, reference.from));
    Ok(found)
}

async fn read(tx: &Tx, sql: &str, sources: &[i64]) -> Sql<Vec<(usize, Reference)>> {
    let mut found = Vec::new();
    for row in tx.all(sql, &[&sources, &NAMESAKES]).await? {
        let reference = Reference {
            from: SourceId(rows::id(&row, 1)?),
            to: SourceId(rows::id(&row, 2)?),
            chunk: ChunkId(rows::id(&row, 3)?),
            how: kind(row.try_get(4)?),
        };
        found.push((rows::size(&row, 0)?, reference));
    }
    Ok(found)
}
