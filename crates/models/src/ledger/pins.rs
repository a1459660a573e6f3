//! Remembers which of several replies to a request a run uses.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pikerag_knowledge::{Ledger, StoreError};
use serde_json::Value;
use tokio::sync::OnceCell;

use super::key::request_key;

/// The replies that a run has used: it keeps using them, even if later ones are better. Clones
/// share them.
#[derive(Clone, Debug, Default)]
pub struct Pins {
    /// Calls by the keys of their requests.
    calls: Arc<Mutex<HashMap<String, String>>>,
    are_all: bool,
    /// The requests of these calls; read when the first request has no call of its own.
    requests: Arc<OnceCell<Requests>>,
}

/// The requests of a replayed run by their content without the schema.
#[derive(Debug, Default)]
pub(super) struct Requests(HashMap<String, Vec<String>>);

impl Requests {
    /// The requests that differ from this one in the schema at most. All are JSON.
    pub(super) fn like(&self, request: &str) -> &[String] {
        self.0.get(&without_schema(request)).map(Vec::as_slice).unwrap_or_default()
    }
}

impl Pins {
    /// The calls of a replayed run, in order: no other replies exist for it.
    pub fn all(calls: impl IntoIterator<Item = String>) -> Self {
        let pins = Self { are_all: true, ..Self::default() };
        for call in calls {
            pins.pin(&call);
        }
        pins
    }

    /// Whether no other replies exist.
    pub(super) fn are_all(&self) -> bool {
        self.are_all
    }

    /// The requests of the replayed run; none if other replies exist.
    pub(super) async fn requests(&self, ledger: &dyn Ledger) -> Result<&Requests, StoreError> {
        self.requests.get_or_try_init(|| self.read_requests(ledger)).await
    }

    async fn read_requests(&self, ledger: &dyn Ledger) -> Result<Requests, StoreError> {
        let mut requests = Requests::default();
        if !self.are_all {
            return Ok(requests);
        }
        let mut calls: Vec<String> = self.held().values().cloned().collect();
        calls.sort();
        for call in ledger.find_all(&calls).await?.into_iter().flatten() {
            let same = requests.0.entry(without_schema(&call.request)).or_default();
            same.push(call.request);
        }
        Ok(requests)
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

/// A request as JSON, without the schema of its reply.
fn without_schema(request: &str) -> String {
    match serde_json::from_str(request) {
        Ok(Value::Object(mut fields)) => {
            fields.remove("schema");
            Value::Object(fields).to_string()
        }
        _ => request.to_owned(),
    }
}
