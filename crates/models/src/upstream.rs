//! Shares the state of all calls to one model of an endpoint, for the life of the process: limits,
//! circuit, retries, the dialect that the endpoint understands, and running calls.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use pikerag_knowledge::SharedLimits;

use crate::circuit::Circuit;
use crate::limit::{Limiter, Limits};
use crate::openai::{Endpoint, Quirks};
use crate::single_flight::Flights;
use crate::together::SharedGate;

/// One model at one endpoint, shared by all requests and roles of the process. A clone shares it,
/// too.
#[derive(Clone, Debug, Default)]
pub struct Upstream {
    pub(crate) limiter: Arc<Limiter>,
    pub(crate) circuit: Arc<Circuit>,
    pub(crate) quirks: Arc<Quirks>,
    pub(crate) flights: Arc<Flights>,
    /// The same limits for all processes; `None` if no other process uses them.
    pub(crate) gate: Option<Arc<SharedGate>>,
    limits: Limits,
}

impl Upstream {
    /// An upstream that has made no call yet.
    pub fn new(limits: Limits) -> Self {
        Self { limiter: Arc::new(Limiter::new(limits)), limits, ..Self::default() }
    }
}

/// The upstreams of a process: a clone shares them.
#[derive(Clone, Debug, Default)]
pub struct Upstreams {
    known: Arc<Mutex<HashMap<Key, Upstream>>>,
    sharing: Option<Sharing>,
}

/// The store that keeps limits for several processes.
#[derive(Clone)]
struct Sharing(Arc<dyn SharedLimits>);

/// The identity of an upstream: address, model and account.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    address: String,
    model: String,
    /// Hash of the key that is sent: providers limit accounts.
    account: [u8; 32],
}

impl Upstreams {
    /// Upstreams whose limits hold for all processes together that use this store.
    pub fn sharing(limits: Arc<dyn SharedLimits>) -> Self {
        Self { sharing: Some(Sharing(limits)), ..Self::default() }
    }

    /// The upstream of an endpoint's model. A caller that has several settings for one upstream
    /// must pass the strictest limits each time: other limits than before replace the old upstream
    /// with a new one.
    pub fn of(&self, endpoint: &Endpoint, limits: Limits) -> Upstream {
        let mut upstreams = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let key = Key::of(endpoint);
        if let Some(known) = upstreams.get(&key).filter(|known| known.limits == limits) {
            return known.clone();
        }
        let gate = self
            .sharing
            .as_ref()
            .map(|Sharing(store)| Arc::new(SharedGate::new(Arc::clone(store), key.name(), limits)));
        let upstream = Upstream { gate, ..Upstream::new(limits) };
        upstreams.insert(key, upstream.clone());
        upstream
    }

    /// The upstreams for settings that were read again. Upstreams with unchanged limits are shared
    /// with these; these do not learn of new limits.
    #[must_use]
    pub fn renewed(&self) -> Self {
        let upstreams = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        Self { known: Arc::new(Mutex::new(upstreams.clone())), sharing: self.sharing.clone() }
    }
}

/// Whether two endpoints share an upstream: the same model at the same address, for the same
/// account.
pub fn share_upstream(one: &Endpoint, other: &Endpoint) -> bool {
    Key::of(one) == Key::of(other)
}

impl Key {
    fn of(endpoint: &Endpoint) -> Self {
        let key = endpoint.api_key.as_ref().map_or("", |key| key.expose());
        Self {
            address: endpoint.address().trim_end_matches('/').to_owned(),
            model: endpoint.model.clone(),
            account: *blake3::hash(key.as_bytes()).as_bytes(),
        }
    }

    /// A name without address and account, the same in all processes.
    fn name(&self) -> String {
        let Self { address, model, account } = self;
        let mut hasher = blake3::Hasher::new();
        for part in [address.as_bytes(), model.as_bytes(), account] {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
        }
        hasher.finalize().to_hex().chars().take(32).collect()
    }
}

impl fmt::Debug for Sharing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Sharing").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Secret;

    #[test]
    fn new_limits_hold_for_renewed_upstreams() {
        let endpoint = Endpoint::new("http://a.example/v1", "m");
        let stricter = Limits { in_flight: std::num::NonZeroUsize::MIN, ..Limits::default() };
        let before = Upstreams::default();
        let first = before.of(&endpoint, Limits::default());
        let renewed = before.renewed();
        assert!(Arc::ptr_eq(&renewed.of(&endpoint, Limits::default()).limiter, &first.limiter));
        assert!(!Arc::ptr_eq(&renewed.of(&endpoint, stricter).limiter, &first.limiter));
        assert!(Arc::ptr_eq(&before.of(&endpoint, Limits::default()).limiter, &first.limiter));
    }

    #[test]
    fn requests_for_one_model_of_an_endpoint_share_its_upstream() {
        let upstreams = Upstreams::default();
        let of = |endpoint: &Endpoint| upstreams.clone().of(endpoint, Limits::default());
        let one = Endpoint::new("http://a.example/v1", "m");
        let again = Endpoint::new("http://a.example/v1/", "m");
        let is_shared = |other: &Endpoint| Arc::ptr_eq(&of(&one).limiter, &of(other).limiter);
        assert!(is_shared(&again));
        let other_model = Endpoint { model: "n".to_owned(), ..one.clone() };
        let other_account = Endpoint { api_key: Some(Secret::new("k")), ..one.clone() };
        let other_address = Endpoint::new("http://b.example/v1", "m");
        for other in [other_model, other_account, other_address] {
            assert!(!is_shared(&other) && !share_upstream(&one, &other));
        }
    }
}
