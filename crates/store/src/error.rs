//! How do library errors become store errors? With the operation named.

use std::io::{self, ErrorKind};
use std::path::PathBuf;

use pikerag_knowledge::StoreError;

/// Causes of a [`StoreError::Failed`] that somebody can do something about.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "a field means what its variant's message says of it")]
pub enum BaseProblem {
    /// The base can be asked and not changed.
    #[error("{folder} cannot be written")]
    ReadOnly { folder: PathBuf },
    /// Another process is at work for longer than one waits.
    #[error("another process holds {path}")]
    Busy { path: PathBuf },
    /// What was forgotten is out of the base, and a state of before is still read.
    #[error(
        "what was forgotten is out of {path} but not overwritten yet: a question, search or export that began before still \
         reads it"
    )]
    StillRead { path: PathBuf },
    /// Something was forgotten after what is to be kept was read: it may hold that.
    #[error("something was forgotten meanwhile in {folder}")]
    Forgotten { folder: PathBuf },
    /// There is a base already.
    #[error("there is a knowledge base in {folder} already, and it was left as it is")]
    Exists { folder: PathBuf },
    /// A backup is to be written over something else.
    #[error("{path} is there already, and was left as it is")]
    FileThere { path: PathBuf },
    /// A database is not whole.
    #[error("{path} is damaged: {}", faults.join("; "))]
    DamagedDatabase { path: PathBuf, faults: Vec<String> },
}

/// Names the operation that failed.
pub(crate) trait Context<T> {
    /// `what` reads after "… failed", such as `reading chunks`.
    fn context(self, what: &str) -> Result<T, StoreError>;
}

impl<T, E: Into<Box<dyn std::error::Error + Send + Sync>>> Context<T> for Result<T, E> {
    fn context(self, what: &str) -> Result<T, StoreError> {
        self.map_err(|source| StoreError::Failed { what: what.to_owned(), source: source.into() })
    }
}

/// Whether the system did not do what was asked (no descriptor or memory is free, a disk fails): then nothing is known of
/// what a file holds, and it is not damaged.
pub(crate) fn is_refusal(error: &io::Error) -> bool {
    let is_of_form = matches!(
        error.kind(),
        ErrorKind::NotFound | ErrorKind::IsADirectory | ErrorKind::NotADirectory
    );
    error.raw_os_error().is_some() && !is_of_form
}

/// Whether no descriptor is free, of this process or of the machine.
pub(crate) fn is_exhaustion(error: &io::Error) -> bool {
    /// `ENFILE` and `EMFILE`, on all systems that we run on.
    const CODES: [i32; 2] = [23, 24];
    error.raw_os_error().is_some_and(|code| CODES.contains(&code))
}
