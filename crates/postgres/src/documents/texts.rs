//! Finds the texts that need a vector, as embedders see them.

use std::collections::HashMap;

use pikerag_knowledge::{AtomKind, Entity, EntityId, NodeId, TextToEmbed, VectorSet};
use pikerag_store::shared::{embedded, searchable};
use tokio_postgres::Row;

use crate::fault::Sql;
use crate::graph::entities;
use crate::rows::{self, CHUNK_COLUMNS, Text};
use crate::tx::{Param, Tx};

/// A section deeper than this is named by its innermost headings.
const DEEPEST: i64 = 16;
/// The most characters of a source or section that embedders see.
const LONGEST: usize = 2000;

/// Selects texts of a set.
pub(super) struct Which<'a> {
    pub(super) embedder: &'a str,
    /// Only texts after this node.
    pub(super) after: i64,
    /// Only texts of these files.
    pub(super) only: Option<&'a [String]>,
}

/// The sources of the files in the parameter of this number.
pub(super) fn of_files(parameter: usize) -> String {
    format!("(SELECT f.id FROM pikerag_base.sources f WHERE f.file = ANY(${parameter}::text[]))")
}

/// A batch is a small part of its table, and the statistics may still be those of an empty base: with
/// them, the planner would read whole tables for every batch.
const BY_INDEX: &str = "SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off;
     SET LOCAL enable_mergejoin = off";
const AS_USUAL: &str = "SET LOCAL enable_seqscan TO DEFAULT; SET LOCAL enable_hashjoin TO DEFAULT;
     SET LOCAL enable_mergejoin TO DEFAULT";

/// Whether a node has no vector of the embedder `$1`. As a single value, it is looked up for each node. As a
/// join, the planner would compare all nodes with all vectors of a new base, because it expects one row.
fn lacks(vectors: &str, node: &str) -> String {
    format!("(SELECT v.embedder FROM {vectors} v WHERE v.node = {node}) IS DISTINCT FROM $1")
}

/// Texts of a set without a vector of this embedder, by identifier. Entities and summaries belong
/// to no file.
pub(super) async fn without_vector(
    tx: &Tx,
    set: VectorSet,
    which: &Which<'_>,
    limit: i64,
) -> Sql<Vec<TextToEmbed>> {
    let is_of_no_file = matches!(set, VectorSet::Entities | VectorSet::Summaries);
    if is_of_no_file && which.only.is_some() {
        return Ok(Vec::new());
    }
    tx.batch(BY_INDEX).await?;
    let found = match set {
        VectorSet::Chunks => chunks(tx, which, limit).await?,
        VectorSet::Atoms(kind) => atoms(tx, kind, which, limit).await?,
        VectorSet::Entities => of_entities(tx, which, limit).await?,
        VectorSet::Summaries => summaries(tx, which, limit).await?,
        VectorSet::Sources => sources(tx, which, limit).await?,
        VectorSet::Sections => sections(tx, which, limit).await?,
    };
    tx.batch(AS_USUAL).await?;
    Ok(found)
}

async fn chunks(tx: &Tx, which: &Which<'_>, limit: i64) -> Sql<Vec<TextToEmbed>> {
    let of_files = if which.only.is_some() { "AND s.file = ANY($4::text[])" } else { "" };
    let lacks = lacks("chunk_vectors", "c.id");
    let sql = format!(
        "SELECT {CHUNK_COLUMNS} FROM chunks c JOIN sources s ON s.id = c.source
         WHERE c.id > $2 AND c.searchable {of_files} AND {lacks} ORDER BY c.id LIMIT $3"
    );
    let (embedder, only) = (Text(which.embedder), which.only.map(Text::all));
    let mut params: Vec<Param<'_>> = vec![&embedder, &which.after, &limit];
    if let Some(files) = &only {
        params.push(files);
    }
    let found = tx.all(&sql, &params).await?;
    let mut texts = Vec::with_capacity(found.len());
    for row in found {
        let chunk = rows::chunk(&row)?;
        texts.push(TextToEmbed { node: chunk.id.into(), text: searchable(&chunk) });
    }
    Ok(texts)
}

