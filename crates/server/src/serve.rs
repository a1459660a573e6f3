//! How does the server come up, take connections, and end? On loopback without a key, elsewhere with one; what is under way
//! when it is told to stop comes to its end.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use pikerag_engine::keys::{Keys, KeysError};
use pikerag_engine::settings::ServerSettings;
use pikerag_engine::uploads::Uploads;
use pikerag_engine::{Engine, hold_at_most, raise_descriptors};
use rmcp::ServiceExt;
use rmcp::transport::stdio;
use tokio::net::{TcpListener, lookup_host};
use tokio::sync::Semaphore;
use tracing::{debug, warn};

use crate::app::{Caller, Shared};
use crate::audit::Audit;
use crate::compat::mcp::Mcp;
use crate::jobs::Work;
use crate::pace::Watched;
use crate::routes::router;
use crate::watch::watch;

/// How long the head of a request may take to come.
const HEAD: Duration = Duration::from_secs(15);
/// Connections at a time, at most.
const CONNECTIONS: usize = 4096;
/// Bytes of the head of a request, at most, and of what is read of a connection at a time.
const HEAD_BYTES: usize = 64 << 10;
/// How long runs that are given up may take to say so.
const LAST: Duration = Duration::from_millis(500);

/// Why a server does not run.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "a field means what its variant's message says of it")]
pub enum ServeError {
    /// The address means nothing.
    #[error("`{host}` is no address of this machine")]
    NoAddress { host: String },
    /// Others could reach it, and there is no key.
    #[error("{address} can be reached by others, and there is no key")]
    NeedsKey { address: SocketAddr },
    /// The address cannot be listened on.
    #[error("{address} cannot be listened on")]
    NotBound { address: SocketAddr, source: std::io::Error },
    /// Nothing can be put on the audit log.
    #[error("the audit log `{}` cannot be written", file.display())]
    NoAudit { file: PathBuf, source: std::io::Error },
    /// The keys cannot be read.
    #[error(transparent)]
    Keys(#[from] KeysError),
}

/// A server that listens already.
pub struct Serving {
    listener: TcpListener,
    app: Arc<Shared>,
    address: SocketAddr,
    connections: usize,
}

/// Begins to listen where the settings of the engine say.
///
/// # Errors
/// See [`ServeError`].
pub async fn serve(engine: Engine) -> Result<Serving, ServeError> {
    let (host, port) = (engine.settings().server.host.clone(), engine.settings().server.port);
    let no_address = || ServeError::NoAddress { host: host.clone() };
    let found = match host.parse::<IpAddr>() {
        Ok(ip) => Some(SocketAddr::new(ip, port)),
        Err(_) => lookup_host((host.as_str(), port)).await.map_err(|_| no_address())?.next(),
    };
    let address = found.ok_or_else(no_address)?;
    let keys = engine.settings().server.keys.clone().map(Keys::at);
    let has_keys =
        keys.as_ref().map_or(Ok(false), |keys| keys.list().map(|all| !all.is_empty()))?;
    if !address.ip().is_loopback() && !has_keys {
        return Err(ServeError::NeedsKey { address });
    }
    let file = engine.settings().server.audit.clone();
    let audit = Audit::at(file.clone())
        .map_err(|source| ServeError::NoAudit { file: file.unwrap_or_default(), source })?;
    let bound = TcpListener::bind(address).await;
    let listener = bound.map_err(|source| ServeError::NotBound { address, source })?;
    // Port 0 is a free one.
    let address = listener.local_addr().unwrap_or(address);
    let (settings, connections) = within_descriptors(engine.settings().server.clone());
    let app = Arc::new(Shared::new(engine, keys, audit, address, settings));
    go_on(&app);
    Ok(Serving { listener, app, address, connections })
}

/// What is set, as far as there are descriptors for it, and how many connections there may be. Half of the descriptors are for
/// these, a quarter for states of bases, the others for models and children.
fn within_descriptors(settings: ServerSettings) -> (ServerSettings, usize) {
    let descriptors = raise_descriptors();
    let connections = (descriptors / 2).clamp(16, CONNECTIONS);
    // A few are left for those who ask how it is, and for searches.
    let requests = settings.requests.min(connections - connections / 8);
    let states = hold_at_most(descriptors / 8);
    let runs = settings.runs.min(states - states / 4);
    if (requests, runs) != (settings.requests, settings.runs) {
        warn!(
            requests,
            runs, "the limit of open files allows no more requests and questions at a time"
        );
    }
    (ServerSettings { requests, runs, ..settings }, connections)
}

/// What was sent before the server ended, and perhaps not indexed, is looked at again; what is indexed already costs nothing.
fn go_on(app: &Arc<Shared>) {
    let nobody = Caller { key: None };
    for (name, session) in app.all_bases() {
        let folder = Uploads::beside(session.folder()).folder().to_owned();
        if folder.is_dir() {
            let work = Work { paths: vec![folder], ..Work::default() };
            if app.begin(&nobody, name, session.clone(), work).is_err() {
                warn!(base = name, "what was sent and not indexed waits for the next request");
            }
        }
        if let Some(folders) = app.settings.watch.get(name) {
            watch(app, name, session, folders);
        }
    }
}

/// Speaks the Model Context Protocol over standard input and output until they end.
///
/// # Errors
/// The streams break.
pub async fn speak_mcp(engine: Engine) -> Result<(), std::io::Error> {
    let nowhere = SocketAddr::from(([127, 0, 0, 1], engine.settings().server.port));
    let audit = Audit::at(engine.settings().server.audit.clone())?;
    let settings = engine.settings().server.clone();
    let app = Arc::new(Shared::new(engine, None, audit, nowhere, settings));
    let broken = |error: String| std::io::Error::other(error);
    let speaking =
        Box::pin(Mcp::new(app).serve(stdio())).await.map_err(|error| broken(error.to_string()))?;
    speaking.waiting().await.map(drop).map_err(|error| broken(error.to_string()))
}

impl Serving {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes requests until it is told to stop; then no more, and those under way come to their end, or are given up a little
    /// before `server.grace_seconds` are over: their runs are kept as cancelled.
    pub async fn until(self, stopped: impl Future<Output = ()>) {
        let service = router(Arc::clone(&self.app));
        let graceful = GracefulShutdown::new();
        let places = Arc::new(Semaphore::new(self.connections));
        let mut stopped = std::pin::pin!(stopped);
        loop {
            let accepted = tokio::select! {
                accepted = self.listener.accept() => accepted,
                () = &mut stopped => break,
            };
            let stream = match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    debug!(%error, "a connection was not taken");
                    // Out of handles: a moment later some are free.
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            // Whoever comes when it is full is turned away by the closing of the connection.
            let Ok(place) = Arc::clone(&places).try_acquire_owned() else { continue };
            let _ = stream.set_nodelay(true);
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD)
                .max_buf_size(HEAD_BYTES)
                .serve_connection(
                    TokioIo::new(Watched::new(stream)),
                    TowerToHyperService::new(service.clone()),
                );
            let connection = graceful.watch(connection);
            tokio::spawn(async move {
                if let Err(error) = connection.await {
                    debug!(%error, "a connection ended early");
                }
                drop(place);
            });
        }
        self.app.stopping.cancel();
        drop(self.listener);
        let grace = self.app.settings.grace.saturating_sub(2 * LAST);
        if tokio::time::timeout(grace, graceful.shutdown()).await.is_err() {
            self.app.engine().cancel();
            // Runs keep what happened, and say that they were cancelled.
            tokio::time::sleep(LAST).await;
        }
    }
}
