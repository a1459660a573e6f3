//! Opens the base that the path of a request names, for the caller of the request.

use axum::Extension;
use axum::extract::FromRequestParts;
use axum::http::request;
use pikerag_engine::Session;
use serde::Deserialize;

use crate::app::{App, Caller};
use crate::problem::{Fault, Parts, Problem};

/// A base with the caller's filter applied.
pub(crate) struct Seen(pub(crate) Session);

/// A base that the caller sees whole and may change.
pub(crate) struct Whole(pub(crate) Session);

#[derive(Deserialize)]
struct Named {
    base: String,
}

impl FromRequestParts<App> for Seen {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut request::Parts, app: &App) -> Result<Self, Problem> {
        let (caller, base) = asked(parts, app).await?;
        app.base(&caller, &base).map(Self)
    }
}

impl FromRequestParts<App> for Whole {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut request::Parts, app: &App) -> Result<Self, Problem> {
        let (caller, base) = asked(parts, app).await?;
        app.whole_base(&caller, &base).map(Self)
    }
}

/// The caller, as the guard determined, and the requested base.
async fn asked(parts: &mut request::Parts, app: &App) -> Result<(Caller, String), Problem> {
    let Parts(Named { base }) = Parts::from_request_parts(parts, app).await?;
    let Extension(caller) = Extension::from_request_parts(parts, app)
        .await
        .map_err(|_| Problem::new(500, "no-caller", Fault::Server))?;
    Ok((caller, base))
}
