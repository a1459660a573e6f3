//! Reads the texts of documents, and the texts that were derived from them.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use pikerag_knowledge::Table;
use pikerag_language::sentences;
use rusqlite::Connection;
use rusqlite::types::ValueRef;

use crate::phrases::Phrases;

/// Queries for the texts of documents and for the texts derived from them, each with its document.
const TEXTS: &[&str] = &[
    "SELECT id, text FROM sources",
    "SELECT id, summary FROM sources WHERE summary IS NOT NULL",
    "SELECT source, heading FROM sections",
    "SELECT source, summary FROM chunks WHERE summary IS NOT NULL",
    "SELECT c.source, a.text FROM atoms a JOIN chunks c ON c.id = a.chunk",
    "SELECT c.source, r.fields FROM records r JOIN chunks c ON c.id = r.chunk",
    "SELECT c.source, m.description FROM entity_mentions m JOIN chunks c ON c.id = m.chunk",
    "SELECT c.source, m.description FROM relation_mentions m JOIN chunks c ON c.id = m.chunk",
    "SELECT c.source, t.text FROM chunk_tags t JOIN chunks c ON c.id = t.chunk",
    "SELECT c.source, t.text FROM tag_examples t JOIN chunks c ON c.id = t.chunk",
];

/// Queries for texts that were derived from several documents together, and go with any of them.
/// They do not count as texts of another document.
const SHARED: &[&str] = &[
    "SELECT c.source, d.text FROM descriptions d JOIN entity_mentions m ON m.entity = d.node
     JOIN chunks c ON c.id = m.chunk",
    "SELECT c.source, d.text FROM descriptions d JOIN relation_mentions m ON m.relation = d.node
     JOIN chunks c ON c.id = m.chunk",
    "SELECT c.source, r.summary || char(10) || r.findings FROM reports r
     JOIN members x ON x.community = r.community JOIN entity_mentions m ON m.entity = x.entity
     JOIN chunks c ON c.id = m.chunk",
    "SELECT c.source, x.schema FROM structured x JOIN structured_basis b ON b.structured = x.hash
     JOIN chunks c ON c.id = b.chunk",
    "WITH RECURSIVE above(source, summary) AS (
         SELECT c.source, s.summary FROM summary_children s JOIN chunks c ON c.id = s.chunk
         UNION
         SELECT a.source, s.summary FROM summary_children s JOIN above a ON s.child = a.summary)
     SELECT a.source, x.text FROM above a JOIN summaries x ON x.id = a.summary",
];

/// Prompts show tables by their cells, which the text need not contain in that form.
const CELLS: &[&str] = &["SELECT source, cells FROM chunks WHERE cells IS NOT NULL"];

/// Prompts hold pictures in base64.
const FIGURES: &[&str] =
    &["SELECT c.source, f.bytes FROM figures f JOIN chunks c ON c.id = f.chunk"];

/// Identifiers of the documents of files.
pub(super) fn sources(
    connection: &Connection,
    files: &[String],
) -> rusqlite::Result<BTreeSet<i64>> {
    let mut statement = connection.prepare_cached("SELECT id FROM sources WHERE file = ?1")?;
    let mut sources = BTreeSet::new();
    for file in files {
        for id in statement.query_map([file], |row| row.get(0))? {
            sources.insert(id?);
        }
    }
    Ok(sources)
}

/// The sentences and lines of these documents, and of the texts derived from them.
pub(super) fn phrases(
    connection: &Connection,
    sources: &BTreeSet<i64>,
) -> rusqlite::Result<Phrases> {
    let mut texts: HashSet<String> = HashSet::new();
    for queries in [TEXTS, SHARED] {
        each_text(connection, queries, "IN", sources, |text| {
            for sentence in sentences(text).into_iter().filter_map(|range| text.get(range)) {
                texts.extend(sentence.lines().map(str::to_owned));
                texts.insert(sentence.to_owned());
            }
        })?;
    }
    each_text(connection, CELLS, "IN", sources, |json| {
        let Table { header, rows, .. } = serde_json::from_str(json).unwrap_or_default();
        for row in rows.into_iter().chain([header]) {
            texts.insert(row.join(" | "));
            texts.extend(row);
        }
    })?;
    each_text(connection, FIGURES, "IN", sources, |text| {
        texts.insert(text.to_owned());
    })?;
    Ok(Phrases::new(texts))
}

/// The phrases that no other document has, and that no template of ours contains.
pub(super) fn own(
    connection: &Connection,
    sources: &BTreeSet<i64>,
    phrases: &Phrases,
) -> rusqlite::Result<Phrases> {
    let mut others = BTreeSet::new();
    let mut templates = connection.prepare("SELECT text FROM templates")?;
    let mut rows = templates.query([])?;
    while let Some(row) = rows.next()? {
        phrases.mark(row.get_ref(0)?.as_str()?, &mut others);
    }
    for queries in [TEXTS, FIGURES] {
        each_text(connection, queries, "NOT IN", sources, |text| {
            phrases.mark(text, &mut others);
        })?;
    }
    Ok(phrases.without(&others))
}

/// Passes on each text of documents that are `IN` or `NOT IN` these.
fn each_text(
    connection: &Connection,
    queries: &[&str],
    which: &str,
    sources: &BTreeSet<i64>,
    mut hand: impl FnMut(&str),
) -> rusqlite::Result<()> {
    let sources: Vec<String> = sources.iter().map(i64::to_string).collect();
    let sources = format!("[{}]", sources.join(","));
    for query in queries {
        let sql = format!(
            "WITH said(source, text) AS ({query})
             SELECT text FROM said WHERE source {which} (SELECT value FROM json_each(?1))"
        );
        let mut statement = connection.prepare(&sql)?;
        let mut rows = statement.query([&sources])?;
        while let Some(row) = rows.next()? {
            let text = match row.get_ref(0)? {
                ValueRef::Blob(bytes) => Cow::Owned(STANDARD.encode(bytes)),
                text => Cow::Borrowed(text.as_str()?),
            };
            hand(&text);
        }
    }
    Ok(())
}
