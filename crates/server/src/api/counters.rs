//! Serves the counters as `OpenMetrics` or as Prometheus' text.

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use pikerag_engine::EngineError;

use crate::app::{App, Caller};
use crate::metrics::Exposition;
use crate::problem::{Fault, Problem};

/// Counters for Prometheus, in its text format; as `OpenMetrics` if `Accept` prefers that. They cover
/// all bases, so a key that opens some bases or sees a part is refused.
#[utoipa::path(get, path = "/metrics", operation_id = "getMetrics", tag = "health",
    responses((status = 200, content((String = "text/plain"), (String = "application/openmetrics-text"))),
        (status = 403, body = Problem), (status = 406, body = Problem)))]
pub(crate) async fn metrics(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    if !caller.sees_all() {
        return Err(EngineError::OnlyPart.into());
    }
    let accept = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let accept = accept.collect::<Vec<_>>().join(",");
    let Some(format) = Exposition::accepted(&accept) else {
        return Err(Problem::new(406, "not-acceptable", Fault::Caller)
            .saying("`Accept` names no format of the counters")
            .hint("accept `text/plain` or `application/openmetrics-text`"));
    };
    for (base, session) in app.bases_of(&caller) {
        app.metrics.wait(&base, app.jobs.waiting(&base));
        app.metrics.paid(&session);
    }
    let text = app.metrics.text().ok_or_else(|| Problem::new(500, "defect", Fault::Server))?;
    let mut response = format.of(text).into_response();
    let kind = HeaderValue::from_static(format.content_type());
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    Ok(response)
}
