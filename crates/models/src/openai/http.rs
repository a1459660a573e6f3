//! Posts one JSON body and reads one back.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pikerag_knowledge::ModelError;
use reqwest::header::{
    ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION,
};
use reqwest::{Client, Response, StatusCode, Url, redirect};
use serde::de::{DeserializeOwned, IgnoredAny};
use tracing::debug;

use super::events::EventReader;
use super::trouble::Trouble;
use super::{Endpoint, LOCAL, extra, wait};
use crate::secret::Secret;

/// The longest reply that we read; 2,048 vectors of 3,072 floats in base64 have 34 MB.
const LONGEST_REPLY: usize = 64 << 20;
/// The longest error that we read; the rest is not received.
const LONGEST_ERROR: usize = 64 << 10;
/// The time limit for opening a connection.
const CONNECT: Duration = Duration::from_secs(10);

/// How long an idle connection without TLS is kept for the next call.
const PLAIN_IDLE: Duration = Duration::from_secs(4);

/// The connections of one run, shared by all its models. Clones share them too.
///
/// Bound to the Tokio runtime that makes the first call.
#[derive(Clone, Debug, Default)]
pub struct Transport {
    clients: Arc<Mutex<BTreeMap<Route, Client>>>,
}

/// The kinds of clients. Root certificates cost milliseconds and a megabyte, so plain HTTP, which
/// most local servers use, goes without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Route {
    /// HTTP to this machine: no certificates, no proxy.
    Loopback,
    /// HTTPS to this machine: no proxy.
    SecureLoopback,
    /// HTTP, through the system's proxy if there is one.
    Plain,
    /// HTTPS, through the system's proxy if there is one.
    Secure,
}

impl Transport {
    fn client(&self, route: Route) -> Result<Client, reqwest::Error> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(&route) {
            return Ok(client.clone());
        }
        // No redirects: a POST would become a GET, and our headers could reach a stranger.
        let mut builder = Client::builder()
            .user_agent(concat!("pikerag/", env!("CARGO_PKG_VERSION")))
            .redirect(redirect::Policy::none())
            .connect_timeout(CONNECT)
            .tcp_nodelay(true);
        if matches!(route, Route::Loopback | Route::Plain) {
            // uvicorn (vLLM, most servers in Python) closes connections after five idle seconds,
            // and a call must not meet that; a new connection costs almost nothing here.
            builder = builder.tls_built_in_root_certs(false).pool_idle_timeout(PLAIN_IDLE);
        }
        if matches!(route, Route::Loopback | Route::SecureLoopback) {
            builder = builder.no_proxy();
        }
        let client = builder.build()?;
        clients.insert(route, client.clone());
        Ok(client)
    }
}

impl Transport {
    /// A client for servers on this machine: never through a proxy.
    pub(crate) fn to_this_machine(&self) -> Result<Client, reqwest::Error> {
        self.client(Route::Loopback)
    }

    /// A client for an address; it follows no redirections.
    pub(crate) fn to(&self, url: &Url) -> Result<Client, reqwest::Error> {
        self.client(route(url))
    }
}

/// One URL of an endpoint, ready for requests.
pub(super) struct Wire {
    client: Client,
    url: Url,
    origin: String,
    headers: HeaderMap,
    timeout: Duration,
    secrets: Vec<Secret>,
    withheld: Vec<String>,
}

impl Wire {
    /// Checks the settings; `path` is `chat/completions`, `embeddings` or `rerank`.
    pub(super) fn open(
        transport: &Transport,
        endpoint: &Endpoint,
        path: &str,
    ) -> Result<Self, ModelError> {
        let unsupported =
            |hint: String| ModelError::Unsupported { model: endpoint.model.clone(), hint };
        let url = url(endpoint, path).map_err(unsupported)?;
        let headers = headers(endpoint).map_err(unsupported)?;
        if let Some(reason) = extra::refused(&endpoint.extra) {
            return Err(unsupported(reason));
        }
        let client = transport.client(route(&url)).map_err(|error| ModelError::Refused {
            model: endpoint.model.clone(),
            source: error.into(),
        })?;
        let origin = url.origin().ascii_serialization();
        let (timeout, secrets) = (endpoint.timeout, endpoint.secrets());
        let withheld = endpoint.withheld.clone();
        Ok(Self { client, url, origin, headers, timeout, secrets, withheld })
    }

    /// Posts a body and reads the whole reply.
    ///
    /// # Cancel safety
    /// Dropping the future closes the connection; the endpoint may still have done the work.
    pub(super) async fn post<R: DeserializeOwned>(&self, body: Vec<u8>) -> Result<R, Trouble> {
        let response = self.send(body).await?;
        self.whole(response).await
    }

