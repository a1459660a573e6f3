//! Receives files, indexes them and deletes them; a file may come in pieces and replaces its older
//! version.

#![expect(unused_qualifications, reason = "what the macro for the document writes")]

use std::path::PathBuf;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use futures::StreamExt;
use pikerag_engine::keys::Scope;
use pikerag_engine::knowledge::{JobKind, error_chain};
use pikerag_engine::settings::FileChoice;
use pikerag_engine::uploads::{Part, UploadError, UploadId, Uploads};
use pikerag_engine::{
    CreateBase, DeletePreview, DeleteRequest, DeleteResponse, EngineError, EstimateRequest,
    EstimateResponse, Missing, NamedFile, Session, UnpackResponse,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::app::{App, Caller};
use crate::forgetting::overwrite_later;
use crate::jobs::{Job, Work};
use crate::opened::Whole;
use crate::pace::is_slow;
use crate::problem::{Fault, JsonBody, Parts, Problem, Query};

impl From<UploadError> for Problem {
    fn from(error: UploadError) -> Self {
        let error = match error {
            UploadError::Store(source) => return EngineError::from(source).into(),
            other => other,
        };
        let (status, code, fault) = match &error {
            UploadError::BadName { .. } => (400, "bad-name", Fault::Caller),
            UploadError::BadId { .. } => (400, "bad-upload", Fault::Caller),
            UploadError::NoId => (400, "no-upload", Fault::Caller),
            UploadError::DiskFull => (507, "disk-full", Fault::Server),
            UploadError::NoRandom => (500, "no-random", Fault::Server),
            UploadError::OutOfOrder { .. } => (409, "out-of-order", Fault::Caller),
            UploadError::TooLarge { .. } => (413, "too-large", Fault::Caller),
            UploadError::UnderWay => (409, "under-way", Fault::Caller),
            UploadError::NameTaken => (409, "name-taken", Fault::Caller),
            UploadError::NotListed(_) => (500, "not-listed", Fault::Server),
            UploadError::NotWhole { .. } => (400, "not-whole", Fault::Caller),
            UploadError::Io { .. } | UploadError::Store(_) => (500, "not-written", Fault::Server),
        };
        let problem = Self::new(status, code, fault);
        let problem = match fault {
            Fault::Caller => problem.saying(error.to_string()),
            _ => problem.saying("the file could not be stored").logged(&error_chain(&error)),
        };
        match error {
            UploadError::OutOfOrder { .. } | UploadError::NotWhole { .. } => {
                problem.hint("GET …/uploads?file=NAME&upload=ID returns how many bytes have arrived; continue with `Content-Range: bytes FROM-TO/WHOLE`")
            }
            UploadError::NoId => problem.hint("the reply to the first piece names it as `upload`; or choose one and send it with each piece"),
            _ => problem,
        }
    }
}

/// What to do once the file has arrived.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Uploading {
    /// The file is stored but not indexed yet, so that you can estimate it first, or index several
    /// files together (`POST …/index`).
    #[serde(default)]
    hold: bool,
    /// The file is a ZIP archive: its files are stored in its place, below a folder of its name
    /// (`law/…` for `law.zip`).
    #[serde(default)]
    unpack: bool,
    /// Separates its pieces from those of other uploads of the same name: 1 to 64 letters, digits,
    /// `-` and `_`, the same for each piece. If the first piece names none, the reply does.
    upload: Option<String>,
}

/// A file that has arrived, in whole or in part.
#[derive(Serialize, ToSchema)]
pub(crate) struct Uploaded {
    /// The name that it was uploaded under.
    pub(super) file: String,
    /// Bytes of it that have arrived.
    pub(super) held: u64,
    /// Whether it is complete and stored.
    pub(super) is_whole: bool,
    /// Only for an incomplete file: the value that each further piece sends as `?upload=`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) upload: Option<String>,
    /// The job that indexes it.
    #[schema(required)]
    pub(super) job: Option<u64>,
    /// Only for an archive: the files that it contained.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) unpacked: Option<UnpackResponse>,
}

