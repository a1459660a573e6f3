//! Indexes files into the base (`index`).

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use pikerag_indexing::{FileError, Outcome, Params, Report, Tools, build, read_files};
use pikerag_knowledge::uri::is_relation;
use pikerag_knowledge::{ChatModels, Structure};
use pikerag_models::{Cap, Meter, Portion, Prices};
use pikerag_narrate::InWords;
use pikerag_sources::DatabaseUrl;
use serde::Serialize;
use tracing::info;
use utoipa::ToSchema;

use super::feedback::stale;
use super::jobs::remaining_in as remaining_work;
use super::lost::{Lost, UnclearFiles};
use super::original::KeptOriginals;
use super::progress::{OnProgress, Progress};
use crate::base::{Base, shown_base};
use crate::corrected::CorrectedReader;
use crate::databases::Databases;
use crate::engine::{Cost, Session};
use crate::error::Result;
use crate::files::{self, Found, OmittedFiles, by_kind, omitted_on_record};
use crate::presence::mounts_above;
use crate::settings::{Chunking, FileChoice};
use crate::verbs::original::keep_originals;
use crate::verbs::progress::{report_notices, report_progress};
use crate::words::chinese_reason;

/// The files to index and the changes to the settings.
#[derive(Clone)]
pub struct IndexRequest<'a> {
    /// Files, and folders with everything below them; hidden files are skipped.
    pub paths: Vec<PathBuf>,
    /// Databases whose tables are read, as the settings choose them.
    pub databases: Vec<DatabaseUrl>,
    /// Whether files that are certainly gone from the given folders are deleted from the base, and
    /// tables that are gone from the given databases.
    pub prune: bool,
    /// Whether to repeat calls that models refused, or answered unreadably, in earlier runs.
    pub retry_refused: bool,
    /// The structures to build over all documents together.
    pub with: Vec<Structure>,
    /// The structures to stop maintaining, even if settings or earlier runs request them; existing
    /// data is kept.
    pub without: Vec<Structure>,
    /// The method that decides where chunks end.
    pub chunking: Option<Chunking>,
    /// The files to take from folders, besides the settings.
    pub choice: FileChoice,
    /// The other pending work to do.
    pub scope: IndexScope,
    /// The calls to chat models in the accepted bill; `None` for no limit.
    pub accepted_calls: Option<u64>,
    /// Receives the progress.
    pub progress: OnProgress<'a>,
}

/// The work that indexing does besides reading files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexScope {
    /// All pending work of the base, of any origin.
    Base,
    /// The work for the files. Other pending work is done only if it fits into the bill of the
    /// files.
    Files,
    /// The same, only for the files that are new or changed.
    Changed,
    /// The work for the files, and nothing else: other workers read other files of the same job.
    Own,
    /// Nothing for any file. Other pending work is done only if it fits into the accepted calls.
    Rest,
}

/// The result of indexing.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct IndexResponse {
    /// The report, by file and in total.
    pub report: Report,
    /// Files and folders that were not taken from the given folders, by kind.
    pub omitted: Vec<OmittedFiles>,
    /// Files of the base that are not taken from the given folders any more, by kind. The base
    /// still answers from them, and does not update them.
    pub omitted_in_base: Vec<OmittedFiles>,
    /// Files deleted because they are gone from the given folders.
    pub pruned: Vec<String>,
    /// Pieces that models had refused and that were tried again.
    pub retried: usize,
    /// Files that are gone from disk, in any folder, and still in the base, which answers from
    /// them.
    pub gone: Vec<String>,
    /// Files that are not visible and may still exist. They are never deleted.
    #[serde(rename = "unseen")]
    pub unclear: Vec<UnclearFiles>,
    /// The files whose original bytes were stored.
    pub originals: KeptOriginals,
    /// Verified answers whose sources have changed and that a person must check again.
    pub stale_answers: usize,
    /// The cost of models and embeddings.
    pub spent: Cost,
    /// Folder of the base.
    #[schema(value_type = String)]
    pub base: PathBuf,
}

