//! Counts the content of a base for `status`.

use std::collections::{BTreeSet, HashMap};

use pikerag_knowledge::{
    AtomKind, Backlog, BaseState, BaseSummary, Derived, ExtractBy, Generation, Stage, Usage,
};

use super::refusals;
use crate::admit::Scope;
use crate::fault::Sql;
use crate::inner::{Inner, locked};
use crate::meta::{TEXT_GENERATION, counter};
use crate::rows::{self, size};
use crate::tx::Tx;

/// Whether any such content is visible.
pub(super) async fn has(tx: &Tx, content: Derived) -> Sql<bool> {
    match content {
        Derived::Atoms(kind) => {
            tx.exists("SELECT 1 FROM atoms WHERE kind = $1 LIMIT 1", &[&kind.as_str()]).await
        }
        Derived::Entities => tx.exists("SELECT 1 FROM entities LIMIT 1", &[]).await,
        Derived::Summaries => tx.exists("SELECT 1 FROM summaries LIMIT 1", &[]).await,
        Derived::Tags => tx.exists("SELECT 1 FROM chunk_tags LIMIT 1", &[]).await,
    }
}

pub(super) async fn summary(tx: &Tx) -> Sql<BaseSummary> {
    let atoms = by_word(tx, "SELECT kind, count(*) FROM atoms GROUP BY kind").await?;
    let atoms = |kind: AtomKind| atoms.get(kind.as_str()).copied().unwrap_or_default();
    let (questions, statements) = (atoms(AtomKind::Question), atoms(AtomKind::Statement));
    let sentences = atoms(AtomKind::Sentence);
    let pending = pending(tx).await?;
    let embedder = embedder(tx, "").await?;
    let refused = refusals::counted(tx).await?;
    let sql = "SELECT (SELECT count(*) FROM files), (SELECT count(*) FROM sources),
           (SELECT count(*) FROM sections), (SELECT count(*) FROM chunks),
           (SELECT count(*) FROM records), (SELECT count(*) FROM entities),
           (SELECT count(*) FROM relations), (SELECT count(*) FROM communities),
           (SELECT count(*) FROM reports), (SELECT count(*) FROM summaries),
           (SELECT count(*) FROM (SELECT DISTINCT class, key FROM chunk_tags) t),
           (SELECT count(*) FROM chunk_vectors) + (SELECT count(*) FROM atom_vectors)
             + (SELECT count(*) FROM entity_vectors) + (SELECT count(*) FROM summary_vectors)
             + (SELECT count(*) FROM source_vectors) + (SELECT count(*) FROM section_vectors),
           (SELECT count(*) FROM calls WHERE role <> 'embed'),
           (SELECT coalesce(sum(prompt_tokens), 0)::bigint FROM calls),
           (SELECT coalesce(sum(completion_tokens), 0)::bigint FROM calls)";
    let row = tx.one(sql, &[]).await?;
    Ok(BaseSummary {
        files: size(&row, 0)?,
        sources: size(&row, 1)?,
        sections: size(&row, 2)?,
        chunks: size(&row, 3)?,
        questions,
        sentences,
        statements,
        records: size(&row, 4)?,
        entities: size(&row, 5)?,
        relations: size(&row, 6)?,
        communities: size(&row, 7)?,
        reports: size(&row, 8)?,
        summaries: size(&row, 9)?,
        tags: size(&row, 10)?,
        vectors: size(&row, 11)?,
        embedder,
        calls: size(&row, 12)?,
        usage: Usage { prompt_tokens: rows::id(&row, 13)?, completion_tokens: rows::id(&row, 14)? },
        pending,
        refused,
    })
}

/// Stages that have begun and are not finished.
async fn pending(tx: &Tx) -> Sql<Vec<Backlog>> {
    let sql = "SELECT count(*) FROM chunks WHERE searchable";
    // Other chunks are not indexed.
    let searchable = rows::count_of(tx.number(sql, &[]).await?)?;
    let atomizing =
        [AtomKind::Question, AtomKind::Statement, AtomKind::Sentence].map(Stage::atomize);
    let extracting = [ExtractBy::Model, ExtractBy::Names].map(Stage::extract);
    let stages: Vec<String> = atomizing.into_iter().chain(extracting).map(|it| it.0).collect();
    let sql = "SELECT stage, count(*) FROM progress WHERE stage = ANY($1::text[]) GROUP BY stage";
    let mut done: HashMap<String, usize> = HashMap::new();
    for row in tx.all(sql, &[&stages]).await? {
        done.insert(row.try_get(0)?, size(&row, 1)?);
    }
    let mut pending = Vec::new();
    for stage in stages {
        let done = done.get(&stage).copied().unwrap_or_default();
        if 0 < done && done < searchable {
            pending.push(Backlog { stage, count: searchable - done });
        }
    }
    Ok(pending)
}

/// The counts of a statement that groups by a word.
async fn by_word(tx: &Tx, sql: &str) -> Sql<HashMap<String, usize>> {
    let mut counts = HashMap::new();
    for row in tx.all(sql, &[]).await? {
        counts.insert(row.try_get(0)?, size(&row, 1)?);
    }
    Ok(counts)
}

/// The generation of the documents, the number of visible chunks, and the embedder of the vectors.
/// The number of chunks, counted once in each generation.
async fn chunks(inner: &Inner, tx: &Tx, generation: i64) -> Sql<usize> {
    let known = *locked(&inner.chunks);
    if let Some((_, chunks)) = known.filter(|(counted, _)| *counted == generation) {
        return Ok(chunks);
    }
    let chunks = rows::count_of(tx.number("SELECT count(*) FROM chunks", &[]).await?)?;
    *locked(&inner.chunks) = Some((generation, chunks));
    Ok(chunks)
}

/// The state, through a filter if there is one.
pub(super) async fn state(inner: &Inner, tx: &Tx, scope: Option<&Scope>) -> Sql<BaseState> {
    let generation = counter(tx, TEXT_GENERATION).await?;
    let chunks = match scope {
        Some(scope) => scope.chunks.len(),
        None => chunks(inner, tx, generation).await?,
    };
    Ok(BaseState {
        generation: Generation(generation.cast_unsigned()),
        chunks,
        embedder: embedder(tx, "pikerag_base.").await?,
        scope: scope.map(|scope| scope.number),
    })
}

/// The embedder of all vectors in a schema; if there are several, their names.
async fn embedder(tx: &Tx, schema: &str) -> Sql<Option<String>> {
    // Reads only the ends of indexes, so it is fast for any number of vectors.
    let of = |nodes: &str, condition: &str| {
        let end = |end: &str| {
            format!("SELECT {end}(embedder) AS embedder FROM {schema}{nodes}_vectors{condition}")
        };
        [end("min"), end("max")]
    };
    let plain = ["chunk", "entity", "summary", "source", "section"].map(|nodes| of(nodes, ""));
    // The index of these begins with the kind.
    let kinds = [AtomKind::Question, AtomKind::Sentence, AtomKind::Statement];
    let atoms = kinds.map(|kind| of("atom", &format!(" WHERE kind = '{}'", kind.as_str())));
    let ends: Vec<String> = plain.into_iter().chain(atoms).flatten().collect();
    let sql = ends.join(" UNION ALL ");
    let mut names = BTreeSet::new();
    for row in tx.all(&sql, &[]).await? {
        names.extend(rows::optional_text(&row, 0)?);
    }
    let names: Vec<String> = names.into_iter().collect();
    Ok((!names.is_empty()).then(|| names.join(" and ")))
}
