//! Reads JSON bodies, queries and paths, whose errors become problems.

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::{JsonRejection, PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Path, Query as AxumQuery, Request};
use serde::de::DeserializeOwned;

use super::Problem;

#[derive(FromRequest)]
#[from_request(via(Json), rejection(Problem))]
pub(crate) struct Body<T>(pub(crate) T);

/// A JSON body of any content type: some clients of Ollama name none. The guard refuses calls from
/// pages of other sites whatever their content type.
pub(crate) struct LooseJson<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for LooseJson<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let bytes = Bytes::from_request(request, state).await.map_err(JsonRejection::from)?;
        let Json(value) = Json::from_bytes(&bytes)?;
        Ok(Self(value))
    }
}

#[derive(FromRequestParts)]
#[from_request(via(AxumQuery), rejection(Problem))]
pub(crate) struct Query<T>(pub(crate) T);

#[derive(FromRequestParts)]
#[from_request(via(Path), rejection(Problem))]
pub(crate) struct Parts<T>(pub(crate) T);

const _: fn(JsonRejection) -> Problem = Problem::from;
const _: fn(QueryRejection) -> Problem = Problem::from;
const _: fn(PathRejection) -> Problem = Problem::from;
