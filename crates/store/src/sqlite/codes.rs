//! Keeps vector codes in step with the database. On first use they are loaded from the file beside
//! it. Then they follow the log of added, changed and removed vectors.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pikerag_knowledge::{AtomKind, StoreError, VectorSet};
use pikerag_scan::{Lengths, Parts};
use rusqlite::{Connection, OptionalExtension, params};

use super::counters::counter;
use super::inner::Inner;
use super::loaded::Set;
use super::locks::locked;
use super::rows;
use super::vectors::table;
use crate::error::Context;
use crate::sidecar::{self, Sidecar};

/// The sets, grouped by the table that stores their vectors.
const SETS: [&[VectorSet]; 6] = [
    &[VectorSet::Chunks],
    &[
        VectorSet::Atoms(AtomKind::Question),
        VectorSet::Atoms(AtomKind::Sentence),
        VectorSet::Atoms(AtomKind::Statement),
    ],
    &[VectorSet::Entities],
    &[VectorSet::Summaries],
    &[VectorSet::Sources],
    &[VectorSet::Sections],
];

/// All sets of vectors.
pub fn sets() -> impl Iterator<Item = VectorSet> {
    SETS.into_iter().flatten().copied()
}

/// Codes are saved again once more than one vector in `RESAVED` has changed.
const RESAVED: usize = 8;

/// The state of a set's file.
pub(super) enum SavedCodes {
    /// There is no file.
    Absent,
    /// The log does not continue from the file.
    Stale,
    /// Its bytes are not those that were written.
    Damaged,
    /// The file and the log together do not give the vectors of the database.
    Wrong,
    /// The file is correct; holds the number of vectors.
    Sound(usize),
}

impl Inner {
    /// The codes of a set as this connection sees the database.
    pub(super) fn codes(
        &self,
        connection: &Connection,
        set: VectorSet,
    ) -> Result<Parts, StoreError> {
        let now = log_end(connection).context("reading the log of vectors")?;
        let slot = Arc::clone(locked(&self.vectors.sets).entry(set).or_default());
        let mut held = locked(&slot);
        if let Some(held) = held.as_ref().filter(|held| now <= held.seq) {
            return match now == held.seq {
                true => Ok(held.parts.clone()),
                false => self.codes_of_before(connection, set, held, now),
            };
        }
        let floor = counter(connection, &floor(set)).context("reading the log of vectors")?;
        let mut next = match held.take() {
            Some(held) if floor <= held.seq => held,
            _ => self.load(connection, set, floor, now)?,
        };
        if next.seq < now {
            step(connection, set, &mut next, now).context("reading vectors")?;
        }
        Ok(held.insert(next).parts.clone())
    }

    /// The codes of a snapshot that is older than the held codes. Vectors that changed since are
    /// taken from the snapshot.
    fn codes_of_before(
        &self,
        connection: &Connection,
        set: VectorSet,
        held: &Set,
        then: i64,
    ) -> Result<Parts, StoreError> {
        let doing = "reading the log of vectors";
        let since = self.with_reader(|latest| {
            // Both reads use one state, because another process could drop entries between them.
            let latest = latest.unchecked_transaction().context(doing)?;
            let is_whole = counter(&latest, &floor(set)).context(doing)? <= then;
            let since = changed(&latest, set, then, held.seq).context(doing)?;
            Ok(is_whole.then_some(since))
        })?;
        let Some(since) = since else { return read_codes(connection, set).map(Parts::of) };
        let mut parts = held.parts.clone();
        parts.step(&since, vectors_of(connection, set, &since).context("reading vectors")?);
        Ok(parts)
    }

    /// Loads codes from the file beside the database if the log continues from it, else from all
    /// vectors.
    fn load(
        &self,
        connection: &Connection,
        set: VectorSet,
        floor: i64,
        now: i64,
    ) -> Result<Set, StoreError> {
        let path = sidecar_of(&self.folder, set);
        let saved = sidecar::load(&path, |stamp| self.follows(stamp, floor, now));
        if let Some((stamp, codes)) = saved.context("reading vector codes")? {
            let seq = self.seq_of(&stamp).unwrap_or_default();
            return Ok(Set { seq, saved: seq, changed: 0, parts: Parts::of(codes) });
        }
        let codes = read_codes(connection, set)?;
        let saved = match self.writer.is_some() && self.save(set, now, &codes)? {
            true => now,
            // No log entry may be dropped, because the file was not saved.
            false => floor,
        };
        Ok(Set { seq: now, saved, changed: 0, parts: Parts::of(codes) })
    }

