//! Starts the server, accepts connections, and stops. It runs without a key on loopback only. When
//! it stops, running requests finish.

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::http::{HeaderValue, header};
use axum::response::Response;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use pikerag_engine::keys::{Keys, KeysError, mark_as_needed, mark_of_need};
use pikerag_engine::settings::ServerSettings;
use pikerag_engine::{Engine, MadeBases, hold_at_most, raise_descriptors};
use rmcp::ServiceExt;
use rmcp::transport::stdio;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, lookup_host};
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tracing::{debug, info, warn};

use crate::app::Shared;
use crate::audit::Audit;
use crate::bounds::Bounds;
use crate::compat::mcp::Mcp;
use crate::forgetting::finish_forgetting;
use crate::guard::{Come, Peer};
use crate::jobs::JobOffer;
use crate::pace::Watched;
use crate::reload::Reloader;
use crate::routes::router;
use crate::settings_file::SettingsFile;
use crate::watch::watch;

/// How long the head of a request may take to arrive.
pub(crate) const HEAD: Duration = Duration::from_secs(15);
/// The largest number of bytes of a request's head, and of one read from a connection.
pub(crate) const HEAD_BYTES: usize = 64 << 10;
/// How long cancelled runs may take to record that.
const LAST: Duration = Duration::from_millis(500);
/// How long before the end of `server.grace_seconds` running requests are cancelled.
pub(crate) const CANCELLED_BEFORE: Duration = LAST.saturating_mul(2);

/// How often runs of ended servers are looked for.
const SILENT_RUNS: Duration = Duration::from_mins(1);
/// How long a server that stops takes the connections that the system has accepted already.
const BACKLOG: Duration = Duration::from_millis(50);

/// Why the server did not start.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "a field means what its variant's message says of it")]
pub enum ServeError {
    /// The host is not an address of this machine.
    #[error("`{host}` is no address of this machine")]
    NoAddress { host: String },
    /// Other machines could reach it, and there is no key.
    #[error("{address} can be reached by others, and there is no key")]
    NeedsKey { address: SocketAddr },
    /// The address cannot be listened on.
    #[error("{address} cannot be listened on")]
    NotBound { address: SocketAddr, source: std::io::Error },
    /// The audit log cannot be written.
    #[error("the audit log `{}` cannot be written", file.display())]
    NoAudit { file: PathBuf, source: std::io::Error },
    /// Keys were made for this server, but their store holds none.
    #[error(
        "{mark} says that keys were made for this server, but {store} holds none: it is missing or damaged"
    )]
    KeysGone { store: PathBuf, mark: PathBuf },
    /// The keys cannot be read.
    #[error(transparent)]
    Keys(#[from] KeysError),
}

/// A server that is listening.
pub struct Serving {
    listener: TcpListener,
    app: Arc<Shared>,
    address: SocketAddr,
    connections: usize,
}

/// Begins to listen at the configured address. Administrators may set the chat model in `file`, if
/// there is one. `on_offer` receives jobs that wait for approval.
///
/// # Errors
/// See [`ServeError`].
pub async fn serve(
    engine: Engine,
    file: Option<SettingsFile>,
    on_offer: impl Fn(&JobOffer) + Send + Sync + 'static,
) -> Result<Serving, ServeError> {
    let (host, port) = (engine.settings().server.host.clone(), engine.settings().server.port);
    let no_address = || ServeError::NoAddress { host: host.clone() };
    let found = match host.parse::<IpAddr>() {
        Ok(ip) => Some(SocketAddr::new(ip, port)),
        Err(_) => lookup_host((host.as_str(), port)).await.map_err(|_| no_address())?.next(),
    };
    let address = found.ok_or_else(no_address)?;
    let keys = keys_of(&engine)?;
    let has_keys =
        keys.as_ref().map_or(Ok(false), |keys| keys.list().map(|all| !all.is_empty()))?;
    if !address.ip().is_loopback() && !has_keys {
        return Err(ServeError::NeedsKey { address });
    }
    let log = engine.settings().server.audit.clone();
    let audit = Audit::at(log.clone())
        .map_err(|source| ServeError::NoAudit { file: log.unwrap_or_default(), source })?;
    let bound = TcpListener::bind(address).await;
    let listener = bound.map_err(|source| ServeError::NotBound { address, source })?;
    // Port 0 selects a free port.
    let address = listener.local_addr().unwrap_or(address);
    let (settings, connections) = within_descriptors(engine.settings().server.clone());
    MadeBases::of(engine.settings()).finish_removals();
    let on_offer = Box::new(on_offer);
    let app = Arc::new(Shared::new(engine, keys, audit, address, settings, file, on_offer));
    tokio::spawn(settle(Arc::clone(&app)));
    tokio::spawn(finish_forgetting(Arc::clone(&app)));
    tokio::spawn(end_silent_runs(Arc::clone(&app)));
    go_on(&app);
    Ok(Serving { listener, app, address, connections })
}

