//! Shares what all calls to one model of an endpoint have in common, for the life of the process: limits, circuit, retries,
//! the dialect that the endpoint understands, and calls under way.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::circuit::Circuit;
use crate::limit::{Limiter, Limits};
use crate::openai::{Endpoint, Quirks};
use crate::single_flight::Flights;

/// One model at one endpoint, as all requests and roles of the process share it. A clone shares it, too.
#[derive(Clone, Debug, Default)]
pub struct Upstream {
    pub(crate) limiter: Arc<Limiter>,
    pub(crate) circuit: Arc<Circuit>,
    pub(crate) quirks: Arc<Quirks>,
    pub(crate) flights: Arc<Flights>,
    limits: Limits,
}

impl Upstream {
    /// An upstream that nobody has asked yet.
    pub fn new(limits: Limits) -> Self {
        Self { limiter: Arc::new(Limiter::new(limits)), limits, ..Self::default() }
    }
}

/// The upstreams of a process: a clone shares them.
#[derive(Clone, Debug, Default)]
pub struct Upstreams(Arc<Mutex<HashMap<Key, Upstream>>>);

/// What tells upstreams apart: address, model and account.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    address: String,
    model: String,
    /// Hash of the key that is sent: providers limit accounts.
    account: [u8; 32],
}

impl Upstreams {
    /// The upstream of an endpoint's model. A caller that knows several settings for one upstream passes the strictest limits
    /// each time: other limits than before put a new upstream in the place of the one that there was.
    pub fn of(&self, endpoint: &Endpoint, limits: Limits) -> Upstream {
        let mut upstreams = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let upstream = upstreams.entry(Key::of(endpoint)).or_insert_with(|| Upstream::new(limits));
        if upstream.limits != limits {
            *upstream = Upstream::new(limits);
        }
        upstream.clone()
    }

    /// The upstreams for settings that were read again: those whose limits stay are shared with these here, and these here
    /// do not learn of other limits.
    #[must_use]
    pub fn renewed(&self) -> Self {
        let upstreams = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Self(Arc::new(Mutex::new(upstreams.clone())))
    }
}

/// Whether two endpoints share an upstream: the same model at the same address, for the same account.
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Secret;

    #[test]
    fn other_limits_hold_for_those_who_read_them_again() {
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
