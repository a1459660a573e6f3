//! Does it run, and can it answer?

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::problem::{Fault, Problem};

/// The program runs.
#[derive(Serialize, ToSchema)]
pub(crate) struct Health {
    /// Always `ok`.
    status: &'static str,
    /// Of the program.
    version: &'static str,
}

/// Whether the program runs.
#[utoipa::path(get, path = "/health", tag = "health", responses((status = 200, body = Health)))]
pub(crate) async fn health() -> Json<Health> {
    Json(Health { status: "ok", version: env!("CARGO_PKG_VERSION") })
}

/// Whether requests are taken: not once it was told to stop.
#[utoipa::path(get, path = "/ready", tag = "health",
    responses((status = 200, body = Health), (status = 503, body = Problem)))]
pub(crate) async fn ready(State(app): State<App>) -> Result<Json<Health>, Problem> {
    if app.stopping.is_cancelled() {
        return Err(Problem::new(503, "stopping", Fault::Server)
            .saying("the server ends what is under way"));
    }
    Ok(health().await)
}
