//! Does it run, and can it answer?

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use pikerag_engine::knowledge::error_chain;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::problem::{Fault, Problem};

/// How long a base may take to say how it is.
const PATIENCE: Duration = Duration::from_secs(5);

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

/// Whether requests are taken, and the bases can be read: not once it was told to stop.
#[utoipa::path(get, path = "/ready", tag = "health",
    responses((status = 200, body = Health), (status = 503, body = Problem)))]
pub(crate) async fn ready(State(app): State<App>) -> Result<Json<Health>, Problem> {
    if app.stopping.is_cancelled() {
        return Err(Problem::new(503, "stopping", Fault::Server)
            .saying("the server ends what is under way"));
    }
    for (name, session) in &app.live().bases {
        let looked = tokio::time::timeout(PATIENCE, pikerag_engine::ready(session)).await;
        let told = match looked {
            Ok(Ok(())) => continue,
            Ok(Err(error)) => error_chain(&error),
            Err(_) => "it cannot be read in time".to_owned(),
        };
        return Err(Problem::new(503, "base-unreadable", Fault::Server)
            .saying("a base cannot be read")
            .logged(&format!("base {name}: {told}")));
    }
    Ok(health().await)
}