/// Reads files and folders into the base, then does all pending work. A missing base is created if
/// there is something to read. A file that fails is listed in the report, and the others continue.
///
/// # Errors
/// The base cannot be written, or a model is not set up right.
///
/// # Cancel safety
/// Dropping the future loses at most the calls in flight.
///
/// # Examples
/// ```no_run
/// # use pikerag_engine::settings::FileChoice;
/// # use pikerag_engine::{IndexRequest, IndexScope, Session, index};
/// # async fn f(session: &Session) -> pikerag_engine::Result<()> {
/// let (with, without, chunking) = (Vec::new(), Vec::new(), None); // As in the settings.
/// let request = IndexRequest {
///     paths: vec!["handbook".into()],
///     databases: Vec::new(),
///     scope: IndexScope::Base,
///     accepted_calls: Some(200),
///     progress: &|progress| println!("{progress:?}"),
///     prune: false, retry_refused: false, with, without, chunking,
///     choice: FileChoice::default(),
/// };
/// println!("{} files failed", index(session, &request).await?.report.failed_files());
/// # Ok(()) }
/// ```
pub async fn index(session: &Session, request: &IndexRequest<'_>) -> Result<IndexResponse> {
    let choice = session.file_choice(&request.choice);
    let opening = async { Ok(Box::pin(Databases::open(session, &request.databases)).await) };
    let databases = session.unless_cancelled(opening).await?;
    for notice in &databases.notices {
        (request.progress)(Progress::Notice(notice.clone()));
    }
    if !session.has_base().await? && databases.tables.is_empty() {
        let mut found = files::find(&request.paths, &session.names_of_new_base()?, &choice);
        if found.files.is_empty() {
            found.left_out.extend(databases.left_out);
            return Ok(nothing_read(session, found));
        }
    }
    let base = session.base_or_create().await?;
    let names = session.settled_names(&base).await?;
    let mut found = files::find(&request.paths, &names, &choice);
    let on_record = omitted_on_record(names.records(), &found.omitted);
    let gone_tables = databases.gone(names.records());
    found.files = databases.before(found.files);
    found.left_out.extend_from_slice(&databases.left_out);
    if !found.omitted.is_empty() {
        info!(count = found.omitted.len(), "files and folders that are no documents are not taken");
    }
    let mut tools = session.tools(&base).await?;
    let files = CorrectedReader { inner: session.reader_of(&names), base: base.clone() };
    tools.reader = Arc::new(databases.reader(Arc::new(files), Some(Arc::clone(&tools.base))));
    let mut params = session.ingest_params(&request.with, &request.without, request.chunking);
    report_notices(session, request.progress);
    let on_disk = found.files.iter().filter(|file| !is_relation(file));
    let places: Vec<PathBuf> = on_disk.map(|file| names.place(file)).collect();
    let mounts = mounts_above(places.iter().map(PathBuf::as_path)).into_iter();
    base.add_mounts(mounts.filter_map(|at| at.to_str().map(str::to_owned)).collect()).await?;
    let mut lost = Lost::of(&names, &found.files);
    lost.gone.extend_from_slice(&gone_tables);
    params.gone.clone_from(&lost.gone);
    params.renamed = names.duplicates().to_vec();
    let mut pruned = Vec::new();
    if request.prune {
        let below = names.under(&request.paths).into_iter();
        let below = below.map(|file| file.path.clone()).chain(gone_tables);
        let below: HashSet<String> = below.collect();
        lost.mark_missing_unclear(&names, &request.paths, &mut found.left_out);
        pruned = lost.take_certain(&below);
        for path in &pruned {
            base.delete_file(path).await?;
        }
        lost.only_unclear_of(&below);
    }
    let retried = match request.retry_refused {
        true => base.retry_refused().await?,
        false => 0,
    };
    let filling = async {
        match request.scope {
            IndexScope::Base => {
                let cap = request.accepted_calls.map(capped_at);
                tools.models = within(tools.models, cap.as_ref());
                fill(session, &base, tools, &found.files, &params, request.progress).await
            }
            IndexScope::Rest => fill_rest(session, &base, tools, &params, request).await,
            IndexScope::Files | IndexScope::Changed | IndexScope::Own => {
                fill_own(session, &base, tools, &found.files, &params, request).await
            }
        }
    };
    let mut report = session.unless_cancelled(Box::pin(filling)).await?;
    let originals = keep_originals(session, &base, &names, &found.files).await?;
    (request.progress)(Progress::Ended);
    report.files.extend(failures(found.left_out));
    report.stopped_zh = report.stopped.as_deref().map(chinese_reason);
    for (_, problem) in &mut report.problems {
        problem.reason_zh = problem.fact.as_ref().map(|fact| fact.words().chinese);
    }
    lost.forget(report.moved.iter().map(|(old, _)| old));
    let stale_answers = stale(&base).await?.len();
    Ok(IndexResponse {
        stale_answers,
        unclear: lost.unclear_files(),
        omitted: by_kind(&found.omitted),
        omitted_in_base: by_kind(&on_record),
        report,
        pruned,
        originals,
        retried,
        gone: lost.gone,
        spent: session.cost(),
        base: base.folder().to_owned(),
    })
}

