//! Which of several replies to one request does a run go on with?

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::key::request_key;

/// The replies that a run has had: it goes on with the same, even where later ones are better. Clones are one.
#[derive(Clone, Debug, Default)]
pub struct Pins {
    /// Calls by the keys of their requests.
    calls: Arc<Mutex<HashMap<String, String>>>,
    are_all: bool,
}

impl Pins {
    /// The calls of a run that is told again, in order: it had these and no others.
    pub fn all(calls: impl IntoIterator<Item = String>) -> Self {
        let pins = Self { calls: Arc::default(), are_all: true };
        for call in calls {
            pins.pin(&call);
        }
        pins
    }

    /// Whether there is no reply but these.
    pub(super) fn are_all(&self) -> bool {
        self.are_all
    }

    /// Goes on with this call, unless its request has another.
    pub(super) fn pin(&self, call: &str) {
        let request = request_key(call).to_owned();
        self.held().entry(request).or_insert_with(|| call.to_owned());
    }

    pub(super) fn of(&self, request: &str) -> Option<String> {
        self.held().get(request).cloned()
    }

    fn held(&self) -> MutexGuard<'_, HashMap<String, String>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
