//! Guards the routes: keys, the server's names, the origin of calling pages, and request rates.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use opentelemetry::global;
use opentelemetry_http::HeaderExtractor;
use pikerag_engine::keys::{Scope, now};
use pikerag_engine::knowledge::telemetry::TRACED;
use tokio::sync::Semaphore;
use tracing::field::Empty;
use tracing::{Instrument, Span, info_span};
use tracing_opentelemetry::OpenTelemetrySpanExt;

use crate::api::passages;
use crate::app::{App, Caller};
use crate::audit::Entry;
use crate::metrics::known;
use crate::pace::{holding, paced};
use crate::problem::{Fault, Problem};

/// The status of a request whose client went away before the response.
const GONE: u16 = 499;

/// The address that a connection comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// A request that has arrived and that no guard has taken yet. If the connection ends before, the
/// audit log still gets a line.
pub(crate) struct Come {
    app: App,
    method: Method,
    path: String,
    is_taken: Taken,
}

/// Whether a guard has taken a request; the guard then writes the line.
#[derive(Clone, Default)]
struct Taken(Arc<AtomicBool>);

impl Come {
    pub(crate) fn note<B>(app: &App, request: &mut axum::http::Request<B>) -> Self {
        let is_taken = Taken::default();
        request.extensions_mut().insert(is_taken.clone());
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        Self { app: Arc::clone(app), method, path, is_taken }
    }

    /// Its response has been sent: it needs no line of this kind.
    pub(crate) fn is_answered(&self) {
        self.is_taken.0.store(true, Ordering::Relaxed);
    }
}

impl Drop for Come {
    fn drop(&mut self) {
        if !self.is_taken.0.load(Ordering::Relaxed) {
            let (key, method, path) = ("-", self.method.as_str(), self.path.as_str());
            audit(&self.app, &Entry { key, method, path, status: GONE });
        }
    }
}

/// Checks the caller before anything of a request is read.
pub(crate) async fn guard(
    State((app, scope)): State<(App, Option<Scope>)>,
    mut request: Request,
    next: Next,
) -> Response {
    let mut answering = Answering::begin(&app, scope, &request);
    if let Some(Taken(is_taken)) = request.extensions().get() {
        is_taken.store(true, Ordering::Relaxed);
    }
    let caller = match admitted(&app, scope, &request) {
        Ok(caller) => caller,
        Err(problem) => {
            let is_unknown = problem.status() == StatusCode::UNAUTHORIZED;
            let instead = if is_unknown { passages::on_the_page(&request) } else { None };
            let response = instead.unwrap_or_else(|| problem.into_response());
            answering.status = response.status().as_u16();
            return response;
        }
    };
    caller.name().clone_into(&mut answering.key);
    request.extensions_mut().insert(caller.clone());
    let span = traced(&request, &answering.route, &caller);
    let response = next.run(request).instrument(span.clone()).await;
    answering.status = response.status().as_u16();
    span.record("http.response.status_code", i64::from(answering.status));
    response
}

fn audit(app: &App, entry: &Entry<'_>) {
    if !app.audit.add(entry) {
        app.metrics.unaudited();
    }
}

/// The trace span of a request; it joins the caller's own trace if `traceparent` names one.
fn traced(request: &Request, route: &str, caller: &Caller) -> Span {
    let method = known(request.method());
    let span = info_span!(
        target: TRACED,
        "request",
        otel.name = format!("{method} {route}"),
        otel.kind = "server",
        http.request.method = method,
        http.route = route,
        http.response.status_code = Empty,
        pikerag.key = caller.name(),
    );
    let headers = HeaderExtractor(request.headers());
    // Without a collector there is no trace to belong to.
    let _ = span.set_parent(global::get_text_map_propagator(|known| known.extract(&headers)));
    span
}

/// A request that is counted and written to the audit log in every case. If the client leaves
/// before the response, its status is 499.
struct Answering {
    app: App,
    scope: Option<Scope>,
    method: Method,
    path: String,
    route: String,
    key: String,
    began: Instant,
    status: u16,
}

