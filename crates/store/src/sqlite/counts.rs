//! Counts the content of a base for `status`.

use std::collections::{BTreeSet, HashMap};

use pikerag_knowledge::{
    AtomKind, Backlog, BaseState, BaseSummary, Derived, ExtractBy, Stage, Usage,
};
use rusqlite::{Connection, params_from_iter};

use super::counters::generation;
use super::scope::Scope;
use super::{refusals, rows};

/// Whether any such content is visible.
pub(super) fn has(connection: &Connection, content: Derived) -> rusqlite::Result<bool> {
    let (from, kind) = match content {
        Derived::Atoms(kind) => ("atoms WHERE kind = ?1", Some(kind.as_str())),
        Derived::Entities => ("entities", None),
        Derived::Summaries => ("summaries", None),
        Derived::Tags => ("chunk_tags", None),
    };
    let mut statement = connection.prepare_cached(&format!("SELECT 1 FROM {from} LIMIT 1"))?;
    statement.exists(params_from_iter(kind))
}

pub(super) fn summary(connection: &Connection) -> rusqlite::Result<BaseSummary> {
    let count = |sql: &str| connection.query_row(sql, [], |row| rows::size(row, 0));
    let usage = connection.query_row(
        "SELECT coalesce(sum(prompt_tokens), 0), coalesce(sum(completion_tokens), 0) FROM calls",
        [],
        |row| Ok(Usage { prompt_tokens: rows::id(row, 0)?, completion_tokens: rows::id(row, 1)? }),
    )?;
    let chunks = count("SELECT count(*) FROM chunks")?;
    // Other chunks are not indexed.
    let searchable = format!("SELECT count(*) FROM chunks c WHERE {}", rows::SEARCHABLE);
    let searchable = count(&searchable)?;
    let mut pending = Vec::new();
    let atomizing =
        [AtomKind::Question, AtomKind::Statement, AtomKind::Sentence].map(Stage::atomize);
    let extracting = [ExtractBy::Model, ExtractBy::Names].map(Stage::extract);
    for stage in atomizing.into_iter().chain(extracting) {
        let done = connection.query_row(
            "SELECT count(*) FROM progress WHERE stage = ?1",
            [&stage.0],
            |row| rows::size(row, 0),
        )?;
        if 0 < done && done < searchable {
            pending.push(Backlog { stage: stage.0, count: searchable - done });
        }
    }
    let by_kind: HashMap<String, usize> = connection
        .prepare("SELECT kind, count(*) FROM atoms GROUP BY kind")?
        .query_map([], |row| Ok((row.get(0)?, rows::size(row, 1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let atoms = |kind: AtomKind| by_kind.get(kind.as_str()).copied().unwrap_or_default();
    Ok(BaseSummary {
        files: count("SELECT count(*) FROM files")?,
        sources: count("SELECT count(*) FROM sources")?,
        sections: count("SELECT count(*) FROM sections")?,
        chunks,
        questions: atoms(AtomKind::Question),
        sentences: atoms(AtomKind::Sentence),
        statements: atoms(AtomKind::Statement),
        records: count("SELECT count(*) FROM records")?,
        entities: count("SELECT count(*) FROM entities")?,
        relations: count("SELECT count(*) FROM relations")?,
        communities: count("SELECT count(*) FROM communities")?,
        reports: count("SELECT count(*) FROM reports")?,
        summaries: count("SELECT count(*) FROM summaries")?,
        tags: count("SELECT count(*) FROM (SELECT DISTINCT class, key FROM chunk_tags)")?,
        vectors: count(
            "SELECT (SELECT count(*) FROM chunk_vectors) + (SELECT count(*) FROM atom_vectors)
             + (SELECT count(*) FROM entity_vectors) + (SELECT count(*) FROM summary_vectors)
             + (SELECT count(*) FROM source_vectors) + (SELECT count(*) FROM section_vectors)",
        )?,
        embedder: embedder(connection, "")?,
        calls: count("SELECT count(*) FROM calls WHERE role <> 'embed'")?,
        usage,
        pending,
        refused: refusals::counted(connection)?,
    })
}

/// Counts the texts of all sets that have no vector of this embedder.
pub(super) fn without_vector(connection: &Connection, embedder: &str) -> rusqlite::Result<usize> {
    let count = |sql: &str| connection.query_row(sql, [embedder], |row| rows::size(row, 0));
    let mut waiting = count(&format!(
        "SELECT count(*) FROM chunks c WHERE {} AND NOT EXISTS
         (SELECT 1 FROM chunk_vectors v WHERE v.node = c.id AND v.embedder = ?1)",
        rows::SEARCHABLE
    ))?;
    for (nodes, vectors) in [
        ("atoms", "atom_vectors"),
        ("entities", "entity_vectors"),
        ("summaries", "summary_vectors"),
        ("sources", "source_vectors"),
        ("sections", "section_vectors"),
    ] {
        // Every node is embedded, and its vector is deleted with it, so two counts suffice.
        waiting += count(&format!(
            "SELECT (SELECT count(*) FROM {nodes}) - (SELECT count(*) FROM {vectors} WHERE embedder = ?1)"
        ))?;
    }
    Ok(waiting)
}

/// The generation of the documents, the number of visible chunks, and the embedder of the vectors.
/// The state, through a filter if there is one.
pub(super) fn state(connection: &Connection, scope: Option<&Scope>) -> rusqlite::Result<BaseState> {
    let chunks = match scope {
        Some(scope) => scope.chunks.len(),
        None => connection
            .prepare_cached("SELECT count(*) FROM chunks")?
            .query_row([], |row| rows::size(row, 0))?,
    };
    Ok(BaseState {
        generation: generation(connection)?,
        chunks,
        embedder: embedder(connection, "main.")?,
        scope: scope.map(|scope| scope.number),
    })
}

/// The embedder of all vectors in a schema; if there are several, their names.
fn embedder(connection: &Connection, schema: &str) -> rusqlite::Result<Option<String>> {
    // Reads only the ends of an index, so it is fast for any number of vectors.
    let end =
        |end: &str, nodes: &str| format!("(SELECT {end}(embedder) FROM {schema}{nodes}_vectors)");
    let ends = ["chunk", "atom", "entity", "summary", "source", "section"]
        .map(|nodes| [end("min", nodes), end("max", nodes)].join(", "));
    let mut statement = connection.prepare_cached(&format!("SELECT {}", ends.join(", ")))?;
    let columns = statement.column_count();
    let names: BTreeSet<String> = statement.query_row([], |row| {
        (0..columns).filter_map(|column| row.get(column).transpose()).collect()
    })?;
    let names: Vec<String> = names.into_iter().collect();
    Ok((!names.is_empty()).then(|| names.join(" and ")))
}
