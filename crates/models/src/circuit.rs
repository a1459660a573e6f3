//! Holds what all calls to one model know together: until when its endpoint wants no call, and whether it can be reached.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// How long an open circuit answers for the endpoint before one call tries again: the first time, and at most. Each
/// failed try doubles it, so that an endpoint that was only restarted is soon found, and a dead one seldom asked.
const FIRST_COOL_DOWN: Duration = Duration::from_secs(1);
const LONGEST_COOL_DOWN: Duration = Duration::from_secs(30);
/// Calls given up, with no reply to any call in between, after which the next would be given up too.
const GIVEN_UP: u32 = 3;

/// The circuit between us and an endpoint: closed while calls go through, open once they cannot.
#[derive(Debug, Default)]
pub(crate) struct Circuit(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// The endpoint said that it wants no call before.
    rests_until: Option<Instant>,
    given_up: u32,
    open: Option<Open>,
    /// How often calls were made again.
    retries: u64,
}

#[derive(Debug)]
struct Open {
    until: Instant,
    cool_down: Duration,
    why: String,
}

/// Why a call is not made: the endpoint told another call to come back later.
#[derive(Debug, thiserror::Error)]
#[error("it wants to be left alone for another {seconds:.0} s")]
pub(crate) struct Resting {
    pub(crate) seconds: f64,
}

impl Circuit {
    /// Lets a call through; while the circuit is open, says why it is. After a while one call may look again,
    /// and the others go on being turned away until it has been answered.
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

    /// How long the endpoint still wants to be left alone.
    pub(crate) fn rest(&self) -> Duration {
        let until = self.state().rests_until;
        until.map_or(Duration::ZERO, |until| until.saturating_duration_since(Instant::now()))
    }

    /// The endpoint wants no call for so long: that holds for all.
    pub(crate) fn leave_alone(&self, wait: Duration) {
        let until = Instant::now().checked_add(wait);
        let mut state = self.state();
        state.rests_until = state.rests_until.max(until);
    }

    /// Counts a call that is made again; returns how many there were.
    pub(crate) fn retried(&self) -> u64 {
        let mut state = self.state();
        state.retries += 1;
        state.retries
    }

    /// The endpoint has answered something.
    pub(crate) fn answered(&self) {
        let mut state = self.state();
        state.given_up = 0;
        state.open = None;
    }

    /// Nobody is there.
    pub(crate) fn open(&self, why: String) {
        let mut state = self.state();
        let before = state.open.as_ref().map(|open| open.cool_down);
        let cool_down =
            before.map_or(FIRST_COOL_DOWN, |before| (before * 2).min(LONGEST_COOL_DOWN));
        state.open = Some(Open { until: Instant::now() + cool_down, cool_down, why });
    }

    /// A call was asked again and again, in vain. Whether the circuit is open now.
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

    /// Every change is one assignment: what a panic left is whole.
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
    fn one_call_looks_again() {
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
    fn the_longest_rest_counts() {
        let circuit = Circuit::default();
        assert_eq!(circuit.rest(), Duration::ZERO);
        circuit.leave_alone(Duration::from_mins(2));
        circuit.leave_alone(Duration::from_secs(1));
        assert!(Duration::from_mins(1) < circuit.rest());
        circuit.leave_alone(Duration::MAX);
        assert!(Duration::from_mins(1) < circuit.rest());
    }
}
