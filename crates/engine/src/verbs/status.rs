//! Reports the content, the pending work and the missing files of the base (`status`).

use std::collections::BTreeMap;
use std::path::PathBuf;

use pikerag_indexing::mark_in_words;
use pikerag_indexing::waiting::{stale, waiting};
use pikerag_knowledge::{Backlog, BaseSummary, Stage, Structure, Usage, error_chain};
use pikerag_methods::{ReplacedDocument, replaced_documents};
use pikerag_store::Originals;
use serde::Serialize;
use utoipa::ToSchema;

use super::feedback;
use super::lost::{Lost, UnclearFiles};
use crate::base::Base;
use crate::engine::Session;
use crate::error::{EngineError, Result};
use crate::files::{OmittedFiles, by_kind, omitted_by_name};
use crate::names::Names;
use crate::words::chinese_chain;

/// The name of vectors in the list of pending work.
const VECTORS: &str = "vectors";

/// The content of the base.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct StatusResponse {
    /// The folder that holds it.
    #[schema(value_type = String)]
    pub base: PathBuf,
    /// The folder that names of files are relative to.
    #[schema(value_type = String)]
    pub root: PathBuf,
    /// Its nodes, its ledger, and the pending work of begun stages.
    pub summary: BaseSummary,
    /// The embedder that the next run would use, if any; the part after `#` identifies its endpoint
    /// and prefixes.
    #[schema(required)]
    pub embedder: Option<String>,
    /// The reason why the embedder that is set cannot be used.
    #[schema(required)]
    pub no_embedder: Option<String>,
    /// The code of that error, stable across versions.
    #[schema(required)]
    pub no_embedder_code: Option<&'static str>,
    /// The same reason in Chinese.
    #[schema(required)]
    pub no_embedder_zh: Option<String>,
    /// The work of the next indexing, in order: the name of each stage, and the number of chunks
    /// (or texts, for vectors) that wait for it.
    pub waiting: Vec<Backlog>,
    /// Structures that the next indexing would build or rebuild.
    pub stale: Vec<Structure>,
    /// Files that are gone from disk and still in the base.
    pub gone: Vec<String>,
    /// Files that are not visible and may still exist.
    #[serde(rename = "unseen")]
    pub unclear: Vec<UnclearFiles>,
    /// Files of the base that indexing does not take from folders, by kind, as their names show.
    pub omitted_in_base: Vec<OmittedFiles>,
    /// Names of files with the same bytes, each list in order.
    pub same: Vec<Vec<String>>,
    /// Documents that a newer version in the base replaces, by file; compared as for answers. At most 200 documents are
    /// read, and none of a base with more than 10,000 files.
    pub replaced: Vec<ReplacedDocument>,
    /// The original bytes that are stored.
    #[schema(value_type = OriginalsAsJson)]
    pub originals: Originals,
    /// Answers that people have verified.
    pub verified: usize,
    /// Verified answers whose sources have changed since.
    pub stale_answers: usize,
}

/// [`Originals`] in the OpenAPI document.
#[derive(ToSchema)]
#[schema(as = Originals)]
#[expect(dead_code, reason = "only for the schema")]
struct OriginalsAsJson {
    /// Files whose bytes are stored.
    files: usize,
    /// Files whose bytes are not stored.
    without: usize,
    /// Bytes in total; equal files count once.
    bytes: u64,
}

/// Counts the content and the pending work of the base, and looks for its files. A caller who may
/// see a part gets the counts of that part. Calls, pending stages and stored bytes belong to the
/// whole base, and are 0 or empty for that caller.
///
/// # Errors
/// There is no base, or it cannot be read.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// let status = pikerag_engine::status(session).await?;
/// println!("{} chunks of {} documents", status.summary.chunks, status.summary.sources);
/// for work in &status.waiting {
///     println!("{} wait for {}", work.count, work.stage);
/// }
/// # Ok(())
/// # }
/// ```
pub async fn status(session: &Session) -> Result<StatusResponse> {
    let base = session.counted_base().await?;
    let mut summary = base.summary().await?;
    let names = session.names(&base).await?;
    let lost = Lost::of(&names, &[]);
    let (embedder, error) = match session.embedder_on(&session.base_in_part().await?).await {
        Ok(embedder) => (embedder.map(|it| it.name().to_owned()), None),
        // The rest of the status is reported all the same.
        Err(error) => (None, Some(error)),
    };
    let (mut waiting, mut outdated, mut originals) = Default::default();
    if session.sees_all() {
        let (wanted, available) = (&session.settings().ingest, session.available());
        waiting = backlog(session, &base, &summary, embedder.as_deref()).await?;
        outdated = stale(&*base, wanted, &available, embedder.as_deref()).await?;
        originals = base.originals().await?;
    } else {
        summary.calls = 0;
        summary.usage = Usage::default();
        summary.pending.clear();
        summary.refused.clear();
    }
    let paths: Vec<&str> = names.records().iter().map(|file| file.path.as_str()).collect();
    Ok(StatusResponse {
        base: base.folder().to_owned(),
        root: names.root().to_owned(),
        waiting,
        stale: outdated,
        unclear: lost.unclear_files(),
        gone: lost.gone,
        omitted_in_base: by_kind(&omitted_by_name(&names, &session.settings().choice)),
        same: same(&names),
        replaced: replaced_documents(&*base, &paths).await?,
        originals,
        verified: base.verified().await?.len(),
        stale_answers: feedback::stale(&base).await?.len(),
        embedder,
        no_embedder: error.as_ref().map(|error| error_chain(error)),
        no_embedder_code: error.as_ref().map(EngineError::code),
        no_embedder_zh: error.as_ref().map(|error| chinese_chain(error)),
        summary,
    })
}

async fn backlog(
    session: &Session,
    base: &Base,
    summary: &BaseSummary,
    embedder: Option<&str>,
) -> Result<Vec<Backlog>> {
    let mut marks = waiting(&**base, &session.settings().ingest, &session.available()).await?;
    // Work begun with a model that is missing today is still pending.
    for begun in &summary.pending {
        if marks.iter().all(|other| other.stage != begun.stage) {
            marks.push(begun.clone());
        }
    }
    let mut named: Vec<Backlog> = Vec::new();
    for Backlog { stage, count } in marks {
        let name = mark_in_words(&stage);
        match named.iter_mut().find(|other| other.stage == name) {
            // Each class of tags and each schema is a stage over all chunks, so the largest count
            // is shown.
            Some(held) => held.count = held.count.max(count),
            None => named.push(Backlog { stage: name.to_owned(), count }),
        }
    }
    if let Some(embedder) = embedder.or(summary.embedder.as_deref()) {
        let stage = Stage::embed(embedder);
        let refused = summary.refused.iter().filter(|refused| refused.stage == stage.0);
        let refused: usize = refused.map(|refused| refused.count).sum();
        let texts = base.count_without_vector(embedder).await?.saturating_sub(refused);
        if 0 < texts {
            named.push(Backlog { stage: VECTORS.to_owned(), count: texts });
        }
    }
    Ok(named)
}

/// Names of files with the same bytes.
pub(super) fn same(names: &Names) -> Vec<Vec<String>> {
    let mut by_hash: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for file in names.records().iter().filter(|file| !file.hash.is_empty()) {
        by_hash.entry(&file.hash).or_default().push(file.path.clone());
    }
    let mut same: Vec<_> = by_hash.into_values().filter(|files| 1 < files.len()).collect();
    same.sort();
    same
}
