//! Serves the counters in Prometheus' text format.

use axum::Extension;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use pikerag_engine::EngineError;

use crate::app::{App, Caller};
use crate::problem::{Fault, Problem};

/// The content type that Prometheus asks for.
const KIND: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Counters for Prometheus. They cover all bases, so a key that opens some bases or sees a part is
/// refused.
#[utoipa::path(get, path = "/metrics", operation_id = "getMetrics", tag = "health", responses((status = 200, body = String), (status = 403, body = Problem)))]
pub(crate) async fn metrics(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
) -> Result<Response, Problem> {
    if !caller.sees_all() {
        return Err(EngineError::OnlyPart.into());
    }
    for (base, session) in app.bases_of(&caller) {
        app.metrics.wait(&base, app.jobs.waiting(&base));
        app.metrics.paid(&session);
    }
    let text = app.metrics.text().ok_or_else(|| Problem::new(500, "defect", Fault::Server))?;
    Ok(([(header::CONTENT_TYPE, KIND)], text).into_response())
}
