//! Stops servers of models of this machine, and deletes files of models (`models stop`, `models rm`).

use pikerag_models::open_models::ModelFolder;
use serde::Serialize;

use super::models::unusable;
use crate::engine::Session;
use crate::local_error::LocalModelError;
use crate::local_models::{RunningServer, running};

/// A model that was removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RemoveResponse {
    /// Its name.
    pub name: String,
    /// The bytes that are free now.
    pub bytes: u64,
}

/// Deletes the files of a model.
///
/// # Errors
/// [`LocalModelError::NotHere`] if there are none; [`LocalModelError::Folder`].
pub fn remove_model(session: &Session, name: &str) -> Result<RemoveResponse, LocalModelError> {
    let folder = &session.settings().local.folder;
    let removed = ModelFolder::new(folder).remove(name);
    let removed = removed.map_err(|source| unusable(folder, source))?;
    let bytes = removed.ok_or_else(|| LocalModelError::NotHere { name: name.to_owned() })?;
    Ok(RemoveResponse { name: name.to_owned(), bytes })
}

/// The servers that were stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StopResponse {
    /// In the order of their models; empty if none ran.
    pub stopped: Vec<RunningServer>,
    /// Those that still run, because they belong to another user or do not end.
    pub not_stopped: Vec<RunningServer>,
}

/// Stops the servers of a model, or of all models without a name, whichever process of pikerag started them. Their
/// memory is free then. A call that waits for one of them, and each later call, starts it again.
///
/// # Errors
/// [`LocalModelError::BadName`], [`LocalModelError::Folder`].
pub async fn stop_models(
    session: &Session,
    name: Option<&str>,
) -> Result<StopResponse, LocalModelError> {
    let folder = &session.settings().local.folder;
    if let Some(name) = name
        && ModelFolder::new(folder).file(name).is_none()
    {
        return Err(LocalModelError::BadName { name: name.to_owned() });
    }
    let running = running(folder).map_err(|source| unusable(folder, source))?;
    let (mut stopped, mut not_stopped) = (Vec::new(), Vec::new());
    for server in running {
        if name.is_some_and(|name| server.model != name) {
            continue;
        }
        match server.stop().await {
            true => stopped.push(server),
            false => not_stopped.push(server),
        }
    }
    Ok(StopResponse { stopped, not_stopped })
}
