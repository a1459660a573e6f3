//! Lists, shows, replays, forks and compares runs.
#![expect(unused_qualifications, reason = "what the macro for the document writes")]

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use pikerag_engine::knowledge::Answer;
use pikerag_engine::{DiffResponse, ForkRequest, RunResponse, RunSummary, chinese_reason};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::IntoParams;

use super::ask::{AskEvent, Asked, drafts, respond};
use crate::app::{App, Caller};
use crate::follow::{FollowEvent, followed};
use crate::opened::Seen;
use crate::problem::{JsonBody, Parts, Problem, Query, without_places};
use crate::streams::{Drafts, Underway, Wanted, accepts_events};

/// How many runs to list, and how fully.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Latest {
    /// The number of latest runs; 50 by default.
    limit: Option<usize>,
    /// Omit the evidence of the answers, which is long: `GET …/runs/{run}` returns it.
    #[serde(default)]
    #[param(value_type = Option<bool>)]
    brief: bool,
}

/// The latest runs, newest first.
#[utoipa::path(get, path = "/api/v1/bases/{base}/runs", operation_id = "listRuns", tag = "runs", params(("base" = String, Path), Latest),
    responses((status = 200, body = Vec<RunSummary>), (status = 404, body = Problem)))]
pub(crate) async fn runs(
    Seen(session): Seen,
    Query(Latest { limit, brief }): Query<Latest>,
) -> Result<Json<Value>, Problem> {
    let mut runs = pikerag_engine::runs(&session, limit.unwrap_or(50).min(1000)).await?;
    for summary in &mut runs {
        hide_places(summary);
        if brief && let Some(answer) = &mut summary.run.answer {
            shorten(answer);
        }
    }
    Ok(Json(json!(runs)))
}

/// A run with all its events. With `Accept: text/event-stream` it sends a stream: `run`, then each
/// `event` of the trace, also while another server makes them, then `ended`. A client that lost the
/// connection continues with `Last-Event-ID`, on any server over the same base.
#[utoipa::path(get, path = "/api/v1/bases/{base}/runs/{run}", operation_id = "getRun", tag = "runs",
    params(("base" = String, Path), ("run" = String, Path)),
    responses((status = 200, content((RunResponse = "application/json"), (FollowEvent = "text/event-stream"))), (status = 404, body = Problem)))]
pub(crate) async fn run(
    State(app): State<App>,
    Seen(session): Seen,
    Parts((_, run)): Parts<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    if accepts_events(&headers) {
        return followed(app, session, &run, &headers, hide_places).await;
    }
    let mut run = pikerag_engine::run_by_name(&session, &run).await?;
    hide_places(&mut run.summary);
    Ok(Json(json!(run)).into_response())
}

/// Keeps the text of an answer, and whether it is a refusal.
fn shorten(answer: &mut Answer) {
    answer.rationale.clear();
    answer.missing.clear();
    answer.citations.clear();
    answer.context.chunks.clear();
    answer.worked = None;
}

/// Removes the places of models from a run's error: only the server's operator may see them.
fn hide_places(summary: &mut RunSummary) {
    (summary.run.error, summary.error_zh) = shown_error(summary.run.error.take());
}

/// An error without places, in English and Chinese.
fn shown_error(error: Option<String>) -> (Option<String>, Option<String>) {
    let error = error.map(|error| without_places(&error));
    let chinese = error.as_deref().map(chinese_reason);
    (error, chinese)
}

/// Replays a run from recorded replies. No model is called.
#[utoipa::path(post, path = "/api/v1/bases/{base}/runs/{run}/replay", operation_id = "replayRun", tag = "runs",
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
    let underway = Underway::begin(&app, place, session, Wanted::Replay(run), Drafts::LeftOut);
    respond(app, base, &headers, underway).await
}

/// Forks a run: repeats it up to a decision, decides that differently, and continues as a run of
/// its own.
#[utoipa::path(post, path = "/api/v1/bases/{base}/runs/{run}/fork", operation_id = "forkRun", tag = "runs",
    params(("base" = String, Path), ("run" = String, Path)), request_body = ForkRequest,
    responses((status = 200, content((Asked = "application/json"), (AskEvent = "text/event-stream"))), (status = 402, body = Problem), (status = 404, body = Problem)))]
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
    let underway = Underway::begin(&app, place, session, fork, drafts(&headers));
    respond(app, base, &headers, underway).await
}

/// Where two runs diverge, and the evidence of each answer.
#[utoipa::path(get, path = "/api/v1/bases/{base}/runs/{run}/diff/{other}", operation_id = "compareRuns", tag = "runs",
    params(("base" = String, Path), ("run" = String, Path), ("other" = String, Path)),
    responses((status = 200, body = DiffResponse), (status = 404, body = Problem)))]
pub(crate) async fn diff(
    Seen(session): Seen,
    Parts((_, run, other)): Parts<(String, String, String)>,
) -> Result<Json<Value>, Problem> {
    let mut diff = pikerag_engine::diff_runs(&session, &run, &other).await?;
    hide_places(&mut diff.first);
    hide_places(&mut diff.second);
    Ok(Json(json!(diff)))
}

#[cfg(test)]
mod tests {
    use super::shown_error;

    #[test]
    fn errors_name_no_places_in_either_language() {
        let error =
            "the `answer` call failed: m is out of reach: http://10.0.0.7:1 cannot be reached";
        let (english, chinese) = shown_error(Some(error.to_owned()));
        let english = english.unwrap();
        assert_eq!(english, "the `answer` call failed: m is out of reach: … cannot be reached");
        assert_eq!(chinese.unwrap(), "`answer` 的调用失败：无法连接 m：无法访问 …");
    }
}
