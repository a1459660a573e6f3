//! Reports the settings of a base, checks them, and lists evaluation reports.
#![expect(unused_qualifications, reason = "what the macro for the document writes")]

use axum::extract::State;
use axum::{Extension, Json};
use pikerag_engine::{
    ConfiguredResponse, DoctorFinding, EngineError, EvaluationLine, EvaluationResponse, Missing,
    QuestionForecast,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::app::{App, Caller};
use crate::opened::{Seen, Whole};
use crate::problem::{Fault, Parts, Problem, Query};

/// The settings of a base: models by role, embedder, reranker, caps. It contains no key and no
/// password.
#[utoipa::path(get, path = "/api/v1/bases/{base}/settings", operation_id = "getSettings", tag = "settings", params(("base" = String, Path)),
    responses((status = 200, body = ConfiguredResponse), (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn settings(Whole(session): Whole) -> Result<Json<ConfiguredResponse>, Problem> {
    Ok(Json(blocking(move || Ok(pikerag_engine::configured(&session))).await?))
}

/// Tests the settings and the machine: one small call to each model, one or two to measure the
/// chat model's speed, and five to the model that reads passages.
#[utoipa::path(post, path = "/api/v1/bases/{base}/doctor", operation_id = "runDoctor", tag = "settings", params(("base" = String, Path)),
    responses((status = 200, body = Vec<DoctorFinding>), (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn doctor(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Parts(base): Parts<String>,
) -> Result<Json<Vec<DoctorFinding>>, Problem> {
    let session = app.whole_base(&caller, &base)?;
    Ok(Json(pikerag_engine::doctor(&session).await))
}

/// The method of a forecast.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ByMethod {
    /// A method by name; `pike` by default.
    #[serde(default)]
    #[param(value_type = Option<String>)]
    method: String,
}

/// What one question would cost by a method. No model is called.
#[utoipa::path(get, path = "/api/v1/bases/{base}/forecast", operation_id = "forecastQuestion", tag = "ask", params(("base" = String, Path), ByMethod),
    responses((status = 200, body = QuestionForecast), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn forecast(
    Seen(session): Seen,
    Query(ByMethod { method }): Query<ByMethod>,
) -> Result<Json<QuestionForecast>, Problem> {
    Ok(Json(pikerag_engine::forecast(&session, &method).await?))
}

/// Evaluation reports, and whether a folder for them is set.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Evaluations {
    /// Whether `server.evaluations` names a folder.
    is_set: bool,
    /// The reports in that folder, newest first.
    reports: Vec<EvaluationLine>,
}

/// The reports that `pikerag eval` wrote below `server.evaluations`.
#[utoipa::path(get, path = "/api/v1/evaluations", operation_id = "listEvaluations", tag = "settings",
    responses((status = 200, body = Evaluations), (status = 403, body = Problem)))]
pub(crate) async fn evaluations(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<Evaluations>, Problem> {
    let Some(session) = app.for_all(&caller)? else {
        return Ok(Json(Evaluations { is_set: false, reports: Vec::new() }));
    };
    let is_set = session.settings().server.evaluations.is_some();
    let reports = blocking(move || pikerag_engine::evaluations(&session)).await?;
    Ok(Json(Evaluations { is_set, reports }))
}

/// The report to return.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct WhichReport {
    /// Its name in the list.
    name: String,
}

/// One report.
#[utoipa::path(get, path = "/api/v1/evaluations/report", operation_id = "getEvaluation", tag = "settings", params(WhichReport),
    responses((status = 200, body = EvaluationResponse), (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn evaluation(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Query(WhichReport { name }): Query<WhichReport>,
) -> Result<Json<EvaluationResponse>, Problem> {
    let Some(session) = app.for_all(&caller)? else {
        return Err(EngineError::NotFound { what: Missing::Evaluation, name }.into());
    };
    Ok(Json(blocking(move || pikerag_engine::evaluation(&session, &name)).await?))
}

/// Runs work that reads files on a blocking thread.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> pikerag_engine::Result<T> + Send + 'static,
) -> Result<T, Problem> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => Ok(done?),
        Err(_) => Err(Problem::new(500, "defect", Fault::Server)),
    }
}
