//! What came over the wire: how much of it is there, what waits to be indexed, what is thrown away unread.

use axum::extract::State;
use axum::{Extension, Json};
use pikerag_engine::SentFile;

use super::files::{Uploaded, WhichUpload, uploads_of};
use super::look::no_such;
use crate::app::{App, Caller};
use crate::problem::{Fault, Parts, Problem, Query};

/// How much of a file is there that has not come whole: where it goes on.
#[utoipa::path(get, path = "/api/v1/bases/{base}/uploads", tag = "files", params(("base" = String, Path), WhichUpload),
    responses((status = 200, body = Uploaded), (status = 400, body = Problem)))]
pub(crate) async fn uploaded(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Parts(base): Parts<String>,
    Query(WhichUpload { file }): Query<WhichUpload>,
) -> Result<Json<Uploaded>, Problem> {
    let engine = app.whole_base(&caller, &base)?;
    let uploads = uploads_of(&engine);
    let held = uploads.held(&file)?;
    let is_whole = held == 0 && uploads.place(&file)?.is_file();
    Ok(Json(Uploaded { file, held, is_whole, job: None, unpacked: None }))
}

/// The files that were sent and are whole, by name; those that are not in the base wait to be indexed, or could not be read.
#[utoipa::path(get, path = "/api/v1/bases/{base}/sent", tag = "files", params(("base" = String, Path)),
    responses((status = 200, body = Vec<SentFile>), (status = 404, body = Problem)))]
pub(crate) async fn sent(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Parts(base): Parts<String>,
) -> Result<Json<Vec<SentFile>>, Problem> {
    let engine = app.whole_base(&caller, &base)?;
    Ok(Json(engine.sent().await?))
}

/// Throws away a file that was sent and is not in the base: what is, `DELETE …/files` takes out.
#[utoipa::path(delete, path = "/api/v1/bases/{base}/sent", tag = "files", params(("base" = String, Path), WhichUpload),
    responses((status = 200, body = SentFile), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn discard(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Parts(base): Parts<String>,
    Query(WhichUpload { file }): Query<WhichUpload>,
) -> Result<Json<SentFile>, Problem> {
    let engine = app.whole_base(&caller, &base)?;
    let place = uploads_of(&engine).place(&file)?;
    let sent = engine.sent().await?.into_iter().find(|sent| sent.file == file);
    let sent = sent.ok_or_else(|| no_such("file", &file))?;
    if sent.in_base {
        return Err(Problem::new(409, "in-base", Fault::Caller)
            .saying(format!("`{file}` is in the base"))
            .hint("`DELETE …/files?file=NAME` takes it out, by the name that the base calls it"));
    }
    uploads_of(&engine).remove(&place)?;
    Ok(Json(sent))
}
