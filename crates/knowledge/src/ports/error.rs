//! Defines why the store failed. All ports share this error.

use super::Cause;
use crate::data::DataError;
use crate::filter::FilterField;

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
    /// The requested item does not exist.
    #[error("{what} is not in the knowledge base")]
    Missing { what: String },
    /// A filter uses a field that the base does not have.
    #[error("`{field}` is no field of this base; there are: {}", listed(known))]
    NoField {
        field: FilterField,
        /// The fields of the base.
        known: Vec<FilterField>,
    },
    /// A plan or a statement over typed tables does not fit them.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A worker changes a job, or the base for it, after the job was stopped or taken by another
    /// worker.
    #[error("job {job} was stopped, or another worker has taken it")]
    LeaseLost { job: u64 },
    /// The base was made by another version or is not a knowledge base.
    #[error("{path} cannot be opened: {reason}")]
    NotOurs {
        path: String,
        /// The reason, and what to do.
        reason: String,
    },
}

fn listed(fields: &[FilterField]) -> String {
    fields.iter().map(FilterField::to_string).collect::<Vec<_>>().join(", ")
}
