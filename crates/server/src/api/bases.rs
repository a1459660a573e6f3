//! Which bases are there, what do they hold, and which methods answer over them?

use axum::extract::State;
use axum::{Extension, Json};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::app::{App, Caller};
use crate::problem::{Parts, Problem};

/// A base by its name.
#[derive(Serialize, ToSchema)]
pub(crate) struct BaseLine {
    /// As requests call it.
    name: String,
}

/// The bases that this key opens.
#[utoipa::path(get, path = "/api/v1/bases", tag = "bases", responses((status = 200, body = Vec<BaseLine>)))]
pub(crate) async fn bases(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
) -> Json<Vec<BaseLine>> {
    Json(app.bases_of(&caller).map(|(name, _)| BaseLine { name: name.to_owned() }).collect())
}

/// What a base holds, what waits, and what is wrong with its files.
#[utoipa::path(get, path = "/api/v1/bases/{base}", tag = "bases", params(("base" = String, Path)),
    responses((status = 200, body = Value), (status = 404, body = Problem)))]
pub(crate) async fn status(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Parts(base): Parts<String>,
) -> Result<Json<Value>, Problem> {
    let engine = app.base(&caller, &base)?;
    Ok(Json(json!(engine.status().await?)))
}

/// The methods that answer questions, with their parameters.
#[utoipa::path(get, path = "/api/v1/methods", tag = "ask", responses((status = 200, body = Value)))]
pub(crate) async fn methods(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
) -> Json<Value> {
    let any = app.bases_of(&caller).next();
    Json(any.map_or_else(|| json!([]), |(_, engine)| json!(engine.methods())))
}
