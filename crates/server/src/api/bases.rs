//! Lists the bases, what they hold, and the methods that answer over them.

use axum::extract::State;
use axum::{Extension, Json};
use pikerag_engine::StatusResponse;
use pikerag_engine::parts::Description;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::{App, Caller};
use crate::opened::Seen;
use crate::problem::Problem;

/// A base by its name.
#[derive(Serialize, ToSchema)]
pub(crate) struct BaseLine {
    /// The name that requests use.
    pub(super) name: String,
    /// Only if it was made over REST or on the page, so that it can be renamed and deleted there.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    pub(super) made: bool,
}

/// The bases that this key opens.
#[utoipa::path(get, path = "/api/v1/bases", operation_id = "listBases", tag = "bases", responses((status = 200, body = Vec<BaseLine>)))]
pub(crate) async fn bases(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
) -> Json<Vec<BaseLine>> {
    app.find_changed_bases();
    let live = app.live();
    let opened = live.bases.keys().filter(|name| caller.opens(name));
    let shown = |name: &String| BaseLine { name: name.clone(), made: live.made.contains(name) };
    Json(opened.map(shown).collect())
}

/// What a base holds, its pending work, and problems of its files.
#[utoipa::path(get, path = "/api/v1/bases/{base}", operation_id = "getBase", tag = "bases", params(("base" = String, Path)),
    responses((status = 200, body = StatusResponse), (status = 404, body = Problem)))]
pub(crate) async fn status(Seen(session): Seen) -> Result<Json<StatusResponse>, Problem> {
    Ok(Json(pikerag_engine::status(&session).await?))
}

/// The methods that answer questions, with their parameters.
#[utoipa::path(get, path = "/api/v1/methods", operation_id = "listMethods", tag = "ask", responses((status = 200, body = Vec<Description>)))]
pub(crate) async fn methods(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
) -> Json<Vec<Description>> {
    match app.bases_of(&caller).is_empty() {
        true => Json(Vec::new()),
        false => Json(pikerag_engine::methods()),
    }
}