    /// Compares a set's file and the log with the database.
    pub(super) fn saved_codes(
        &self,
        connection: &Connection,
        set: VectorSet,
    ) -> Result<SavedCodes, StoreError> {
        let doing = "reading the log of vectors";
        let now = log_end(connection).context(doing)?;
        let floor = counter(connection, &floor(set)).context(doing)?;
        let path = sidecar_of(&self.folder, set);
        let inspected = sidecar::inspect(&path, |stamp| self.follows(stamp, floor, now));
        let (stamp, codes) = match inspected.context("reading vector codes")? {
            Sidecar::Absent => return Ok(SavedCodes::Absent),
            Sidecar::Stale => return Ok(SavedCodes::Stale),
            Sidecar::Damaged => return Ok(SavedCodes::Damaged),
            Sidecar::Codes(stamp, codes) => (stamp, codes),
        };
        let seq = self.seq_of(&stamp).unwrap_or_default();
        let mut held = Set { seq, saved: seq, changed: 0, parts: Parts::of(codes) };
        step(connection, set, &mut held, now).context("reading vectors")?;
        let codes = held.parts.compact();
        Ok(match codes == read_codes(connection, set)? {
            true => SavedCodes::Sound(codes.len()),
            false => SavedCodes::Wrong,
        })
    }

    /// Whether the log continues from codes with this stamp.
    fn follows(&self, stamp: &str, floor: i64, now: i64) -> bool {
        self.seq_of(stamp).is_some_and(|seq| (floor..=now).contains(&seq))
    }

    /// Removes a set's file, and rebuilds its codes from all vectors.
    pub(super) fn rebuild_codes(&self, set: VectorSet) -> Result<(), StoreError> {
        let _ = fs::remove_file(sidecar_of(&self.folder, set));
        self.vectors.forget(set);
        self.with_reader(|connection| self.codes(connection, set).map(drop))
    }

    /// Brings all codes up to the database. Saves those with many changes, and drops log entries
    /// that every file includes.
    pub(super) fn refresh_codes(&self, connection: &Connection) -> Result<(), StoreError> {
        for sets in SETS {
            let mut is_due = false;
            for set in sets {
                self.codes(connection, *set)?;
                is_due |= self.with_set(*set, |held| {
                    held.parts.len() < RESAVED * held.changed
                        || held.changed > 0 && held.parts.is_empty()
                });
            }
            if !is_due {
                continue;
            }
            let mut last_saved = i64::MAX;
            for set in sets {
                let slot = Arc::clone(locked(&self.vectors.sets).entry(*set).or_default());
                let mut held = locked(&slot);
                let Some(held) = held.as_mut() else { continue };
                if held.saved < held.seq {
                    let whole = held.parts.compact();
                    if self.save(*set, held.seq, &whole)? {
                        (held.saved, held.changed) = (held.seq, 0);
                        held.parts = Parts::of(whole);
                    }
                }
                last_saved = last_saved.min(held.saved);
            }
            if let Some(set) = sets.first() {
                self.prune(*set, last_saved)?;
            }
        }
        Ok(())
    }

    fn with_set(&self, set: VectorSet, ask: impl FnOnce(&Set) -> bool) -> bool {
        let slot = Arc::clone(locked(&self.vectors.sets).entry(set).or_default());
        locked(&slot).as_ref().is_some_and(ask)
    }

    fn prune(&self, set: VectorSet, last_saved: i64) -> Result<(), StoreError> {
        self.transaction("dropping old entries of the log of vectors", |tx| {
            tx.execute(
                "DELETE FROM vector_log WHERE vectors = ?1 AND seq <= ?2",
                params![table(set), last_saved],
            )?;
            tx.execute(
                "INSERT INTO meta(key, value) VALUES (?1, ?2)
                 ON CONFLICT(key) DO UPDATE SET value = max(CAST(value AS INTEGER), excluded.value)",
                params![floor(set), last_saved],
            )?;
            Ok(())
        })
    }

    /// Returns whether the file was written. Vectors of several lengths are not saved: the file
    /// would miss some, and the log that has them would be dropped. The file is not written either
    /// if the log relies on a later file already.
    fn save(&self, set: VectorSet, seq: i64, codes: &Lengths) -> Result<bool, StoreError> {
        let Some(codes) = codes.only() else { return Ok(false) };
        // The latest floor, because the caller may see an older state.
        let latest = |connection: &Connection| counter(connection, &floor(set));
        if seq < self.with_reader(|it| latest(it).context("reading the log of vectors"))? {
            return Ok(false);
        }
        let path = sidecar_of(&self.folder, set);
        let saved = sidecar::save(&path, &format!("{}:log:{seq}", self.identity), codes);
        if let Err(error) = &saved {
            tracing::warn!(path = %path.display(), %error, "vector codes were not saved; the next start rebuilds them");
        }
        Ok(saved.is_ok())
    }