/// The settings, lowered to the available descriptors, and the number of connections.
fn within_descriptors(settings: ServerSettings) -> (ServerSettings, usize) {
    let bounds = Bounds::within(raise_descriptors(), &settings);
    hold_at_most(bounds.states);
    let Bounds { connections, requests, runs, .. } = bounds;
    if (requests, runs) != (settings.requests, settings.runs) {
        warn!(
            requests,
            runs, "the limit of open files allows no more requests and questions at a time"
        );
    }
    (ServerSettings { requests, runs, ..settings }, connections)
}

/// The store of keys. It must be intact, and must exist if keys were ever made.
pub(crate) fn keys_of(engine: &Engine) -> Result<Option<Keys>, ServeError> {
    let settings = engine.settings();
    let mark = mark_of_need(settings);
    let Some(path) = &settings.server.keys else {
        return mark.map_or(Ok(None), |_| Err(KeysError::NoPlace.into()));
    };
    let keys = Keys::open(path)?;
    keys.verify()?;
    match (keys.were_made()?, mark) {
        (true, _) => mark_as_needed(settings),
        (false, Some(mark)) => {
            return Err(ServeError::KeysGone { store: keys.path().to_owned(), mark });
        }
        (false, None) => {}
    }
    Ok(Some(keys))
}

/// Books the reserved cost of calls that a killed process left, as far as the ledgers of the bases
/// give its price.
async fn settle(app: Arc<Shared>) {
    let Some(keys) = app.keys() else { return };
    for (name, session) in &app.live().bases {
        match keys.settle_left(session).await {
            Ok(0) => {}
            Ok(settled) => {
                info!(base = name, settled, "the cost of calls of an ended server was booked");
            }
            Err(error) => {
                warn!(base = name, %error, "the cost of calls of an ended server was not booked");
            }
        }
    }
}

/// Ends runs in databases whose server has ended, until this server stops.
async fn end_silent_runs(app: Arc<Shared>) {
    while !app.stopping.is_cancelled() {
        let names: Vec<String> = app.live().bases.keys().cloned().collect();
        for name in names {
            // The other bases are not held: they may be deleted meanwhile.
            let Some(session) = app.live().bases.get(&name).cloned() else { continue };
            match pikerag_engine::end_silent_runs(&session).await {
                Ok(0) => {}
                Ok(runs) => info!(base = name, runs, "runs of an ended server were ended"),
                Err(error) => {
                    warn!(base = name, %error, "runs of ended servers were not looked for");
                }
            }
        }
        tokio::select! {
            () = tokio::time::sleep(SILENT_RUNS) => {}
            () = app.stopping.cancelled() => {}
        }
    }
}

/// Resumes only the jobs that were accepted before the server ended.
fn go_on(app: &Arc<Shared>) {
    let live = app.live();
    for name in live.bases.keys() {
        app.jobs.go_on(&app.host(), name);
        if let Some(folders) = live.settings.watch.get(name) {
            watch(app, name, folders);
        }
    }
}

/// Waits until a stopping server accepts no more connections; forever while it does not stop.
/// Connections that the system has accepted already are still taken.
async fn until_drained(since: Option<Instant>, drain: Duration) {
    match since {
        Some(since) => tokio::time::sleep_until(since + drain + BACKLOG).await,
        None => std::future::pending().await,
    }
}

/// Speaks the Model Context Protocol over standard input and output until they end.
///
/// # Errors
/// Reading or writing the streams fails.
pub async fn speak_mcp(engine: Engine) -> Result<(), std::io::Error> {
    let nowhere = SocketAddr::from(([127, 0, 0, 1], engine.settings().server.port));
    let audit = Audit::at(engine.settings().server.audit.clone())?;
    let settings = engine.settings().server.clone();
    let app = Arc::new(Shared::new(engine, None, audit, nowhere, settings, None, Box::new(|_| ())));
    let broken = |error: String| std::io::Error::other(error);
    let speaking = Box::pin(Mcp::local(app).serve(stdio()))
        .await
        .map_err(|error| broken(error.to_string()))?;
    speaking.waiting().await.map(drop).map_err(|error| broken(error.to_string()))
}

