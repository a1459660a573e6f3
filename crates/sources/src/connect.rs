//! Connects to a database and passes statements to it. Nothing runs in the background: the
//! connection transfers messages while a statement waits for its result.

use std::path::Path;
use std::pin::{Pin, pin};
use std::sync::Arc;

use futures::StreamExt;
use pikerag_indexing::DatabaseFault;
use pikerag_knowledge::error_chain;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, Row};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::url::Target;

type Driver = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;

/// An open connection. Dropping it ends the session on the server.
pub(crate) struct Connected {
    client: Client,
    /// The connection itself; `None` once it has ended.
    driver: Option<Driver>,
}

impl Connected {
    pub(crate) async fn to(target: &Target) -> Result<Self, DatabaseFault> {
        let tls = tls(target)?;
        let connected = target.config.connect(tls).await;
        let (client, connection) = connected.map_err(|error| refused(&error, target))?;
        Ok(Self { client, driver: Some(Box::pin(connection)) })
    }

    /// Runs statements without results.
    pub(crate) async fn execute(&mut self, statements: &str) -> Result<(), DatabaseFault> {
        let Self { client, driver } = self;
        let work = async { client.batch_execute(statements).await.map_err(|error| fault(&error)) };
        drive(driver, work).await
    }

    /// The rows of a small result.
    pub(crate) async fn query(
        &mut self,
        statement: &str,
        params: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, DatabaseFault> {
        let Self { client, driver } = self;
        let work = async { client.query(statement, params).await.map_err(|error| fault(&error)) };
        drive(driver, work).await
    }

    /// Passes the rows of a result to `take` one by one; all columns must be texts. Each parameter
    /// is a list of texts.
    pub(crate) async fn each(
        &mut self,
        statement: &str,
        params: &[Vec<String>],
        mut take: impl FnMut(Vec<Option<String>>) -> Result<(), DatabaseFault> + Send,
    ) -> Result<(), DatabaseFault> {
        let Self { client, driver } = self;
        let work = async {
            let rows = client.query_raw(statement, params.iter()).await;
            let mut rows = pin!(rows.map_err(|error| fault(&error))?);
            while let Some(row) = rows.next().await {
                let row = row.map_err(|error| fault(&error))?;
                let cells = (0..row.len()).map(|at| row.try_get::<_, Option<String>>(at));
                let cells: Result<Vec<Option<String>>, Error> = cells.collect();
                take(cells.map_err(|error| fault(&error))?)?;
            }
            Ok(())
        };
        drive(driver, work).await
    }
}

/// Waits for work of the client while the connection transfers its messages.
async fn drive<T>(
    driver: &mut Option<Driver>,
    work: impl Future<Output = Result<T, DatabaseFault>>,
) -> Result<T, DatabaseFault> {
    let closed = || DatabaseFault::Lost { reason: "it is closed".to_owned() };
    let Some(connection) = driver.as_mut() else { return Err(closed()) };
    let mut work = pin!(work);
    let ended = tokio::select! {
        biased;
        result = &mut work => return result,
        ended = connection.as_mut() => ended,
    };
    *driver = None;
    Err(ended.err().map_or_else(closed, |error| fault(&error)))
}

/// Verifies the server by the certificates of the system, or by those of a file.
fn tls(target: &Target) -> Result<MakeRustlsConnect, DatabaseFault> {
    let insecure =
        |reason: String| DatabaseFault::Insecure { server: target.server.clone(), reason };
    let mut roots = RootCertStore::empty();
    match &target.roots {
        Some(path) => add_file(&mut roots, path).map_err(insecure)?,
        None => {
            let found = rustls_native_certs::load_native_certs();
            let _ = roots.add_parsable_certificates(found.certs);
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| insecure(error.to_string()))?;
    let config = builder.with_root_certificates(roots).with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

fn add_file(roots: &mut RootCertStore, path: &Path) -> Result<(), String> {
    let unusable = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let certificates = CertificateDer::pem_file_iter(path).map_err(|error| unusable(&error))?;
    for certificate in certificates {
        let certificate = certificate.map_err(|error| unusable(&error))?;
        roots.add(certificate).map_err(|error| unusable(&error))?;
    }
    Ok(())
}

/// The fault of a connection that was not made.
fn refused(error: &Error, target: &Target) -> DatabaseFault {
    let (server, reason) = (target.server.clone(), reason(error));
    let user = target.user().to_owned();
    match error.code().map(|code| code.code()) {
        Some("28P01" | "28000" | "42501") => DatabaseFault::Denied { server, user, reason },
        Some("3D000") => DatabaseFault::NoDatabase { server, database: target.database.clone() },
        Some(_) => DatabaseFault::Unreachable { server, reason },
        // The client distinguishes its own errors by their words alone.
        None => match error.to_string().as_str() {
            "error performing TLS handshake" => DatabaseFault::Insecure { server, reason },
            "invalid configuration" | "authentication error" => {
                DatabaseFault::Denied { server, user, reason }
            }
            _ => DatabaseFault::Unreachable { server, reason },
        },
    }
}

/// The fault of a statement.
fn fault(error: &Error) -> DatabaseFault {
    match error.code().map(|code| code.code()) {
        Some("42501") => DatabaseFault::NoPermission,
        // A table, a schema or a column that no longer exists.
        Some("42P01" | "3F000" | "42703") => DatabaseFault::Vanished,
        // A statement that was cancelled for its time, or that waited too long for a lock.
        Some("57014" | "55P03") => DatabaseFault::TooSlow,
        // The session was ended: by an administrator, or because it was idle.
        Some("57P01" | "57P02" | "57P05" | "25P03") | None => {
            DatabaseFault::Lost { reason: reason(error) }
        }
        Some(_) => DatabaseFault::Failed { reason: reason(error) },
    }
}

/// The server's words, or those of the client with their causes.
fn reason(error: &Error) -> String {
    match error.as_db_error() {
        Some(error) => error.message().to_owned(),
        None => error_chain(error),
    }
}
