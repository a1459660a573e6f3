//! `init`: a settings file to begin with.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::{EngineError, Result};
use crate::settings::{Environment, TEMPLATE, trust};

/// Where the new settings file is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InitResponse {
    /// The settings file; there was none before.
    pub written: PathBuf,
    /// Whether it is trusted as it was written: not where the user has no folder to keep that in.
    pub trusted: bool,
}

/// Writes [`TEMPLATE`] to a new file and trusts that; it needs no engine, since the settings that there are may be
/// broken.
///
/// # Errors
/// [`EngineError::SettingsExist`]: a file is never overwritten. [`EngineError::NotWritten`].
pub fn init(path: &Path, environment: &Environment) -> Result<InitResponse> {
    let not_written = |source| EngineError::NotWritten { path: path.to_owned(), source };
    let created = std::fs::OpenOptions::new().write(true).create_new(true).open(path);
    let mut file = match created {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            return Err(EngineError::SettingsExist { path: path.to_owned() });
        }
        created => created.map_err(not_written)?,
    };
    file.write_all(TEMPLATE.as_bytes()).map_err(not_written)?;
    drop(file);
    // The template sets nothing: without trust it counts as well.
    let trusted = trust(path, environment).is_ok();
    Ok(InitResponse { written: path.to_owned(), trusted })
}
