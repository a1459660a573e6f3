//! Defines why a statement failed, before the operation is named.

use pikerag_knowledge::StoreError;
use pikerag_knowledge::ports::Cause;

use crate::error::actionable;

/// The result of work on a transaction.
pub(crate) type Sql<T> = Result<T, Fault>;

/// Why work on a transaction failed.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The server refused a statement, or the connection ended.
    Database(tokio_postgres::Error),
    /// A row holds content that this version does not know.
    Content(Cause),
    /// A failure that has its own words already.
    Store(StoreError),
}

impl Fault {
    /// A column with content that this version does not know.
    pub(crate) fn content(cause: impl Into<Cause>) -> Self {
        Self::Content(cause.into())
    }

    /// Names the failed operation: `what` reads after "… failed".
    pub(crate) fn in_words(self, what: &str) -> StoreError {
        let source: Cause = match self {
            Self::Database(error) => actionable(error.into()),
            Self::Content(cause) => cause,
            Self::Store(error) => return error,
        };
        StoreError::Failed { what: what.to_owned(), source }
    }

    /// Whether the connection is lost, so that another one may succeed.
    pub(crate) fn is_lost(&self) -> bool {
        matches!(self, Self::Database(error) if error.is_closed())
    }
}

impl From<tokio_postgres::Error> for Fault {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Database(error)
    }
}

impl From<serde_json::Error> for Fault {
    fn from(error: serde_json::Error) -> Self {
        Self::Content(error.into())
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}
