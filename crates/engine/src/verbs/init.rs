//! Writes a new settings file (`init`).

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::{EngineError, Result};
use crate::settings::{Environment, TEMPLATE, trust};

/// The new settings file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InitResponse {
    /// The path of the settings file, which did not exist before.
    pub written: PathBuf,
    /// Whether it is trusted; false if the user has no folder to store that in.
    pub trusted: bool,
}

/// Writes [`TEMPLATE`] to a new file and trusts it. It needs no engine, because the existing
/// settings may be broken.
///
/// # Errors
/// [`EngineError::SettingsExist`]: a file is never overwritten. [`EngineError::NotWritten`].
///
/// # Examples
/// ```no_run
/// # fn f() -> pikerag_engine::Result<()> {
/// use pikerag_engine::settings::Environment;
///
/// let path = std::path::Path::new("pikerag.toml");
/// let response = pikerag_engine::init(path, &Environment::read())?;
/// println!("{} is trusted: {}", response.written.display(), response.trusted);
/// # Ok(())
/// # }
/// ```
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
    // The template sets nothing, so it also works without trust.
    let trusted = trust(path, environment).is_ok();
    Ok(InitResponse { written: path.to_owned(), trusted })
}
