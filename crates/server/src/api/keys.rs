//! Keys: who may come in, for what, and what was spent with each. For callers of scope `admin` from whom nothing is kept: who
//! sees a part could else make a key that shows all.

use std::num::NonZeroU32;

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use pikerag_engine::keys::{Key, KeyParams, Scope, now};
use pikerag_engine::parts::Secret;
use serde::Serialize;
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
    /// Requests in a minute.
    #[schema(required)]
    per_minute: Option<u32>,
}

/// Keys, and whether any is needed.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct KeyList {
    /// Whether there is a place for keys; else none can be made.
    is_set: bool,
    /// The oldest first. Where there is none, whoever reaches the server may do all.
    keys: Vec<KeyLine>,
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
    let mut lines = Vec::new();
    for key in keys.list()?.iter() {
        lines.push(line(key, app.spent_with(key)?));
    }
    Ok(Json(KeyList { is_set: true, keys: lines }))
}

fn line(key: &Key, spent_usd: f64) -> KeyLine {
    let params = &key.params;
    KeyLine {
        id: key.id.clone(),
        made: key.made,
        name: params.name.clone(),
        scope: params.scope,
        bases: params.bases.clone(),
        filter: params.filter.conditions.iter().map(ToString::to_string).collect(),
        cap_usd: params.cap_usd,
        spent_usd,
        per_minute: params.per_minute.map(NonZeroU32::get),
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
    let is_unknown = |base: &&String| app.all_bases().all(|(name, _)| name != *base);
    if let Some(other) = params.bases.iter().find(is_unknown) {
        return Err(Problem::bad_request(format!("there is no base `{other}`")));
    }
    let opens_all = params.bases.is_empty() && params.filter.is_empty();
    if !app.has_keys()? && (params.scope != Scope::Admin || !opens_all) {
        return Err(Problem::new(409, "first-key", Fault::Caller)
            .saying("the first key has to be of scope `admin` for all bases")
            .hint("make that one first and keep it; from then on every request needs a key"));
    }
    let (key, secret): (Key, Secret) = keys.make(KeyParams { name, ..params }, now())?;
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
    let no_such = || super::look::no_such("key", &id);
    let keys = app.keys().ok_or_else(no_such)?;
    let is_known = keys.list()?.iter().any(|key| key.id == id);
    if !is_known {
        return Err(no_such());
    }
    keys.revoke(&id)?;
    Ok(StatusCode::NO_CONTENT)
}
