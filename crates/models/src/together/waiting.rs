//! Counts calls that wait for a seat.

use std::sync::atomic::{AtomicU32, Ordering};

/// A call without a seat; counted until it has one or gives up.
pub(super) struct Waiting<'a>(&'a AtomicU32);

impl<'a> Waiting<'a> {
    pub(super) fn begin(count: &'a AtomicU32) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}
