//! Keeps the responses to POSTs that have an `Idempotency-Key`: in this process, or in a database for
//! all servers over it.

mod shared;

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use pikerag_engine::knowledge::error_chain;
use pikerag_engine::settings::Settings;
use tracing::warn;

use self::shared::{Lease, SharedResponses};
use crate::problem::{Fault, Problem};

const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");
/// The largest number of characters of a key.
pub(crate) const LONGEST: usize = 255;
/// How long a response is kept.
pub(crate) const KEPT: Duration = Duration::from_hours(24);
/// The limit of bytes of all kept responses; the oldest are dropped first.
pub(crate) const ALL_BYTES: usize = 32 << 20;
/// The limit of bytes of one kept response.
pub(crate) const BYTES: usize = 1 << 20;

/// The responses, by caller and key.
#[derive(Default)]
pub(crate) struct Responses {
    /// Those of this process; requests alone, if responses are shared.
    held: Mutex<Held>,
    shared: Option<SharedResponses>,
}

#[derive(Default)]
struct Held {
    by_name: HashMap<Name, Entry>,
    /// The names of kept responses, the oldest first, each with its bytes.
    order: VecDeque<(Instant, Name, usize)>,
    bytes: usize,
    /// Responses to requests that began before are not kept.
    forgettings: u64,
}

/// The caller's key, and the idempotency key.
pub(crate) type Name = (String, String);

struct Entry {
    /// Hash of address and body; `None` while a form arrives.
    fingerprint: Option<blake3::Hash>,
    /// `None` while the first request is running.
    response: Option<Kept>,
    began_at: u64,
}

#[derive(Clone)]
pub(crate) struct Kept {
    pub(crate) status: StatusCode,
    pub(crate) content_type: Option<HeaderValue>,
    pub(crate) body: Bytes,
}

impl Responses {
    /// The responses of a server with these settings.
    pub(crate) fn of(settings: &Settings) -> Self {
        let shared = pikerag_engine::shared_responses(settings).unwrap_or_else(|error| {
            warn!(error = error_chain(&error), "other servers do not see kept responses");
            None
        });
        Self { held: Mutex::default(), shared: shared.map(SharedResponses::new) }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a request; `Err` with the response, if the request is a repetition.
    pub(crate) fn begin(
        &self,
        name: &Name,
        fingerprint: blake3::Hash,
    ) -> Result<UnderWay<'_>, Box<Response>> {
        let mut held = self.held();
        held.drop_old();
        let Some(entry) = held.by_name.get(name) else {
            let mut first = self.first(&mut held, name, Some(fingerprint));
            drop(held);
            if let Some(shared) = &self.shared {
                first.lease = Some(shared.begin(name, Some(fingerprint))?);
            }
            return Ok(first);
        };
        if entry.fingerprint.is_some_and(|own| own != fingerprint) {
            return Err(Box::new(reused()));
        }
        Err(Box::new(match &entry.response {
            Some(_) if entry.began_at < held.forgettings => forgotten(),
            Some(kept) => kept.replayed(),
            None => under_way(),
        }))
    }

    /// Begins a request whose fingerprint is known only when its form has arrived; see
    /// [`UnderWay::keep`].
    pub(crate) fn begin_form(&self, name: &Name) -> Result<UnderWay<'_>, Earlier> {
        let mut held = self.held();
        held.drop_old();
        match held.by_name.get(name).map(|entry| entry.response.is_some()) {
            None => {
                let mut first = self.first(&mut held, name, None);
                drop(held);
                if let Some(shared) = &self.shared {
                    first.lease = Some(shared.begin_form(name)?);
                }
                Ok(first)
            }
            Some(true) => Err(Earlier::Kept),
            Some(false) => Err(Earlier::UnderWay(Box::new(under_way()))),
        }
    }

    fn first(
        &self,
        held: &mut Held,
        name: &Name,
        fingerprint: Option<blake3::Hash>,
    ) -> UnderWay<'_> {
        let began_at = held.forgettings;
        held.by_name.insert(name.clone(), Entry { fingerprint, response: None, began_at });
        UnderWay { responses: self, name: name.clone(), lease: None }
    }

    /// Responses may hold the text of a forgotten document, so kept and running responses are not
    /// repeated.
    pub(crate) fn forget(&self) {
        if let Some(shared) = &self.shared {
            shared.forget();
        }
        let mut held = self.held();
        held.forgettings += 1;
        for entry in held.by_name.values_mut() {
            if let Some(kept) = &mut entry.response {
                kept.body = Bytes::new();
            }
        }
    }

    /// The number of times that responses were forgotten. A result of a request that began before
    /// the last time may hold forgotten text.
    pub(crate) fn forgettings(&self) -> u64 {
        self.held().forgettings
    }
}

/// What an earlier request with the same key came to.
pub(crate) enum Earlier {
    /// It is still running; the response to its repetition.
    UnderWay(Box<Response>),
    /// Its response is kept. Whether it answers the repetition is known when its form has arrived:
    /// see [`Responses::begin`].
    Kept,
}

fn reused() -> Response {
    Problem::new(422, "idempotency-key-reused", Fault::Caller)
        .saying("this Idempotency-Key belongs to another request")
        .hint("use a new key for each request")
        .into_response()
}

fn forgotten() -> Response {
    Problem::new(409, "response-forgotten", Fault::Caller)
        .saying("the response to this request is gone because a document was forgotten since")
        .hint("use a new key to repeat the request")
        .into_response()
}

fn under_way() -> Response {
    Problem::new(409, "under-way", Fault::Caller)
        .saying("a request with this Idempotency-Key is still running")
        .hint("try again in a moment")
        .into_response()
}

impl Held {
    fn drop_old(&mut self) {
        while let Some((since, name, bytes)) = self.order.front()
            && (KEPT < since.elapsed() || ALL_BYTES < self.bytes)
        {
            self.by_name.remove(name);
            self.bytes -= bytes;
            self.order.pop_front();
        }
    }
}

impl Kept {
    fn replayed(&self) -> Response {
        let mut response = Response::new(Body::from(self.body.clone()));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.extend(self.content_type.clone().map(|value| (header::CONTENT_TYPE, value)));
        headers.insert(REPLAYED, HeaderValue::from_static("true"));
        response
    }
}

/// A first request. If it is dropped without a response, the next request counts as the first.
pub(crate) struct UnderWay<'a> {
    responses: &'a Responses,
    name: Name,
    /// Other servers over the same database wait for this one.
    lease: Option<Lease>,
}

impl UnderWay<'_> {
    /// Keeps the response for repetitions with the same fingerprint.
    pub(crate) fn keep(&self, kept: Kept, fingerprint: blake3::Hash) {
        if let Some(lease) = &self.lease {
            return lease.keep(kept, fingerprint);
        }
        let mut held = self.responses.held();
        let forgettings = held.forgettings;
        if let Some(entry) = held.by_name.get_mut(&self.name) {
            let kept = match entry.began_at < forgettings {
                true => Kept { body: Bytes::new(), ..kept },
                false => kept,
            };
            // The name counts too, so that empty responses are bounded.
            let bytes = kept.body.len() + 2 * LONGEST;
            entry.response = Some(kept);
            entry.fingerprint = Some(fingerprint);
            held.order.push_back((Instant::now(), self.name.clone(), bytes));
            held.bytes += bytes;
        }
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        let mut held = self.responses.held();
        if held.by_name.get(&self.name).is_some_and(|entry| entry.response.is_none()) {
            held.by_name.remove(&self.name);
        }
    }
}
