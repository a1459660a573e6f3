//! Answers a repeated POST that has the same `Idempotency-Key` with the response of the first one.

mod form_hash;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::{Body, HttpBody, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderName, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures::{StreamExt, TryStreamExt};

use self::form_hash::FormHash;
use crate::app::{App, Caller};
use crate::form::FormReader;
use crate::pace::is_slow;
use crate::problem::{Fault, Problem};
use crate::responses::{BYTES, Earlier, Kept, LONGEST, Name, UnderWay};

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
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    if let Some(reader) = kind.and_then(FormReader::new) {
        let hash = FormHash::new(reader, &request.uri().to_string());
        return form_once(&app, &name, hash, request, next).await;
    }
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
    let fingerprint = hasher.finalize();
    let under_way = match app.responses.begin(&name, fingerprint) {
        Ok(under_way) => under_way,
        Err(response) => return *response,
    };
    let response = next.run(Request::from_parts(head, Body::from(body))).await;
    let is_kept =
        response.status() != StatusCode::TOO_MANY_REQUESTS && !response.status().is_server_error();
    match is_kept {
        true => kept(&under_way, response, fingerprint).await,
        false => response,
    }
}

/// Lets a form of files through once. It is hashed while it arrives and never held: the limits of its
/// route bound it. Only a success is kept, because the rest of a refused form never arrives.
async fn form_once(
    app: &App,
    name: &Name,
    hash: FormHash,
    request: Request,
    next: Next,
) -> Response {
    let under_way = match app.responses.begin_form(name) {
        Ok(under_way) => under_way,
        Err(Earlier::UnderWay(response)) => return *response,
        Err(Earlier::Kept) => return repeated(app, name, hash, request.into_body()).await,
    };
    let (head, body) = request.into_parts();
    let hash = Arc::new(Mutex::new(hash));
    let arriving = Arc::clone(&hash);
    let pieces = body.into_data_stream().inspect_ok(move |bytes| lock(&arriving).take(bytes));
    let response = next.run(Request::from_parts(head, Body::from_stream(pieces))).await;
    let fingerprint = lock(&hash).finalized();
    match fingerprint {
        Some(fingerprint) if response.status().is_success() => {
            kept(&under_way, response, fingerprint).await
        }
        _ => response,
    }
}

/// The response to the repetition of a form whose response is kept. Bytes behind the form, or behind its
/// first error, are not read.
async fn repeated(app: &App, name: &Name, mut hash: FormHash, body: Body) -> Response {
    let mut pieces = body.into_data_stream();
    while hash.is_arriving()
        && let Some(piece) = pieces.next().await
    {
        match piece {
            Ok(bytes) => hash.take(&bytes),
            Err(error) if is_slow(&error) => return Problem::slow().into_response(),
            Err(_) => break,
        }
    }
    let Some(fingerprint) = hash.finalized() else {
        return Problem::bad_request("the form is not complete, or breaks the format")
            .in_chinese("表单不完整，或格式有误")
            .into_response();
    };
    match app.responses.begin(name, fingerprint) {
        Err(response) => *response,
        // It was dropped while the form arrived, and the form is gone.
        Ok(_) => Problem::new(500, "response-lost", Fault::Server).into_response(),
    }
}

fn lock(hash: &Mutex<FormHash>) -> MutexGuard<'_, FormHash> {
    hash.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps a response, unless it is streamed or too large.
async fn kept(under_way: &UnderWay<'_>, response: Response, fingerprint: blake3::Hash) -> Response {
    let size = response.body().size_hint().exact().and_then(|size| usize::try_from(size).ok());
    if size.is_none_or(|size| BYTES < size) {
        return response;
    }
    let (head, body) = response.into_parts();
    let Ok(body) = to_bytes(body, BYTES).await else {
        return Problem::new(500, "response-lost", Fault::Server).into_response();
    };
    let content_type = head.headers.get(header::CONTENT_TYPE).cloned();
    under_way.keep(Kept { status: head.status, content_type, body: body.clone() }, fingerprint);
    Response::from_parts(head, Body::from(body))
}
