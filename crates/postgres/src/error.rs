//! Defines why a server of databases cannot be used, and names the operation that failed.

use pikerag_knowledge::StoreError;

/// Causes of a [`StoreError::Failed`] that a caller can act on.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "each field appears in its variant's message")]
pub enum ServerProblem {
    /// The address is not one of a database.
    #[error("{address} is not an address like `postgres://user@host/database?base=name`")]
    Address { address: String, source: tokio_postgres::Error },
    /// The server cannot be reached, or refuses the connection.
    #[error("the database server at {server} cannot be reached")]
    Unreachable { server: String, source: tokio_postgres::Error },
    /// All connections of this process are in use, for longer than the caller waits.
    #[error("all connections to {server} are in use")]
    AllInUse { server: String },
    /// The server is too old.
    #[error("{server} is PostgreSQL {version}; version {least} or later is needed")]
    OldServer { server: String, version: i32, least: i32 },
    /// The database does not store Unicode.
    #[error("the database at {server} is encoded in {encoding}; create one with the encoding UTF8")]
    Encoding { server: String, encoding: String },
    /// pgvector is missing or too old.
    #[error(
        "{server} needs the extension pgvector 0.8 or later: install it, then `CREATE EXTENSION vector`"
    )]
    NoVectors { server: String },
    /// The database may not be changed, and its tables are missing or of an older version.
    #[error("the tables at {server} must be created or updated, but the account may not do that")]
    NotAllowed { server: String, source: tokio_postgres::Error },
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
