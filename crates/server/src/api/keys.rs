//! Keys: who may come in, for what, and what was spent with each. For callers of scope `admin` from whom nothing is kept: who
//! sees a part could else make a key that shows all.

use std::num::NonZeroU32;

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use pikerag_engine::keys::{KeyParams, KeyUse, Keys, Scope, mark_as_needed, now};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::{App, Caller};
use crate::problem::{Fault, JsonBody, Parts, Problem};

/// A key, without what is secret of it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct KeyLine {
    /// Tells it apart.
    id: String,
    /// When it was made, in milliseconds since 1970.
    made: u64,
    /// Whose it is, or what for.
    name: String,
    /// What it may be used for.
    scope: Scope,
    /// The bases that it opens; all, if none.
    bases: Vec<String>,
    /// What of them it shows: conditions that must all fit; all, if none.
    filter: Vec<String>,
    /// US dollars that may be spent with it over all its life.
    #[schema(required)]
    cap_usd: Option<f64>,
    /// US dollars that were.
    spent_usd: f64,
    /// US dollars that are reserved for calls whose price is not known yet.
    reserved_usd: f64,
    /// Requests in a minute.
    #[schema(required)]
    per_minute: Option<u32>,
    /// From when on it opens nothing, in milliseconds since 1970; never ends, if absent.
    #[schema(required)]
    expires: Option<u64>,
    /// When it was last used, to about a minute, in milliseconds since 1970.
    #[schema(required)]
    used: Option<u64>,
}

/// Keys, and whether any is needed.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct KeyList {
    /// Whether there is a place for keys; else none can be made.
    is_set: bool,
    /// The oldest first. Where none was ever made, whoever reaches a server on this machine may do all.
    keys: Vec<KeyLine>,
}

/// How a key gets another secret.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RotateBody {
    /// For how many seconds the old secret stays good.
    grace_seconds: u64,
}

/// A key that was made.
#[derive(Serialize, ToSchema)]
pub(crate) struct MadeKey {
    /// Tells it apart.
    id: String,
    /// The key itself: this is the only time that it is told.
    key: String,
}

/// All keys, with what was spent with each.
#[utoipa::path(get, path = "/api/v1/keys", tag = "keys",
    responses((status = 200, body = KeyList), (status = 403, body = Problem)))]
pub(crate) async fn keys(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<KeyList>, Problem> {
    app.for_all(&caller)?;
    let Some(keys) = app.keys() else {
        return Ok(Json(KeyList { is_set: false, keys: Vec::new() }));
    };
    let lines = keys.list()?.iter().map(line).collect();
    Ok(Json(KeyList { is_set: true, keys: lines }))
}

/// Millionths of a millionth of a dollar, in dollars.
pub(super) fn usd(picodollars: u64) -> f64 {
    picodollars as f64 / 1e12
}

fn line(line: &KeyUse) -> KeyLine {
    let (key, params) = (&line.key, &line.key.params);
    KeyLine {
        id: key.id.clone(),
        made: key.made,
        name: params.name.clone(),
        scope: params.scope,
        bases: params.bases.clone(),
        filter: params.filter.conditions.iter().map(ToString::to_string).collect(),
        cap_usd: params.cap_usd,
        spent_usd: usd(line.spent),
        reserved_usd: usd(line.reserved),
        per_minute: params.per_minute.map(NonZeroU32::get),
        expires: params.expires,
        used: line.used,
    }
}

/// Makes a key. The first one has to be of scope `admin` for all bases: from then on every request needs a key, and somebody
/// has to be able to make the next.
#[utoipa::path(post, path = "/api/v1/keys", tag = "keys", request_body = KeyParams,
    responses((status = 200, body = MadeKey), (status = 400, body = Problem), (status = 403, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn make(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    JsonBody(params): JsonBody<KeyParams>,
) -> Result<Json<MadeKey>, Problem> {
    app.for_all(&caller)?;
    let Some(keys) = app.keys() else {
        return Err(Problem::new(409, "no-place-for-keys", Fault::Server)
            .saying("there is no place for keys")
            .hint("set `server.keys`"));
    };
    let name = params.name.trim().to_owned();
    if name.is_empty() {
        return Err(Problem::bad_request("`name` holds no letter"));
    }
    if params.cap_usd.is_some_and(|cap| !cap.is_finite() || cap < 0.0) {
        return Err(Problem::bad_request("`cap_usd` is to be 0 or more"));
    }
    let live = app.live();
    let is_unknown = |base: &&String| !live.bases.contains_key(*base);
    if let Some(other) = params.bases.iter().find(is_unknown) {
        return Err(Problem::bad_request(format!("there is no base `{other}`")));
    }
    let opens_all = params.bases.is_empty() && params.filter.is_empty();
    if params.expires.is_some_and(|expires| expires <= now()) {
        return Err(Problem::bad_request("`expires` is over already"));
    }
    if !app.needs_key()? && (params.scope != Scope::Admin || !opens_all) {
        return Err(Problem::new(409, "first-key", Fault::Caller)
            .saying("the first key has to be of scope `admin` for all bases")
            .hint("make that one first and keep it; from then on every request needs a key"));
    }
    let (key, secret) = keys.make(KeyParams { name, ..params })?;
    mark_as_needed(live.engine.settings());
    Ok(Json(MadeKey { id: key.id, key: secret.expose().to_owned() }))
}

/// Takes a key back: it opens nothing from then on.
#[utoipa::path(delete, path = "/api/v1/keys/{id}", tag = "keys", params(("id" = String, Path)),
    responses((status = 204), (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn revoke(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Parts(id): Parts<String>,
) -> Result<StatusCode, Problem> {
    app.for_all(&caller)?;
    holder(&app, &id)?.revoke(&id)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Gives a key another secret; the old one opens nothing from then on, or after a while.
#[utoipa::path(post, path = "/api/v1/keys/{id}/rotate", tag = "keys", params(("id" = String, Path)), request_body = RotateBody,
    responses((status = 200, body = MadeKey), (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn rotate(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Parts(id): Parts<String>,
    JsonBody(body): JsonBody<RotateBody>,
) -> Result<Json<MadeKey>, Problem> {
    app.for_all(&caller)?;
    let grace = body.grace_seconds.saturating_mul(1000);
    let (key, secret) = holder(&app, &id)?.rotate(&id, grace)?;
    Ok(Json(MadeKey { id: key.id, key: secret.expose().to_owned() }))
}

/// The keys, among which there is this one.
fn holder<'a>(app: &'a App, id: &str) -> Result<&'a Keys, Problem> {
    let no_such = || super::look::no_such("key", id);
    let keys = app.keys().ok_or_else(no_such)?;
    let is_known = keys.list()?.iter().any(|line| line.key.id == id);
    is_known.then_some(keys).ok_or_else(no_such)
}