impl Answering {
    fn begin(app: &App, scope: Option<Scope>, request: &Request) -> Self {
        app.metrics.began();
        let route = request.extensions().get::<MatchedPath>();
        Self {
            app: Arc::clone(app),
            scope,
            method: request.method().clone(),
            path: request.uri().path().to_owned(),
            route: route.map_or("none", MatchedPath::as_str).to_owned(),
            key: "-".to_owned(),
            began: Instant::now(),
            status: GONE,
        }
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        let Self { app, scope, method, path, route, key, began, status } = self;
        app.metrics.answered(known(method), route, *status, began.elapsed());
        // Only requests that need a scope, refused ones included; not health checks.
        if scope.is_some() {
            audit(app, &Entry { key, method: method.as_str(), path, status: *status });
        }
    }
}

fn admitted(app: &App, scope: Option<Scope>, request: &Request) -> Result<Caller, Problem> {
    check_host(app, request.headers(), request.uri())?;
    check_origin(app, request.headers())?;
    if scope.is_some() {
        check_site(request)?;
    }
    let Some(scope) = scope else { return Ok(Caller { key: None }) };
    if !app.needs_key()? {
        return Ok(Caller { key: None });
    }
    let no_key = |code: &str, says: &str| {
        Problem::new(401, code, Fault::Caller)
            .saying(says)
            .hint("send `Authorization: Bearer KEY`; `pikerag keys make NAME` makes one")
    };
    let Some(presented) = presented(request.headers()) else {
        return Err(no_key("no-key", "this server needs a key"));
    };
    let Some(key) = app.find(&presented)? else {
        let peer = request.extensions().get::<Peer>().map(|peer| peer.0);
        if app.wrong.are_too_many(peer, Instant::now()) {
            return Err(Problem::new(429, "too-many-wrong-keys", Fault::Caller)
                .saying("too many wrong keys came from this address")
                .hint("try again in a minute; a valid key is accepted at once"));
        }
        return Err(no_key("wrong-key", "this key is not valid here"));
    };
    if key.is_expired(now()) {
        return Err(no_key("key-expired", "this key has expired"));
    }
    app.note_use(&key);
    if !app.is_in_rate(&key) {
        let per_minute = key.params.per_minute.map_or(0, NonZeroU32::get);
        return Err(Problem::new(429, "too-often", Fault::Caller)
            .saying(format!("this key allows {per_minute} requests a minute")));
    }
    let caller = Caller { key: Some(key) };
    if !caller.may(scope) {
        return Err(Problem::new(403, "scope-too-small", Fault::Caller)
            .saying(format!("this needs a key of scope `{}`", scope.as_str())));
    }
    Ok(caller)
}

/// Reads `Authorization: Bearer …`, as most programs send a key, or `x-api-key`.
fn presented(headers: &HeaderMap) -> Option<String> {
    let text = |name: HeaderName| headers.get(name)?.to_str().ok().map(str::to_owned);
    let bearer = text(header::AUTHORIZATION).and_then(|value| {
        let (scheme, key) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| key.trim().to_owned())
    });
    bearer.or_else(|| text(HeaderName::from_static("x-api-key")))
}

/// Checks the host name. Accepting foreign names would let a page of another site reach us by
/// rebinding its own name to our address.
fn check_host(app: &App, headers: &HeaderMap, uri: &Uri) -> Result<(), Problem> {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let host = host.or_else(|| uri.authority().map(axum::http::uri::Authority::as_str));
    if host.is_some_and(|host| is_ours(app, host)) {
        return Ok(());
    }
    Err(Problem::new(421, "other-host", Fault::Caller)
        .saying("this server does not have this name")
        .hint("name it in `server.names`, or set `server.public_url`"))
}

fn is_ours(app: &App, host: &str) -> bool {
    let name = without_port(host);
    let settings = &app.live().settings;
    let public = settings.public_url.as_deref().and_then(|url| url.split("//").nth(1));
    let public = public.and_then(|rest| rest.split('/').next()).map(without_port);
    name.parse::<IpAddr>().is_ok()
        || name.eq_ignore_ascii_case("localhost")
        || name.eq_ignore_ascii_case(&settings.host)
        || public.is_some_and(|public| public.eq_ignore_ascii_case(name))
        || settings.names.iter().any(|own| own.eq_ignore_ascii_case(name))
}

/// Removes the port: `[::1]:8686`, `name:8686`, `name`.
fn without_port(host: &str) -> &str {
    match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((name, _)) => name,
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    }
}

