//! Reports whether the server runs and can answer.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use pikerag_engine::knowledge::error_chain;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::problem::{Fault, Problem};

/// How long the check of a base may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// The program runs.
#[derive(Serialize, ToSchema)]
pub(crate) struct Health {
    /// Always `ok`.
    status: &'static str,
    /// The version of the program.
    version: &'static str,
}

/// Whether the program runs.
#[utoipa::path(get, path = "/health", operation_id = "getHealth", tag = "health", responses((status = 200, body = Health)))]
pub(crate) async fn health() -> Json<Health> {
    Json(Health { status: "ok", version: env!("CARGO_PKG_VERSION") })
}

/// Whether the server accepts requests and can read its bases. It fails once the server is
/// stopping.
#[utoipa::path(get, path = "/ready", operation_id = "getReadiness", tag = "health",
    responses((status = 200, body = Health), (status = 503, body = Problem)))]
pub(crate) async fn ready(State(app): State<App>) -> Result<Json<Health>, Problem> {
    if app.stopping.is_cancelled() {
        return Err(Problem::new(503, "stopping", Fault::Server).saying(
            "the server is stopping: it finishes running requests and soon accepts no others",
        ));
    }
    for (name, session) in &app.live().bases {
        let looked = tokio::time::timeout(PATIENCE, pikerag_engine::ready(session)).await;
        let failure = match looked {
            Ok(Ok(())) => continue,
            Ok(Err(error)) => error_chain(&error),
            Err(_) => "reading it took too long".to_owned(),
        };
        return Err(Problem::new(503, "base-unreadable", Fault::Server)
            .saying("a base cannot be read")
            .logged(&format!("base {name}: {failure}")));
    }
    Ok(health().await)
}
