//! Who bears a name and who mentions it? Most names that are looked up are borne by nobody, so the
//! borne ones are held in memory as a set.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use pikerag_knowledge::{Bearer, ChunkId, Mentions, NameKey};
use rusqlite::{Connection, params};

use super::{TEXT_GENERATION, counter, locked, rows};

/// The names that some chunk bears, seen or not, as of a generation.
#[derive(Default)]
pub(super) struct Borne {
    loaded: Mutex<Option<(i64, Arc<HashSet<i64>>)>>,
}

impl Borne {
    /// Bearers of each name, with weights.
    pub(super) fn chunks_by_title(
        &self,
        connection: &Connection,
        keys: &[NameKey],
    ) -> rusqlite::Result<Vec<Vec<Bearer>>> {
        let borne = self.load(connection)?;
        let mut statement = connection
            .prepare_cached("SELECT chunk, max(how) FROM names WHERE key = ?1 AND how > 0 GROUP BY chunk ORDER BY chunk")?;
        let mut lists = Vec::with_capacity(keys.len());
        for key in keys.iter().map(|key| key.0.cast_signed()) {
            if !borne.contains(&key) {
                lists.push(Vec::new());
                continue;
            }
            let bearers = statement.query_map([key], |row| {
                Ok(Bearer { chunk: ChunkId(rows::id(row, 0)?), weight: row.get(1)? })
            })?;
            lists.push(bearers.collect::<rusqlite::Result<_>>()?);
        }
        Ok(lists)
    }

    fn load(&self, connection: &Connection) -> rusqlite::Result<Arc<HashSet<i64>>> {
        let generation = counter(connection, TEXT_GENERATION)?;
        let mut loaded = locked(&self.loaded);
        if let Some((known, borne)) = loaded.as_ref()
            && *known == generation
        {
            return Ok(Arc::clone(borne));
        }
        let borne: HashSet<i64> = connection
            .prepare("SELECT key FROM main.names WHERE how > 0")?
            .query_map([], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        let borne = Arc::new(borne);
        // A snapshot may be older than what others look at.
        if loaded.as_ref().is_none_or(|(latest, _)| *latest < generation) {
            *loaded = Some((generation, Arc::clone(&borne)));
        }
        Ok(borne)
    }
}

pub(super) fn mentions(
    connection: &Connection,
    key: NameKey,
    limit: usize,
) -> rusqlite::Result<Mentions> {
    let one_more = i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1);
    let mut chunks: Vec<ChunkId> = connection
        .prepare_cached(
            "SELECT chunk FROM names WHERE key = ?1 AND how = 0 ORDER BY chunk LIMIT ?2",
        )?
        .query_map(params![key.0.cast_signed(), one_more], |row| Ok(ChunkId(rows::id(row, 0)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let count = chunks.len();
    if limit < count {
        chunks.clear();
    }
    Ok(Mentions { count, chunks })
}

pub(super) fn links_of(
    connection: &Connection,
    chunks: &[ChunkId],
) -> rusqlite::Result<Vec<Vec<NameKey>>> {
    let mut statement =
        connection.prepare_cached("SELECT key FROM names WHERE chunk = ?1 AND how = -1")?;
    let mut lists = Vec::with_capacity(chunks.len());
    for chunk in chunks {
        let keys =
            statement.query_map([chunk.0.cast_signed()], |row| Ok(NameKey(rows::id(row, 0)?)))?;
        lists.push(keys.collect::<rusqlite::Result<_>>()?);
    }
    Ok(lists)
}
