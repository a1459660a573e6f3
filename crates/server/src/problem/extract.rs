//! Reads JSON bodies, queries and paths, whose errors become problems.

use axum::Json;
use axum::extract::rejection::{JsonRejection, PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Path, Query as AxumQuery};

use super::Problem;

#[derive(FromRequest)]
#[from_request(via(Json), rejection(Problem))]
pub(crate) struct Body<T>(pub(crate) T);

#[derive(FromRequestParts)]
#[from_request(via(AxumQuery), rejection(Problem))]
pub(crate) struct Query<T>(pub(crate) T);

#[derive(FromRequestParts)]
#[from_request(via(Path), rejection(Problem))]
pub(crate) struct Parts<T>(pub(crate) T);

const _: fn(JsonRejection) -> Problem = Problem::from;
const _: fn(QueryRejection) -> Problem = Problem::from;
const _: fn(PathRejection) -> Problem = Problem::from;