/// Uploads a file, which replaces its older version. The body holds its bytes. To send it in
/// pieces, set `Content-Range: bytes FROM-TO/WHOLE`: each piece begins where the one before ended,
/// and all use the same `?upload=ID`, so pieces of two senders are never joined. An interrupted
/// upload continues where it ended (`bytes */WHOLE` if no byte is left to send).
#[utoipa::path(put, path = "/api/v1/bases/{base}/files/{*file}", operation_id = "uploadFile", tag = "files",
    params(("base" = String, Path), ("file" = String, Path), Uploading), request_body = Vec<u8>,
    responses((status = 200, body = Uploaded), (status = 202, body = Uploaded), (status = 409, body = Problem)))]
pub(crate) async fn upload(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Parts((base, file)): Parts<(String, String)>,
    Query(Uploading { hold, unpack, upload }): Query<Uploading>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let session = app.whole_base(&caller, &base)?;
    let range = range(&headers)?;
    let most = session.settings().parser_limits.file_bytes;
    let (from, to, whole) =
        range.map_or((0, None, None), |(from, to, whole)| (from, Some(to), Some(whole)));
    if whole.is_some_and(|whole| most < whole) {
        return Err(UploadError::TooLarge { most }.into());
    }
    let id = match &upload {
        Some(id) => id.parse()?,
        None if 0 < from => return Err(UploadError::NoId.into()),
        None => UploadId::random()?,
    };
    let uploads = session.uploads(CreateBase::Yes).await?;
    let mut part = uploads.begin(&file, &id, from, most).await?;
    let came = taken(&mut part, body).await;
    let held = part.held();
    if came.is_err() && upload.is_none() {
        // Its sender never received the identifier that it needs to continue.
        part.discard().await;
        return came.map(|()| ().into_response());
    }
    if came.is_err() || (to.is_some() && Some(held) != whole) {
        part.keep().await?;
        came?;
        let upload = Some(id.as_str().to_owned());
        let partial = Uploaded { file, held, is_whole: false, upload, job: None, unpacked: None };
        return Ok((StatusCode::ACCEPTED, Json(partial)).into_response());
    }
    let (paths, unpacked) = stored(&session, part, &file, (whole, unpack)).await?;
    let job = match hold || paths.is_empty() {
        true => None,
        false => Some(app.begin(&caller, &base, &session, Work::files(paths)).await?.id()),
    };
    let uploaded = Uploaded { file, held, is_whole: true, upload: None, job, unpacked };
    Ok((StatusCode::OK, Json(uploaded)).into_response())
}

/// Puts a complete file in its place, or the files of an archive. Returns the paths to index.
pub(super) async fn stored(
    session: &Session,
    mut part: Part,
    file: &str,
    (whole, unpack): (Option<u64>, bool),
) -> Result<(Vec<PathBuf>, Option<UnpackResponse>), Problem> {
    if !unpack {
        return Ok((vec![part.finish(whole).await?], None));
    }
    part.complete(whole).await?;
    let mut unpacked = pikerag_engine::unpack(session, &part, file).await?;
    part.discard().await;
    Ok((std::mem::take(&mut unpacked.places), Some(unpacked)))
}

/// Writes the body as it arrives, so that a broken connection keeps the bytes that came.
async fn taken(part: &mut Part, body: Body) -> Result<(), Problem> {
    let mut pieces = body.into_data_stream();
    while let Some(piece) = pieces.next().await {
        part.take(&piece.map_err(|error| cut_off(&error))?).await?;
    }
    Ok(())
}

/// A body that did not arrive to its end.
pub(super) fn cut_off(error: &axum::Error) -> Problem {
    match is_slow(error) {
        true => Problem::slow(),
        false => Problem::bad_request(format!("the body was cut off: {error}")),
    }
}

