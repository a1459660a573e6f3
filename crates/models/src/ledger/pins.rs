//! Remembers which of several replies to a request a run uses.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::key::request_key;

/// The replies that a run has used: it keeps using them, even if later ones are better. Clones
/// share them.
#[derive(Clone, Debug, Default)]
pub struct Pins {
    /// Calls by the keys of their requests.
    calls: Arc<Mutex<HashMap<String, String>>>,
    are_all: bool,
}

impl Pins {
    /// The calls of a replayed run, in order: no other replies exist for it.
    pub fn all(calls: impl IntoIterator<Item = String>) -> Self {
        let pins = Self { calls: Arc::default(), are_all: true };
        for call in calls {
            pins.pin(&call);
        }
        pins
    }

    /// Whether no other replies exist.
    pub(super) fn are_all(&self) -> bool {
        self.are_all
    }

    /// Fixes this call for its request, unless the request has one already.
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
