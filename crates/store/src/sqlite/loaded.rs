//! Holds vector codes in memory.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use pikerag_knowledge::VectorSet;
use pikerag_scan::Parts;

use super::locks::locked;

/// The codes in memory. Each set has its own lock, so that none waits for another to load.
#[derive(Default)]
pub(super) struct Loaded {
    pub(super) sets: Mutex<BTreeMap<VectorSet, Arc<Mutex<Option<Set>>>>>,
}

impl Loaded {
    /// Drops the codes of a set; the next search loads them again.
    pub(super) fn forget(&self, set: VectorSet) {
        locked(&self.sets).remove(&set);
    }
}

/// The codes of a set, and how far they have followed the log.
pub(super) struct Set {
    /// The last log entry that the codes include.
    pub(super) seq: i64,
    /// The last log entry that the file includes; later changes are in the log.
    pub(super) saved: i64,
    /// Nodes that changed since the file was saved; one that changed twice counts twice.
    pub(super) changed: usize,
    pub(super) parts: Parts,
}