    /// Posts a body and waits for the head of the reply.
    ///
    /// # Cancel safety
    /// As [`Wire::post`].
    pub(super) async fn send(&self, body: Vec<u8>) -> Result<Response, Trouble> {
        debug!(url = self.url.path(), bytes = body.len(), "asking");
        let request = self.client.post(self.url.clone()).headers(self.headers.clone());
        let response = request.timeout(self.timeout).body(body).send().await;
        let response = response.map_err(|error| self.lost(error))?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let headers = response.headers().clone();
        let mut body = read_error(response).await;
        if body.is_empty() {
            body = message_of_status(status, &headers).into_bytes();
        }
        let retry_after = |message: &str| wait::retry_after(&headers, message);
        let trouble = Trouble::status(status.as_u16(), &body, retry_after, &self.secrets);
        Err(match status.as_u16() {
            // A missing key or header may be the reason; some servers answer 404 to hide a
            // resource.
            401 | 403 | 404 if !self.withheld.is_empty() => trouble.without(&self.withheld),
            _ => trouble,
        })
    }

    /// Reads an `error` that came with HTTP 200, as gateways send it.
    pub(super) fn reported(&self, error: &serde_json::Value) -> Trouble {
        let code = error.get("code").and_then(serde_json::Value::as_u64);
        let kind = error.get("type").and_then(serde_json::Value::as_str).unwrap_or_default();
        let status = match code.and_then(|code| u16::try_from(code).ok()) {
            Some(code @ 400..=599) => code,
            _ if ["server", "overload", "rate_limit"].iter().any(|word| kind.contains(word)) => 500,
            _ => 400,
        };
        let body = serde_json::json!({ "error": error }).to_string();
        let retry_after = |message: &str| wait::retry_after(&HeaderMap::new(), message);
        Trouble::status(status, body.as_bytes(), retry_after, &self.secrets)
    }

    /// Reads a reply in one piece.
    pub(super) async fn whole<R: DeserializeOwned>(
        &self,
        response: Response,
    ) -> Result<R, Trouble> {
        let reply = self.read(response).await?;
        self.parse(&reply)
    }

    /// Passes the data of each server-sent event on as it arrives, up to `[DONE]` or the end of the
    /// reply. Returns whether `[DONE]` came.
    pub(super) async fn events(
        &self,
        mut response: Response,
        mut event: impl FnMut(&[u8]) -> Result<(), Trouble> + Send,
    ) -> Result<bool, Trouble> {
        let (mut events, mut length) = (EventReader::default(), 0);
        while let Some(piece) = response.chunk().await.map_err(|error| self.lost(error))? {
            length += piece.len();
            if LONGEST_REPLY < length {
                return Err(Trouble::wrong(format!("is longer than {} MiB", LONGEST_REPLY >> 20)));
            }
            for data in events.take(&piece)? {
                if data.trim_ascii() == b"[DONE]" {
                    return Ok(true);
                }
                event(&data)?;
            }
        }
        // Some servers end the connection without the last line breaks. Half an event is no JSON.
        let last = events.rest().unwrap_or_default();
        if serde_json::from_slice::<IgnoredAny>(&last).is_ok() {
            event(&last)?;
        }
        Ok(last.trim_ascii() == b"[DONE]")
    }

    /// A reply that ended too early, by its own account.
    pub(super) fn cut(&self, why: &'static str) -> Trouble {
        Trouble::Cut { origin: self.origin.clone(), source: why.into() }
    }

    async fn read(&self, mut response: Response) -> Result<Vec<u8>, Trouble> {
        let announced = response.content_length().unwrap_or(0) as usize;
        let mut reply = Vec::with_capacity(announced.min(1 << 20));
        while let Some(piece) = response.chunk().await.map_err(|error| self.lost(error))? {
            if LONGEST_REPLY < reply.len() + piece.len() {
                let what = format!("is longer than {} MiB", LONGEST_REPLY >> 20);
                return Err(Trouble::garbled(what, &reply, &self.secrets));
            }
            reply.extend_from_slice(&piece);
        }
        Ok(reply)
    }

    /// A body that ends too early was cut on the way; any other unreadable body breaks the
    /// protocol.
    pub(super) fn parse<R: DeserializeOwned>(&self, reply: &[u8]) -> Result<R, Trouble> {
        serde_json::from_slice(reply).map_err(|error| {
            if error.is_eof() {
                Trouble::Cut { origin: self.origin.clone(), source: error.into() }
            } else {
                Trouble::garbled(format!("cannot be read ({error})"), reply, &self.secrets)
            }
        })
    }

    fn lost(&self, error: reqwest::Error) -> Trouble {
        let origin = self.origin.clone();
        let connected = !error.is_connect() && !error.is_builder();
        let source = error.without_url().into();
        if connected {
            Trouble::Cut { origin, source }
        } else {
            Trouble::Unreachable { origin, source }
        }
    }
}

/// Whether a reply comes as server-sent events.
pub(super) fn is_of_events(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream"))
}

/// An address in a form that may be shown: without user, password and query.
pub(super) fn shown(base_url: &str) -> String {
    if base_url.starts_with(LOCAL) {
        return base_url.to_owned();
    }
    match Url::parse(base_url) {
        Ok(url) => format!("{}{}", url.origin().ascii_serialization(), url.path()),
        Err(_) => "not a URL".to_owned(),
    }
}

