//! Defines why a model of this machine cannot be fetched or served.

use std::path::PathBuf;

use pikerag_models::open_models::FetchError;

/// Why a model of this machine cannot be fetched, listed or served.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "a field means what its variant's message says of it")]
pub enum LocalModelError {
    /// Neither the catalogue nor the folder has a model of this name.
    #[error("there is no model `{name}`")]
    NoSuchModel { name: String },
    /// The name has characters that no file of ours has.
    #[error("`{name}` cannot be the name of a model: letters, digits, `.`, `_` and `-` can")]
    BadName { name: String },
    /// The file of the model was not fetched.
    #[error("the file of `{name}` is not on this machine")]
    NotHere { name: String },
    /// The settings name a program that is none.
    #[error("`local.server` is {path}, which is no program")]
    BadServer { path: PathBuf },
    /// llama.cpp's server is not installed.
    #[error(
        "llama.cpp's server is not installed: neither `llama-server` nor the Python package `xllamacpp`"
    )]
    NoServer,
    /// The free memory does not suffice.
    #[error("`{name}` needs {needed_mib} MiB of memory, and {free_mib} MiB are free")]
    NoMemory { name: String, needed_mib: u64, free_mib: u64 },
    /// The program cannot be started.
    #[error("{program} cannot be started")]
    NotStarted { program: PathBuf, source: std::io::Error },
    /// The program ended before it answered.
    #[error("the server ended before it answered: {complaint}; its log is {log}")]
    Ended { complaint: String, log: PathBuf },
    /// The program did not answer in time.
    #[error("the server did not answer within {seconds} s; its log is {log}")]
    TooSlow { seconds: u64, log: PathBuf },
    /// The server ended several times within a minute.
    #[error("the server ended {times} times within a minute; its log is {log}")]
    KeepsEnding { times: usize, log: PathBuf },
    /// The system gave no random numbers for a key.
    #[error("the system gives no random numbers")]
    NoRandom,
    /// `--offline` forbids downloads and models.
    #[error("nothing is fetched and no model runs offline")]
    Offline,
    /// No Python is on the path.
    #[error("Python is not installed: neither `python3` nor `python` is on the path")]
    NoPython,
    /// Python's package manager failed.
    #[error("`pip` cannot fetch {what}: {complaint}")]
    Pip { what: String, complaint: String },
    /// The download failed.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// A folder or file of models cannot be read, written or deleted.
    #[error("{path} cannot be used")]
    Folder { path: PathBuf, source: std::io::Error },
    /// The settings file has a form in which the model cannot be set.
    #[error("the model cannot be set in {path}")]
    NotSet { path: PathBuf },
}
