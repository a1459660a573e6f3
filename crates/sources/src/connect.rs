//! Connects to a database and passes statements to it. Nothing runs in the background: the
//! connection transfers messages while a statement waits for its result.

use std::path::Path;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use pikerag_indexing::DatabaseFault;
use pikerag_knowledge::error_chain;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio::time::timeout;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, Row};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::url::Target;

/// The time beyond a statement's own in which its result still arrives.
const GRACE: Duration = Duration::from_secs(2);
/// The bytes of a server's message that are shown, at most.
const LONGEST_REASON: usize = 500;

type Driver = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;

/// An open connection. Dropping it ends the session on the server.
pub(crate) struct Connected {
    client: Client,
    /// The connection itself; `None` once it has ended.
    driver: Option<Driver>,
    /// The longest time of one call here, in case the server ends none of its statements.
    limit: Duration,
}

impl Connected {
    /// The server should end each statement after `statement`; a call here waits twice as long.
    pub(crate) async fn to(target: &Target, statement: Duration) -> Result<Self, DatabaseFault> {
        let tls = tls(target)?;
        let connected = timeout(time_to_connect(target), target.config.connect(tls)).await;
        let connected = connected.map_err(|_| DatabaseFault::Unreachable {
            server: target.server.clone(),
            reason: "operation timed out".to_owned(),
        })?;
        let (client, connection) = connected.map_err(|error| refused(&error, target))?;
        let limit = statement.saturating_mul(2).saturating_add(GRACE);
        Ok(Self { client, driver: Some(Box::pin(connection)), limit })
    }

    /// Runs statements without results.
    pub(crate) async fn execute(&mut self, statements: &str) -> Result<(), DatabaseFault> {
        let Self { client, driver, limit } = self;
        let work = async { client.batch_execute(statements).await.map_err(|error| fault(&error)) };
        drive(driver, *limit, work).await
    }

    /// The rows of a small result.
    pub(crate) async fn query(
        &mut self,
        statement: &str,
        params: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, DatabaseFault> {
        let Self { client, driver, limit } = self;
        let work = async { client.query(statement, params).await.map_err(|error| fault(&error)) };
        drive(driver, *limit, work).await
    }

    /// Passes the rows of a result to `take` one by one; all columns must be texts. Each parameter
    /// is a list of texts.
    pub(crate) async fn each(
        &mut self,
        statement: &str,
        params: &[Vec<String>],
        mut take: impl FnMut(Vec<Option<String>>) -> Result<(), DatabaseFault> + Send,
    ) -> Result<(), DatabaseFault> {
        let Self { client, driver, limit } = self;
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
        drive(driver, *limit, work).await
    }
}

/// The time for reaching a server and signing in; a server may have several addresses.
fn time_to_connect(target: &Target) -> Duration {
    let one = target.config.get_connect_timeout().copied().unwrap_or(GRACE);
    let servers = u32::try_from(target.config.get_hosts().len()).unwrap_or(u32::MAX);
    one.saturating_mul(servers.max(1)).saturating_mul(3)
}

/// Waits for work of the client while the connection transfers its messages. A connection that takes
/// longer than `limit` is closed.
async fn drive<T>(
    driver: &mut Option<Driver>,
    limit: Duration,
    work: impl Future<Output = Result<T, DatabaseFault>>,
) -> Result<T, DatabaseFault> {
    let closed = || DatabaseFault::Lost { reason: "it is closed".to_owned() };
    let Some(connection) = driver.as_mut() else { return Err(closed()) };
    let mut work = pin!(work);
    let either = async {
        tokio::select! {
            biased;
            result = &mut work => Ok(result),
            ended = connection.as_mut() => Err(ended),
        }
    };
    let ended = match timeout(limit, either).await {
        Ok(Ok(result)) => return result,
        Ok(Err(ended)) => ended.err().map_or_else(closed, |error| fault(&error)),
        Err(_) => DatabaseFault::TooSlow,
    };
    *driver = None;
    Err(ended)
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
    let mut reason = match error.as_db_error() {
        Some(error) => error.message().to_owned(),
        None => error_chain(error),
    };
    if let Some((end, _)) = reason.char_indices().find(|(place, _)| LONGEST_REASON < *place) {
        reason.truncate(end);
        reason.push('…');
    }
    reason
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    use super::*;
    use crate::url::DatabaseUrl;

    /// The server accepts the account and is ready for statements.
    const READY: &[u8] = b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I";

    /// A server that takes one connection, with the time to connect in milliseconds.
    fn served_by(serve: fn(TcpStream), milliseconds: u64) -> Target {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || serve(listener.accept().unwrap().0));
        let url = format!("postgres://reader:canary@127.0.0.1:{port}/shop?sslmode=disable");
        let mut target = DatabaseUrl::of(&url).unwrap().target().unwrap();
        target.config.connect_timeout(Duration::from_millis(milliseconds));
        target
    }

    /// Waits until the client leaves.
    fn read_to_end(mut stream: TcpStream) {
        let _ = stream.read_to_end(&mut Vec::new());
    }

    #[tokio::test]
    async fn a_server_that_does_not_answer_is_left() {
        let target = served_by(read_to_end, 50);
        let refused = Connected::to(&target, Duration::ZERO).await.err().unwrap();
        assert!(matches!(refused, DatabaseFault::Unreachable { .. }), "{refused}");
    }

    /// One server sends nothing, the other rows without end.
    #[tokio::test]
    async fn a_statement_without_end_is_left() {
        fn silent(mut stream: TcpStream) {
            stream.write_all(READY).unwrap();
            read_to_end(stream);
        }
        fn endless(mut stream: TcpStream) {
            let mut request = [0; 1_024];
            let _ = stream.read(&mut request).unwrap();
            stream.write_all(READY).unwrap();
            // Rows before the statement would break the protocol.
            let _ = stream.read(&mut request).unwrap();
            while stream.write_all(&b"D\0\0\0\x06\0\0".repeat(1_000)).is_ok() {}
        }
        for serve in [silent as fn(TcpStream), endless] {
            let target = served_by(serve, 10_000);
            let mut connected = Connected::to(&target, Duration::ZERO).await.ok().unwrap();
            connected.limit = Duration::from_millis(100);
            assert_eq!(connected.execute("SELECT 1").await, Err(DatabaseFault::TooSlow));
            let closed = connected.execute("SELECT 1").await;
            assert!(matches!(closed, Err(DatabaseFault::Lost { .. })), "{closed:?}");
        }
    }

    #[tokio::test]
    async fn a_long_message_of_a_server_is_cut() {
        fn refuses(mut stream: TcpStream) {
            let mut error = b"SFATAL\0C28P01\0M".to_vec();
            error.extend("错".repeat(10_000).bytes());
            error.extend(b"\0\0");
            let length = u32::try_from(error.len() + 4).unwrap();
            stream.write_all(&[b"E", &length.to_be_bytes()[..], &error].concat()).unwrap();
            read_to_end(stream);
        }
        let target = served_by(refuses, 10_000);
        let refused = Connected::to(&target, Duration::ZERO).await.err().unwrap();
        let DatabaseFault::Denied { reason, .. } = refused else { panic!("{refused}") };
        assert!(reason.starts_with('错') && reason.len() < LONGEST_REASON + 10, "{reason}");
    }
}
