//! Stores and reads vectors.

use std::collections::{BTreeMap, HashMap};

use pgvector::Vector;
use pikerag_knowledge::{AtomKind, ChunkId, NodeId, NodeVector, StoreError, VectorSet};
use pikerag_scan::Codes;

use crate::base::Base;
use crate::fault::Sql;
use crate::rows::{self, Text};
use crate::tx::Tx;

/// Vectors that one statement stores.
const AT_ONCE: usize = 500;
/// Vectors whose lengths are compared to find the usual one.
const SEEN: i64 = 1000;
/// The number of vectors that [`Codes::unrelated_similarity`] compares.
const SAMPLE: i64 = 128;

/// The table of a set's vectors.
pub(crate) fn table(set: VectorSet) -> &'static str {
    match set {
        VectorSet::Chunks => "chunk_vectors",
        VectorSet::Atoms(_) => "atom_vectors",
        VectorSet::Entities => "entity_vectors",
        VectorSet::Summaries => "summary_vectors",
        VectorSet::Sources => "source_vectors",
        VectorSet::Sections => "section_vectors",
    }
}

/// The table of the nodes that the vectors of a set belong to.
pub(crate) fn nodes(set: VectorSet) -> &'static str {
    match set {
        VectorSet::Chunks => "chunks",
        VectorSet::Atoms(_) => "atoms",
        VectorSet::Entities => "entities",
        VectorSet::Summaries => "summaries",
        VectorSet::Sources => "sources",
        VectorSet::Sections => "sections",
    }
}

/// The kind that a table with several sets has for this set.
pub(crate) fn kind(set: VectorSet) -> Option<&'static str> {
    match set {
        VectorSet::Atoms(kind) => Some(kind.as_str()),
        _ => None,
    }
}

/// The condition that limits `v` to a set, where its table has several.
pub(super) fn of_kind(set: VectorSet) -> String {
    kind(set).map(|kind| format!(" AND v.kind = '{kind}'")).unwrap_or_default()
}

/// Stores vectors, each in place of the earlier one of its node.
pub(super) async fn put(
    tx: &Tx,
    set: VectorSet,
    embedder: &str,
    vectors: &[NodeVector],
) -> Sql<()> {
    // The last vector of a node counts.
    let vectors: BTreeMap<i64, &Vec<f32>> =
        vectors.iter().map(|it| (it.node.0.cast_signed(), &it.vector)).collect();
    let vectors: Vec<(i64, &Vec<f32>)> = vectors.into_iter().collect();
    for vectors in vectors.chunks(AT_ONCE) {
        let (nodes, values): (Vec<i64>, Vec<Vec<f32>>) =
            vectors.iter().map(|(node, vector)| (*node, (*vector).clone())).unzip();
        insert(tx, set, nodes, vec![embedder.to_owned(); vectors.len()], values).await?;
    }
    Ok(())
}

/// Stores the vectors of nodes that exist, each node at most once. Vectors that no search can compare
/// are left out; indexing computes them again.
pub(crate) async fn insert(
    tx: &Tx,
    set: VectorSet,
    of: Vec<i64>,
    embedders: Vec<String>,
    vectors: Vec<Vec<f32>>,
) -> Sql<()> {
    let (mut kept, mut made_by, mut values, mut refused) =
        (Vec::with_capacity(of.len()), Vec::new(), Vec::new(), 0);
    for ((node, embedder), vector) in of.into_iter().zip(embedders).zip(vectors) {
        if vector.is_empty() || !vector.iter().all(|value| value.is_finite()) {
            refused += 1;
            continue;
        }
        kept.push(node);
        made_by.push(embedder);
        values.push(Vector::from(vector));
    }
    if refused > 0 {
        tracing::warn!(
            refused,
            "vectors without values or with infinite ones were left out; indexing computes them again"
        );
    }
    if kept.is_empty() {
        return Ok(());
    }
    // The chunk that a vector leads to.
    let (owner, column, kind) = match set {
        VectorSet::Atoms(_) => ("n.chunk", ", kind", ", n.kind"),
        _ => ("n.id", "", ""),
    };
    let changed = match set {
        VectorSet::Atoms(_) => ", kind = excluded.kind",
        _ => "",
    };
    // The node may have been deleted while the embedder ran.
    let sql = format!(
        "INSERT INTO {} (node, owner, embedder, dims, vector{column})
         SELECT n.id, {owner}, v.embedder, vector_dims(v.vector), v.vector{kind}
         FROM unnest($1::bigint[], $2::text[], $3::vector[]) AS v(node, embedder, vector)
         JOIN {} n ON n.id = v.node
         ON CONFLICT (base, node) DO UPDATE SET owner = excluded.owner, embedder = excluded.embedder,
             dims = excluded.dims, vector = excluded.vector{changed}",
        table(set),
        nodes(set)
    );
    tx.run(&sql, &[&kept, &Text::all(&made_by), &values]).await.map(drop)
}