/// Reads files into the base, then does all pending work, with the embedder for the languages that
/// were read.
pub(super) async fn fill(
    session: &Session,
    base: &Base,
    mut tools: Tools,
    files: &[String],
    params: &Params,
    progress: OnProgress<'_>,
) -> Result<Report> {
    let watch = |step| report_progress(session, progress, step);
    let report = read_files(&tools, files, params, &watch).await?;
    tools.embedder = session.embedder_on(base).await?;
    if let Some(embedder) = &tools.embedder
        && let Some(notice) = session.foreign(base, embedder.name()).await?
    {
        progress(Progress::Notice(notice));
    }
    Ok(build(&tools, params, &watch, report).await?)
}

/// Reads files into the base and does their work; then does all pending work if it fits into the
/// bill of the files.
async fn fill_own(
    session: &Session,
    base: &Base,
    mut tools: Tools,
    files: &[String],
    params: &Params,
    request: &IndexRequest<'_>,
) -> Result<Report> {
    let watch = |step| report_progress(session, request.progress, step);
    let report = read_files(&tools, files, params, &watch).await?;
    tools.embedder = session.embedder_on(base).await?;
    if let Some(embedder) = &tools.embedder
        && let Some(notice) = session.foreign(base, embedder.name()).await?
    {
        (request.progress)(Progress::Notice(notice));
    }
    let changed = |(file, outcome): &(String, Outcome)| match outcome {
        Outcome::Stored { .. } => Some(file.clone()),
        _ => None,
    };
    let own = match request.scope {
        IndexScope::Changed => report.files.iter().filter_map(changed).collect(),
        _ => files.to_vec(),
    };
    let own = base.pending_of(own);
    let bill = pikerag_indexing::estimate::left(&*own, params, &tools.available()).await?;
    let own_calls = bill.calls as u64;
    let calls = match (request.accepted_calls, request.scope) {
        // The accepted calls are those of the whole job.
        (Some(accepted), IndexScope::Own) => accepted.min(own_calls),
        (accepted, _) => accepted.unwrap_or(own_calls),
    };
    let meter = capped_at(calls);
    tools.models = within(tools.models, Some(&meter));
    let of_own = Tools { base: own.arc(), ..tools.clone() };
    let report = build(&of_own, params, &watch, report).await?;
    if request.scope == IndexScope::Own {
        return Ok(report);
    }
    let left = remaining_work(session, base, params).await?;
    let made = meter.total().calls;
    if report.stopped.is_some() || 0 < left.texts || calls < made + left.estimate.calls as u64 {
        return Ok(report);
    }
    // The bill of the files was reported already.
    let rest = |step| match step {
        pikerag_indexing::Progress::Bill(_) => {}
        step => watch(step),
    };
    Ok(build(&tools, params, &rest, report).await?)
}

/// Does all pending work of the base if it fits into the accepted calls; does nothing otherwise.
async fn fill_rest(
    session: &Session,
    base: &Base,
    mut tools: Tools,
    params: &Params,
    request: &IndexRequest<'_>,
) -> Result<Report> {
    let watch = |step| report_progress(session, request.progress, step);
    let calls = request.accepted_calls.unwrap_or_default();
    let left = remaining_work(session, base, params).await?;
    if 0 < left.texts || calls < left.estimate.calls as u64 {
        return Ok(Report::default());
    }
    tools.embedder = session.embedder_on(base).await?;
    tools.models = within(tools.models, Some(&capped_at(calls)));
    Ok(build(&tools, params, &watch, Report::default()).await?)
}

/// Limits calls to a bill, plus a quarter, plus 16. Unreadable replies are requested again, and the
/// number of reports for communities and trees is known only when they are written.
fn capped_at(calls: u64) -> Arc<Meter> {
    let most = calls.saturating_add(calls / 4).saturating_add(16);
    Arc::new(Meter::new(Prices::default(), Cap { calls: Some(most), ..Cap::default() }))
}

fn within(models: ChatModels, meter: Option<&Arc<Meter>>) -> ChatModels {
    let Some(meter) = meter else { return models };
    models.wrapped(|model| Arc::new(Portion::new(model, Arc::clone(meter))))
}

/// The result for paths without a readable file: no base is created.
fn nothing_read(session: &Session, found: Found) -> IndexResponse {
    let omitted = by_kind(&found.omitted);
    let report = Report { files: failures(found.left_out).collect(), ..Report::default() };
    let base = shown_base(session.folder());
    let (gone, unclear, pruned, originals, retried) = Default::default();
    IndexResponse {
        report,
        omitted,
        omitted_in_base: Vec::new(),
        pruned,
        originals,
        retried,
        gone,
        unclear,
        stale_answers: 0,
        spent: session.cost(),
        base,
    }
}

fn failures(left_out: Vec<(String, FileError)>) -> impl Iterator<Item = (String, Outcome)> {
    left_out.into_iter().map(|(file, reason)| (file, Outcome::Failed { reason }))
}
