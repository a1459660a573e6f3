//! Deletes files from the base (`delete`), and forgets their text.

use std::path::PathBuf;

use pikerag_store::{Overwriting, Remains};
use serde::Serialize;
use utoipa::ToSchema;

use super::ask::keeping::now;
use crate::engine::Session;
use crate::error::{EngineError, Result};

/// The files and folders to delete, with their documents and all that was derived from them.
#[derive(Clone, Debug)]
pub struct DeleteRequest {
    /// Files, and folders with everything below them; they need not exist any more.
    pub paths: Vec<PathBuf>,
    /// Whether the calls and runs that contain their text are deleted too, and the freed space is
    /// overwritten.
    pub forget: bool,
}

/// The deleted files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct DeleteResponse {
    /// The files; empty if no file of the base has such a name.
    pub deleted: Vec<String>,
    /// Calls and runs that contain their text and still exist.
    #[schema(value_type = RemainsAsJson)]
    pub remains: Remains,
    /// Calls and runs that contained it and are deleted; `None` if that was not requested.
    #[schema(value_type = Option<RemainsAsJson>, required)]
    pub forgotten: Option<Remains>,
    /// Whether this call overwrote the text that an earlier call had begun to forget.
    pub finished: bool,
    /// Whether the forgotten text is deleted but not overwritten yet, because a question or export
    /// that began earlier still reads it.
    pub overwrites_later: bool,
}

/// [`Remains`] in the OpenAPI document.
#[derive(ToSchema)]
#[schema(as = Remains)]
#[expect(dead_code, reason = "only for the schema")]
struct RemainsAsJson {
    /// Model calls whose prompt or reply contains their text or text derived from it.
    calls: usize,
    /// Runs that contain it.
    runs: usize,
    /// Verified answers that contain it or rest on it.
    verified: usize,
}

/// The data that would be deleted with files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct DeletePreview {
    /// The files; empty if no file of the base has such a name.
    pub files: Vec<String>,
    /// Documents in the files.
    pub documents: usize,
    /// Chunks of the documents, each with all that was derived from it.
    pub chunks: usize,
    /// Calls, runs and verified answers that contain their text. They stay, unless the files are
    /// forgotten.
    #[schema(value_type = RemainsAsJson)]
    pub remains: Remains,
}

/// The data that would be deleted with these files. It changes nothing.
///
/// # Errors
/// There is no base, or it cannot be read.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// let paths = [std::path::PathBuf::from("handbook/2019")];
/// let preview = pikerag_engine::delete_preview(session, &paths).await?;
/// println!("{} files with {} chunks", preview.files.len(), preview.chunks);
/// println!("{} recorded calls contain their text", preview.remains.calls);
/// # Ok(())
/// # }
/// ```
pub async fn delete_preview(session: &Session, paths: &[PathBuf]) -> Result<DeletePreview> {
    let base = session.base().await?;
    let names = session.names(&base).await?;
    let files: Vec<String> = names.under(paths).into_iter().map(|file| file.path.clone()).collect();
    let remains = base.remains_of(&files).await?;
    let (mut documents, mut chunks) = (0, 0);
    for counts in base.file_counts().await? {
        if files.contains(&counts.path) {
            documents += counts.documents;
            chunks += counts.chunks;
        }
    }
    Ok(DeletePreview { files, documents, chunks, remains })
}

/// Overwrites forgotten text that could not be overwritten earlier. Returns whether nothing of it
/// is left.
///
/// # Errors
/// The base cannot be read or written.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// if !pikerag_engine::finish_forgetting(session).await? {
///     println!("an earlier question or export still reads forgotten text: try again later");
/// }
/// # Ok(())
/// # }
/// ```
pub async fn finish_forgetting(session: &Session) -> Result<bool> {
    if !session.has_base().await? {
        return Ok(true);
    }
    let base = session.base().await?;
    Ok(base.is_read_only() || base.finish_forgetting().await? != Overwriting::StillRead)
}

/// Deletes files and all that was derived from them.
///
/// # Errors
/// There is no base, or it cannot be written. The text to forget may then be deleted but not
/// overwritten: `check` reports this, and the next call continues.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// use pikerag_engine::{DeleteRequest, delete};
///
/// let request = DeleteRequest { paths: vec!["handbook/2019".into()], forget: true };
/// let response = delete(session, &request).await?;
/// println!("{} files are deleted", response.deleted.len());
/// if let Some(forgotten) = response.forgotten {
///     println!("{} calls and {} runs are deleted too", forgotten.calls, forgotten.runs);
/// }
/// # Ok(())
/// # }
/// ```
pub async fn delete(session: &Session, request: &DeleteRequest) -> Result<DeleteResponse> {
    let base = session.base().await?;
    // Without this, the writes of a stopped job could bring text back.
    base.settled().await;
    let names = session.names(&base).await?;
    let under = names.under(&request.paths).into_iter();
    let deleted: Vec<String> = under.map(|file| file.path.clone()).collect();
    let mut response = DeleteResponse {
        deleted,
        remains: Remains::default(),
        forgotten: None,
        finished: false,
        overwrites_later: false,
    };
    let deleted = &response.deleted;
    if request.forget {
        let overwritten = match deleted.is_empty() {
            true => base.finish_forgetting().await.map(|done| (Remains::default(), done)),
            false => base.forget_files(deleted, now()).await,
        };
        // Titles and words of the text are in memory, also if overwriting failed.
        session.forget_known();
        let (forgotten, overwriting) = overwritten?;
        response.finished = deleted.is_empty() && overwriting == Overwriting::Done;
        response.overwrites_later = overwriting == Overwriting::StillRead;
        response.forgotten = Some(forgotten);
    } else {
        response.remains = base.remains_of(deleted).await?;
        for path in deleted {
            let deleted = base.delete_file(path).await;
            deleted.map_err(|source| EngineError::NotDeleted { path: path.clone(), source })?;
        }
    }
    if response.deleted.is_empty() {
        return Ok(response);
    }
    base.refresh().await?;
    Ok(response)
}