/// Refuses calls from pages of another origin, unless the settings allow it.
fn check_origin(app: &App, headers: &HeaderMap) -> Result<(), Problem> {
    let Some(origin) = headers.get(header::ORIGIN) else { return Ok(()) };
    let origin = origin.to_str().unwrap_or_default();
    let own = origin.split("//").nth(1).is_some_and(|host| {
        let same = headers.get(header::HOST).and_then(|own| own.to_str().ok());
        same.is_some_and(|own| own.eq_ignore_ascii_case(host))
    });
    if own || is_allowed(app, origin) {
        return Ok(());
    }
    Err(Problem::new(403, "other-origin", Fault::Caller)
        .saying("pages of this address may not call this server")
        .hint("name it in `server.origins`"))
}

/// Whether the settings name the origin.
fn is_allowed(app: &App, origin: &str) -> bool {
    let origins = &app.live().settings.origins;
    origins.iter().any(|allowed| allowed.eq_ignore_ascii_case(origin))
}

/// Refuses other reads by pages of another site, because a GET carries no `Origin`. A person may
/// follow a link to a passage.
fn check_site(request: &Request) -> Result<(), Problem> {
    let headers = request.headers();
    let value_of = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let is_link = value_of("sec-fetch-mode") == Some("navigate")
        && value_of("sec-fetch-dest") == Some("document")
        && request.method() == Method::GET
        && request.uri().path().starts_with("/passages/");
    // An origin that passed the check before is allowed.
    let is_allowed = headers.contains_key(header::ORIGIN) || is_link;
    if value_of("sec-fetch-site") != Some("cross-site") || is_allowed {
        return Ok(());
    }
    Err(Problem::new(403, "cross-site", Fault::Caller)
        .saying("pages of other sites may not call this server")
        .hint("open the server's own page, or name the other page in `server.origins`"))
}

/// Sets the security headers of every response: no scripts, no type sniffing, no caching, no
/// frames.
pub(crate) async fn hardened(State(app): State<App>, request: Request, next: Next) -> Response {
    let origin = request.headers().get(header::ORIGIN).cloned();
    let is_asked_for = request.method() == Method::OPTIONS;
    let allowed = origin.filter(|origin| is_allowed(&app, origin.to_str().unwrap_or_default()));
    let mut response = match (is_asked_for, &allowed) {
        (true, Some(_)) => StatusCode::NO_CONTENT.into_response(),
        _ => next.run(request).await,
    };
    let headers = response.headers_mut();
    let fixed = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        ),
    ];
    for (name, value) in fixed {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    if let Some(origin) = allowed {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(header::VARY, HeaderValue::from_static("Origin"));
        let names = HeaderValue::from_static(
            "authorization, content-type, idempotency-key, x-api-key, mcp-protocol-version, mcp-session-id, mcp-method, mcp-name",
        );
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, names);
        let shown = HeaderValue::from_static("mcp-session-id");
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, shown);
        let methods = HeaderValue::from_static("GET, POST, PUT, PATCH, DELETE");
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods);
    }
    response
}

/// Refuses requests beyond the limit, before it reads anything of them. A request counts until its
/// response is sent. Health checks are always allowed.
pub(crate) fn busy(
    app: App,
) -> impl Fn(Request, Next) -> futures::future::BoxFuture<'static, Response> + Clone {
    let places = Arc::new(Semaphore::new(app.live().settings.requests));
    move |request, next| {
        let is_of_health = matches!(request.uri().path(), "/health" | "/ready");
        let place = match is_of_health {
            true => Ok(None),
            false => Arc::clone(&places).try_acquire_owned().map(Some),
        };
        let app = Arc::clone(&app);
        Box::pin(async move {
            let Ok(place) = place else {
                app.metrics.rejected();
                let (method, path) = (request.method().as_str(), request.uri().path());
                let entry = Entry { key: "-", method, path, status: 503 };
                audit(&app, &entry);
                return Problem::new(503, "too-busy", Fault::Server)
                    .saying("too many requests are under way")
                    .hint("try again in a moment")
                    .into_response();
            };
            next.run(request.map(paced)).await.map(|body| holding(body, place))
        })
    }
}
