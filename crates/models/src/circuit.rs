//! Holds the state that all calls to one model share: the pause that its endpoint asks for, and
//! whether it can be reached.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// How long an open circuit rejects calls before one call tries again: the first time, and at most.
/// Each failed try doubles it: pikerag soon finds a restarted endpoint, and seldom calls a dead
/// one.
const FIRST_COOL_DOWN: Duration = Duration::from_secs(1);
const LONGEST_COOL_DOWN: Duration = Duration::from_secs(30);
/// Failed calls, with no reply to any call in between, after which the circuit opens.
const GIVEN_UP: u32 = 3;

/// The circuit between us and an endpoint: closed while calls succeed, open once they cannot.
#[derive(Debug, Default)]
pub(crate) struct Circuit(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// The endpoint asked for no call before this time.
    paused_until: Option<Instant>,
    given_up: u32,
    open: Option<Open>,
    /// The number of retried calls.
    retries: u64,
}

#[derive(Debug)]
struct Open {
    until: Instant,
    cool_down: Duration,
    why: String,
}

/// Why a call is not made: the endpoint asked another call for a pause.
#[derive(Debug, thiserror::Error)]
#[error("the endpoint asks for a pause of another {seconds:.0} s")]
pub(crate) struct Paused {
    pub(crate) seconds: f64,
}

impl Circuit {
    /// Lets a call through; while the circuit is open, gives the reason instead. After the
    /// cool-down one call may try again; the others are rejected until it has been answered.
    pub(crate) fn admit(&self) -> Result<(), String> {
        let mut state = self.state();
        let now = Instant::now();
        match &mut state.open {
            Some(open) if now < open.until => Err(open.why.clone()),
            Some(open) => {
                open.until = now + open.cool_down;
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// The rest of the pause that the endpoint asked for; zero if there is none.
    pub(crate) fn pause(&self) -> Duration {
        let until = self.state().paused_until;
        until.map_or(Duration::ZERO, |until| until.saturating_duration_since(Instant::now()))
    }

    /// The endpoint asked for a pause, which holds for all calls.
    pub(crate) fn pause_for(&self, wait: Duration) {
        let until = Instant::now().checked_add(wait);
        let mut state = self.state();
        state.paused_until = state.paused_until.max(until);
    }

    /// Counts a retried call; returns the number of all of them.
    pub(crate) fn retried(&self) -> u64 {
        let mut state = self.state();
        state.retries += 1;
        state.retries
    }

    /// The endpoint has answered, with any reply.
    pub(crate) fn answered(&self) {
        let mut state = self.state();
        state.given_up = 0;
        state.open = None;
    }

    /// The endpoint cannot be reached.
    pub(crate) fn open(&self, why: String) {
        let mut state = self.state();
        let before = state.open.as_ref().map(|open| open.cool_down);
        let cool_down =
            before.map_or(FIRST_COOL_DOWN, |before| (before * 2).min(LONGEST_COOL_DOWN));
        state.open = Some(Open { until: Instant::now() + cool_down, cool_down, why });
    }

    /// Counts a call whose every attempt failed. Returns whether the circuit is open now.
    pub(crate) fn gave_up(&self, why: impl FnOnce() -> String) -> bool {
        let mut state = self.state();
        state.given_up += 1;
        let opens = GIVEN_UP <= state.given_up;
        drop(state);
        if opens {
            self.open(why());
        }
        opens
    }

    /// Every change is one assignment, so the state is consistent even after a panic.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opens_after_calls_in_a_row_and_closes_with_an_answer() {
        let circuit = Circuit::default();
        let why = || "HTTP 503".to_owned();
        assert!(!circuit.gave_up(why) && !circuit.gave_up(why));
        circuit.answered();
        assert!(!circuit.gave_up(why) && !circuit.gave_up(why));
        assert_eq!(circuit.admit(), Ok(()));
        assert!(circuit.gave_up(why));
        assert_eq!(circuit.admit(), Err("HTTP 503".to_owned()));
        circuit.answered();
        assert_eq!(circuit.admit(), Ok(()));
    }

    #[test]
    fn one_call_tries_again() {
        let circuit = Circuit::default();
        let past =
            Open { until: Instant::now(), cool_down: FIRST_COOL_DOWN, why: "gone".to_owned() };
        circuit.state().open = Some(past);
        assert_eq!(circuit.admit(), Ok(()));
        assert_eq!(circuit.admit(), Err("gone".to_owned()));
    }

    #[test]
    fn the_cool_down_doubles_until_an_answer_comes() {
        let circuit = Circuit::default();
        let cool_down = || {
            circuit.open("gone".to_owned());
            circuit.state().open.as_ref().unwrap().cool_down.as_secs()
        };
        assert_eq!([(); 7].map(|()| cool_down()), [1, 2, 4, 8, 16, 30, 30]);
        circuit.answered();
        assert_eq!(cool_down(), 1);
    }

    #[test]
    fn the_longest_pause_counts() {
        let circuit = Circuit::default();
        assert_eq!(circuit.pause(), Duration::ZERO);
        circuit.pause_for(Duration::from_mins(2));
        circuit.pause_for(Duration::from_secs(1));
        assert!(Duration::from_mins(1) < circuit.pause());
        circuit.pause_for(Duration::MAX);
        assert!(Duration::from_mins(1) < circuit.pause());
    }
}
