//! `index`: what goes into the base.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use pikerag_indexing::{FileError, Outcome, Params, Report, Tools, build, read_files};
use pikerag_knowledge::{ChatModels, CorpusWriter, RefusalWriter, Structure};
use pikerag_models::{Cap, Meter, Portion, Prices};
use pikerag_store::Base;
use serde::Serialize;
use utoipa::ToSchema;

use super::feedback::stale;
use super::jobs::left_in as left_to_do;
use super::original::KeptOriginals;
use super::progress::{OnProgress, Progress};
use crate::corrected::CorrectedReader;
use crate::engine::{Cost, Session};
use crate::error::Result;
use crate::files::{self, Found};
use crate::names::Names;
use crate::presence::{Doubt, Presence, mounts_above};
use crate::settings::Chunking;
use crate::verbs::original::keep_originals;
use crate::verbs::progress::{tell, tell_notices};

/// What to index, and how, besides what the settings say.
#[derive(Clone)]
pub struct IndexRequest<'a> {
    /// Files, and folders with all that lies below them; hidden files are passed over.
    pub paths: Vec<PathBuf>,
    /// Whether files that are certainly gone from the given folders are removed from the base.
    pub prune: bool,
    /// Whether to ask again what models refused, or did not answer readably, in earlier runs.
    pub retry_refused: bool,
    /// What to build over all documents together.
    pub with: Vec<Structure>,
    /// What is kept up no longer, though settings or earlier runs ask for it; what there is of it stays as it is.
    pub without: Vec<Structure>,
    /// Who decides where chunks end.
    pub chunking: Option<Chunking>,
    /// What of the base is built besides.
    pub scope: IndexScope,
    /// Calls to chat models of the bill that was accepted; `None`: as many as it takes.
    pub accepted_calls: Option<u64>,
    /// Hears how far it has come.
    pub progress: OnProgress<'a>,
}

/// What indexing builds besides reading files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexScope {
    /// All that is pending in the base, whoever brought it in.
    Base,
    /// What the files need; the rest of the base only where that takes no more than the bill of the files.
    Files,
    /// The same of those files alone that are new or changed.
    Changed,
}

/// What came of indexing.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct IndexResponse {
    /// By file, and in all.
    pub report: Report,
    /// Files removed, for they are gone from the given folders.
    pub pruned: Vec<String>,
    /// Pieces that models had refused, and were asked about again.
    pub retried: usize,
    /// Files that are gone from disk, wherever they were, and of which the base still holds all: it answers from them.
    pub gone: Vec<String>,
    /// Files that are not seen and may be there all the same. They are never removed.
    pub unseen: Vec<Unseen>,
    /// Files whose bytes are kept since.
    pub originals: KeptOriginals,
    /// Verified answers whose sources have changed: somebody has to look at them again.
    pub stale_answers: usize,
    /// What was paid, models and embeddings.
    pub spent: Cost,
    /// Folder of the base.
    #[schema(value_type = String)]
    pub base: PathBuf,
}

/// Files of the base that are not seen, and stay because they may be there all the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Unseen {
    /// The folder that tells nothing of them.
    #[schema(value_type = String)]
    pub folder: PathBuf,
    /// How many they are.
    pub files: usize,
    /// Why it tells nothing.
    #[schema(value_type = String)]
    pub why: Doubt,
}

