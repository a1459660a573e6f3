//! Serves the page's files, built from `web/` and embedded in the binary. They hold nothing of any
//! base: the page requests its content from the routes with the reader's key.

use std::collections::HashMap;
use std::io::Write;
use std::sync::{OnceLock, PoisonError, RwLock};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::Path;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use flate2::Compression;
use flate2::write::GzEncoder;
use pikerag_engine::knowledge::hex;
use rust_embed::{EmbeddedFile, RustEmbed};

use crate::app::App;
use crate::problem::{Fault, Problem};

/// The result of `npm run build` in `web/`.
#[derive(RustEmbed)]
#[folder = "../../web/dist"]
struct Built;

/// Scripts, styles, data and pictures come only from this server; no frames, no forms.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; \
    connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The routes of the page. They need no key, because the page reveals nothing of a base.
pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/", get(|headers: HeaderMap| async move { file("index.html", &headers) }))
        .route(
            "/assets/{name}",
            get(|Path(name): Path<String>, headers: HeaderMap| async move {
                file(&format!("assets/{name}"), &headers)
            }),
        )
}

fn file(name: &str, headers: &HeaderMap) -> Response {
    let Some(found) = Built::get(name) else {
        return Problem::new(404, "no-such-file", Fault::Caller).into_response();
    };
    let tag = tag(&found);
    let is_known = headers.get(header::IF_NONE_MATCH).is_some_and(|known| *known == tag);
    let accepts = headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
    let is_packed = accepts.is_some_and(|accepts| accepts.contains("gzip"));
    let body = match (is_known, is_packed) {
        (true, _) => Bytes::new(),
        (false, true) => packed(name, &found.data),
        (false, false) => Bytes::from(found.data.into_owned()),
    };
    // A built file has its hash in its name; the page itself is requested each time, and is small.
    let kept = match name.starts_with("assets/") {
        true => "public, max-age=31536000, immutable",
        false => "no-cache",
    };
    let mut response = Response::new(Body::from(body));
    let set = response.headers_mut();
    set.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind_of(name)));
    set.insert(header::CACHE_CONTROL, HeaderValue::from_static(kept));
    // Also if nothing has changed: these headers replace the ones that the browser has stored.
    set.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    set.insert(header::VARY, HeaderValue::from_static("Accept-Encoding"));
    set.insert(header::ETAG, tag);
    if is_known {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    } else if is_packed {
        response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    response
}

fn kind_of(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        _ => "application/octet-stream",
    }
}

fn tag(found: &EmbeddedFile) -> HeaderValue {
    let hash = found.metadata.sha256_hash();
    let hex = hex(hash.get(..16).unwrap_or_default());
    HeaderValue::from_str(&format!("\"{hex}\"")).unwrap_or(HeaderValue::from_static("\"\""))
}

/// A file compressed for clients that accept it; each is compressed once.
fn packed(name: &str, data: &[u8]) -> Bytes {
    static PACKED: OnceLock<RwLock<HashMap<String, Bytes>>> = OnceLock::new();
    let all = PACKED.get_or_init(RwLock::default);
    if let Some(held) = all.read().unwrap_or_else(PoisonError::into_inner).get(name) {
        return held.clone();
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    // Writing to memory does not fail; if it did, the body would be empty.
    let packed = encoder.write_all(data).and_then(|()| encoder.finish()).unwrap_or_default();
    let packed = Bytes::from(packed);
    all.write().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), packed.clone());
    packed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn page_is_complete_with_and_without_compression_and_sets_its_policy() {
        let plain = file("index.html", &HeaderMap::new());
        assert_eq!(plain.status(), 200);
        assert_eq!(plain.headers()[header::CONTENT_SECURITY_POLICY], POLICY);
        let tag = plain.headers()[header::ETAG].clone();
        let plain = axum::body::to_bytes(plain.into_body(), usize::MAX).await.unwrap();
        let page = String::from_utf8(plain.to_vec()).unwrap();
        // Only scripts from files run, and every named file exists.
        assert!(!page.contains("<script>") && !page.contains("<style"), "{page}");
        let named: Vec<&str> = page.split('"').filter(|text| text.contains("assets/")).collect();
        assert!(1 < named.len(), "{page}");
        for name in named {
            let name = name.trim_start_matches(['.', '/']);
            assert_eq!(file(name, &HeaderMap::new()).status(), 200, "{name}");
        }
        let packing = HeaderMap::from_iter([(
            header::ACCEPT_ENCODING,
            HeaderValue::from_static("gzip, deflate, br"),
        )]);
        let packed = file("index.html", &packing);
        assert_eq!(packed.headers()[header::CONTENT_ENCODING], "gzip");
        let packed = axum::body::to_bytes(packed.into_body(), usize::MAX).await.unwrap();
        let mut unpacked = String::new();
        let mut reader = flate2::read::GzDecoder::new(packed.as_ref());
        std::io::Read::read_to_string(&mut reader, &mut unpacked).unwrap();
        assert_eq!(unpacked, page);
        let known = HeaderMap::from_iter([(header::IF_NONE_MATCH, tag)]);
        let same = file("index.html", &known);
        assert_eq!(
            (same.status().as_u16(), &same.headers()[header::CONTENT_SECURITY_POLICY]),
            (304, &HeaderValue::from_static(POLICY))
        );
        assert_eq!(file("assets/../../Cargo.toml", &HeaderMap::new()).status(), 404);
    }
}
