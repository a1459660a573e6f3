//! Finds the nearest vectors: by comparing all of them, or through an index once a set is large. The
//! best candidates are scored again in full precision, so that both give the same scores.

use std::collections::BTreeMap;

use pgvector::Vector;
use pikerag_knowledge::{NodeId, Scored, VectorSet, cosine};
use tokio_postgres::Row;

use super::hnsw;
use super::vectors::{of_kind, table};
use crate::fault::Sql;
use crate::rows;
use crate::tx::Tx;

/// The fewest candidates that are scored again.
const RESCORED: usize = 50;
/// The numbers of candidates that an index returns; each has a statement of its own.
const CANDIDATES: [usize; 5] = [64, 128, 256, 512, 1000];
/// `hnsw.ef_search`, the most that the server allows. Of a million sentences in a thousand groups, 100
/// found 62 % of the nearest ten, and 1,000 found 95 %, in 27 ms.
const SEEN: usize = 1000;

/// The results that a search may return.
pub(super) struct Limits {
    pub(super) k: usize,
    pub(super) min_score: f32,
    /// Chunks whose vectors are left out.
    pub(super) exclude: Vec<i64>,
    /// The number of chunks that a filter admits; `None` without a filter.
    pub(super) admitted: Option<usize>,
}

/// The nearest vectors of each query, best first, ties by identifier.
pub(super) async fn nearest(
    tx: &Tx,
    set: VectorSet,
    queries: &[Vec<f32>],
    limits: &Limits,
) -> Sql<Vec<Vec<Scored<NodeId>>>> {
    let mut lists = Vec::with_capacity(queries.len());
    // Whether there is an index, by number of values.
    let mut ready: BTreeMap<usize, bool> = BTreeMap::new();
    for query in queries {
        let is_comparable = !query.is_empty() && query.iter().all(|value| value.is_finite());
        if limits.k == 0 || !is_comparable {
            lists.push(Vec::new());
            continue;
        }
        let is_ready = match ready.get(&query.len()).copied() {
            Some(known) => known,
            None => {
                let found = is_worth_it(tx, set, limits).await?
                    && hnsw::is_ready(tx, set, query.len()).await?;
                *ready.entry(query.len()).or_insert(found)
            }
        };
        let found = candidates(tx, set, query, limits, is_ready).await?;
        lists.push(best(query, limits, &found)?);
    }
    Ok(lists)
}

/// Few admitted vectors are compared faster without an index, which would mostly find others.
async fn is_worth_it(tx: &Tx, set: VectorSet, limits: &Limits) -> Sql<bool> {
    let Some(admitted) = limits.admitted else { return Ok(true) };
    let each = match set {
        VectorSet::Atoms(_) => atoms_each(tx).await?,
        _ => 1.0,
    };
    Ok(hnsw::EXACT as f64 <= admitted as f64 * each)
}

/// About the number of atoms that a chunk has, over all bases; 1 without statistics.
async fn atoms_each(tx: &Tx) -> Sql<f64> {
    let sql = "SELECT a.reltuples::double precision / greatest(c.reltuples, 1)
         FROM pg_class a, pg_class c
         WHERE a.oid = 'pikerag.atom_vectors'::regclass AND c.oid = 'pikerag.chunks'::regclass";
    let each: f64 = tx.one(sql, &[]).await?.try_get(0)?;
    Ok(each.max(1.0))
}

/// At least the rows that [`best`] needs, of a node and its vector each.
async fn candidates(
    tx: &Tx,
    set: VectorSet,
    query: &[f32],
    limits: &Limits,
    is_ready: bool,
) -> Sql<Vec<Row>> {
    let wanted = limits.k.saturating_mul(4).max(RESCORED);
    if is_ready && let Some(count) = CANDIDATES.into_iter().find(|count| wanted <= *count) {
        let found = by_index(tx, set, query, limits, count).await?;
        // A search through the index ends early if a filter hides most of what it meets.
        if wanted <= found.len() {
            return Ok(found);
        }
    }
    by_comparison(tx, set, query, limits, wanted).await
}

async fn by_index(
    tx: &Tx,
    set: VectorSet,
    query: &[f32],
    limits: &Limits,
    count: usize,
) -> Sql<Vec<Row>> {
    tx.batch(&format!(
        "SET LOCAL hnsw.iterative_scan = strict_order; SET LOCAL hnsw.ef_search = {SEEN}"
    ))
    .await?;
    let Some(distance) = hnsw::distance(query.len()) else { return Ok(Vec::new()) };
    let (from, visible) = visible(tx, set);
    // An index belongs to one base and length, and the planner compares literal numbers only.
    let sql = format!(
        "SELECT v.node, v.vector FROM {from} v
         WHERE v.base = {} AND v.dims = {}{}{visible} AND v.owner <> ALL($2)
         ORDER BY {distance} LIMIT {count}",
        tx.base(),
        query.len(),
        of_kind(set)
    );
    tx.all(&sql, &[&Vector::from(query.to_vec()), &limits.exclude]).await
}

async fn by_comparison(
    tx: &Tx,
    set: VectorSet,
    query: &[f32],
    limits: &Limits,
    wanted: usize,
) -> Sql<Vec<Row>> {
    let (from, visible) = visible(tx, set);
    // No index has this expression, so every vector is compared.
    let sql = format!(
        "SELECT v.node, v.vector FROM {from} v
         WHERE v.dims = vector_dims($1::vector){}{visible} AND v.owner <> ALL($2)
         ORDER BY v.vector <#> $1::vector, v.node LIMIT $3",
        of_kind(set)
    );
    let query = Vector::from(query.to_vec());
    tx.all(&sql, &[&query, &limits.exclude, &rows::number(wanted)]).await
}

/// The view of a set's vectors, and the condition for those that a filter admits. `owner` replaces
/// the slower views of chunks' and atoms' vectors.
fn visible(tx: &Tx, set: VectorSet) -> (String, &'static str) {
    let whole = || format!("pikerag_base.{}", table(set));
    match set {
        _ if !tx.is_filtered() => (whole(), ""),
        VectorSet::Chunks => (whole(), " AND v.node IN (SELECT chunk FROM pg_temp.admitted)"),
        VectorSet::Atoms(_) => (whole(), " AND v.owner IN (SELECT chunk FROM pg_temp.admitted)"),
        _ => (table(set).to_owned(), ""),
    }
}

/// The best candidates by their exact scores.
fn best(query: &[f32], limits: &Limits, found: &[Row]) -> Sql<Vec<Scored<NodeId>>> {
    let mut list = Vec::with_capacity(found.len());
    for row in found {
        let score = cosine(query, &rows::floats(row, 1)?);
        if limits.min_score <= score && score.is_finite() {
            list.push(Scored { item: NodeId(rows::id(row, 0)?), score });
        }
    }
    list.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.item.cmp(&b.item)));
    list.truncate(limits.k);
    Ok(list)
}
