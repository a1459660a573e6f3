//! How are vectors found fast? By codes in memory, loaded on first use, checked against the
//! database's generation at every search, and scored again from the stored vectors.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use pikerag_knowledge::{AtomKind, StoreError, VectorSet};
use rusqlite::{Connection, OptionalExtension};

use super::{Inner, VECTOR_GENERATION, counter, locked, rows};
use crate::error::Context;
use crate::scan::{Codes, Near, cosine};
use crate::sidecar;

/// Found by codes before the exact scores decide.
const RESCORED: usize = 50;

/// All sets of vectors.
pub(super) const SETS: [VectorSet; 8] = [
    VectorSet::Chunks,
    VectorSet::Atoms(AtomKind::Question),
    VectorSet::Atoms(AtomKind::Sentence),
    VectorSet::Atoms(AtomKind::Statement),
    VectorSet::Entities,
    VectorSet::Summaries,
    VectorSet::Sources,
    VectorSet::Sections,
];

/// The codes in memory, each with the generation it was made from.
#[derive(Default)]
pub(super) struct Loaded {
    pub(super) sets: Mutex<BTreeMap<VectorSet, (i64, Arc<Codes>)>>,
}

impl Inner {
    /// The `k` nearest of a set with exact scores, per query.
    pub(super) fn nearest(
        &self,
        connection: &Connection,
        set: VectorSet,
        queries: &[Vec<f32>],
        k: usize,
        min_score: f32,
        exclude: &HashSet<u64>,
    ) -> Result<Vec<Vec<Near>>, StoreError> {
        let codes = self.codes(connection, set)?;
        let wanted = if k == 0 { 0 } else { RESCORED.max(4 * k) };
        let mut lists = codes.nearest(queries, wanted, min_score, exclude);
        let sql = format!("SELECT vector FROM {} WHERE node = ?1", table(set));
        let mut statement = connection.prepare_cached(&sql).context("reading vectors")?;
        for (list, query) in lists.iter_mut().zip(queries) {
            for near in &mut *list {
                let vector = statement
                    .query_row([near.id.cast_signed()], |row| {
                        Ok(rows::floats(row.get_ref(0)?.as_blob()?))
                    })
                    .optional()
                    .context("reading vectors")?;
                // Deleted by another process since the codes were read: below any floor.
                near.score = vector.map_or(f32::NEG_INFINITY, |vector| cosine(query, &vector));
            }
            list.retain(|near| min_score <= near.score && near.score.is_finite());
            list.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
            list.truncate(k);
        }
        Ok(lists)
    }

    /// The codes of a set as the database stands now.
    pub(super) fn codes(
        &self,
        connection: &Connection,
        set: VectorSet,
    ) -> Result<Arc<Codes>, StoreError> {
        let generation =
            counter(connection, VECTOR_GENERATION).context("reading the generation")?;
        let mut sets = locked(&self.vectors.sets);
        if let Some((loaded, codes)) = sets.get(&set)
            && *loaded == generation
        {
            return Ok(Arc::clone(codes));
        }
        let stamp = self.stamp(generation);
        let path = sidecar_of(&self.folder, set);
        let codes = match sidecar::load(&path, &stamp) {
            Some(codes) => codes,
            None => {
                let codes = read_codes(connection, set)?;
                if self.writer.is_some()
                    && let Err(error) = sidecar::save(&path, &stamp, &codes)
                {
                    tracing::warn!(path = %path.display(), %error, "vector codes are not kept; the next start builds them again");
                }
                codes
            }
        };
        let codes = Arc::new(codes);
        sets.insert(set, (generation, Arc::clone(&codes)));
        Ok(codes)
    }
}

/// The file that keeps the codes of a set.
pub(super) fn sidecar_of(base: &Path, set: VectorSet) -> PathBuf {
    base.join(format!("{}.codes", set_name(set)))
}

/// All vectors of a set as codes, in the order of their identifiers.
pub(super) fn read_codes(connection: &Connection, set: VectorSet) -> Result<Codes, StoreError> {
    let sql = match set {
        VectorSet::Chunks => {
            "SELECT node, node, vector FROM chunk_vectors ORDER BY node".to_owned()
        }
        VectorSet::Atoms(kind) => format!(
            "SELECT v.node, a.chunk, v.vector FROM atom_vectors v CROSS JOIN atoms a ON a.id = v.node
             WHERE a.kind = '{}' ORDER BY v.node",
            kind.as_str()
        ),
        VectorSet::Entities
        | VectorSet::Summaries
        | VectorSet::Sources
        | VectorSet::Sections => {
            format!("SELECT node, node, vector FROM {} ORDER BY node", table(set))
        }
    };
    let mut statement = connection.prepare(&sql).context("reading vectors")?;
    let mut rows = statement.query([]).context("reading vectors")?;
    let mut codes = Codes::default();
    let mut refused = 0;
    while let Some(row) = rows.next().context("reading vectors")? {
        let (id, owner) = (
            rows::id(row, 0).context("reading vectors")?,
            rows::id(row, 1).context("reading vectors")?,
        );
        let blob = row.get_ref(2).context("reading vectors")?;
        let vector = rows::floats(blob.as_blob().context("reading vectors")?);
        refused += usize::from(!codes.push(id, owner, &vector));
    }
    if refused > 0 {
        tracing::warn!(
            refused,
            "vectors of another length were left out; indexing makes them anew"
        );
    }
    Ok(codes)
}

pub(super) fn table(set: VectorSet) -> &'static str {
    match set {
        VectorSet::Chunks => "chunk_vectors",
        VectorSet::Atoms(_) => "atom_vectors",
        VectorSet::Entities => "entity_vectors",
        VectorSet::Summaries => "summary_vectors",
        VectorSet::Sources => "source_vectors",
        VectorSet::Sections => "section_vectors",
    }
}

/// The table of what the vectors of a set stand for.
pub(super) fn nodes(set: VectorSet) -> &'static str {
    match set {
        VectorSet::Chunks => "chunks",
        VectorSet::Atoms(_) => "atoms",
        VectorSet::Entities => "entities",
        VectorSet::Summaries => "summaries",
        VectorSet::Sources => "sources",
        VectorSet::Sections => "sections",
    }
}

/// The stored vectors of these nodes.
pub(super) fn stored(
    connection: &Connection,
    set: VectorSet,
    nodes: &[u64],
) -> rusqlite::Result<Vec<Option<Vec<f32>>>> {
    let sql = format!("SELECT vector FROM {} WHERE node = ?1", table(set));
    let mut statement = connection.prepare_cached(&sql)?;
    let vector = |row: &rusqlite::Row<'_>| Ok(rows::floats(row.get_ref(0)?.as_blob()?));
    nodes.iter().map(|node| statement.query_row([node.cast_signed()], vector).optional()).collect()
}

pub(super) fn set_name(set: VectorSet) -> &'static str {
    match set {
        VectorSet::Chunks => "chunks",
        VectorSet::Atoms(AtomKind::Question) => "questions",
        VectorSet::Atoms(AtomKind::Sentence) => "sentences",
        VectorSet::Atoms(AtomKind::Statement) => "statements",
        VectorSet::Entities => "entities",
        VectorSet::Summaries => "summaries",
        VectorSet::Sources => "sources",
        VectorSet::Sections => "sections",
    }
}
