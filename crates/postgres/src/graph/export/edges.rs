//! Defines the kinds of edges, their tables, and how each edge is found from either end.

use futures::TryStreamExt;
use pikerag_knowledge::{EdgeKind, Reference, TagClassId, TagId};
use pikerag_store::ExportLine;
use serde_json::json;
use tokio_postgres::Row;

use super::super::references;
use super::Emit;
use crate::fault::Sql;
use crate::rows;
use crate::tx::Tx;

/// A kind of edge that one statement reads, with the identifiers of both ends in a row.
struct Kind {
    edge: EdgeKind,
    /// The statement, up to the conditions.
    select: &'static str,
    /// The condition that every row fulfils.
    holds: &'static str,
    order: &'static str,
    /// The conditions for the edges from, then to, the node `w.id`, each written so that an index
    /// finds them.
    at: &'static [&'static str],
}

/// In the order of the export. References and tags come in between, because they are computed.
const BEFORE_REFERENCES: [Kind; 4] = [
    Kind {
        edge: EdgeKind::Contains,
        select: "SELECT s.id, x.id FROM sections x JOIN sources s ON s.id = x.source",
        holds: "x.parent IS NULL",
        order: "s.uri, x.ordinal",
        at: &["x.source = w.id", "x.id = w.id"],
    },
    Kind {
        edge: EdgeKind::Contains,
        select: "SELECT x.parent, x.id FROM sections x JOIN sources s ON s.id = x.source",
        // A filter may admit a section but not the section that contains it.
        holds: "x.parent IS NOT NULL AND EXISTS (SELECT 1 FROM sections p WHERE p.id = x.parent)",
        order: "s.uri, x.ordinal",
        at: &[
            "x.source = (SELECT p.source FROM sections p WHERE p.id = w.id) AND x.parent = w.id",
            "x.id = w.id",
        ],
    },
    Kind {
        edge: EdgeKind::Contains,
        select: "SELECT coalesce(c.section, s.id), c.id FROM chunks c JOIN sources s ON s.id = c.source",
        holds: "true",
        order: "s.uri, c.ordinal",
        at: &["c.section = w.id", "c.source = w.id AND c.section IS NULL", "c.id = w.id"],
    },
    Kind {
        edge: EdgeKind::Next,
        select: "SELECT a.id, b.id FROM chunks a JOIN chunks b ON b.source = a.source AND b.ordinal = a.ordinal + 1
            JOIN sources s ON s.id = a.source",
        holds: "true",
        order: "s.uri, a.ordinal",
        at: &["a.id = w.id", "b.id = w.id AND a.ordinal = b.ordinal - 1"],
    },
];

const BEFORE_TAGS: [Kind; 4] = [
    Kind {
        edge: EdgeKind::Answers,
        select: "SELECT a.id, a.chunk FROM atoms a JOIN chunks c ON c.id = a.chunk JOIN sources s ON s.id = c.source",
        holds: "true",
        order: "s.uri, c.ordinal, a.kind, a.ordinal, a.id",
        at: &["a.id = w.id", "a.chunk = w.id"],
    },
    Kind {
        edge: EdgeKind::Mentions,
        select: "SELECT m.chunk, m.entity FROM entity_mentions m",
        holds: "true",
        order: "m.chunk, m.entity",
        at: &["m.chunk = w.id", "m.entity = w.id"],
    },
    Kind {
        edge: EdgeKind::Relates,
        select: "SELECT r.subject, r.object FROM relations r",
        // The same holds for the entities of a relation. `EXISTS` would become a join that begins with
        // all entities.
        holds: "(SELECT e.id FROM entities e WHERE e.id = r.subject) IS NOT NULL
            AND (SELECT e.id FROM entities e WHERE e.id = r.object) IS NOT NULL",
        order: "r.id",
        at: &["r.subject = w.id", "r.object = w.id"],
    },
    Kind {
        edge: EdgeKind::MemberOf,
        select: "SELECT m.entity, m.community FROM members m",
        holds: "true",
        order: "m.community, m.entity",
        at: &["m.entity = w.id", "m.community = w.id"],
    },
];

const AFTER_TAGS: [Kind; 4] = [
    Kind {
        edge: EdgeKind::DerivedFrom,
        select: "SELECT m.relation, m.chunk FROM relation_mentions m",
        holds: "true",
        order: "m.relation, m.chunk",
        at: &["m.relation = w.id", "m.chunk = w.id"],
    },
    Kind {
        edge: EdgeKind::DerivedFrom,
        select: "SELECT r.id, r.chunk FROM records r JOIN chunks c ON c.id = r.chunk JOIN sources s ON s.id = c.source",
        holds: "true",
        order: "s.uri, c.ordinal, r.schema, r.ordinal, r.id",
        at: &["r.id = w.id", "r.chunk = w.id"],
    },
    Kind {
        edge: EdgeKind::DerivedFrom,
        select: "SELECT k.summary, coalesce(k.chunk, k.child) FROM summary_children k",
        holds: "true",
        order: "k.summary, k.ordinal",
        at: &["k.summary = w.id", "k.chunk = w.id", "k.child = w.id"],
    },
    Kind {
        edge: EdgeKind::DerivedFrom,
        select: "SELECT v.verified, v.chunk FROM verified_chunks v JOIN chunks c ON c.id = v.chunk",
        holds: "v.is_ground",
        order: "v.verified, v.chunk",
        at: &["v.verified = w.id", "v.chunk = w.id"],
    },
];

/// Documents whose references are found by one statement.
const BATCH: usize = 100;

