//! Why did the store fail? Below every port: who records calls or tags fails as whoever reads does.

use super::Cause;

/// Why the store failed: one variant per decision open to the caller.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "a field means what its variant's message says of it")]
pub enum StoreError {
    /// The database or a derived index cannot be read or written.
    #[error("{what} failed")]
    Failed {
        /// The operation, naming what it touched.
        what: String,
        source: Cause,
    },
    /// What is asked for is not there.
    #[error("{what} is not in the knowledge base")]
    Missing { what: String },
    /// The base was made by another version or is not a knowledge base.
    #[error("{path} cannot be opened: {reason}")]
    NotOurs {
        path: String,
        /// Why, and what to do.
        reason: String,
    },
}
