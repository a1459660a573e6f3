//! Admits runs: a bounded number at a time, keys in turn, with a bounded queue.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use crate::problem::{Fault, Problem};

/// Runs that are running or queued.
#[derive(Clone)]
pub(crate) struct Admission(Arc<Inner>);

struct Inner {
    /// The largest number of runs at a time.
    most: usize,
    /// The largest number of queued requests.
    longest: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    under_way: usize,
    by_key: HashMap<String, usize>,
    /// Queued requests by key, in order of arrival.
    waiting: BTreeMap<String, VecDeque<Waiting>>,
    n_waiting: usize,
    tickets: u64,
    /// The key that was last admitted from the queue.
    last: String,
}

struct Waiting {
    ticket: u64,
    admit: oneshot::Sender<Place>,
}

/// The right to run; dropping it admits the next request of the queue.
pub(crate) struct Place {
    inner: Arc<Inner>,
    key: String,
}

impl Admission {
    pub(crate) fn new(most: usize, longest: usize) -> Self {
        Self(Arc::new(Inner { most, longest, state: Mutex::default() }))
    }

    /// Waits until a run of this key may begin. The key with the fewest running runs is next; keys
    /// with equal numbers take turns. If the queue is full, the newest request of the key with the
    /// most queued requests is refused.
    ///
    /// # Cancel safety
    /// Dropping the future removes the request from the queue.
    pub(crate) async fn enter(&self, key: &str) -> Result<Place, Problem> {
        let (admitted, ticket) = {
            let mut state = self.0.state();
            if state.under_way < self.0.most && state.n_waiting == 0 {
                return Ok(self.0.admit(&mut state, key));
            }
            if self.0.longest <= state.n_waiting && !state.make_way(key) {
                return Err(self.too_many());
            }
            state.tickets += 1;
            let ticket = state.tickets;
            let (admit, admitted) = oneshot::channel();
            state.waiting.entry(key.to_owned()).or_default().push_back(Waiting { ticket, admit });
            state.n_waiting += 1;
            (admitted, ticket)
        };
        let _leaves = Leaves { inner: &self.0, key, ticket };
        admitted.await.map_err(|_| self.too_many())
    }

    fn too_many(&self) -> Problem {
        let (most, longest) = (self.0.most, self.0.longest);
        Problem::new(429, "too-many-runs", Fault::Caller)
            .saying(format!("{most} questions are being answered, and {longest} wait"))
            .in_chinese(format!("正在回答 {most} 个问题，另有 {longest} 个在等待"))
            .hint("try again in a moment")
    }
}

/// Removes a request from the queue, if it is still queued.
struct Leaves<'a> {
    inner: &'a Inner,
    key: &'a str,
    ticket: u64,
}

impl Drop for Leaves<'_> {
    fn drop(&mut self) {
        let mut state = self.inner.state();
        let Some(line) = state.waiting.get_mut(self.key) else { return };
        let before = line.len();
        line.retain(|waiting| waiting.ticket != self.ticket);
        let left = before - line.len();
        state.n_waiting -= left;
        state.forget_if_empty(self.key);
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn admit(self: &Arc<Self>, state: &mut State, key: &str) -> Place {
        state.under_way += 1;
        *state.by_key.entry(key.to_owned()).or_default() += 1;
        Place { inner: Arc::clone(self), key: key.to_owned() }
    }
}

impl State {
    /// Refuses the newest request of the key with the most queued requests, if that key has more
    /// than this one would have. Returns whether a request was refused.
    fn make_way(&mut self, key: &str) -> bool {
        let own = self.waiting.get(key).map_or(0, VecDeque::len);
        let longest = self.waiting.iter_mut().max_by_key(|(_, line)| line.len());
        let Some((_, line)) = longest.filter(|(_, line)| own + 1 < line.len()) else {
            return false;
        };
        line.pop_back();
        self.n_waiting -= 1;
        true
    }

    /// Removes the request that is next and returns it.
    fn next(&mut self) -> Option<(String, oneshot::Sender<Place>)> {
        let after = (Bound::Excluded(self.last.clone()), Bound::Unbounded);
        let turns = self.waiting.range(after).chain(self.waiting.range(..=self.last.clone()));
        let runs = |key: &String| self.by_key.get(key).copied().unwrap_or_default();
        let key = turns.map(|(key, _)| key).min_by_key(|key| runs(key))?.clone();
        let waiting = self.waiting.get_mut(&key)?.pop_front();
        self.n_waiting -= usize::from(waiting.is_some());
        self.forget_if_empty(&key);
        self.last.clone_from(&key);
        waiting.map(|waiting| (key, waiting.admit))
    }

    fn forget_if_empty(&mut self, key: &str) {
        if self.waiting.get(key).is_some_and(VecDeque::is_empty) {
            self.waiting.remove(key);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let admitted = {
            let mut state = self.inner.state();
            state.under_way -= 1;
            if let Some(runs) = state.by_key.get_mut(&self.key) {
                *runs -= 1;
                if *runs == 0 {
                    state.by_key.remove(&self.key);
                }
            }
            let next = (state.under_way < self.inner.most).then(|| state.next()).flatten();
            next.map(|(key, admit)| (self.inner.admit(&mut state, &key), admit))
        };
        if let Some((place, admit)) = admitted {
            // If the caller has left, dropping the place gives it back at once.
            let _ = admit.send(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    /// One key holds all places and fills the queue; then another key arrives.
    #[test]
    fn keys_take_turns_and_a_full_queue_drops_from_the_longest_key() {
        let admission = Admission::new(2, 4);
        let enter = |key: &'static str| {
            let admission = admission.clone();
            async move { admission.enter(key).await }.boxed()
        };
        let mut held: Vec<Place> = Vec::new();
        for _ in 0..2 {
            held.push(enter("a").now_or_never().unwrap().unwrap());
        }
        let mut line: Vec<_> = (0..4).map(|_| enter("a")).collect();
        assert!(line.iter_mut().all(|one| one.now_or_never().is_none()));
        // The queue is full: a second request of the same key is refused; another key replaces its
        // newest request.
        let refused = enter("a").now_or_never().unwrap().err().unwrap();
        assert_eq!((refused.status().as_u16(), refused.code()), (429, "too-many-runs"));
        let mut other = enter("b");
        assert!((&mut other).now_or_never().is_none());
        assert!(line.pop().unwrap().now_or_never().unwrap().is_err());
        // The key with fewer runs is first, although it came last.
        held.pop();
        let b = (&mut other).now_or_never().unwrap().unwrap();
        assert!(line.iter_mut().all(|one| one.now_or_never().is_none()));
        drop(b);
        let first = line.remove(0).now_or_never().unwrap().unwrap();
        // A caller that leaves is removed from the queue; an admitted caller that has left gives
        // its place back.
        drop(line.remove(0));
        drop((first, held));
        let last = line.remove(0).now_or_never().unwrap().unwrap();
        let state = admission.0.state();
        assert_eq!((state.under_way, state.n_waiting, state.waiting.len()), (1, 0, 0));
        drop(state);
        drop(last);
        assert_eq!(admission.0.state().by_key.len(), 0);
    }
}
