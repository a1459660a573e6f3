//! `index`: what goes into the base.

use std::path::{Path, PathBuf};

use pikerag_coordinate::ingest::{Outcome, Report, ingest};
use pikerag_knowledge::{FileRecord, KnowledgeWriter, Structure};
use serde::Serialize;

use super::original::KeptOriginals;
use super::progress::{OnProgress, Progress};
use crate::engine::{Cost, Engine};
use crate::error::Result;
use crate::files;
use crate::settings::Chunking;

/// What to index, and how, besides what the settings say.
#[derive(Clone)]
pub struct IndexRequest<'a> {
    /// Files, and folders with all that lies below them; hidden files are passed over.
    pub paths: Vec<PathBuf>,
    /// Whether files that are gone from the given folders are removed from the base.
    pub prune: bool,
    /// What to build over all documents together.
    pub with: Vec<Structure>,
    /// Who decides where chunks end.
    pub chunking: Option<Chunking>,
    /// Hears how far it has come.
    pub progress: OnProgress<'a>,
}

/// What came of indexing.
#[derive(Clone, Debug, Serialize)]
pub struct IndexResponse {
    /// By file, and in all.
    pub report: Report,
    /// Files removed, for they are gone from disk.
    pub pruned: Vec<String>,
    /// Files whose bytes are kept since.
    pub originals: KeptOriginals,
    /// What was paid, models and embeddings.
    pub spent: Cost,
    /// Folder of the base.
    pub base: PathBuf,
}

impl Engine {
    /// Reads files and folders into the base, which is made where there is none; then does all that an earlier run
    /// left undone. A file that fails is named in the report, and the rest go on.
    ///
    /// # Errors
    /// The base cannot be written, or a model is not set up right.
    ///
    /// # Cancel safety
    /// Dropping the future loses at most the calls in flight.
    pub async fn index(&self, request: &IndexRequest<'_>) -> Result<IndexResponse> {
        let found = files::find(&request.paths);
        let base = self.base_or_create()?;
        let tools = self.tools(&base)?;
        let params = self.ingest_params(&request.with, request.chunking);
        self.tell_notices(request.progress);
        let pruned = match request.prune {
            true => prune(&base, &request.paths, &found.files).await?,
            false => Vec::new(),
        };
        let watch = |progress| self.tell(request.progress, progress);
        let ingesting = Box::pin(ingest(&tools, &found.files, &params, &watch));
        let mut report = self.unless_cancelled(async { Ok(ingesting.await?) }).await?;
        let originals = self.keep_originals(&base, &found.files).await?;
        (request.progress)(Progress::Ended);
        let left_out = found.left_out.into_iter();
        report.files.extend(left_out.map(|(file, reason)| (file, Outcome::Failed { reason })));
        let base = base.folder().to_owned();
        Ok(IndexResponse { report, pruned, originals, spent: self.cost(), base })
    }
}

/// Removes files of the base that lie under the given folders and are no longer there.
async fn prune(
    base: &dyn KnowledgeWriter,
    paths: &[PathBuf],
    there: &[String],
) -> Result<Vec<String>> {
    let mut pruned = Vec::new();
    // A folder that is not there may only be unmounted: that is no reason to forget its files.
    let there_at_all: Vec<PathBuf> = paths.iter().filter(|path| path.exists()).cloned().collect();
    for FileRecord { path, .. } in under(base, &there_at_all).await? {
        if !there.contains(&path) && !Path::new(&path).exists() {
            base.delete_file(&path).await?;
            pruned.push(path);
        }
    }
    Ok(pruned)
}

/// Files of the base that the given paths name or contain.
pub(super) async fn under(
    base: &dyn KnowledgeWriter,
    paths: &[PathBuf],
) -> Result<Vec<FileRecord>> {
    let roots: Vec<PathBuf> = paths.iter().map(|path| files::clean(path)).collect();
    let mut files = base.files().await?;
    files.retain(|file| is_under(Path::new(&file.path), &roots));
    Ok(files)
}

/// Whether one of these folders, or the one we stand in, holds the file.
pub(super) fn is_under(file: &Path, roots: &[PathBuf]) -> bool {
    let here = Path::new(".");
    roots.iter().any(|root| file.starts_with(root) || (root == here && file.is_relative()))
}
