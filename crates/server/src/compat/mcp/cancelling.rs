//! Cancels calls over HTTP when the client says so. Each request is served by itself, so the
//! notification finds its call by the session that the client names in both.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::{Body, Bytes};
use axum::extract::rejection::BytesRejection;
use axum::extract::{FromRequest, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures::StreamExt;
use rmcp::model::RequestId;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::app::Caller;
use crate::pace::is_slow;
use crate::problem::{Fault, Problem};

/// The header of a session's name. The server keeps nothing of a session but its running calls.
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const STREAM: &str = "text/event-stream";

/// The calls that run now.
#[derive(Clone, Default)]
pub(crate) struct Running(Arc<Mutex<HashMap<CallName, CancellationToken>>>);

/// The name of a call: identifiers of requests are unique within a session only.
#[derive(Clone, PartialEq, Eq, Hash)]
struct CallName {
    caller: String,
    session: String,
    request: RequestId,
}

/// A running call, as long as it is held.
struct Held {
    running: Running,
    name: CallName,
    token: CancellationToken,
}

impl Running {
    /// Notes a call; `None` if a call of this name runs already.
    fn hold(&self, name: CallName) -> Option<Held> {
        let mut calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if calls.contains_key(&name) {
            return None;
        }
        let token = CancellationToken::new();
        calls.insert(name.clone(), token.clone());
        Some(Held { running: self.clone(), name, token })
    }

    fn cancel(&self, name: &CallName) {
        let calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(token) = calls.get(name) {
            token.cancel();
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut calls = self.running.0.lock().unwrap_or_else(PoisonError::into_inner);
        calls.remove(&self.name);
    }
}

/// Names a session in the response to `initialize`, and ends the response to a call of which
/// `notifications/cancelled` comes in the same session: its run stops, as when a client leaves.
pub(crate) async fn cancellable(
    State(running): State<Running>,
    request: Request,
    next: Next,
) -> Response {
    if request.method() != Method::POST {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    let kept = parts.clone();
    let body = match Bytes::from_request(Request::from_parts(parts, body), &()).await {
        Ok(body) => body,
        Err(rejection) => return unread(&rejection).into_response(),
    };
    // The service itself refuses what is no message.
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    let caller = kept.extensions.get::<Caller>().map_or("-", Caller::name).to_owned();
    let call = |id: &str| call_name(&caller, &kept.headers, message.pointer(id));
    let (cancelled, own) = (call("/params/requestId"), call("/id"));
    let request = Request::from_parts(kept, Body::from(body));
    match message.get("method").and_then(Value::as_str) {
        Some("initialize") => named(next.run(request).await),
        Some("notifications/cancelled") => {
            if let Some(name) = cancelled {
                running.cancel(&name);
            }
            next.run(request).await
        }
        Some("tools/call") => match own.and_then(|name| running.hold(name)) {
            Some(held) => until_cancelled(held, next.run(request)).await,
            None => next.run(request).await,
        },
        _ => next.run(request).await,
    }
}

fn unread(rejection: &BytesRejection) -> Problem {
    if is_slow(rejection) {
        return Problem::slow();
    }
    let status = rejection.status().as_u16();
    let code = if status == 413 { "too-large" } else { "bad-request" };
    Problem::new(status, code, Fault::Caller).saying(rejection.body_text())
}

fn call_name(caller: &str, headers: &HeaderMap, id: Option<&Value>) -> Option<CallName> {
    let session = headers.get(SESSION)?.to_str().ok()?.to_owned();
    let request = serde_json::from_value(id?.clone()).ok()?;
    Some(CallName { caller: caller.to_owned(), session, request })
}

/// Names a new session.
fn named(mut response: Response) -> Response {
    if response.status().is_success() {
        let part = |n: u8| RandomState::new().hash_one(n);
        let name = format!("{:016x}{:016x}", part(0), part(1));
        if let Ok(name) = HeaderValue::from_str(&name) {
            response.headers_mut().insert(SESSION, name);
        }
    }
    response
}

/// The response, which ends when the call is cancelled. Dropping the rest of it stops the call.
async fn until_cancelled(held: Held, answer: impl Future<Output = Response>) -> Response {
    let response = tokio::select! {
        response = answer => response,
        // The client expects no response: an empty stream ends the exchange.
        () = held.token.cancelled() => return ([(header::CONTENT_TYPE, STREAM)], "").into_response(),
    };
    let kind = response.headers().get(header::CONTENT_TYPE);
    if kind.is_none_or(|kind| kind != STREAM) {
        return response;
    }
    let stopped = async move {
        held.token.cancelled().await;
        // Held until here, or until the stream is dropped.
        drop(held);
    };
    response.map(|body| Body::from_stream(body.into_data_stream().take_until(stopped)))
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::future::pending;

    use axum::Router;
    use axum::middleware::from_fn_with_state;
    use axum::routing::post;
    use futures::stream;
    use serde_json::json;
    use tower::ServiceExt;

    use super::*;

    /// A service whose calls send one event and then wait until they are dropped, which cancels the
    /// token.
    fn service(dropped: &CancellationToken) -> Router {
        let dropped = dropped.clone();
        let answer = move |body: String| async move {
            if !body.contains("tools/call") {
                return "{}".into_response();
            }
            let guard = dropped.drop_guard();
            let first = stream::iter([Ok::<_, Infallible>("data: 1\n\n")]);
            let events = first.chain(stream::once(async move {
                let _guard = guard;
                pending().await
            }));
            ([(header::CONTENT_TYPE, STREAM)], Body::from_stream(events)).into_response()
        };
        let layer = from_fn_with_state(Running::default(), cancellable);
        Router::new().route("/mcp", post(answer)).route_layer(layer)
    }

    async fn send(service: &Router, session: &str, message: &Value) -> Response {
        let mut request = Request::post("/mcp");
        if !session.is_empty() {
            request = request.header(SESSION, session);
        }
        let request = request.body(Body::from(message.to_string())).unwrap();
        service.clone().oneshot(request).await.unwrap()
    }

    #[tokio::test]
    async fn a_notification_ends_the_call_of_its_session() {
        let dropped = CancellationToken::new();
        let service = service(&dropped);
        let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize"});
        let begun = send(&service, "", &initialize).await;
        let session = begun.headers()[SESSION].to_str().unwrap().to_owned();
        assert_eq!(session.len(), 32);
        let call = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call"});
        let called = send(&service, &session, &call).await;
        let reading = tokio::spawn(axum::body::to_bytes(called.into_body(), 1 << 20));
        let cancel = |id: u8| json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
        // Another session, no session, another call.
        for (session, id) in [("another", 7), ("", 7), (session.as_str(), 8)] {
            send(&service, session, &cancel(id)).await;
        }
        tokio::task::yield_now().await;
        assert!(!dropped.is_cancelled() && !reading.is_finished());
        send(&service, &session, &cancel(7)).await;
        assert_eq!(&reading.await.unwrap().unwrap()[..], b"data: 1\n\n");
        dropped.cancelled().await;
        // The name is free again.
        assert!(send(&service, &session, &call).await.status().is_success());
    }

    #[test]
    fn a_name_is_held_once_and_then_free() {
        let running = Running::default();
        let (caller, session) = ("-".to_owned(), "a".to_owned());
        let name = CallName { caller, session, request: RequestId::Number(1) };
        let held = running.hold(name.clone());
        assert!(held.is_some() && running.hold(name.clone()).is_none());
        drop(held);
        assert!(running.hold(name).is_some());
    }
}
