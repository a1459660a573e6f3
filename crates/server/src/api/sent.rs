//! Reports uploads: incomplete ones, pending ones, and those to discard.
#![expect(unused_qualifications, reason = "what the macro for the document writes")]

use axum::extract::State;
use axum::{Extension, Json};
use pikerag_engine::knowledge::JobState;
use pikerag_engine::uploads::PartLine;
use pikerag_engine::{CreateBase, SentError, SentFile};
use serde::Deserialize;
use utoipa::IntoParams;

use super::files::Uploaded;
use super::look::no_such;
use crate::app::{App, Caller};
use crate::opened::Whole;
use crate::problem::{Fault, Parts, Problem, Query};

/// The upload of a file to look up.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct WhichPart {
    /// The name that it was uploaded under.
    file: String,
    /// The value of `?upload=` that its pieces used; without it no piece is found.
    upload: Option<String>,
}

/// How many bytes of an incomplete upload have arrived, which is where to continue.
#[utoipa::path(get, path = "/api/v1/bases/{base}/uploads", operation_id = "getUpload", tag = "files", params(("base" = String, Path), WhichPart),
    responses((status = 200, body = Uploaded), (status = 400, body = Problem)))]
pub(crate) async fn uploaded(
    Whole(session): Whole,
    Query(WhichPart { file, upload }): Query<WhichPart>,
) -> Result<Json<Uploaded>, Problem> {
    let uploads = session.uploads(CreateBase::No).await?;
    let held = match &upload {
        Some(id) => uploads.held(&file, &id.parse()?).await?,
        None => 0,
    };
    let is_whole = held == 0 && uploads.has(&file).await?;
    Ok(Json(Uploaded { file, held, is_whole, upload, job: None, unpacked: None }))
}

/// The incomplete uploads. An upload that has not grown for seven days is dropped; when the disk is
/// full, so are all that nobody is sending.
#[utoipa::path(get, path = "/api/v1/bases/{base}/parts", operation_id = "listIncompleteUploads", tag = "files", params(("base" = String, Path)),
    responses((status = 200, body = Vec<PartLine>), (status = 404, body = Problem)))]
pub(crate) async fn parts(Whole(session): Whole) -> Result<Json<Vec<PartLine>>, Problem> {
    let mut parts = session.uploads(CreateBase::No).await?.parts().await?;
    parts.sort_by(|a, b| (&a.file, a.changed).cmp(&(&b.file, b.changed)));
    Ok(Json(parts))
}

/// The complete uploads, by name. Those that are not in the base are pending, or could not be read.
#[utoipa::path(get, path = "/api/v1/bases/{base}/sent", operation_id = "listUploads", tag = "files", params(("base" = String, Path)),
    responses((status = 200, body = Vec<SentFile>), (status = 404, body = Problem)))]
pub(crate) async fn sent(Whole(session): Whole) -> Result<Json<Vec<SentFile>>, Problem> {
    Ok(Json(pikerag_engine::sent(&session).await?))
}

/// The uploads to discard.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Unwanted {
    /// The name that it was uploaded under; every upload that is not in the base, if absent.
    file: Option<String>,
}

/// Discards uploads that are not in the base, and lists them (`DELETE …/files` deletes files of the
/// base). Files that a job is about to read are kept. Files of an offered or set-aside job are kept
/// too, unless you name them.
#[utoipa::path(delete, path = "/api/v1/bases/{base}/sent", operation_id = "discardUploads", tag = "files", params(("base" = String, Path), Unwanted),
    responses((status = 200, body = Vec<SentFile>), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn discard(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Parts(base): Parts<String>,
    Query(Unwanted { file }): Query<Unwanted>,
) -> Result<Json<Vec<SentFile>>, Problem> {
    let session = app.whole_base(&caller, &base)?;
    let uploads = session.uploads(CreateBase::No).await?;
    let mut unwanted = pikerag_engine::sent(&session).await?;
    if let Some(file) = &file {
        uploads.place(file)?;
        unwanted.retain(|sent| sent.file == *file);
        match unwanted.first() {
            None => return Err(no_such("file", file)),
            Some(sent) if sent.in_base => {
                return Err(Problem::new(409, "in-base", Fault::Caller)
                    .saying(format!("`{file}` is in the base"))
                    .hint("delete it with `DELETE …/files?file=NAME`"));
            }
            Some(_) => {}
        }
    }
    unwanted.retain(|sent| !sent.in_base);
    let all = unwanted.len();
    let to_read = app.jobs.to_read(&session).await?;
    // A named file is discarded unless a job is about to read it; others only if no job refers to
    // them.
    let stays =
        |state: JobState| file.is_none() || matches!(state, JobState::Waiting | JobState::Running);
    unwanted
        .retain(|sent| !to_read.iter().any(|(_, place, state)| *place == sent.at && stays(*state)));
    if unwanted.is_empty() && 0 < all {
        return Err(Problem::new(409, "under-way", Fault::Caller)
            .saying("a job is about to read it")
            .hint("wait until the job is over; GET …/jobs lists them"));
    }
    let gone = to_read.into_iter().filter(|(_, at, _)| unwanted.iter().any(|sent| sent.at == *at));
    let gone: Vec<String> = gone.map(|(name, ..)| name).collect();
    let _held = app.jobs.withdraw(&app.host(), &base, &session, &gone, false).await?;
    for sent in &unwanted {
        uploads.remove(&sent.at).await?;
    }
    Ok(Json(unwanted))
}

impl From<SentError> for Problem {
    fn from(error: SentError) -> Self {
        match error {
            SentError::Base(error) => error.into(),
            SentError::Uploads(error) => error.into(),
        }
    }
}