/// All edges.
pub(super) async fn all(tx: &Tx, emit: Emit<'_>) -> Sql<()> {
    for kind in &BEFORE_REFERENCES {
        kind.all(tx, emit).await?;
    }
    let sources = rows::ids(&tx.all("SELECT id FROM sources ORDER BY uri", &[]).await?)?;
    for sources in rows::signed(sources).chunks(BATCH) {
        for (_, found) in references::from(tx, sources).await? {
            emit(reference(&found))?;
        }
    }
    for kind in &BEFORE_TAGS {
        kind.all(tx, emit).await?;
    }
    let sql = format!("{TAGGED} ORDER BY t.chunk, t.class, t.key");
    let mut tagged = tx.stream(&sql, &[]).await?;
    while let Some(row) = tagged.try_next().await? {
        emit(tag_edge(&row)?)?;
    }
    for kind in &AFTER_TAGS {
        kind.all(tx, emit).await?;
    }
    Ok(())
}

/// The edges from and to these nodes, node by node; an edge between two of them occurs twice.
pub(super) async fn of(tx: &Tx, ids: &[u64]) -> Sql<Vec<ExportLine>> {
    let keys = rows::signed(ids.iter().copied());
    // Each with the place of its node.
    let mut found: Vec<(usize, ExportLine)> = Vec::new();
    for kind in BEFORE_REFERENCES.iter().chain(&BEFORE_TAGS).chain(&AFTER_TAGS) {
        found.extend(kind.of(tx, &keys).await?);
    }
    for (place, it) in references::from(tx, &keys).await? {
        found.push((place, reference(&it)));
    }
    for (place, it) in references::to(tx, &keys).await? {
        found.push((place, reference(&it)));
    }
    let sql = "SELECT t.chunk, t.class, t.key, w.nth - 1
         FROM unnest($1::bigint[]) WITH ORDINALITY AS w(id, nth) JOIN chunk_tags t ON t.chunk = w.id
         ORDER BY w.nth, t.class, t.key";
    for row in tx.all(sql, &[&keys]).await? {
        found.push((rows::size(&row, 3)?, tag_edge(&row)?));
    }
    // Within a node, the order of the kinds stays.
    found.sort_by_key(|(place, _)| *place);
    let mut edges: Vec<ExportLine> = found.into_iter().map(|(_, line)| line).collect();
    edges.extend(to_tags(tx, ids).await?);
    Ok(edges)
}

impl Kind {
    async fn all(&self, tx: &Tx, emit: Emit<'_>) -> Sql<()> {
        let Self { select, holds, order, .. } = self;
        let sql = format!("{select} WHERE {holds} ORDER BY {order}");
        let mut found = tx.stream(&sql, &[]).await?;
        while let Some(row) = found.try_next().await? {
            emit(self.line(&row)?)?;
        }
        Ok(())
    }

    /// The edges of this kind from and to these nodes, each with the place of its node.
    async fn of(&self, tx: &Tx, ids: &[i64]) -> Sql<Vec<(usize, ExportLine)>> {
        let Self { select, holds, at, .. } = self;
        let arms: Vec<String> =
            at.iter().map(|at| format!("({select} WHERE {holds} AND {at})")).collect();
        let sql = format!(
            "SELECT e.start, e.stop, w.nth - 1 FROM unnest($1::bigint[]) WITH ORDINALITY AS w(id, nth)
             CROSS JOIN LATERAL ({}) AS e(start, stop) ORDER BY w.nth, e.start = w.id DESC, e.start, e.stop",
            arms.join(" UNION ALL ")
        );
        let mut found = Vec::new();
        for row in tx.all(&sql, &[&ids]).await? {
            found.push((rows::size(&row, 2)?, self.line(&row)?));
        }
        Ok(found)
    }

    fn line(&self, row: &Row) -> Sql<ExportLine> {
        Ok(json!({ "edge": self.edge, "from": hex(row, 0)?, "to": hex(row, 1)? }))
    }
}

const TAGGED: &str = "SELECT t.chunk, t.class, t.key FROM chunk_tags t";

/// A row of [`TAGGED`].
fn tag_edge(row: &Row) -> Sql<ExportLine> {
    let tag = TagId::of(TagClassId(rows::id(row, 1)?), rows::id(row, 2)?);
    Ok(json!({ "edge": EdgeKind::Tagged, "from": hex(row, 0)?, "to": tag }))
}

/// The edges to those of these nodes that are tags. No row has a tag's identifier, because it is
/// computed from class and key.
async fn to_tags(tx: &Tx, ids: &[u64]) -> Sql<Vec<ExportLine>> {
    let (mut classes, mut keys) = (Vec::new(), Vec::new());
    for row in tx.all("SELECT DISTINCT class, key FROM chunk_tags", &[]).await? {
        let (class, key) = (rows::id(&row, 0)?, rows::id(&row, 1)?);
        if ids.contains(&TagId::of(TagClassId(class), key).0) {
            classes.push(class.cast_signed());
            keys.push(key.cast_signed());
        }
    }
    let sql = format!(
        "{TAGGED} JOIN unnest($1::bigint[], $2::bigint[]) AS w(class, key) ON w.class = t.class AND w.key = t.key
         ORDER BY t.class, t.key, t.chunk"
    );
    let found = tx.all(&sql, &[&classes, &keys]).await?;
    found.iter().map(tag_edge).collect()
}

/// An edge between documents, with the chunk that carries it.
fn reference(found: &Reference) -> ExportLine {
    json!({
        "edge": EdgeKind::RefersTo, "from": found.from, "to": found.to, "how": found.how, "chunk": found.chunk,
    })
}

/// The identifier in a column, as nodes show it.
pub(super) fn hex(row: &Row, column: usize) -> Sql<String> {
    Ok(format!("{:016x}", rows::id(row, column)?))
}
