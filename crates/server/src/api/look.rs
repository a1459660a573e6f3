//! Serves the content of a base: documents, passages, files, records, verified answers.
#![expect(unused_qualifications, reason = "what the macro for the document writes")]

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use pikerag_engine::knowledge::{
    Chunk, ChunkId, Condition, Correction, Filter, KeptVerified, Record, Source, SourceId, Verified,
};
use pikerag_engine::{FeedbackRequest, FeedbackResponse, FileLine, RecordsRequest, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};

use crate::app::{App, Caller};
use crate::opened::Seen;
use crate::problem::{Fault, JsonBody, Parts, Problem, Query};

/// The documents of a base, by URI.
#[utoipa::path(get, path = "/api/v1/bases/{base}/sources", operation_id = "listSources", tag = "look", params(("base" = String, Path)),
    responses((status = 200, body = Vec<Source>), (status = 404, body = Problem)))]
pub(crate) async fn sources(Seen(session): Seen) -> Result<Json<Vec<Source>>, Problem> {
    Ok(Json(pikerag_engine::sources(&session, &Filter::default()).await?))
}

/// A document with its passages.
#[derive(Serialize, ToSchema)]
pub(crate) struct WholeSource {
    /// The document.
    source: Source,
    /// Its passages in reading order.
    chunks: Vec<Chunk>,
}

/// A document with its passages in reading order, each with the rectangles of every piece.
#[utoipa::path(get, path = "/api/v1/bases/{base}/sources/{source}", operation_id = "getSource", tag = "look",
    params(("base" = String, Path), ("source" = String, Path)),
    responses((status = 200, body = WholeSource), (status = 404, body = Problem)))]
pub(crate) async fn source(
    Seen(session): Seen,
    Parts((_, source)): Parts<(String, String)>,
) -> Result<Json<Value>, Problem> {
    let id: SourceId = source.parse().map_err(|_| no_such("source", &source))?;
    let (source, chunks) = pikerag_engine::source(&session, id).await?;
    Ok(Json(json!(WholeSource { source, chunks })))
}

/// A passage, with the corrections that people made in it.
#[derive(Serialize, ToSchema)]
pub(crate) struct ShownChunk {
    /// The passage.
    #[serde(flatten)]
    chunk: Chunk,
    /// Corrections of its document whose new text it contains: its words are not those of the file
    /// there. Absent if there is none, or if the key sees a part of the base.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    corrections: Vec<Correction>,
}

/// One passage.
#[utoipa::path(get, path = "/api/v1/bases/{base}/chunks/{chunk}", operation_id = "getChunk", tag = "look",
    params(("base" = String, Path), ("chunk" = String, Path)),
    responses((status = 200, body = ShownChunk), (status = 404, body = Problem)))]
pub(crate) async fn chunk(
    Seen(session): Seen,
    Parts((_, chunk)): Parts<(String, String)>,
) -> Result<Json<Value>, Problem> {
    let id: ChunkId = chunk.parse().map_err(|_| no_such("chunk", &chunk))?;
    let chunk = pikerag_engine::chunk(&session, id).await?;
    let corrections = pikerag_engine::corrections_in(&session, &chunk).await?;
    Ok(Json(json!(ShownChunk { chunk, corrections })))
}

pub(crate) fn no_such(what: &str, id: &str) -> Problem {
    let chinese = match what {
        "chunk" => "文本块",
        "file" => "文件",
        "key" => "密钥",
        "source" => "文档",
        "tool" => "工具",
        other => other,
    };
    Problem::new(404, &format!("no-such-{what}"), Fault::Caller)
        .saying(format!("there is no {what} `{id}`"))
        .in_chinese(format!("没有{chinese} `{id}`"))
}

/// The file to return.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct WhichFile {
    /// The URI of a document, the name that the base uses, the name of the upload, or the absolute
    /// path.
    file: String,
}

