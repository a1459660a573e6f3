//! The ports to schemas that questions derived, and to what was read under them.

use async_trait::async_trait;

use super::error::StoreError;
use crate::records::RecordSchema;
use crate::structured::{KeptSchema, ReadPassage, Structured};

/// Reads schemas that questions derived. Their records are read like others.
///
/// # Errors
/// The base cannot be read.
#[async_trait]
pub trait StructuredReader: Send + Sync {
    /// All visible schemas, the latest first, then by name. With a filter, only those whose passages,
    /// from which they were derived, are all admitted; records under others are hidden too.
    async fn kept_schemas(&self) -> Result<Vec<KeptSchema>, StoreError>;

    /// The visible passages that were read under a schema, by identifier; none if it is not kept.
    async fn passages_read(&self, schema: &RecordSchema) -> Result<Vec<ReadPassage>, StoreError>;
}

/// Stores what questions structured. Each call is one transaction.
///
/// # Errors
/// The base cannot be written.
///
/// # Cancel safety
/// A write that has begun goes on if its future is dropped.
#[async_trait]
pub trait StructuredWriter: StructuredReader {
    /// Stores a schema with the records that were read under it. It is kept while the passages exist
    /// that it was derived from; then it goes, with all its records. A passage that is read again has its
    /// later records only; deleted passages are left out. At most [`KeptSchema::MOST`] schemas are kept:
    /// the earliest goes first.
    ///
    /// Returns false and stores nothing if the schema is new and a passage that it was derived from is
    /// missing, or another schema has its name.
    async fn put_structured(&self, structured: Structured) -> Result<bool, StoreError>;
}
