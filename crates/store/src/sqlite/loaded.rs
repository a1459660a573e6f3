//! Holds vector codes in memory.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use pikerag_knowledge::VectorSet;

use super::locks::locked;
use crate::scan::Parts;

/// The codes in memory. Each set has a lock of its own: none waits for another to be loaded.
#[derive(Default)]
pub(super) struct Loaded {
    pub(super) sets: Mutex<BTreeMap<VectorSet, Arc<Mutex<Option<Set>>>>>,
}

impl Loaded {
    /// What is held of a set; the next search loads it anew.
    pub(super) fn forget(&self, set: VectorSet) {
        locked(&self.sets).remove(&set);
    }
}

/// The codes of a set, and how far they have followed the log.
pub(super) struct Set {
    /// The entry of the log that it stands at.
    pub(super) seq: i64,
    /// The entry that the file stands at; what came later is in the log.
    pub(super) saved: i64,
    /// Nodes that changed since then; one that changed twice counts twice.
    pub(super) changed: usize,
    pub(super) parts: Parts,
}
