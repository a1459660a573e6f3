//! How do library errors become store errors? With the operation named.

use pikerag_knowledge::StoreError;

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
