//! Answers a repeated POST that has the same `Idempotency-Key` with the response of the first one.

use axum::body::{Body, HttpBody, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderName, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::app::{App, Caller};
use crate::problem::{Fault, Problem};
use crate::responses::{BYTES, Kept, LONGEST};

const NAME: HeaderName = HeaderName::from_static("idempotency-key");

/// Lets a POST through once. Streamed responses, responses larger than 1 MiB, and errors of the
/// server are not kept, so that the request may be repeated.
pub(crate) async fn once(State(app): State<App>, request: Request, next: Next) -> Response {
    let Some(key) = request.headers().get(NAME).filter(|_| request.method() == Method::POST) else {
        return next.run(request).await;
    };
    let Some(key) = key.to_str().ok().filter(|key| (1..=LONGEST).contains(&key.len())) else {
        return Problem::bad_request("an Idempotency-Key has 1 to 255 visible characters")
            .into_response();
    };
    let caller = request.extensions().get::<Caller>().map_or("-", Caller::name);
    let name = (caller.to_owned(), key.to_owned());
    let (head, body) = request.into_parts();
    // Nothing of the bases is held while the body arrives: one of them may be deleted meanwhile.
    let most = app.live().settings.body_bytes;
    let Ok(body) = to_bytes(body, most).await else {
        return Problem::new(413, "too-large", Fault::Caller)
            .saying("the body is too large, or was cut off")
            .into_response();
    };
    let mut hasher = blake3::Hasher::new();
    hasher.update(head.uri.to_string().as_bytes()).update(b"\0").update(&body);
    let under_way = match app.responses.begin(&name, hasher.finalize()) {
        Ok(under_way) => under_way,
        Err(response) => return *response,
    };
    let response = next.run(Request::from_parts(head, Body::from(body))).await;
    let size = response.body().size_hint().exact().and_then(|size| usize::try_from(size).ok());
    let is_kept = size.is_some_and(|size| size <= BYTES)
        && response.status() != StatusCode::TOO_MANY_REQUESTS
        && !response.status().is_server_error();
    if !is_kept {
        return response;
    }
    let (head, body) = response.into_parts();
    let Ok(body) = to_bytes(body, BYTES).await else {
        return Problem::new(500, "response-lost", Fault::Server).into_response();
    };
    let content_type = head.headers.get(header::CONTENT_TYPE).cloned();
    under_way.keep(Kept { status: head.status, content_type, body: body.clone() });
    Response::from_parts(head, Body::from(body))
}
