//! How do library errors become store errors? With the operation named.

use pikerag_knowledge::StoreError;

/// Names the operation that failed.
pub(crate) trait Doing<T> {
    /// `what` reads after "… failed", such as `reading chunks`.
    fn doing(self, what: &str) -> Result<T, StoreError>;
}

impl<T, E: Into<Box<dyn std::error::Error + Send + Sync>>> Doing<T> for Result<T, E> {
    fn doing(self, what: &str) -> Result<T, StoreError> {
        self.map_err(|source| StoreError::Failed { what: what.to_owned(), source: source.into() })
    }
}