fn url(endpoint: &Endpoint, path: &str) -> Result<Url, String> {
    let mut url = Url::parse(endpoint.base_url.trim())
        .map_err(|error| format!("its base URL must be an http or https address ({error})"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("its base URL must be http or https, not {}", url.scheme()));
    }
    {
        let segments = url.path_segments_mut();
        let mut segments = segments.map_err(|()| "its base URL has no path".to_owned())?;
        segments.pop_if_empty();
        if endpoint.azure_api_version.is_some() {
            segments.extend(["openai", "deployments", &endpoint.model]);
        }
        segments.extend(path.split('/'));
    }
    if let Some(version) = &endpoint.azure_api_version {
        url.query_pairs_mut().append_pair("api-version", version);
    }
    Ok(url)
}

fn headers(endpoint: &Endpoint) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    if let Some(key) = &endpoint.api_key {
        if endpoint.azure_api_version.is_some() {
            headers.insert(
                HeaderName::from_static("api-key"),
                sensitive(key.expose(), "its API key")?,
            );
        } else {
            let bearer = format!("Bearer {}", key.expose());
            headers.insert(AUTHORIZATION, sensitive(&bearer, "its API key")?);
        }
    }
    for (name, secret) in &endpoint.headers {
        let value = sensitive(secret.expose(), name)?;
        let name = HeaderName::try_from(name.as_str())
            .map_err(|error| format!("`{name}` cannot be the name of a header ({error})"))?;
        headers.insert(name, value);
    }
    Ok(headers)
}

fn sensitive(value: &str, what: &str) -> Result<HeaderValue, String> {
    let mut value = HeaderValue::from_str(value)
        .map_err(|_| format!("{what} holds characters that no HTTP header can carry"))?;
    value.set_sensitive(true);
    Ok(value)
}

fn route(url: &Url) -> Route {
    match (url.scheme() == "https", is_loopback(url.host_str().unwrap_or_default())) {
        (false, true) => Route::Loopback,
        (true, true) => Route::SecureLoopback,
        (false, false) => Route::Plain,
        (true, false) => Route::Secure,
    }
}

fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    match address.parse::<std::net::IpAddr>() {
        Ok(address) => address.is_loopback() || address.is_unspecified(),
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}

/// The body of an error, as far as it can be read: the status alone decides.
async fn read_error(mut response: Response) -> Vec<u8> {
    let mut body = Vec::new();
    while let Ok(Some(piece)) = response.chunk().await {
        body.extend_from_slice(&piece);
        if LONGEST_ERROR < body.len() {
            body.truncate(LONGEST_ERROR);
            break;
        }
    }
    body
}

/// The message for a status that comes without text.
fn message_of_status(status: StatusCode, headers: &HeaderMap) -> String {
    match headers.get(LOCATION).and_then(|location| location.to_str().ok()) {
        Some(location) => format!("moved to {location}; set that as the base URL"),
        None => status.canonical_reason().unwrap_or_default().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(base_url: &str, azure: Option<&str>) -> String {
        let mut endpoint = Endpoint::new(base_url, "gpt 4/x");
        endpoint.azure_api_version = azure.map(ToOwned::to_owned);
        match url(&endpoint, "chat/completions") {
            Ok(url) => format!("{:?} {url}", route(&url)),
            Err(error) => error,
        }
    }

    #[test]
    fn builds_addresses() {
        let lines = [
            check("http://localhost:11434/v1", None),
            check("http://[::1]:11434/v1/", None),
            check(" https://api.openai.com/v1 ", None),
            check("https://me.openai.azure.com/", Some("2024-10-21")),
            check("http://vllm.example/v1?tenant=1", None),
            check("https://127.0.0.1", None),
            check("localhost:11434", None),
            check("", None),
        ];
        insta::assert_snapshot!(lines.join("\n"), @r"
        Loopback http://localhost:11434/v1/chat/completions
        Loopback http://[::1]:11434/v1/chat/completions
        Secure https://api.openai.com/v1/chat/completions
        Secure https://me.openai.azure.com/openai/deployments/gpt%204%2Fx/chat/completions?api-version=2024-10-21
        Plain http://vllm.example/v1/chat/completions?tenant=1
        SecureLoopback https://127.0.0.1/chat/completions
        its base URL must be http or https, not localhost
        its base URL must be an http or https address (relative URL without a base)
        ");
    }

    #[test]
    fn never_shows_keys() {
        let mut endpoint = Endpoint::new("https://me:password@host/v1?key=sk-123456789", "m");
        endpoint.api_key = Some(Secret::new("sk-123456789"));
        endpoint.headers = vec![("x-key".to_owned(), Secret::new("sk-123456789"))];
        endpoint.extra.insert("key".to_owned(), "sk-123456789".into());
        let shown = format!("{endpoint:?}");
        assert!(!shown.contains("sk-12") && !shown.contains("password"), "{shown}");
        endpoint.api_key = Some(Secret::new("sk-1234\n56789"));
        let error = Wire::open(&Transport::default(), &endpoint, "embeddings").err().unwrap();
        insta::assert_snapshot!(error, @"m cannot do this: its API key holds characters that no HTTP header can carry");
    }
}
