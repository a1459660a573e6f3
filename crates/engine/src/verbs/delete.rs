//! `delete`: what leaves the base.

use std::path::PathBuf;

use pikerag_knowledge::{CorpusWriter, SearchWriter};
use pikerag_store::{Overwriting, Remains};
use serde::Serialize;
use utoipa::ToSchema;

use super::ask::keeping::now;
use crate::engine::Session;
use crate::error::{EngineError, Result};

/// Files and folders whose documents, and all that was made of them, go.
#[derive(Clone, Debug)]
pub struct DeleteRequest {
    /// Files, and folders with all that lies below them; they need not exist any more.
    pub paths: Vec<PathBuf>,
    /// Whether the calls and runs that hold their text go too, and what was freed is overwritten.
    pub forget: bool,
}

/// The files whose documents are gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct DeleteResponse {
    /// The files; none, where nothing in the base is named so.
    pub deleted: Vec<String>,
    /// Calls and runs that hold their text, and are still there.
    #[schema(value_type = RemainsAsJson)]
    pub remains: Remains,
    /// Calls and runs that held it, and are gone; `None` where that was not asked for.
    #[schema(value_type = Option<RemainsAsJson>, required)]
    pub forgotten: Option<Remains>,
    /// Whether what an earlier call had begun to forget was overwritten now.
    pub finished: bool,
    /// Whether what was forgotten is out of the base but not overwritten yet: a question or export that began before still
    /// reads it.
    pub overwrites_later: bool,
}

/// [`Remains`] in the OpenAPI document.
#[derive(ToSchema)]
#[schema(as = Remains)]
#[expect(dead_code, reason = "it describes")]
struct RemainsAsJson {
    /// Model calls whose prompt or reply holds their text, or what was made of it.
    calls: usize,
    /// Runs that hold it.
    runs: usize,
    /// Verified answers that hold it or rest on it.
    verified: usize,
}

/// What would go with files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct DeletePreview {
    /// The files; none, where nothing in the base is named so.
    pub files: Vec<String>,
    /// Documents in them.
    pub documents: usize,
    /// Chunks of them, each with all that was made of it.
    pub chunks: usize,
    /// Calls, runs and verified answers that hold their text: they stay, unless the files are forgotten.
    #[schema(value_type = RemainsAsJson)]
    pub remains: Remains,
}

/// What would go if these files were deleted or forgotten; nothing is changed.
///
/// # Errors
/// There is no base, or it cannot be read.
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

/// Overwrites what was forgotten and could not be overwritten then; whether nothing is left of it.
///
/// # Errors
/// The base cannot be read or written.
pub async fn finish_forgetting(session: &Session) -> Result<bool> {
    if !session.has_base() {
        return Ok(true);
    }
    let base = session.base().await?;
    Ok(base.is_read_only() || base.finish_forgetting().await? != Overwriting::StillRead)
}

/// Removes files and all that derives from them.
///
/// # Errors
/// There is no base, or it cannot be written. What was to be forgotten may then be gone and not overwritten:
/// `check` says so, and the next call goes on.
pub async fn delete(session: &Session, request: &DeleteRequest) -> Result<DeleteResponse> {
    let base = session.base().await?;
    // Else what a stopped job was writing would come back.
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
        let (forgotten, overwriting) = match deleted.is_empty() {
            true => (Remains::default(), base.finish_forgetting().await?),
            false => base.forget_files(deleted, now()).await?,
        };
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