    fn seq_of(&self, stamp: &str) -> Option<i64> {
        stamp.strip_prefix(&self.identity)?.strip_prefix(":log:")?.parse().ok()
    }
}

/// The file that keeps the codes of a set.
pub(super) fn sidecar_of(base: &Path, set: VectorSet) -> PathBuf {
    base.join(format!("{}.codes", set_name(set)))
}

/// The key in `meta` of the last dropped log entry.
fn floor(set: VectorSet) -> String {
    format!("vector_log_floor:{}", table(set))
}

/// The number of the last entry that the log ever had.
fn log_end(connection: &Connection) -> rusqlite::Result<i64> {
    let mut last =
        connection.prepare_cached("SELECT seq FROM sqlite_sequence WHERE name = 'vector_log'")?;
    Ok(last.query_row([], |row| row.get(0)).optional()?.unwrap_or_default())
}

/// Applies the log of a set up to `now`.
fn step(connection: &Connection, set: VectorSet, held: &mut Set, now: i64) -> rusqlite::Result<()> {
    let changed = changed(connection, set, held.seq, now)?;
    held.seq = now;
    if !changed.is_empty() {
        held.changed += changed.len();
        held.parts.step(&changed, vectors_of(connection, set, &changed)?);
    }
    Ok(())
}

/// The nodes in the log after entry `behind` up to `to`, in order.
fn changed(
    connection: &Connection,
    set: VectorSet,
    behind: i64,
    to: i64,
) -> rusqlite::Result<Vec<u64>> {
    let sql =
        "SELECT DISTINCT node FROM main.vector_log WHERE ?1 < seq AND seq <= ?2 AND vectors = ?3";
    let mut changed: Vec<u64> = connection
        .prepare_cached(sql)?
        .query_map(params![behind, to, table(set)], |row| rows::id(row, 0))?
        .collect::<rusqlite::Result<_>>()?;
    changed.sort_unstable();
    Ok(changed)
}

/// The codes of the given nodes that have a vector, in the given order.
fn vectors_of(connection: &Connection, set: VectorSet, nodes: &[u64]) -> rusqlite::Result<Lengths> {
    let (sql, kind) = match set {
        VectorSet::Atoms(kind) => (
            "SELECT a.chunk, v.vector FROM main.atom_vectors v CROSS JOIN main.atoms a ON a.id = v.node
             WHERE v.node = ?1 AND a.kind = ?2"
                .to_owned(),
            kind.as_str(),
        ),
        other => (
            format!("SELECT node, vector FROM main.{} WHERE node = ?1 AND ?2 = ''", table(other)),
            "",
        ),
    };
    let mut vector = connection.prepare_cached(&sql)?;
    let mut came = Lengths::default();
    for node in nodes {
        let found = vector
            .query_row(params![node.cast_signed(), kind], |row| {
                Ok((rows::id(row, 0)?, rows::floats(row.get_ref(1)?.as_blob()?)))
            })
            .optional()?;
        if let Some((owner, vector)) = found
            && !came.push(*node, owner, &vector)
        {
            tracing::warn!(node, "an empty vector was left out; indexing computes it again");
        }
    }
    Ok(came)
}

/// All vectors of a set as codes, in the order of identifiers. Views of a filter are bypassed,
/// because all questions share the codes.
fn read_codes(connection: &Connection, set: VectorSet) -> Result<Lengths, StoreError> {
    let sql = match set {
        VectorSet::Chunks => {
            "SELECT node, node, vector FROM main.chunk_vectors ORDER BY node".to_owned()
        }
        VectorSet::Atoms(kind) => format!(
            "SELECT v.node, a.chunk, v.vector FROM main.atom_vectors v CROSS JOIN main.atoms a ON a.id = v.node
             WHERE a.kind = '{}' ORDER BY v.node",
            kind.as_str()
        ),
        VectorSet::Entities
        | VectorSet::Summaries
        | VectorSet::Sources
        | VectorSet::Sections => {
            format!("SELECT node, node, vector FROM main.{} ORDER BY node", table(set))
        }
    };
    let mut statement = connection.prepare(&sql).context("reading vectors")?;
    let mut rows = statement.query([]).context("reading vectors")?;
    let mut codes = Lengths::default();
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
        tracing::warn!(refused, "empty vectors were left out; indexing computes them again");
    }
    Ok(codes)
}

/// The name of a set in files and findings.
pub fn set_name(set: VectorSet) -> &'static str {
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
