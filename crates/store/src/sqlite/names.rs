//! Finds the chunks that bear a name. No chunk bears most of the names that are looked up, so the
//! names in use are held in memory as a set.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex};

use pikerag_knowledge::{Bearer, BearerList, ChunkId, NameKey};
use rusqlite::Connection;

use super::counters::{TEXT_GENERATION, counter};
use super::locks::locked;
use super::rows;

/// The names that any chunk bears, visible or not, as of a generation.
#[derive(Default)]
pub(super) struct NamesInUse {
    loaded: Mutex<Option<(i64, Arc<HashSet<i64>>)>>,
}

impl NamesInUse {
    /// The chunks that bear each name, with weights; no list is read beyond the limit.
    pub(super) fn chunks_by_title(
        &self,
        connection: &Connection,
        keys: &[NameKey],
        limit: usize,
    ) -> rusqlite::Result<Vec<BearerList>> {
        let in_use = self.load(connection)?;
        let mut statement =
            connection.prepare_cached("SELECT chunk, how FROM names WHERE key = ?1 AND how > 0")?;
        let mut lists = Vec::with_capacity(keys.len());
        for key in keys.iter().map(|key| key.0.cast_signed()) {
            if in_use.as_ref().is_some_and(|in_use| !in_use.contains(&key)) {
                lists.push(BearerList::default());
                continue;
            }
            let mut weights: BTreeMap<u64, u8> = BTreeMap::new();
            let mut found = statement.query([key])?;
            while weights.len() <= limit
                && let Some(row) = found.next()?
            {
                let (chunk, weight) = (rows::id(row, 0)?, row.get(1)?);
                let heaviest = weights.entry(chunk).or_insert(weight);
                *heaviest = weight.max(*heaviest);
            }
            lists.push(up_to(limit, weights));
        }
        Ok(lists)
    }

    /// The names in use. `None` if the held names belong to a later state. An older snapshot then
    /// asks the index for each name, because reading all names at every call costs more.
    fn load(&self, connection: &Connection) -> rusqlite::Result<Option<Arc<HashSet<i64>>>> {
        let generation = counter(connection, TEXT_GENERATION)?;
        let mut loaded = locked(&self.loaded);
        match loaded.as_ref() {
            Some((known, _)) if generation < *known => return Ok(None),
            Some((known, in_use)) if *known == generation => return Ok(Some(Arc::clone(in_use))),
            _ => {}
        }
        let in_use: HashSet<i64> = connection
            .prepare("SELECT key FROM main.names WHERE how > 0")?
            .query_map([], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        let in_use = Arc::new(in_use);
        *loaded = Some((generation, Arc::clone(&in_use)));
        Ok(Some(in_use))
    }
}

fn up_to(limit: usize, weights: BTreeMap<u64, u8>) -> BearerList {
    let count = weights.len();
    let bearer = |(chunk, weight)| Bearer { chunk: ChunkId(chunk), weight };
    let bearers =
        if count <= limit { weights.into_iter().map(bearer).collect() } else { Vec::new() };
    BearerList { count, bearers }
}

#[cfg(test)]
mod tests {
    use super::super::counters::advance;
    use super::*;
    use crate::Base;

    #[test]
    fn an_older_state_does_not_read_all_names() {
        let folder = tempfile::tempdir().unwrap();
        let base = Base::open_or_create(folder.path()).unwrap();
        let (older, latest) = (base.inner.reader().unwrap(), base.inner.reader().unwrap());
        older.execute_batch("BEGIN").unwrap();
        assert!(base.inner.names.load(&older).unwrap().is_some());
        base.inner.transaction("writing", |tx| advance(tx, TEXT_GENERATION)).unwrap();
        assert!(base.inner.names.load(&latest).unwrap().is_some());
        assert_eq!(base.inner.names.load(&older).unwrap(), None);
        let key = [NameKey::of_folded("heron")];
        let in_use = base.inner.names.chunks_by_title(&older, &key, 9).unwrap();
        assert_eq!(in_use, [BearerList::default()]);
    }
}