/// The stored vectors of these nodes, in order; `None` for a node without one.
pub(super) async fn stored(
    tx: &Tx,
    set: VectorSet,
    nodes: &[NodeId],
) -> Sql<Vec<Option<Vec<f32>>>> {
    let wanted = rows::signed(nodes.iter().map(|node| node.0));
    let sql = format!("SELECT node, vector FROM {} WHERE node = ANY($1)", table(set));
    let mut found: HashMap<u64, Vec<f32>> = HashMap::with_capacity(nodes.len());
    for row in tx.all(&sql, &[&wanted]).await? {
        found.insert(rows::id(&row, 0)?, rows::floats(&row, 1)?);
    }
    Ok(nodes.iter().map(|node| found.get(&node.0).cloned()).collect())
}

/// The cosine of each of these chunks with a query, in order; 0 for a hidden chunk, for one without a
/// vector, and for a vector of another length.
pub(super) async fn similarities(tx: &Tx, query: &[f32], chunks: &[ChunkId]) -> Sql<Vec<f32>> {
    let is_comparable = !query.is_empty() && query.iter().all(|value| value.is_finite());
    if !is_comparable || chunks.is_empty() {
        return Ok(vec![0.0; chunks.len()]);
    }
    let wanted = rows::signed(chunks.iter().map(|chunk| chunk.0));
    let sql = "SELECT node, ((vector <#> $1::vector) * -1)::real FROM chunk_vectors
         WHERE node = ANY($2) AND dims = vector_dims($1::vector)";
    let mut found: HashMap<u64, f32> = HashMap::with_capacity(chunks.len());
    for row in tx.all(sql, &[&Vector::from(query.to_vec()), &wanted]).await? {
        found.insert(rows::id(&row, 0)?, row.try_get(1)?);
    }
    Ok(chunks.iter().map(|chunk| found.get(&chunk.0).copied().unwrap_or_default()).collect())
}

/// See [`Codes::unrelated_similarity`]. The sample comes from the whole base.
pub(super) async fn unrelated_similarity(tx: &Tx, kind: AtomKind, share: f32) -> Sql<Option<f32>> {
    // Identifiers are hashes, so the first vectors are a random sample.
    let sql = "WITH seen AS (
             SELECT dims FROM pikerag_base.atom_vectors WHERE kind = $1 ORDER BY node LIMIT $2
         )
         SELECT node, owner, vector FROM pikerag_base.atom_vectors
         WHERE kind = $1 AND dims = (SELECT dims FROM seen GROUP BY dims ORDER BY count(*) DESC, dims LIMIT 1)
         ORDER BY node LIMIT $3";
    let mut codes = Codes::default();
    for row in tx.all(sql, &[&kind.as_str(), &SEEN, &SAMPLE]).await? {
        // All have the same length, so none is refused.
        let _ = codes.push(rows::id(&row, 0)?, rows::id(&row, 1)?, &rows::floats(&row, 2)?);
    }
    Ok(codes.unrelated_similarity(share))
}

impl Base {
    /// The number of values of each vector that this embedder made for the base; `None` if no chunk
    /// has one. It reads a single row.
    ///
    /// # Errors
    /// The base cannot be read.
    pub async fn dimensions(&self, embedder: &str) -> Result<Option<usize>, StoreError> {
        self.reading("reading a vector", |tx| async move {
            let sql = "SELECT dims::bigint FROM chunk_vectors WHERE embedder = $1 LIMIT 1";
            let row = tx.optional(sql, &[&Text(embedder)]).await?;
            row.map(|row| rows::size(&row, 0)).transpose()
        })
        .await
    }
}
