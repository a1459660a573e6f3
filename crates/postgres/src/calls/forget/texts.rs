//! Reads the texts of documents, and the texts that were derived from them.

use std::collections::{BTreeSet, HashSet};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures::StreamExt;
use pikerag_knowledge::Table;
use pikerag_language::sentences;
use pikerag_store::shared::Phrases;

use crate::fault::Sql;
use crate::rows::{self, Text};
use crate::tx::Tx;

/// How a column holds its text.
#[derive(Clone, Copy)]
enum Form {
    Plain,
    Json,
    Bytes,
}

use Form::{Bytes, Json, Plain};

/// Queries for the texts of documents and for the texts derived from them, each with its document.
const TEXTS: &[(Form, &str)] = &[
    (Plain, "SELECT id, text FROM sources"),
    (Plain, "SELECT id, summary FROM sources WHERE summary IS NOT NULL"),
    (Plain, "SELECT source, heading FROM sections"),
    (Plain, "SELECT source, summary FROM chunks WHERE summary IS NOT NULL"),
    (Plain, "SELECT c.source, a.text FROM atoms a JOIN chunks c ON c.id = a.chunk"),
    (Json, "SELECT c.source, r.fields FROM records r JOIN chunks c ON c.id = r.chunk"),
    (
        Plain,
        "SELECT c.source, m.description FROM entity_mentions m JOIN chunks c ON c.id = m.chunk",
    ),
    (
        Plain,
        "SELECT c.source, m.description FROM relation_mentions m JOIN chunks c ON c.id = m.chunk",
    ),
    (Plain, "SELECT c.source, t.text FROM chunk_tags t JOIN chunks c ON c.id = t.chunk"),
    (Plain, "SELECT c.source, t.text FROM tag_examples t JOIN chunks c ON c.id = t.chunk"),
];

/// Queries for texts that were derived from several documents together, and go with any of them.
/// They do not count as texts of another document.
const SHARED: &[(Form, &str)] = &[
    (
        Plain,
        "SELECT c.source, d.text FROM descriptions d JOIN entity_mentions m ON m.entity = d.node
         JOIN chunks c ON c.id = m.chunk",
    ),
    (
        Plain,
        "SELECT c.source, d.text FROM descriptions d JOIN relation_mentions m ON m.relation = d.node
         JOIN chunks c ON c.id = m.chunk",
    ),
    (
        Plain,
        "SELECT c.source, r.summary FROM reports r JOIN members x ON x.community = r.community
         JOIN entity_mentions m ON m.entity = x.entity JOIN chunks c ON c.id = m.chunk",
    ),
    (
        Json,
        "SELECT c.source, r.findings FROM reports r JOIN members x ON x.community = r.community
         JOIN entity_mentions m ON m.entity = x.entity JOIN chunks c ON c.id = m.chunk",
    ),
    (
        Json,
        "SELECT c.source, x.schema FROM structured x JOIN structured_basis b ON b.structured = x.hash
         JOIN chunks c ON c.id = b.chunk",
    ),
    (
        Plain,
        "WITH RECURSIVE above(source, summary) AS (
             SELECT c.source, s.summary FROM summary_children s JOIN chunks c ON c.id = s.chunk
             UNION
             SELECT a.source, s.summary FROM summary_children s JOIN above a ON s.child = a.summary)
         SELECT a.source, x.text FROM above a JOIN summaries x ON x.id = a.summary",
    ),
];

/// Prompts show tables by their cells, which the text need not contain in that form.
const CELLS: &[(Form, &str)] =
    &[(Json, "SELECT source, cells FROM chunks WHERE cells IS NOT NULL")];

/// Prompts hold pictures in base64.
const FIGURES: &[(Form, &str)] =
    &[(Bytes, "SELECT c.source, f.bytes FROM figures f JOIN chunks c ON c.id = f.chunk")];

/// Identifiers of the documents of files, in order.
pub(super) async fn sources(tx: &Tx, files: &[String]) -> Sql<Vec<i64>> {
    let sql = "SELECT id FROM sources WHERE file = ANY($1) ORDER BY id";
    let found = tx.all(sql, &[&Text::all(files)]).await?;
    found.iter().map(|row| Ok(row.try_get(0)?)).collect()
}

/// The sentences and lines of these documents, and of the texts derived from them.
pub(super) async fn phrases(tx: &Tx, sources: &[i64]) -> Sql<Phrases> {
    let mut texts: HashSet<String> = HashSet::new();
    for queries in [TEXTS, SHARED] {
        each_text(tx, queries, "= ANY", sources, |text| {
            for sentence in sentences(text).into_iter().filter_map(|range| text.get(range)) {
                texts.extend(sentence.lines().map(str::to_owned));
                texts.insert(sentence.to_owned());
            }
        })
        .await?;
    }
    each_text(tx, CELLS, "= ANY", sources, |json| {
        let Table { header, rows, .. } = serde_json::from_str(json).unwrap_or_default();
        for row in rows.into_iter().chain([header]) {
            texts.insert(row.join(" | "));
            texts.extend(row);
        }
    })
    .await?;
    each_text(tx, FIGURES, "= ANY", sources, |text| {
        texts.insert(text.to_owned());
    })
    .await?;
    Ok(Phrases::new(texts))
}

/// The phrases that no other document has, and that no template of ours contains.
pub(super) async fn own(tx: &Tx, sources: &[i64], phrases: &Phrases) -> Sql<Phrases> {
    let mut others = BTreeSet::new();
    let mut templates = tx.stream("SELECT text FROM templates", &[]).await?;
    while let Some(row) = templates.next().await {
        phrases.mark(&rows::text(&row?, 0)?, &mut others);
    }
    drop(templates);
    for queries in [TEXTS, FIGURES] {
        each_text(tx, queries, "<> ALL", sources, |text| phrases.mark(text, &mut others)).await?;
    }
    Ok(phrases.without(&others))
}

/// Passes on each text of documents that are (`= ANY`) or are not (`<> ALL`) among these.
async fn each_text(
    tx: &Tx,
    queries: &[(Form, &str)],
    which: &str,
    sources: &[i64],
    mut hand: impl FnMut(&str) + Send,
) -> Sql<()> {
    for (form, query) in queries {
        let sql = format!(
            "SELECT held.text FROM ({query}) AS held(source, text) WHERE held.source {which} ($1)"
        );
        let mut found = tx.stream(&sql, &[&sources]).await?;
        while let Some(row) = found.next().await {
            let row = row?;
            match form {
                Plain => hand(&rows::text(&row, 0)?),
                Json => hand(row.try_get(0)?),
                Bytes => hand(&STANDARD.encode(row.try_get::<_, &[u8]>(0)?)),
            }
        }
    }
    Ok(())
}
