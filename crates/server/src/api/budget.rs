//! Reports what the caller and the server may spend and have spent.

use std::num::NonZeroU32;

use axum::extract::State;
use axum::{Extension, Json};
use pikerag_engine::keys::Scope;
use serde::Serialize;
use utoipa::ToSchema;

use super::keys::usd;
use crate::app::{App, Caller};
use crate::problem::Problem;

/// Limits on chat model calls, and the sums spent.
#[derive(Serialize, ToSchema)]
pub(crate) struct Budget {
    /// The key of this request; null if the server has no keys.
    #[schema(required)]
    key: Option<OfKey>,
    /// The server's own figures since it started; only for keys of scope `admin` that open all
    /// bases.
    #[schema(required)]
    server: Option<OfServer>,
}

/// What a key permits, and the sum spent with it.
#[derive(Serialize, ToSchema)]
pub(crate) struct OfKey {
    /// Identifier of the key.
    id: String,
    /// The owner or the purpose of the key.
    name: String,
    /// `read`, `write` or `admin`.
    scope: &'static str,
    /// The bases that it opens; all, if empty.
    bases: Vec<String>,
    /// The filter on the bases; the key sees everything, if empty.
    filter: String,
    /// US dollars that may be spent with it over its whole life.
    #[schema(required)]
    cap_usd: Option<f64>,
    /// US dollars that were spent, or are reserved for running calls.
    spent_usd: f64,
    /// The largest number of requests in a minute.
    #[schema(required)]
    per_minute: Option<u32>,
}

/// What the server may spend and has spent.
#[derive(Serialize, ToSchema)]
pub(crate) struct OfServer {
    /// The cap in US dollars (`budget.usd`).
    #[schema(required)]
    cap_usd: Option<f64>,
    /// The cap in tokens (`budget.tokens`).
    #[schema(required)]
    cap_tokens: Option<u64>,
    /// The cap in calls (`budget.calls`).
    #[schema(required)]
    cap_calls: Option<u64>,
    /// US dollars that were paid, as far as prices are known.
    spent_usd: f64,
    /// Tokens of prompts and replies.
    tokens: u64,
    /// Model calls.
    calls: u64,
}

/// The caps and the spent sums of the key of this request, and of the server.
#[utoipa::path(get, path = "/api/v1/budget", operation_id = "getBudget", tag = "budget", responses((status = 200, body = Budget)))]
pub(crate) async fn budget(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<Budget>, Problem> {
    let key = match &caller.key {
        None => None,
        Some(key) => {
            let counted = app.use_of(key)?.map(|line| line.spent.saturating_add(line.reserved));
            Some(OfKey {
                id: key.id.clone(),
                name: key.params.name.clone(),
                scope: key.params.scope.as_str(),
                bases: key.params.bases.clone(),
                filter: key.params.filter.to_string(),
                cap_usd: key.params.cap_usd,
                spent_usd: usd(counted.unwrap_or_default()),
                per_minute: key.params.per_minute.map(NonZeroU32::get),
            })
        }
    };
    let may = caller.may(Scope::Admin) && caller.sees_all();
    let any = app.bases_of(&caller).into_iter().next().filter(|_| may);
    let server = any.map(|(_, session)| {
        let (cap, paid) = (session.settings().cap, session.cost().total);
        OfServer {
            cap_usd: cap.money_usd,
            cap_tokens: cap.tokens,
            cap_calls: cap.calls,
            spent_usd: paid.usd,
            tokens: paid.prompt_tokens + paid.completion_tokens,
            calls: paid.calls,
        }
    });
    Ok(Json(Budget { key, server }))
}
