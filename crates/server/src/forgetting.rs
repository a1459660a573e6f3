//! Overwrites forgotten bytes that a reader still held when they were forgotten.

use std::sync::Arc;
use std::time::Duration;

use pikerag_engine::Session;
use tracing::warn;

use crate::app::App;

/// The pause between two attempts.
const REST: Duration = Duration::from_secs(1);

/// Overwrites the bytes that earlier processes forgot but did not overwrite.
pub(crate) async fn finish_forgetting(app: App) {
    let names: Vec<String> = app.live().bases.keys().cloned().collect();
    for name in names {
        // The other bases are not held: they may be deleted meanwhile.
        let Some(session) = app.live().bases.get(&name).cloned() else { continue };
        match pikerag_engine::finish_forgetting(&session).await {
            Ok(true) => {}
            Ok(false) => overwrite_later(Arc::clone(&app), session).await,
            Err(error) => warn!(base = name, %error, "forgotten bytes were not overwritten"),
        }
    }
}

/// Overwrites forgotten bytes as soon as no reader holds an earlier state.
pub(crate) async fn overwrite_later(app: App, session: Session) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(REST) => {}
            () = app.stopping.cancelled() => return,
        }
        match pikerag_engine::finish_forgetting(&session).await {
            Ok(true) => return,
            Ok(false) => {}
            Err(error) => warn!(%error, "forgotten bytes were not overwritten"),
        }
    }
}
