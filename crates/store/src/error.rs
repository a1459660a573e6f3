//! Turns errors of libraries into store errors that name the failed operation.

use std::io::{self, ErrorKind};
use std::path::PathBuf;

use pikerag_knowledge::StoreError;

/// Causes of a [`StoreError::Failed`] that a caller can act on.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "each field appears in its variant's message")]
pub enum BaseProblem {
    /// The base can be read but not changed.
    #[error("{folder} cannot be written")]
    ReadOnly { folder: PathBuf },
    /// Another process kept the file for longer than the caller waits.
    #[error("another process holds {path}")]
    Busy { path: PathBuf },
    /// The base no longer holds the forgotten content, but a reader still uses an earlier state.
    #[error(
        "{path} no longer contains the forgotten content, but its bytes are not overwritten yet: an earlier \
         question, search or export still reads them"
    )]
    StillRead { path: PathBuf },
    /// Content was forgotten after the caller had read it, so the data to be stored may contain it.
    #[error("content of {folder} was forgotten in the meantime, so the result was not stored")]
    Forgotten { folder: PathBuf },
    /// The folder already contains a base.
    #[error("{folder} already contains a knowledge base, which was not changed")]
    Exists { folder: PathBuf },
    /// A backup would replace another file.
    #[error("{path} already exists and was not changed")]
    FileThere { path: PathBuf },
    /// A database is damaged.
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

/// Whether the operating system refused the operation (no free descriptor or memory, a failing
/// disk). The file's content is then unknown, so the file does not count as damaged.
pub(crate) fn is_refusal(error: &io::Error) -> bool {
    let is_of_form = matches!(
        error.kind(),
        ErrorKind::NotFound | ErrorKind::IsADirectory | ErrorKind::NotADirectory
    );
    error.raw_os_error().is_some() && !is_of_form
}

/// Whether this process or the machine has no free descriptor.
pub(crate) fn is_exhaustion(error: &io::Error) -> bool {
    /// `ENFILE` and `EMFILE`, on all systems that we run on.
    const CODES: [i32; 2] = [23, 24];
    error.raw_os_error().is_some_and(|code| CODES.contains(&code))
}
