//! Serves a passage as an HTML page: the target of citation links.

use axum::Extension;
use axum::extract::{Request, State};
use axum::http::header;
use axum::response::{Html, IntoResponse, Redirect, Response};
use pikerag_engine::knowledge::ChunkId;

use super::look::no_such;
use crate::app::{App, Caller};
use crate::problem::{Parts, Problem};

/// A passage as an HTML page.
#[utoipa::path(get, path = "/passages/{base}/{chunk}", operation_id = "showPassage", tag = "look",
    params(("base" = String, Path), ("chunk" = String, Path)),
    responses((status = 200, body = String, content_type = "text/html"), (status = 404, body = Problem)))]
pub(crate) async fn passage(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Parts((base, chunk)): Parts<(String, String)>,
) -> Result<Html<String>, Problem> {
    let session = app.base(&caller, &base)?;
    let id: ChunkId = chunk.parse().map_err(|_| no_such("chunk", &chunk))?;
    let chunk = pikerag_engine::chunk(&session, id).await?;
    let page = chunk.page.map(|page| format!(", p. {page}")).unwrap_or_default();
    // A relative link, because the server may run below a path of a proxy.
    let whole = format!("../../#/knowledge/{base}/passages/{id}");
    Ok(Html(format!(
        "<!doctype html><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>{title}</title><style>:root{{color-scheme:light dark}}body{{font:1.05rem/1.55 system-ui,sans-serif;\
         max-width:46rem;margin:2rem auto;padding:0 1rem;overflow-wrap:anywhere}}\
         pre{{white-space:pre-wrap;font:inherit}}small{{opacity:.7}}</style>\
         <h1>{title}</h1><p><small><a href=\"{whole}\">{uri}{page}</a></small></p><pre>{text}</pre>\n",
        whole = escaped(&whole),
        title = escaped(&chunk.full_title()),
        uri = escaped(&chunk.uri),
        page = escaped(&page),
        text = escaped(&chunk.text),
    )))
}

/// Redirects a person who follows a link to a passage without a key, because links carry none: the
/// page asks for the key and shows the passage in its document. Returns `None` for a program.
pub(crate) fn on_the_page(request: &Request) -> Option<Response> {
    let rest = request.uri().path().strip_prefix("/passages/")?;
    let (base, chunk) = rest.split_once('/')?;
    let accepted = request.headers().get(header::ACCEPT)?.to_str().ok()?;
    let is_read =
        accepted.contains("text/html") && request.headers().get(header::AUTHORIZATION).is_none();
    // The segments stay as they are in the address; nothing is decoded.
    is_read.then(|| {
        Redirect::to(&format!("../../#/knowledge/{base}/passages/{chunk}")).into_response()
    })
}

/// Escapes text for HTML.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_tag_survives() {
        let hostile = "<script>alert('x')</script>&<img src=x onerror=\"y\">";
        let html = escaped(hostile);
        assert!(!html.contains(['<', '>', '"', '\'']), "{html}");
        assert!(html.starts_with("&lt;script&gt;"));
    }
}