/// The bytes of a file as they were when it was indexed.
#[utoipa::path(get, path = "/api/v1/bases/{base}/original", operation_id = "downloadOriginal", tag = "look",
    params(("base" = String, Path), WhichFile),
    responses((status = 200, body = Vec<u8>), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn original(
    Seen(session): Seen,
    Query(WhichFile { file }): Query<WhichFile>,
) -> Result<Response, Problem> {
    let original = pikerag_engine::original_named(&session, &file).await?;
    let mut response = Bytes::from(original.bytes).into_response();
    // The browser downloads the file whatever its type is, and runs nothing in it.
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    headers.insert(header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment"));
    Ok(response)
}

/// How to draw a page.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Drawing {
    /// Width of the picture in pixels: 100 to 4000; 1200 by default.
    #[serde(default = "usual_width")]
    #[param(value_type = Option<u32>, minimum = 100, maximum = 4000)]
    width: u32,
}

fn usual_width() -> u32 {
    1200
}

/// A page of a PDF as a picture. The header `page-points` gives the width and height of the page in
/// points: the rectangles of passages and citations use these units, from the upper left corner.
/// `page-count` gives the number of pages.
#[utoipa::path(get, path = "/api/v1/bases/{base}/sources/{source}/pages/{page}", operation_id = "getPageImage", tag = "look",
    params(("base" = String, Path), ("source" = String, Path), ("page" = u32, Path, minimum = 1), Drawing),
    responses((status = 200, body = Vec<u8>, content_type = "image/png"), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn page(
    Seen(session): Seen,
    Parts((_, source, page)): Parts<(String, String, u32)>,
    Query(Drawing { width }): Query<Drawing>,
) -> Result<Response, Problem> {
    let id: SourceId = source.parse().map_err(|_| no_such("source", &source))?;
    let drawn = pikerag_engine::page(&session, id, page, width).await?;
    let points = format!("{} {}", drawn.points.0, drawn.points.1);
    let mut response = Bytes::from(drawn.png).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("image/png"));
    headers.insert("page-count", drawn.pages.into());
    if let Ok(points) = HeaderValue::from_str(&points) {
        headers.insert("page-points", points);
    }
    Ok(response)
}

/// The files of the base, and whether they still exist.
#[utoipa::path(get, path = "/api/v1/bases/{base}/files", operation_id = "listFiles", tag = "look", params(("base" = String, Path)),
    responses((status = 200, body = Vec<FileLine>), (status = 404, body = Problem)))]
pub(crate) async fn files(Seen(session): Seen) -> Result<Json<Vec<FileLine>>, Problem> {
    Ok(Json(pikerag_engine::files(&session).await?.files))
}

/// The records to return.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct WhichRecords {
    /// Only records of this schema.
    schema: Option<String>,
    /// A condition such as `folder=law`.
    #[param(value_type = Option<String>)]
    filter: Option<Condition>,
}

/// Typed records with their sources.
#[utoipa::path(get, path = "/api/v1/bases/{base}/records", operation_id = "listRecords", tag = "look",
    params(("base" = String, Path), WhichRecords),
    responses((status = 200, body = Vec<Record>), (status = 404, body = Problem)))]
pub(crate) async fn records(
    Seen(session): Seen,
    Query(WhichRecords { schema, filter }): Query<WhichRecords>,
) -> Result<Json<Vec<Record>>, Problem> {
    let filter = Filter { conditions: filter.into_iter().collect() };
    Ok(Json(pikerag_engine::records(&session, &RecordsRequest { schema, filter }).await?))
}

/// The verified answers of a base.
#[utoipa::path(get, path = "/api/v1/bases/{base}/feedback", operation_id = "listVerifiedAnswers", tag = "feedback", params(("base" = String, Path)),
    responses((status = 200, body = Vec<KeptVerified>), (status = 404, body = Problem)))]
pub(crate) async fn verified(Seen(session): Seen) -> Result<Json<Vec<KeptVerified>>, Problem> {
    Ok(Json(pikerag_engine::verified(&session).await?))
}

/// Accepts, corrects or rejects an answer.
#[utoipa::path(post, path = "/api/v1/bases/{base}/feedback", operation_id = "giveFeedback", tag = "feedback", params(("base" = String, Path)),
    request_body = FeedbackRequest, responses((status = 200, body = FeedbackResponse), (status = 400, body = Problem)))]
pub(crate) async fn feedback(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Parts(base): Parts<String>,
    JsonBody(mut request): JsonBody<FeedbackRequest>,
) -> Result<Json<FeedbackResponse>, Problem> {
    let session = app.base(&caller, &base)?;
    if request.verdict == Verdict::Correct && request.answer.is_none() {
        return Err(Problem::bad_request("`correct` needs the right `answer`"));
    }
    request.by = request.by.or_else(|| caller.key.as_ref().map(|key| key.params.name.clone()));
    Ok(Json(pikerag_engine::feedback(&session, &request).await?))
}

/// Revokes a verified answer.
#[utoipa::path(delete, path = "/api/v1/bases/{base}/feedback/{id}", operation_id = "revokeVerifiedAnswer", tag = "feedback",
    params(("base" = String, Path), ("id" = String, Path)),
    responses((status = 200, body = Verified), (status = 404, body = Problem)))]
pub(crate) async fn revoke(
    Seen(session): Seen,
    Parts((_, id)): Parts<(String, String)>,
) -> Result<Json<Verified>, Problem> {
    Ok(Json(pikerag_engine::revoke_verified(&session, &id).await?))
}