async fn atoms(tx: &Tx, kind: AtomKind, which: &Which<'_>, limit: i64) -> Sql<Vec<TextToEmbed>> {
    // There may be a million atoms. Equal counts prove that none is pending, because a vector is
    // deleted with its atom.
    let is_first = which.after < 0 && which.only.is_none();
    let sql = "SELECT (SELECT count(*) FROM pikerag_base.atoms)
         = (SELECT count(*) FROM pikerag_base.atom_vectors WHERE embedder = $1)";
    let embedder = Text(which.embedder);
    if is_first && tx.one(sql, &[&embedder]).await?.try_get(0)? {
        return Ok(Vec::new());
    }
    // From the files on: their atoms may be few of many.
    let (from, of_files) = match which.only {
        None => ("pikerag_base.atoms a", ""),
        Some(_) => (
            "pikerag_base.sources s JOIN pikerag_base.chunks c ON c.source = s.id
             JOIN pikerag_base.atoms a ON a.chunk = c.id",
            "AND s.file = ANY($5::text[])",
        ),
    };
    let lacks = lacks("pikerag_base.atom_vectors", "a.id");
    let sql = format!(
        "SELECT a.id, a.text FROM {from}
         WHERE a.kind = $2 AND a.id > $3 {of_files} AND {lacks} ORDER BY a.id LIMIT $4"
    );
    let (kind, only) = (kind.as_str(), which.only.map(Text::all));
    let mut params: Vec<Param<'_>> = vec![&embedder, &kind, &which.after, &limit];
    if let Some(files) = &only {
        params.push(files);
    }
    let found = tx.all(&sql, &params).await?;
    found.iter().map(text).collect()
}

async fn of_entities(tx: &Tx, which: &Which<'_>, limit: i64) -> Sql<Vec<TextToEmbed>> {
    let lacks = lacks("entity_vectors", "e.id");
    let sql =
        format!("SELECT e.id FROM entities e WHERE e.id > $2 AND {lacks} ORDER BY e.id LIMIT $3");
    let found = tx.all(&sql, &[&Text(which.embedder), &which.after, &limit]).await?;
    let ids: Vec<EntityId> = rows::ids(&found)?.into_iter().map(EntityId).collect();
    let entities = entities::entities(tx, &ids).await?;
    let text = |entity: &Entity| TextToEmbed { node: entity.id.into(), text: embedded(entity) };
    Ok(entities.iter().map(text).collect())
}

async fn summaries(tx: &Tx, which: &Which<'_>, limit: i64) -> Sql<Vec<TextToEmbed>> {
    let lacks = lacks("summary_vectors", "x.id");
    let sql = format!(
        "SELECT x.id, x.text FROM summaries x WHERE x.id > $2 AND {lacks} ORDER BY x.id LIMIT $3"
    );
    let found = tx.all(&sql, &[&Text(which.embedder), &which.after, &limit]).await?;
    found.iter().map(text).collect()
}

/// Titles of sources, each with the summary of its source.
async fn sources(tx: &Tx, which: &Which<'_>, limit: i64) -> Sql<Vec<TextToEmbed>> {
    let lacks = lacks("source_vectors", "s.id");
    let sql = format!(
        "SELECT s.id, s.title, coalesce(s.summary, '') FROM sources s
         WHERE s.id > $2 AND ($4::text[] IS NULL OR s.file = ANY($4::text[])) AND {lacks}
         ORDER BY s.id LIMIT $3"
    );
    let only = which.only.map(Text::all);
    let found = tx.all(&sql, &[&Text(which.embedder), &which.after, &limit, &only]).await?;
    let mut texts = Vec::with_capacity(found.len());
    for row in found {
        let (title, summary) = (rows::text(&row, 1)?, rows::text(&row, 2)?);
        let text = if summary.is_empty() { title } else { format!("{title}\n{summary}") };
        texts.push(TextToEmbed { node: NodeId(rows::id(&row, 0)?), text: beginning(&text) });
    }
    Ok(texts)
}