/// A connection that ends where the head of a request does not come in time, or nobody reads a response.
fn connection<S, T>(stream: S, from: T) -> http1::Connection<TokioIo<Watched<S>>, T>
where
    S: AsyncRead + AsyncWrite + Unpin,
    T: Service<Request<Incoming>, Response = Response, Error = Infallible>,
{
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(HEAD_BYTES)
        .serve_connection(TokioIo::new(Watched::new(stream)), from)
}

impl Serving {
    /// The address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// A handle that gives it other settings while it runs.
    pub fn reloader(&self) -> Reloader {
        Reloader::new(Arc::clone(&self.app))
    }

    /// Accepts requests until `stopped`. From then on `/ready` fails, and connections are accepted for
    /// `server.drain_seconds` more, until proxies have noticed. Then running requests finish, or are
    /// cancelled shortly before `server.grace_seconds` are over: their runs are kept as cancelled.
    pub async fn until(self, stopped: impl Future<Output = ()>) {
        let service = router(Arc::clone(&self.app));
        let graceful = GracefulShutdown::new();
        let places = Arc::new(Semaphore::new(self.connections));
        let (grace, drain) = {
            let settings = &self.app.live().settings;
            (settings.grace, settings.drain)
        };
        let mut stopped = std::pin::pin!(stopped);
        let mut stopping_since: Option<Instant> = None;
        loop {
            let accepted = tokio::select! {
                accepted = self.listener.accept() => accepted,
                () = &mut stopped, if stopping_since.is_none() => {
                    self.app.stopping.cancel();
                    stopping_since = Some(Instant::now());
                    continue;
                }
                () = until_drained(stopping_since, drain) => break,
            };
            let (stream, peer) = match accepted {
                Ok((stream, peer)) => (stream, Peer(peer.ip())),
                Err(error) => {
                    debug!(%error, "a connection was not accepted");
                    // No free descriptors: some are free a moment later.
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            // Beyond the limit, the connection is closed.
            let Ok(place) = Arc::clone(&places).try_acquire_owned() else { continue };
            let _ = stream.set_nodelay(true);
            let routes = TowerToHyperService::new(service.clone());
            let app = Arc::clone(&self.app);
            let from = service_fn(move |mut request: Request<Incoming>| {
                request.extensions_mut().insert(peer);
                let come = Come::note(&app, &mut request);
                let answer = routes.call(request);
                let stopping = app.stopping.clone();
                async move {
                    let mut response = answer.await;
                    come.is_answered();
                    // The next request of this client then goes to another server.
                    if let (Ok(response), true) = (&mut response, stopping.is_cancelled()) {
                        let close = HeaderValue::from_static("close");
                        response.headers_mut().insert(header::CONNECTION, close);
                    }
                    response
                }
            });
            let connection = graceful.watch(connection(stream, from));
            tokio::spawn(async move {
                if let Err(error) = connection.await {
                    debug!(%error, "a connection ended early");
                }
                drop(place);
            });
        }
        drop(self.listener);
        let passed = stopping_since.map(|since| since.elapsed()).unwrap_or_default();
        let grace = grace.saturating_sub(CANCELLED_BEFORE).saturating_sub(passed);
        let jobs = tokio::time::timeout(grace, self.app.jobs.ended());
        let requests = tokio::time::timeout(grace, graceful.shutdown());
        let (jobs, requests) = tokio::join!(jobs, requests);
        if jobs.is_err() {
            warn!("a job did not record its progress: it counts as a crash");
        }
        if requests.is_err() {
            self.app.live().engine.cancel();
            // Runs record their events and that they were cancelled.
            tokio::time::sleep(LAST).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use tokio::io::{AsyncWriteExt, DuplexStream, duplex};
    use tokio::time::timeout;

    use super::*;

    /// Whether the server ends the connection within two minutes, while its client stays open.
    async fn is_ended(server: DuplexStream, _client: &DuplexStream) -> bool {
        let large = service_fn(|_: Request<Incoming>| async {
            Ok::<_, Infallible>(Response::new(Body::from(vec![b'x'; 1 << 20])))
        });
        let ended = timeout(Duration::from_mins(2), connection(server, large)).await;
        matches!(ended, Ok(Err(_)))
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_reads_or_sends_nothing_is_left() {
        let (mut client, server) = duplex(64 << 10);
        client.write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
        assert!(is_ended(server, &client).await, "it reads nothing");
        let (mut client, server) = duplex(64 << 10);
        client.write_all(b"GET / HTTP/1.1\r\n").await.unwrap();
        assert!(is_ended(server, &client).await, "its head does not come");
    }
}
