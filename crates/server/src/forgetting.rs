//! Overwrites, beside requests, what was forgotten while somebody still read it.

use std::sync::Arc;
use std::time::Duration;

use pikerag_engine::Session;
use tracing::warn;

use crate::app::App;

/// Between two attempts.
const REST: Duration = Duration::from_secs(1);

/// Overwrites what earlier processes have forgotten and left to be overwritten.
pub(crate) async fn finish_forgetting(app: App) {
    for (name, session) in &app.live().bases {
        match pikerag_engine::finish_forgetting(session).await {
            Ok(true) => {}
            Ok(false) => overwrite_later(Arc::clone(&app), session.clone()).await,
            Err(error) => warn!(base = name, %error, "what was forgotten is not overwritten"),
        }
    }
}

/// Overwrites what was forgotten as soon as nobody reads a state of before any more.
pub(crate) async fn overwrite_later(app: App, session: Session) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(REST) => {}
            () = app.stopping.cancelled() => return,
        }
        match pikerag_engine::finish_forgetting(&session).await {
            Ok(true) => return,
            Ok(false) => {}
            Err(error) => warn!(%error, "what was forgotten is not overwritten"),
        }
    }
}
