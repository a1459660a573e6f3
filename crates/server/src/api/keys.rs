//! Lists, makes, rotates and revokes keys, with the sum spent with each. Needs scope `admin` and
//! sight of all bases: otherwise a caller who sees a part could make a key that shows all.

use std::num::NonZeroU32;

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use pikerag_engine::keys::{KeyParams, KeyUse, Keys, Scope, mark_as_needed, now};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::{App, Caller};
use crate::problem::{Fault, JsonBody, Parts, Problem};

/// A key without its secret.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct KeyLine {
    /// Identifier of the key.
    id: String,
    /// When it was made, in milliseconds since 1970.
    made: u64,
    /// The owner or the purpose of the key.
    name: String,
    /// The operations that it allows.
    scope: Scope,
    /// The bases that it opens; all, if empty.
    bases: Vec<String>,
    /// The filter on the bases: conditions that must all hold; the key sees everything, if empty.
    filter: Vec<String>,
    /// US dollars that may be spent with it over its whole life.
    #[schema(required)]
    cap_usd: Option<f64>,
    /// US dollars that were spent with it.
    spent_usd: f64,
    /// US dollars that are reserved for calls whose price is not known yet.
    reserved_usd: f64,
    /// The largest number of requests in a minute.
    #[schema(required)]
    per_minute: Option<u32>,
    /// When it expires, in milliseconds since 1970; it never expires, if null.
    #[schema(required)]
    expires: Option<u64>,
    /// When it was last used, to about a minute, in milliseconds since 1970.
    #[schema(required)]
    used: Option<u64>,
}

/// The keys, and whether the server can hold any.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct KeyList {
    /// Whether a store for keys is set; without one, no key can be made.
    is_set: bool,
    /// The oldest first. If none was ever made, every caller that reaches a server on this machine
    /// has full access.
    keys: Vec<KeyLine>,
}

/// How to rotate a key.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RotateBody {
    /// How many seconds the old secret stays valid.
    grace_seconds: u64,
}

/// A key that was made.
#[derive(Serialize, ToSchema)]
pub(crate) struct MadeKey {
    /// Identifier of the key.
    id: String,
    /// The key itself. It is shown only this once.
    key: String,
}

/// All keys, with the sum spent with each.
#[utoipa::path(get, path = "/api/v1/keys", operation_id = "listKeys", tag = "keys",
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

/// Converts millionths of a millionth of a dollar into dollars.
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

/// Makes a key. The first one must have scope `admin` for all bases: from then on every request
/// needs a key, and somebody must be able to make the next one.
#[utoipa::path(post, path = "/api/v1/keys", operation_id = "createKey", tag = "keys", request_body = KeyParams,
    responses((status = 200, body = MadeKey), (status = 400, body = Problem), (status = 403, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn make(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    JsonBody(params): JsonBody<KeyParams>,
) -> Result<Json<MadeKey>, Problem> {
    app.for_all(&caller)?;
    let Some(keys) = app.keys() else {
        return Err(Problem::new(409, "no-place-for-keys", Fault::Server)
            .saying("this server has no store for keys")
            .hint("set `server.keys`"));
    };
    let name = params.name.trim().to_owned();
    if name.is_empty() {
        return Err(Problem::bad_request("`name` is empty"));
    }
    if params.cap_usd.is_some_and(|cap| !cap.is_finite() || cap < 0.0) {
        return Err(Problem::bad_request("`cap_usd` must be 0 or more"));
    }
    app.find_changed_bases();
    let live = app.live();
    let is_unknown = |base: &&String| !live.bases.contains_key(*base);
    if let Some(other) = params.bases.iter().find(is_unknown) {
        return Err(Problem::bad_request(format!("there is no base `{other}`")));
    }
    let opens_all = params.bases.is_empty() && params.filter.is_empty();
    if params.expires.is_some_and(|expires| expires <= now()) {
        return Err(Problem::bad_request("`expires` is in the past"));
    }
    if !app.needs_key()? && (params.scope != Scope::Admin || !opens_all) {
        return Err(Problem::new(409, "first-key", Fault::Caller)
            .saying("the first key must have scope `admin` for all bases")
            .hint("make such a key first and keep it; from then on every request needs a key"));
    }
    let (key, secret) = keys.make(KeyParams { name, ..params })?;
    mark_as_needed(live.engine.settings());
    Ok(Json(MadeKey { id: key.id, key: secret.expose().to_owned() }))
}

/// Revokes a key. It opens nothing from then on.
#[utoipa::path(delete, path = "/api/v1/keys/{id}", operation_id = "revokeKey", tag = "keys", params(("id" = String, Path)),
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

/// Gives a key a new secret. The old one becomes invalid at once, or after a grace period.
#[utoipa::path(post, path = "/api/v1/keys/{id}/rotate", operation_id = "rotateKey", tag = "keys", params(("id" = String, Path)), request_body = RotateBody,
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

/// The store of keys, if it contains this key.
fn holder<'a>(app: &'a App, id: &str) -> Result<&'a Keys, Problem> {
    let no_such = || super::look::no_such("key", id);
    let keys = app.keys().ok_or_else(no_such)?;
    let is_known = keys.list()?.iter().any(|line| line.key.id == id);
    is_known.then_some(keys).ok_or_else(no_such)
}
