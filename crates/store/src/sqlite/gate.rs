//! Counts the states of the base that are held, and keeps questions that begin waiting until those before them have ended.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, LazyLock, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::locks::locked;

/// Bytes from which on the log is long.
pub(super) const LONG: u64 = 128 << 20;

/// The gates of the bases that are open in this process, by their folders: a base may be open several times.
static GATES: LazyLock<Mutex<HashMap<PathBuf, Weak<Gate>>>> = LazyLock::new(Mutex::default);

/// Counts the states that are held, and lets nobody take one while it is closed.
#[derive(Default)]
pub(super) struct Gate {
    state: Mutex<State>,
    /// Somebody left.
    left: Condvar,
    opened: Notify,
}

struct State {
    /// Bytes from which on the log is long.
    long: u64,
    n_held: usize,
    closed_until: Option<Instant>,
    /// Whether somebody waits for the states to end.
    is_draining: bool,
    /// When that may be done again.
    not_before: Option<Instant>,
}

impl Default for State {
    fn default() -> Self {
        Self { long: LONG, n_held: 0, closed_until: None, is_draining: false, not_before: None }
    }
}

/// A question that is let in, until this is dropped.
pub(super) struct Held(Arc<Gate>);

impl Held {
    /// Waits while the gate is closed.
    pub(super) async fn of(gate: &Arc<Gate>) -> Self {
        gate.enter().await;
        Self(Arc::clone(gate))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut state = locked(&self.0.state);
        state.n_held = state.n_held.saturating_sub(1);
        self.0.left.notify_all();
    }
}

impl Gate {
    /// The gate of all who have opened the base in this folder.
    pub(super) fn of(folder: &Path) -> Arc<Self> {
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let mut gates = locked(&GATES);
        if let Some(gate) = gates.get(&folder).and_then(Weak::upgrade) {
            return gate;
        }
        gates.retain(|_, gate| 0 < gate.strong_count());
        let gate = Arc::default();
        gates.insert(folder, Arc::downgrade(&gate));
        gate
    }

    /// Waits while the gate is closed. No thread waits: those who are in need threads to come to an end.
    async fn enter(&self) {
        loop {
            let opened = self.opened.notified();
            let left = {
                let mut state = locked(&self.state);
                let left = state
                    .closed_until
                    .map_or(Duration::ZERO, |end| end.saturating_duration_since(Instant::now()));
                if left.is_zero() {
                    state.n_held += 1;
                    return;
                }
                left
            };
            // Either it is opened, or the time is up.
            let _ = tokio::time::timeout(left, opened).await;
        }
    }

    /// Lets nobody in until those who are in have left, or for so long.
    pub(super) fn close(&self, wait: Duration) {
        let end = Instant::now() + wait;
        let mut state = locked(&self.state);
        state.closed_until = Some(end);
        while 0 < state.n_held {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            state = self.left.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    pub(super) fn open(&self) {
        locked(&self.state).closed_until = None;
        self.opened.notify_waiters();
    }

    /// Whether the caller is to shorten a log of so many bytes: it is long, nobody else does, and it was not tried just now.
    pub(super) fn begin(&self, length: u64) -> bool {
        let mut state = locked(&self.state);
        let may = state.long <= length
            && !state.is_draining
            && state.not_before.is_none_or(|at| at <= Instant::now());
        state.is_draining |= may;
        may
    }

    #[cfg(test)]
    pub(super) fn is_long_from(&self, length: u64) {
        locked(&self.state).long = length;
    }

    pub(super) fn end(&self, again_after: Duration) {
        let mut state = locked(&self.state);
        state.is_draining = false;
        state.not_before = Some(Instant::now() + again_after);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A state that is held for long is waited for, but not for good.
    #[tokio::test]
    async fn a_closed_gate_opens() {
        let gate = Arc::new(Gate::default());
        let held = Held::of(&gate).await;
        gate.close(Duration::from_millis(20));
        // Nobody opened it: the time is up.
        let other = Held::of(&gate).await;
        assert_eq!(locked(&gate.state).n_held, 2);
        drop((held, other));
        assert_eq!(locked(&gate.state).n_held, 0);
        gate.close(Duration::from_mins(1));
        gate.open();
        drop(Held::of(&gate).await);
    }
}
