//! Defines why a server of databases cannot be used, and names the operation that failed.

use std::error::Error;
use std::io;

use pikerag_knowledge::StoreError;
use pikerag_knowledge::ports::Cause;
use tokio_postgres::error::SqlState;

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
    /// The connection ended during an operation: the server stops, restarts or was cut off.
    #[error("the connection to the database ended")]
    Lost { source: tokio_postgres::Error },
    /// The server has no space left on its disk.
    #[error("the disk of the database is full")]
    DiskFull { source: tokio_postgres::Error },
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

/// The cause of a failed operation, as a [`ServerProblem`] if it is one that a caller can act on.
pub(crate) fn actionable(cause: Cause) -> Cause {
    let source = match cause.downcast::<tokio_postgres::Error>() {
        Ok(source) => *source,
        Err(other) => return other,
    };
    let ends = [SqlState::ADMIN_SHUTDOWN, SqlState::CRASH_SHUTDOWN, SqlState::CANNOT_CONNECT_NOW];
    let is_lost = match source.code() {
        Some(code) => ends.contains(code),
        None => source.is_closed() || source.source().is_some_and(<dyn Error>::is::<io::Error>),
    };
    if source.code() == Some(&SqlState::DISK_FULL) {
        return ServerProblem::DiskFull { source }.into();
    }
    if is_lost { ServerProblem::Lost { source }.into() } else { source.into() }
}

/// Names the operation that failed.
pub(crate) trait Context<T> {
    /// `what` reads after "… failed", such as `reading chunks`.
    fn context(self, what: &str) -> Result<T, StoreError>;
}

impl<T, E: Into<Cause>> Context<T> for Result<T, E> {
    fn context(self, what: &str) -> Result<T, StoreError> {
        self.map_err(|source| StoreError::Failed {
            what: what.to_owned(),
            source: actionable(source.into()),
        })
    }
}

#[cfg(test)]
mod tests {
    use pikerag_test_support::absent;
    use tokio_postgres::NoTls;

    use super::*;

    #[tokio::test]
    async fn a_full_disk_and_a_lost_connection_differ_from_other_failures() {
        let Ok(address) = std::env::var("PIKERAG_TEST_POSTGRES") else {
            return absent("a PostgreSQL server", "is not named by PIKERAG_TEST_POSTGRES");
        };
        let (client, connection) = tokio_postgres::connect(&address, NoTls).await.unwrap();
        tokio::spawn(connection);
        let cause_of = async |statement: &str| {
            let failed = client.batch_execute(statement).await.context("trying it").unwrap_err();
            let StoreError::Failed { source, .. } = failed else { unreachable!() };
            source
        };
        let other = cause_of("SELECT 1 / 0").await;
        assert!(other.is::<tokio_postgres::Error>(), "{other}");
        let full = cause_of("DO $$ BEGIN RAISE EXCEPTION 'full' USING ERRCODE = '53100'; END $$");
        let full = full.await;
        assert!(matches!(full.downcast_ref(), Some(ServerProblem::DiskFull { .. })), "{full}");
        // The server says that it ends the connection; then it is closed.
        for _ in 0..2 {
            let lost = cause_of("SELECT pg_terminate_backend(pg_backend_pid())").await;
            assert!(matches!(lost.downcast_ref(), Some(ServerProblem::Lost { .. })), "{lost}");
        }
    }
}