/// Headings of sections, below the titles of their sources.
async fn sections(tx: &Tx, which: &Which<'_>, limit: i64) -> Sql<Vec<TextToEmbed>> {
    let lacks = lacks("section_vectors", "x.id");
    let sql = format!(
        "SELECT x.id, s.title FROM sections x JOIN sources s ON s.id = x.source
         WHERE x.id > $2 AND ($4::text[] IS NULL OR s.file = ANY($4::text[])) AND {lacks}
         ORDER BY x.id LIMIT $3"
    );
    let only = which.only.map(Text::all);
    let found = tx.all(&sql, &[&Text(which.embedder), &which.after, &limit, &only]).await?;
    let ids = rows::signed(rows::ids(&found)?);
    let mut paths = paths(tx, &ids).await?;
    let mut texts = Vec::with_capacity(found.len());
    for row in found {
        let (id, title) = (rows::id(&row, 0)?, rows::text(&row, 1)?);
        let path = paths.remove(&id).unwrap_or_default();
        texts.push(TextToEmbed { node: NodeId(id), text: beginning(&titled(&title, &path)) });
    }
    Ok(texts)
}

/// The headings that lead to each section, outermost first, its own last.
async fn paths(tx: &Tx, sections: &[i64]) -> Sql<HashMap<u64, Vec<String>>> {
    let sql = "WITH RECURSIVE above(node, step, heading, parent) AS (
             SELECT x.id, 1::bigint, x.heading, x.parent FROM sections x
             WHERE x.id = ANY($1::bigint[])
             UNION ALL
             SELECT a.node, a.step + 1, x.heading, x.parent
             FROM above a JOIN sections x ON x.id = a.parent WHERE a.step < $2
         )
         SELECT node, heading FROM above ORDER BY node, step DESC";
    let mut paths: HashMap<u64, Vec<String>> = HashMap::new();
    for row in tx.all(sql, &[&sections, &DEEPEST]).await? {
        paths.entry(rows::id(&row, 0)?).or_default().push(rows::text(&row, 1)?);
    }
    Ok(paths)
}

/// A path of headings below the title of its source, which the outermost heading may repeat.
fn titled(title: &str, path: &[String]) -> String {
    match path.first() {
        Some(outermost) if outermost == title => path.join(" › "),
        _ => format!("{title} › {}", path.join(" › ")),
    }
}

fn beginning(text: &str) -> String {
    text.chars().take(LONGEST).collect()
}

/// Reads `id, text`.
fn text(row: &Row) -> Sql<TextToEmbed> {
    Ok(TextToEmbed { node: NodeId(rows::id(row, 0)?), text: rows::text(row, 1)? })
}

/// Counts the texts of all sets that have no vector of this embedder.
pub(super) async fn count_without_vector(tx: &Tx, embedder: &str) -> Sql<usize> {
    let mut terms = vec![
        "(SELECT count(*) FROM chunks c WHERE c.searchable AND NOT EXISTS
         (SELECT 1 FROM chunk_vectors v WHERE v.node = c.id AND v.embedder = $1))"
            .to_owned(),
    ];
    for (nodes, vectors) in [
        ("atoms", "atom_vectors"),
        ("entities", "entity_vectors"),
        ("summaries", "summary_vectors"),
        ("sources", "source_vectors"),
        ("sections", "section_vectors"),
    ] {
        // Every node is embedded, and its vector is deleted with it, so two counts suffice.
        terms.push(format!(
            "(SELECT count(*) FROM {nodes}) - (SELECT count(*) FROM {vectors} WHERE embedder = $1)"
        ));
    }
    let sql = format!("SELECT {}", terms.join(" + "));
    rows::count_of(tx.number(&sql, &[&Text(embedder)]).await?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_begins_with_the_title_once() {
        let path = ["Cranes".to_owned(), "Lifting".to_owned()];
        assert_eq!(titled("Cranes", &path), "Cranes › Lifting");
        assert_eq!(titled("Harbour", &path), "Harbour › Cranes › Lifting");
    }
}
