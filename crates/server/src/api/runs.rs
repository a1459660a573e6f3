//! What was asked, what happened, and what would have happened otherwise.
#![expect(unused_qualifications, reason = "what the macro for the document writes")]

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use axum::{Extension, Json};
use pikerag_engine::knowledge::RunRecord;
use pikerag_engine::{DiffResponse, ForkRequest, RunResponse, RunSummary};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::IntoParams;

use super::ask::{AskEvent, Asked, respond};
use crate::app::{App, Caller};
use crate::opened::Seen;
use crate::problem::{JsonBody, Parts, Problem, Query, without_places};
use crate::streams::{Underway, Wanted};

/// How many runs to list.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Latest {
    /// The latest so many; 50, if none is named.
    limit: Option<usize>,
    /// Without their answers, which are long: `GET …/runs/{run}` has each.
    #[serde(default)]
    #[param(value_type = Option<bool>)]
    brief: bool,
}

/// The latest runs, the latest first.
#[utoipa::path(get, path = "/api/v1/bases/{base}/runs", tag = "runs", params(("base" = String, Path), Latest),
    responses((status = 200, body = Vec<RunSummary>), (status = 404, body = Problem)))]
pub(crate) async fn runs(
    Seen(session): Seen,
    Query(Latest { limit, brief }): Query<Latest>,
) -> Result<Json<Value>, Problem> {
    let mut runs = pikerag_engine::runs(&session, limit.unwrap_or(50).min(1000)).await?;
    for summary in &mut runs {
        told_outside(&mut summary.run);
        if brief {
            summary.run.answer = None;
        }
    }
    Ok(Json(json!(runs)))
}

/// One run with all that happened in it.
#[utoipa::path(get, path = "/api/v1/bases/{base}/runs/{run}", tag = "runs",
    params(("base" = String, Path), ("run" = String, Path)),
    responses((status = 200, body = RunResponse), (status = 404, body = Problem)))]
pub(crate) async fn run(
    Seen(session): Seen,
    Parts((_, run)): Parts<(String, String)>,
) -> Result<Json<Value>, Problem> {
    let mut run = pikerag_engine::run_by_name(&session, &run).await?;
    told_outside(&mut run.summary.run);
    Ok(Json(json!(run)))
}

/// Why a run failed, without where its models are: that is the server's.
fn told_outside(run: &mut RunRecord) {
    run.error = run.error.take().map(|error| without_places(&error));
}

/// Walks a run again with recorded replies alone: no call is made.
#[utoipa::path(post, path = "/api/v1/bases/{base}/runs/{run}/replay", tag = "runs",
    params(("base" = String, Path), ("run" = String, Path)),
    responses((status = 200, content((Asked = "application/json"), (AskEvent = "text/event-stream"))), (status = 404, body = Problem)))]
pub(crate) async fn replay(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Parts((base, run)): Parts<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let session = app.base(&caller, &base)?;
    let place = app.admitted(&caller).await?;
    let underway = Underway::begin(&app, place, session, Wanted::Replay(run));
    respond(app, base, &headers, underway).await
}

/// Walks a run again up to a decision, decides that otherwise, and goes on: a run of its own.
#[utoipa::path(post, path = "/api/v1/bases/{base}/runs/{run}/fork", tag = "runs",
    params(("base" = String, Path), ("run" = String, Path)), request_body = ForkRequest,
    responses((status = 200, content((Asked = "application/json"), (AskEvent = "text/event-stream"))), (status = 404, body = Problem)))]
pub(crate) async fn fork(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Parts((base, run)): Parts<(String, String)>,
    headers: HeaderMap,
    JsonBody(fork): JsonBody<ForkRequest>,
) -> Result<Response, Problem> {
    let session = app.base(&caller, &base)?;
    app.within(&[&json!(fork.change).to_string()], &[])?;
    let place = app.admitted(&caller).await?;
    let fork = Wanted::Fork(ForkRequest { run, ..fork });
    let underway = Underway::begin(&app, place, session, fork);
    respond(app, base, &headers, underway).await
}

/// Where two runs part, and what each was answered from.
#[utoipa::path(get, path = "/api/v1/bases/{base}/runs/{run}/diff/{other}", tag = "runs",
    params(("base" = String, Path), ("run" = String, Path), ("other" = String, Path)),
    responses((status = 200, body = DiffResponse), (status = 404, body = Problem)))]
pub(crate) async fn diff(
    Seen(session): Seen,
    Parts((_, run, other)): Parts<(String, String, String)>,
) -> Result<Json<Value>, Problem> {
    Ok(Json(json!(pikerag_engine::diff_runs(&session, &run, &other).await?)))
}