/// Reads files and folders into the base, which is made where there is none and something to read; then does all
/// that an earlier run left undone. A file that fails is named in the report, and the rest go on.
///
/// # Errors
/// The base cannot be written, or a model is not set up right.
///
/// # Cancel safety
/// Dropping the future loses at most the calls in flight.
pub async fn index(session: &Session, request: &IndexRequest<'_>) -> Result<IndexResponse> {
    if !session.has_base() {
        let found = files::find(&request.paths, &session.names_of_new_base()?);
        if found.files.is_empty() {
            return Ok(nothing_read(session, found));
        }
    }
    let base = session.base_or_create().await?;
    let names = session.settled_names(&base).await?;
    let mut found = files::find(&request.paths, &names);
    let mut tools = session.tools(&base).await?;
    tools.reader =
        Arc::new(CorrectedReader { inner: session.reader_at(names.root()), base: base.clone() });
    let mut params = session.ingest_params(&request.with, &request.without, request.chunking);
    tell_notices(session, request.progress);
    let places: Vec<PathBuf> = found.files.iter().map(|file| names.place(file)).collect();
    let mounts = mounts_above(places.iter().map(PathBuf::as_path)).into_iter();
    base.add_mounts(mounts.filter_map(|at| at.to_str().map(str::to_owned)).collect()).await?;
    let mut lost = Lost::of(&names, &found.files);
    params.gone.clone_from(&lost.gone);
    params.renamed = names.duplicates().to_vec();
    let mut pruned = Vec::new();
    if request.prune {
        let below = names.under(&request.paths).into_iter();
        let below: HashSet<String> = below.map(|file| file.path.clone()).collect();
        lost.doubt_missing(&names, &request.paths, &mut found.left_out);
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
            IndexScope::Files | IndexScope::Changed => {
                fill_own(session, &base, tools, &found.files, &params, request).await
            }
        }
    };
    let mut report = session.unless_cancelled(Box::pin(filling)).await?;
    let originals = keep_originals(session, &base, &names, &found.files).await?;
    (request.progress)(Progress::Ended);
    report.files.extend(failures(found.left_out));
    lost.forget(report.moved.iter().map(|(old, _)| old));
    let stale_answers = stale(&base).await?.len();
    Ok(IndexResponse {
        stale_answers,
        unseen: lost.unseen(),
        report,
        pruned,
        originals,
        retried,
        gone: lost.gone,
        spent: session.cost(),
        base: base.folder().to_owned(),
    })
}

/// Reads files into the base, then makes all that waits, with the embedder for what was read.
pub(super) async fn fill(
    session: &Session,
    base: &Base,
    mut tools: Tools,
    files: &[String],
    params: &Params,
    progress: OnProgress<'_>,
) -> Result<Report> {
    let watch = |told| tell(session, progress, told);
    let report = read_files(&tools, files, params, &watch).await?;
    tools.embedder = session.embedder_on(base).await?;
    if let Some(embedder) = &tools.embedder
        && let Some(notice) = session.foreign(base, embedder.name()).await?
    {
        progress(Progress::Notice(notice));
    }
    Ok(build(&tools, params, &watch, report).await?)
}

/// Reads files into the base and makes what they need; then all that waits, where that fits into the bill of the files.
async fn fill_own(
    session: &Session,
    base: &Base,
    mut tools: Tools,
    files: &[String],
    params: &Params,
    request: &IndexRequest<'_>,
) -> Result<Report> {
    let watch = |told| tell(session, request.progress, told);
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
    let bill = pikerag_indexing::estimate::left(&own, params, &tools.available()).await?;
    let calls = request.accepted_calls.unwrap_or(bill.calls as u64);
    let meter = capped_at(calls);
    tools.models = within(tools.models, Some(&meter));
    let of_own = Tools { base: Arc::new(own), ..tools.clone() };
    let report = build(&of_own, params, &watch, report).await?;
    let left = left_to_do(session, base, params).await?;
    let made = meter.total().calls;
    if report.stopped.is_some() || 0 < left.texts || calls < made + left.estimate.calls as u64 {
        return Ok(report);
    }
    // The bill of the files was told already.
    let rest = |told| match told {
        pikerag_indexing::Progress::Bill(_) => {}
        told => watch(told),
    };
    Ok(build(&tools, params, &rest, report).await?)
}

/// Holds calls to a bill. A reply that cannot be read is asked for again, and how many reports a community or a tree needs is
/// known when they are written: a quarter more calls may be made, and 16.
fn capped_at(calls: u64) -> Arc<Meter> {
    let most = calls.saturating_add(calls / 4).saturating_add(16);
    Arc::new(Meter::new(Prices::default(), Cap { calls: Some(most), ..Cap::default() }))
}

fn within(models: ChatModels, meter: Option<&Arc<Meter>>) -> ChatModels {
    let Some(meter) = meter else { return models };
    models.wrapped(|model| Arc::new(Portion::new(model, Arc::clone(meter))))
}

