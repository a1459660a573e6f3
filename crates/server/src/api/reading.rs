//! Serves the text that was read from a document, its corrections, and edits of passages.

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use pikerag_engine::knowledge::{ChunkId, Correction, SourceId};
use pikerag_engine::{CorrectRequest, CorrectionsResponse, EditChunkRequest, Reading};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::look::no_such;
use crate::app::{App, Caller};
use crate::jobs::Work;
use crate::opened::Seen;
use crate::problem::{JsonBody, Parts, Problem};

/// The text that was read from a document, with the corrections of its file. The spans of passages
/// refer to this text.
#[utoipa::path(get, path = "/api/v1/bases/{base}/sources/{source}/reading", operation_id = "getReading", tag = "reading",
    params(("base" = String, Path), ("source" = String, Path)),
    responses((status = 200, body = Reading), (status = 404, body = Problem)))]
pub(crate) async fn reading(
    Seen(session): Seen,
    Parts((_, source)): Parts<(String, String)>,
) -> Result<Json<Reading>, Problem> {
    Ok(Json(pikerag_engine::reading(&session, id_of(&source)?).await?))
}

fn id_of(source: &str) -> Result<SourceId, Problem> {
    source.parse().map_err(|_| no_such("source", source))
}

/// A passage that was read wrongly.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CorrectionBody {
    /// The text as it was read; it must occur once in the document, within one paragraph or cell.
    #[schema(min_length = 1)]
    old: String,
    /// The correct text; empty to remove the passage.
    new: String,
}

/// The current corrections of a file, and the job that reads it again.
#[derive(Serialize, ToSchema)]
pub(crate) struct Corrected {
    /// In the order in which they are applied.
    corrections: Vec<Correction>,
    /// The job's number.
    job: u64,
}

/// Corrects a passage of a document. Its file is read again with all corrections, now and at every
/// later reading.
#[utoipa::path(post, path = "/api/v1/bases/{base}/sources/{source}/corrections", operation_id = "correctReading", tag = "reading",
    params(("base" = String, Path), ("source" = String, Path)), request_body = CorrectionBody,
    responses((status = 202, body = Corrected), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn correct(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Parts((base, source)): Parts<(String, String)>,
    JsonBody(CorrectionBody { old, new }): JsonBody<CorrectionBody>,
) -> Result<(StatusCode, Json<Corrected>), Problem> {
    let session = app.whole_base(&caller, &base)?;
    let by = caller.key.as_ref().map(|key| key.params.name.clone());
    let request = CorrectRequest { source: id_of(&source)?, old, new, by };
    let corrected = pikerag_engine::correct(&session, &request).await?;
    again(&app, &caller, &base, corrected).await
}

/// Another text of a passage.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChunkBody {
    /// The whole new text of the passage.
    #[schema(min_length = 1)]
    text: String,
}

/// Edits a passage: its new text becomes the smallest corrections of its document, which keep the
/// old text, the author and the time. The file is read again with them, now and at every later
/// reading; the edited passage has another identifier. An edit that joins or splits paragraphs is
/// refused, and so are edits of words that are several times in the document.
#[utoipa::path(patch, path = "/api/v1/bases/{base}/chunks/{chunk}", operation_id = "editChunk", tag = "reading",
    params(("base" = String, Path), ("chunk" = String, Path)), request_body = ChunkBody,
    responses((status = 202, body = Corrected), (status = 400, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn edit(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Parts((base, chunk)): Parts<(String, String)>,
    JsonBody(ChunkBody { text }): JsonBody<ChunkBody>,
) -> Result<(StatusCode, Json<Corrected>), Problem> {
    let session = app.whole_base(&caller, &base)?;
    if !text.contains(char::is_alphanumeric) {
        return Err(Problem::bad_request("`text` has no word").in_chinese("`text` 中没有文字"));
    }
    let chunk: ChunkId = chunk.parse().map_err(|_| no_such("chunk", &chunk))?;
    let by = caller.key.as_ref().map(|key| key.params.name.clone());
    let request = EditChunkRequest { chunk, text, by };
    let corrected = pikerag_engine::edit_chunk(&session, &request).await?;
    again(&app, &caller, &base, corrected).await
}

/// Removes a correction by its number, from 1. The file is read again without it.
#[utoipa::path(delete, path = "/api/v1/bases/{base}/sources/{source}/corrections/{number}", operation_id = "deleteCorrection", tag = "reading",
    params(("base" = String, Path), ("source" = String, Path), ("number" = usize, Path, minimum = 1)),
    responses((status = 202, body = Corrected), (status = 404, body = Problem)))]
pub(crate) async fn take_back(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Parts((base, source, number)): Parts<(String, String, usize)>,
) -> Result<(StatusCode, Json<Corrected>), Problem> {
    let session = app.whole_base(&caller, &base)?;
    let corrected = pikerag_engine::take_back_correction(&session, id_of(&source)?, number).await?;
    again(&app, &caller, &base, corrected).await
}

/// Indexes the file of a correction again.
async fn again(
    app: &App,
    caller: &Caller,
    base: &str,
    CorrectionsResponse { file, corrections }: CorrectionsResponse,
) -> Result<(StatusCode, Json<Corrected>), Problem> {
    let session = app.whole_base(caller, base)?;
    let work = Work::files(vec![file]);
    let job = app.begin(caller, base, &session, work).await?.id();
    Ok((StatusCode::ACCEPTED, Json(Corrected { corrections, job })))
}
