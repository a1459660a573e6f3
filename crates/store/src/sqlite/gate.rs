//! Counts the states of the base that are held, and lets new questions wait until earlier ones have
//! ended.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, LazyLock, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::locks::locked;

/// The bytes from which the log counts as long.
pub(super) const LONG: u64 = 64 << 20;

/// The gates of the bases that are open in this process, by folder, because a base may be open
/// several times.
static GATES: LazyLock<Mutex<HashMap<PathBuf, Weak<Gate>>>> = LazyLock::new(Mutex::default);

/// Counts the held states, and admits no new one while it is closed.
#[derive(Default)]
pub(super) struct Gate {
    state: Mutex<State>,
    /// Notified when a state is released.
    left: Condvar,
    opened: Notify,
}

struct State {
    /// The bytes from which the log counts as long.
    long: u64,
    n_held: usize,
    closed_until: Option<Instant>,
    /// Whether a thread waits for the held states to end.
    is_draining: bool,
    /// The earliest time of the next attempt.
    not_before: Option<Instant>,
}

impl Default for State {
    fn default() -> Self {
        Self { long: LONG, n_held: 0, closed_until: None, is_draining: false, not_before: None }
    }
}

/// Permission for a question to hold a state, until dropped.
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
    /// The gate shared by all handles of the base in this folder.
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

    /// Waits while the gate is closed. It blocks no thread, because questions that hold a state
    /// need threads to end.
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
            // Either the gate is open, or the time is up.
            let _ = tokio::time::timeout(left, opened).await;
        }
    }

    /// Admits nobody until all holders have left, or until `wait` has passed.
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

    /// Whether the caller must shorten a log of `length` bytes: it is long, no other thread
    /// shortens it, and the last attempt is long ago.
    pub(super) fn begin(&self, length: u64) -> bool {
        let mut state = locked(&self.state);
        let may = state.long <= length
            && !state.is_draining
            && state.not_before.is_none_or(|at| at <= Instant::now());
        state.is_draining |= may;
        may
    }

    #[cfg(test)]
    pub(super) fn set_long(&self, length: u64) {
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

    /// A state that is held for long is waited for, but not without limit.
    #[tokio::test]
    async fn a_closed_gate_opens() {
        let gate = Arc::new(Gate::default());
        let held = Held::of(&gate).await;
        gate.close(Duration::from_millis(20));
        // Nobody opened the gate: the time is up.
        let other = Held::of(&gate).await;
        assert_eq!(locked(&gate.state).n_held, 2);
        drop((held, other));
        assert_eq!(locked(&gate.state).n_held, 0);
        gate.close(Duration::from_mins(1));
        gate.open();
        drop(Held::of(&gate).await);
    }
}