/// What came of paths that hold nothing to read: no base is made for them.
fn nothing_read(session: &Session, found: Found) -> IndexResponse {
    let report = Report { files: failures(found.left_out).collect(), ..Report::default() };
    let base = session.folder().to_owned();
    let (gone, unseen, pruned, originals, retried) = Default::default();
    IndexResponse {
        report,
        pruned,
        originals,
        retried,
        gone,
        unseen,
        stale_answers: 0,
        spent: session.cost(),
        base,
    }
}

fn failures(left_out: Vec<(String, FileError)>) -> impl Iterator<Item = (String, Outcome)> {
    left_out.into_iter().map(|(file, reason)| (file, Outcome::Failed { reason }))
}

/// Files on record that are not seen on disk.
#[derive(Default)]
pub(super) struct Lost {
    /// Those that are certainly gone, by name.
    pub(super) gone: Vec<String>,
    /// Those that may be there, by the folder that tells nothing of them.
    unclear: BTreeMap<PathBuf, (Vec<String>, Doubt)>,
}

impl Lost {
    /// Looks for all files on record, less those that are `there` for certain.
    pub(super) fn of(names: &Names, there: &[String]) -> Self {
        let there: HashSet<&String> = there.iter().collect();
        let (mut lost, mut disk) = (Self::default(), names.disk());
        for file in names.records().iter().filter(|file| !there.contains(&file.path)) {
            let presence = match names.doubt(&file.path) {
                Some(doubt) => Presence::Unclear(names.root().to_owned(), doubt),
                None => disk.presence_of(&names.place(&file.path)),
            };
            match presence {
                Presence::There => {}
                Presence::Gone => lost.gone.push(file.path.clone()),
                Presence::Unclear(folder, why) => {
                    let held = lost.unclear.entry(folder).or_insert((Vec::new(), why));
                    held.0.push(file.path.clone());
                }
            }
        }
        lost
    }

    /// Those that may be there, counted.
    pub(super) fn unseen(&self) -> Vec<Unseen> {
        let counted = self.unclear.iter().map(|(folder, (files, why))| Unseen {
            folder: folder.clone(),
            files: files.len(),
            why: why.clone(),
        });
        counted.collect()
    }

    /// A folder that was named to be looked through and is not there proves nothing about its files.
    fn doubt_missing(
        &mut self,
        names: &Names,
        paths: &[PathBuf],
        left_out: &mut Vec<(String, FileError)>,
    ) {
        for path in paths {
            let folder = names.absolute(path);
            let below = names.under(std::slice::from_ref(path));
            if below.is_empty() || !matches!(folder.try_exists(), Ok(false)) {
                continue;
            }
            let name = names.shown(&folder);
            left_out.retain(|(file, _)| *file != name);
            if below.iter().any(|file| file.path == name) {
                // A file: the folder above tells of it.
                continue;
            }
            let below: HashSet<&String> = below.into_iter().map(|file| &file.path).collect();
            let (doubted, rest) = self.gone.drain(..).partition(|file| below.contains(file));
            self.gone = rest;
            if !Vec::is_empty(&doubted) {
                self.unclear.insert(folder, (doubted, Doubt::Missing));
            }
        }
    }

    /// Takes those out that are certainly gone.
    fn take_certain(&mut self, below: &HashSet<String>) -> Vec<String> {
        let (pruned, rest) = self.gone.drain(..).partition(|file| below.contains(file));
        self.gone = rest;
        pruned
    }

    fn only_unclear_of(&mut self, below: &HashSet<String>) {
        for (files, _) in self.unclear.values_mut() {
            files.retain(|file| below.contains(file));
        }
        self.unclear.retain(|_, (files, _)| !files.is_empty());
    }

    /// Those that are no longer in the base.
    fn forget<'a>(&mut self, moved: impl Iterator<Item = &'a String>) {
        let moved: HashSet<&String> = moved.collect();
        self.gone.retain(|file| !moved.contains(file));
        for (files, _) in self.unclear.values_mut() {
            files.retain(|file| !moved.contains(file));
        }
        self.unclear.retain(|_, (files, _)| !files.is_empty());
    }
}