/// Reads `Content-Range: bytes FROM-TO/WHOLE`, or `bytes */WHOLE` if all bytes were sent before.
fn range(headers: &HeaderMap) -> Result<Option<(u64, u64, u64)>, Problem> {
    let Some(range) = headers.get(header::CONTENT_RANGE) else { return Ok(None) };
    let read = || {
        let (ends, whole) = range.to_str().ok()?.strip_prefix("bytes ")?.split_once('/')?;
        let whole = whole.parse().ok()?;
        if ends == "*" {
            return Some((whole, whole, whole));
        }
        let (from, to) = ends.split_once('-')?;
        let (from, to) = (from.parse().ok()?, to.parse().ok()?);
        (from <= to && to < whole).then_some((from, to, whole))
    };
    let bad = || Problem::bad_request("`Content-Range` must be `bytes FROM-TO/WHOLE`");
    read().map(Some).ok_or_else(bad)
}

/// The file to use.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct WhichUpload {
    /// The name or URI that the base uses, the name of the upload, or the absolute path.
    file: String,
}

/// The files to index.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct IndexBody {
    /// Uploaded files by name; all pending uploads, if neither this nor `known` names any.
    files: Vec<String>,
    /// Files of the base, including files on the server's disk that were not uploaded: by the names
    /// or URIs that the base uses, the names of uploads, or absolute paths.
    known: Vec<String>,
    /// Whether to ask models again about passages that they refused before.
    retry_refused: bool,
    /// Whether to read unchanged files again, for example after you have installed a program that
    /// helps to read them.
    reread: bool,
}

/// Indexes uploaded files: all pending ones, or those that failed before.
#[utoipa::path(post, path = "/api/v1/bases/{base}/index", operation_id = "indexFiles", tag = "files", params(("base" = String, Path)),
    request_body = IndexBody, responses((status = 202, body = Job), (status = 404, body = Problem)))]
pub(crate) async fn index(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Parts(base): Parts<String>,
    JsonBody(IndexBody { files, known, retry_refused, reread }): JsonBody<IndexBody>,
) -> Result<(StatusCode, Json<Job>), Problem> {
    let session = app.whole_base(&caller, &base)?;
    let paths = places(&session, &files, &known).await?;
    if reread {
        pikerag_engine::read_again(&session, &paths).await?;
    }
    let is_whole = retry_refused && files.is_empty() && known.is_empty();
    let kind = if is_whole { JobKind::Complete } else { JobKind::Index };
    let work = Work { kind, paths, retry_refused };
    let job = app.begin(&caller, &base, &session, work).await?;
    Ok((StatusCode::ACCEPTED, Json(job)))
}

async fn places(
    session: &Session,
    files: &[String],
    known: &[String],
) -> Result<Vec<PathBuf>, Problem> {
    let uploads = session.uploads(CreateBase::No).await?;
    if files.is_empty() && known.is_empty() {
        return Ok(uploads.all().await?.into_iter().map(|(_, at, _)| at).collect());
    }
    let mut paths = places_to_read(session, &uploads, files).await?;
    if !known.is_empty() {
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let known = pikerag_engine::named_files(session, &known).await?;
        paths.extend(known.into_iter().map(|file| file.path));
    }
    Ok(paths)
}

/// The places of uploads; of a file of the base if no upload has the name.
async fn places_to_read(
    session: &Session,
    uploads: &Uploads,
    files: &[String],
) -> Result<Vec<PathBuf>, Problem> {
    let (mut paths, mut others) = (Vec::new(), Vec::new());
    for file in files {
        match uploads.place(file) {
            Ok(place) if uploads.has(file).await? => paths.push(place),
            _ => others.push(file.as_str()),
        }
    }
    if others.is_empty() {
        return Ok(paths);
    }
    // Without a base, no file of it has one of these names.
    let mut found =
        pikerag_engine::find_files(session, &others).await.unwrap_or_default().into_iter();
    for file in others {
        paths.push(match found.next() {
            Some(Ok(file)) => file.path,
            Some(Err(error @ EngineError::UnclearFile { .. })) => return Err(error.into()),
            // The job reports that the file is missing.
            Some(Err(_)) | None => uploads.place(file)?,
        });
    }
    Ok(paths)
}

