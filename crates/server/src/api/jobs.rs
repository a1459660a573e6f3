//! Reports the progress of jobs, and begins the remaining work and jobs that wait for approval.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::{Extension, Json};
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::{App, Caller};
use crate::jobs::Job;
use crate::problem::{Parts, Problem};
use crate::streams;

/// The latest 500 jobs of a base and all that are not over, newest first.
#[utoipa::path(get, path = "/api/v1/bases/{base}/jobs", operation_id = "listJobs", tag = "files", params(("base" = String, Path)),
    responses((status = 200, body = Vec<Job>), (status = 404, body = Problem)))]
pub(crate) async fn jobs(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Parts(base): Parts<String>,
) -> Result<Json<Vec<Job>>, Problem> {
    let session = app.whole_base(&caller, &base)?;
    Ok(Json(app.jobs.of(&base, &session).await?))
}

/// Begins the remaining work of the base, such as vectors of another embedder. Work without paid calls
/// begins at once. Paid work becomes a job that is `offered`, with its bill: accept it by `begin`. A job
/// for the remaining work that exists already is returned.
#[utoipa::path(post, path = "/api/v1/bases/{base}/jobs", operation_id = "beginRemainingWork", tag = "files", params(("base" = String, Path)),
    responses((status = 202, body = Job), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn begin_remaining(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Parts(base): Parts<String>,
) -> Result<(StatusCode, Json<Job>), Problem> {
    let session = app.whole_base(&caller, &base)?;
    let key = caller.key.as_ref();
    let job = app.jobs.begin_remaining(&app.host(), key, &base, &session).await?;
    Ok((StatusCode::ACCEPTED, Json(job)))
}

/// Begins a job that is `offered`, within its bill, or begins again a job that is `set_aside`,
/// `incomplete` or `failed`. The job then belongs to this key.
#[utoipa::path(post, path = "/api/v1/bases/{base}/jobs/{job}/begin", operation_id = "beginJob", tag = "files",
    params(("base" = String, Path), ("job" = u64, Path)),
    responses((status = 202, body = Job), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn begin(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Parts((base, id)): Parts<(String, u64)>,
) -> Result<(StatusCode, Json<Job>), Problem> {
    let session = app.whole_base(&caller, &base)?;
    let job = app.jobs.accept(&app.host(), caller.key.as_ref(), &base, &session, id).await?;
    Ok((StatusCode::ACCEPTED, Json(job)))
}

/// A job. With `Accept: text/event-stream` it is sent again at each step, until it is over.
#[utoipa::path(get, path = "/api/v1/bases/{base}/jobs/{job}", operation_id = "getJob", tag = "files",
    params(("base" = String, Path), ("job" = u64, Path)),
    responses((status = 200, content((Job = "application/json"), (JobEvent = "text/event-stream"))), (status = 404, body = Problem)))]
pub(crate) async fn job(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Parts((base, id)): Parts<(String, u64)>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let session = app.whole_base(&caller, &base)?;
    let watched = app.jobs.watch(&app.host(), &base, &session, id).await?;
    Ok(streams::watched(&headers, watched, Job::is_over, JobEvent::Job))
}

/// An event of the stream of a job: its name and its data.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case", tag = "event", content = "data")]
pub(crate) enum JobEvent {
    /// The current state of the job.
    Job(Job),
}
