//! Keeps responses in a database, so that a request is done by one of the servers over it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::body::Bytes;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use pikerag_engine::EngineError;
use pikerag_engine::knowledge::{StoreError, error_chain};
use pikerag_engine::parts::{
    BegunResponse, RESPONSE_LEASE, RequestName, ResponsesInPostgres, StoredResponse,
};
use pikerag_engine::uploads::UploadId;
use tokio::task::{AbortHandle, spawn_blocking};
use tracing::warn;

use super::{Earlier, KEPT, Kept, Name, forgotten, reused, under_way};
use crate::problem::Problem;

/// The responses of all servers over a database. Each call blocks until the database replies, as the
/// check of a key does.
pub(super) struct SharedResponses(Arc<ResponsesInPostgres>);

/// A request that other servers leave to this one. Dropping it without a response gives it up.
pub(super) struct Lease {
    store: Arc<ResponsesInPostgres>,
    name: RequestName,
    holder: String,
    is_kept: AtomicBool,
    renewal: AbortHandle,
}

impl SharedResponses {
    pub(super) fn new(store: ResponsesInPostgres) -> Self {
        Self(Arc::new(store))
    }

    /// Begins a request; `Err` with the response, if a server did it or is doing it.
    pub(super) fn begin(
        &self,
        name: &Name,
        fingerprint: Option<blake3::Hash>,
    ) -> Result<Lease, Box<Response>> {
        match self.begun(name, fingerprint)? {
            Ok(lease) => Ok(lease),
            Err(BegunResponse::Reused) => Err(Box::new(reused())),
            Err(BegunResponse::Forgotten) => Err(Box::new(forgotten())),
            Err(BegunResponse::Kept(stored)) => Err(Box::new(kept(stored).replayed())),
            Err(BegunResponse::UnderWay | BegunResponse::First) => Err(Box::new(under_way())),
        }
    }

    /// The same for a form whose content is not known yet.
    pub(super) fn begin_form(&self, name: &Name) -> Result<Lease, Earlier> {
        match self.begun(name, None).map_err(Earlier::UnderWay)? {
            Ok(lease) => Ok(lease),
            Err(BegunResponse::UnderWay | BegunResponse::First) => {
                Err(Earlier::UnderWay(Box::new(under_way())))
            }
            Err(_) => Err(Earlier::Kept),
        }
    }

    fn begun(
        &self,
        (caller, key): &Name,
        fingerprint: Option<blake3::Hash>,
    ) -> Result<Result<Lease, BegunResponse>, Box<Response>> {
        let name = RequestName { caller: caller.clone(), key: key.clone() };
        let holder =
            UploadId::random().map_err(|error| Box::new(Problem::from(error).into_response()))?;
        let holder = holder.as_str().to_owned();
        let fingerprint = fingerprint.map(|hash| hash.to_hex().to_string());
        let begun = self.0.begin(&name, fingerprint.as_deref(), &holder, KEPT);
        match begun.map_err(refused)? {
            BegunResponse::First => Ok(Ok(Lease::new(Arc::clone(&self.0), name, holder))),
            other => Ok(Err(other)),
        }
    }

    pub(super) fn forget(&self) {
        if let Err(error) = self.0.forget() {
            warn!(error = error_chain(&error), "kept responses were not forgotten");
        }
    }
}

impl Lease {
    fn new(store: Arc<ResponsesInPostgres>, name: RequestName, holder: String) -> Self {
        let renewed = (Arc::clone(&store), name.clone(), holder.clone());
        let renewing = async move {
            loop {
                tokio::time::sleep(RESPONSE_LEASE / 3).await;
                let (store, name, holder) = renewed.clone();
                let renewed = spawn_blocking(move || store.renew(&name, &holder)).await;
                if let Ok(Err(error)) = renewed {
                    warn!(error = error_chain(&error), "other servers may repeat a request");
                }
            }
        };
        let renewal = tokio::spawn(renewing).abort_handle();
        Self { store, name, holder, is_kept: AtomicBool::new(false), renewal }
    }

    pub(super) fn keep(&self, kept: Kept, fingerprint: blake3::Hash) {
        let stored = StoredResponse {
            status: kept.status.as_u16(),
            content_type: kept.content_type.and_then(|kind| kind.to_str().ok().map(str::to_owned)),
            body: kept.body.to_vec(),
        };
        let fingerprint = fingerprint.to_hex();
        match self.store.keep(&self.name, &self.holder, fingerprint.as_str(), stored) {
            Ok(()) => self.is_kept.store(true, Ordering::Relaxed),
            Err(error) => warn!(error = error_chain(&error), "a response is not kept"),
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.renewal.abort();
        if self.is_kept.load(Ordering::Relaxed) {
            return;
        }
        if let Err(error) = self.store.release(&self.name, &self.holder) {
            warn!(error = error_chain(&error), "a request with its key waits for a minute");
        }
    }
}

fn kept(stored: StoredResponse) -> Kept {
    Kept {
        status: StatusCode::from_u16(stored.status).unwrap_or(StatusCode::OK),
        content_type: stored.content_type.and_then(|kind| HeaderValue::from_str(&kind).ok()),
        body: Bytes::from(stored.body),
    }
}

/// Without the database, another server may be doing the request: it is not done twice.
#[expect(clippy::unnecessary_box_returns, reason = "an error of a result is small")]
fn refused(error: StoreError) -> Box<Response> {
    Box::new(Problem::from(EngineError::from(error)).into_response())
}