/// What indexing the pending uploads would cost. No model is called.
#[utoipa::path(post, path = "/api/v1/bases/{base}/estimate", operation_id = "estimateIndexing", tag = "files", params(("base" = String, Path)),
    request_body = IndexBody, responses((status = 200, body = EstimateResponse), (status = 404, body = Problem)))]
pub(crate) async fn estimate(
    Whole(session): Whole,
    JsonBody(IndexBody { files, known, .. }): JsonBody<IndexBody>,
) -> Result<Json<EstimateResponse>, Problem> {
    let paths = places(&session, &files, &known).await?;
    let request = EstimateRequest {
        paths,
        databases: Vec::new(),
        with: Vec::new(),
        without: Vec::new(),
        chunking: None,
        choice: FileChoice::default(),
        own_files: true,
    };
    Ok(Json(pikerag_engine::estimate(&session, &request).await?))
}

/// What deleting or forgetting a file would remove. Nothing is changed.
#[utoipa::path(get, path = "/api/v1/bases/{base}/deletion", operation_id = "previewDeletion", tag = "files", params(("base" = String, Path), WhichUpload),
    responses((status = 200, body = DeletePreview), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn deletion(
    Whole(session): Whole,
    Query(WhichUpload { file }): Query<WhichUpload>,
) -> Result<Json<DeletePreview>, Problem> {
    let file = named(&session, &file).await?;
    Ok(Json(pikerag_engine::delete_preview(&session, &[file.path]).await?))
}

/// The file of the base that a request names.
async fn named(session: &Session, file: &str) -> Result<NamedFile, EngineError> {
    let mut found = pikerag_engine::named_files(session, &[file]).await?;
    found.pop().ok_or_else(|| EngineError::NotFound { what: Missing::File, name: file.to_owned() })
}

/// The file to delete, and how.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Going {
    /// The name or URI that the base uses, the name of the upload, or the absolute path.
    file: String,
    /// Forget it: no byte of it is left in the base, including runs that contain its text. Needs a
    /// key of scope `admin`.
    #[serde(default)]
    forget: bool,
}

/// The result of a deletion.
#[derive(Serialize, ToSchema)]
pub(crate) struct Deleted {
    /// The deleted files, and what is left of them.
    deleted: DeleteResponse,
    /// Whether the file had been uploaded: its stored copy was deleted too.
    was_sent: bool,
}

/// Deletes a file with everything that was derived from it.
#[utoipa::path(delete, path = "/api/v1/bases/{base}/files", operation_id = "deleteFile", tag = "files", params(("base" = String, Path), Going),
    responses((status = 200, body = Deleted), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn delete(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Parts(base): Parts<String>,
    Query(Going { file, forget }): Query<Going>,
) -> Result<Json<Deleted>, Problem> {
    if forget && !caller.may(Scope::Admin) {
        return Err(Problem::new(403, "scope-too-small", Fault::Caller)
            .saying("forgetting a file needs a key of scope `admin`"));
    }
    let session = app.whole_base(&caller, &base)?;
    let NamedFile { name, path: place } = named(&session, &file).await?;
    // After this, no earlier job restores the file, and no job is working on it.
    let _held = app.jobs.withdraw(&app.host(), &base, &session, &[name], forget).await?;
    // Remove the uploads before the base's copy: otherwise the next job would restore the file, and
    // after a failure the file could no longer be named.
    let uploads = session.uploads(CreateBase::No).await?;
    let was_sent = match forget {
        true => uploads.forget(&place).await?,
        false => uploads.remove(&place).await?,
    };
    let request = DeleteRequest { paths: vec![place], forget };
    if forget {
        // Before the deletion, which then overwrites their bytes in the database, too.
        app.responses.forget();
    }
    let deleted = pikerag_engine::delete(&session, &request).await?;
    if forget {
        // Requests that ended meanwhile may have read the document.
        app.responses.forget();
    }
    if deleted.overwrites_later {
        tokio::spawn(overwrite_later(app, session));
    }
    Ok(Json(Deleted { deleted, was_sent }))
}
