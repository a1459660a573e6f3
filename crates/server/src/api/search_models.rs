//! Tries and sets the embedder and the reranker in the settings file of the server.
#![expect(unused_qualifications, reason = "what the macro for the document writes")]

use axum::extract::State;
use axum::{Extension, Json};
use pikerag_engine::TriedSearchModel;
use pikerag_engine::parts::Secret;
use pikerag_engine::settings::{SearchModel, SearchModelChoice};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::chosen_models::{changeable, changed};
use super::models::session;
use crate::app::{App, Caller};
use crate::problem::{JsonBody, Parts, Problem};
use crate::reload::{Changed, ModelChange};

/// The endpoint of an embedder or a reranker.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChosenSearchModel {
    /// The name that the endpoint gives the model.
    model: String,
    /// The address of the endpoint: the part before `/embeddings` or `/rerank`.
    base_url: String,
    /// A new key. It is stored in the settings file and goes to this address only. Without it, the
    /// stored key stays if the address stays; at the address of the chat model, its key is used; at
    /// the address of a known provider, the server uses the variable of the provider.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    api_key: Option<Secret>,
}

impl ChosenSearchModel {
    fn choice(self, of: SearchModel) -> SearchModelChoice {
        let Self { model, base_url, api_key } = self;
        SearchModelChoice {
            of,
            model: model.trim().to_owned(),
            base_url: base_url.trim().to_owned(),
            api_key: api_key.filter(|key| !key.expose().is_empty()),
        }
    }
}

/// The embedder or the reranker was set or removed. New requests use the change.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SetSearchModel {
    /// The variable that must hold the key and is not set. The model refuses calls until then.
    #[schema(required, value_type = Option<String>)]
    needs_key: Option<&'static str>,
    /// Other settings of the file that have changed and need a restart.
    #[schema(value_type = Vec<String>)]
    needs_restart: Vec<&'static str>,
}

impl From<Changed> for SetSearchModel {
    fn from(Changed { needs_key, needs_restart, .. }: Changed) -> Self {
        Self { needs_key, needs_restart }
    }
}

/// The kind of model.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct WhichModel {
    /// Whether it makes vectors or orders hits.
    #[param(inline)]
    kind: SearchModel,
}

/// Tries an embedder or a reranker by one small call, before it is set. Nothing is written. The call
/// counts in the caps.
#[utoipa::path(post, path = "/api/v1/models/search/{kind}/test", operation_id = "testSearchModel", tag = "settings", params(WhichModel), request_body = ChosenSearchModel,
    responses((status = 200, body = TriedSearchModel), (status = 400, body = Problem), (status = 403, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn test(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Parts(WhichModel { kind }): Parts<WhichModel>,
    JsonBody(body): JsonBody<ChosenSearchModel>,
) -> Result<Json<TriedSearchModel>, Problem> {
    let session = session(&app, &caller)?;
    let file = changeable(&app)?;
    let choice = body.choice(kind);
    Ok(Json(pikerag_engine::try_search_model(&session, file.place(), &choice).await?))
}

/// Sets the embedder or the reranker in the settings file of the server, instead of weights that the
/// file names. New requests use it without a restart. The vectors of a base stay; it is searched by
/// words only until those of the new embedder are made (`POST /api/v1/bases/{base}/jobs`). The file
/// must be trusted and writable.
#[utoipa::path(put, path = "/api/v1/models/search/{kind}", operation_id = "setSearchModel", tag = "settings", params(WhichModel), request_body = ChosenSearchModel,
    responses((status = 200, body = SetSearchModel), (status = 400, body = Problem), (status = 403, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn set(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Parts(WhichModel { kind }): Parts<WhichModel>,
    JsonBody(body): JsonBody<ChosenSearchModel>,
) -> Result<Json<SetSearchModel>, Problem> {
    let change = ModelChange::SetSearch(body.choice(kind));
    Ok(Json(changed(&app, &caller, change).await?.into()))
}

/// Removes the endpoint of the embedder or the reranker from the settings file of the server, with its
/// key, and the weights of a reranker. The embedder is then one of the server's machine, if its weights
/// are there; hits are not reranked. It is no error if none is set.
#[utoipa::path(delete, path = "/api/v1/models/search/{kind}", operation_id = "unsetSearchModel", tag = "settings", params(WhichModel),
    responses((status = 200, body = SetSearchModel), (status = 400, body = Problem), (status = 403, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn unset(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Parts(WhichModel { kind }): Parts<WhichModel>,
) -> Result<Json<SetSearchModel>, Problem> {
    Ok(Json(changed(&app, &caller, ModelChange::UnsetSearch(kind)).await?.into()))
}
