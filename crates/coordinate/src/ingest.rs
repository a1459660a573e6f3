//! How do files become a knowledge base? Read, split, atomize, embed, and over all of them an entity
//! graph and a tree where they are wanted; each stage resumes where it was left, and no paid step is done twice.

mod flight;
mod graph;
pub(crate) mod records;
mod report;
mod stages;
mod tree;

pub(crate) use self::report::{entity_line, relation_line};

use std::sync::Arc;

use async_trait::async_trait;
use futures::channel::mpsc;
use futures::future::join;
use pikerag_extract::{ChunkParams, document_graph};
use pikerag_knowledge::{
    AtomKind, Embedder, FileRecord, KnowledgeWriter, Problem, PutReport, RecordSchema, Role,
    StoreError, Structure,
};
use pikerag_parse::Parsed;
use serde::{Deserialize, Serialize};

use crate::estimate::{Estimate, left_to_do};
use crate::kit::Models;

/// Opens files for indexing: in the product a limited child process, in tests a table.
#[async_trait]
pub trait FileReader: Send + Sync {
    /// BLAKE3 of the file's bytes, in hexadecimal.
    ///
    /// # Errors
    /// The file cannot be read, or is larger than allowed.
    async fn hash(&self, path: &str) -> Result<String, FileError>;

    /// The file's documents.
    ///
    /// # Errors
    /// Nothing could be read from it.
    async fn parse(&self, path: &str) -> Result<Parsed, FileError>;
}

/// Why a file was left out.
#[derive(Debug, thiserror::Error)]
#[error("{reason}")]
pub struct FileError {
    /// What is wrong with it and what to do, for a person.
    pub reason: String,
}

/// How to index.
#[derive(Clone, Debug)]
pub struct Params {
    /// How large chunks may be.
    pub chunks: ChunkParams,
    /// Which atoms to make. Questions need a model.
    pub atoms: Vec<AtomKind>,
    /// What to build over all documents together. What was built once is kept up to date by every
    /// later run.
    pub with: Vec<Structure>,
    /// Which records to read: exactly these are in the base afterwards.
    pub records: Vec<RecordSchema>,
    /// Model calls in flight.
    pub in_flight: usize,
    /// Texts per embedding call.
    pub embed_batch: usize,
    /// Embedding calls in flight.
    pub embeds_in_flight: usize,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            chunks: ChunkParams::default(),
            atoms: vec![AtomKind::Sentence],
            with: Vec::new(),
            records: Vec::new(),
            in_flight: 16,
            embed_batch: 64,
            embeds_in_flight: 4,
        }
    }
}

/// How far indexing has come; for progress bars.
#[derive(Clone, Debug, PartialEq)]
pub enum Progress {
    /// Reading file `done` of `total`.
    Reading {
        /// Files done.
        done: usize,
        /// Files in all.
        total: usize,
        /// The file at hand.
        path: String,
    },
    /// All files are read; this is what the model calls will take. Sent before the first of them.
    Bill(Estimate),
    /// A stage has done `done` of `total` pieces.
    Stage {
        /// `atomizing`, `embedding`, `extracting`, …
        name: &'static str,
        /// Pieces done.
        done: usize,
        /// Pieces in all.
        total: usize,
    },
}

/// What came of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum Outcome {
    /// Read and stored.
    Stored {
        /// What that changed.
        #[serde(flatten)]
        report: PutReport,
        /// Documents in the file.
        documents: usize,
    },
    /// The same bytes under the same settings: nothing to do.
    Unchanged,
    /// Left out; what an earlier version of it gave is kept.
    Failed {
        /// Why.
        reason: String,
    },
}

/// What came of an indexing run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// By file, in the order given.
    pub files: Vec<(String, Outcome)>,
    /// What parsers could not read inside files that were stored: (file, problem).
    pub problems: Vec<(String, Problem)>,
    /// Chunks atomized in this run.
    pub atomized: usize,
    /// Atoms made in this run.
    pub atoms: usize,
    /// Questions dropped because they repeat another.
    pub duplicates: usize,
    /// Questions dropped because they name nothing.
    pub pronouns: usize,
    /// Chunks whose questions stayed unreadable: their sentences serve instead.
    pub unreadable: usize,
    /// Chunks whose entities and relations were found in this run.
    #[serde(default)]
    pub extracted: usize,
    /// Chunks, communities and clusters for which the model's reply stayed unreadable: names and
    /// sentences serve instead.
    #[serde(default)]
    pub unextracted: usize,
    /// Typed records read in this run.
    #[serde(default)]
    pub records: usize,
    /// Values of them that could not be read as their field's type: kept as they stand.
    #[serde(default)]
    pub untyped_values: usize,
    /// Values that a model gave and that do not stand in the text: dropped.
    #[serde(default)]
    pub invented_values: usize,
    /// Chunks whose reply stayed unreadable when a model was asked for records: they have none.
    #[serde(default)]
    pub unread_records: usize,
    /// Community reports written in this run.
    #[serde(default)]
    pub reports: usize,
    /// Summaries written in this run.
    #[serde(default)]
    pub summaries: usize,
    /// What could not be built for lack of something, and what to do.
    #[serde(default)]
    pub lacking: Vec<String>,
    /// Chunks whose call failed; the next run tries them again: (chunk, reason), the first few.
    pub failed: Vec<(String, String)>,
    /// How many failed in all.
    pub failures: usize,
    /// Vectors made in this run.
    pub vectors: usize,
    /// Why the run ended early, if it did; the next run goes on from there.
    pub stopped: Option<String>,
    /// Whether it ended because the budget was spent.
    pub over_budget: bool,
}

impl Report {
    /// Files left out.
    pub fn failed_files(&self) -> usize {
        self.files.iter().filter(|(_, outcome)| matches!(outcome, Outcome::Failed { .. })).count()
    }

    /// Whether all that was asked for is in the base.
    pub fn is_whole(&self) -> bool {
        let nothing_failed = self.failed_files() == 0 && self.failures == 0;
        nothing_failed && self.lacking.is_empty() && self.stopped.is_none()
    }
}

/// What indexing works with.
#[derive(Clone)]
pub struct Tools {
    /// The base, for writing.
    pub base: Arc<dyn KnowledgeWriter>,
    /// Reads files.
    pub reader: Arc<dyn FileReader>,
    /// The model for `atomize`, if any.
    pub models: Models,
    /// Makes vectors, if there is one.
    pub embedder: Option<Arc<dyn Embedder>>,
}

/// Watches progress.
pub type Watch<'a> = &'a (dyn Fn(Progress) + Send + Sync);

/// Indexes files: all that is new or changed, then all that an earlier run left undone.
///
/// A file that fails is named in the report, and the rest go on. A budget that is spent, or a model
/// that refuses, ends the run early; what is done stays.
///
/// # Errors
/// The base cannot be written.
///
/// # Cancel safety
/// Dropping the future loses at most the calls in flight.
pub async fn ingest(
    tools: &Tools,
    files: &[String],
    params: &Params,
    watch: Watch<'_>,
) -> Result<Report, StoreError> {
    let mut report = Report::default();
    for (done, path) in files.iter().enumerate() {
        watch(Progress::Reading { done, total: files.len(), path: path.clone() });
        let outcome = match store_file(tools, path, params, &mut report.problems).await? {
            Ok(outcome) => outcome,
            Err(error) => Outcome::Failed { reason: error.reason },
        };
        report.files.push((path.clone(), outcome));
    }
    for structure in &params.with {
        tools.base.want(*structure).await?;
    }
    let wanted = tools.base.structures().await?;
    let paid = paid(tools, params, &wanted);
    let any = !paid.with.is_empty() || !paid.records.is_empty();
    if tools.models.of(Role::Atomize).is_some() || any {
        watch(Progress::Bill(left_to_do(tools.base.as_ref(), &paid).await?));
    }
    // Vectors are made while the model is at work: what waits for the one seldom waits for the other.
    let (fresh, texts) = mpsc::channel(stages::FRESH);
    let atomizing = stages::atomize(tools, params, watch, fresh, &mut report);
    let (atomized, followed) = join(atomizing, stages::follow(tools, params, texts)).await;
    atomized?;
    report.vectors += followed?;
    // What is still without. Also after a budget was spent: local vectors cost nothing, and remote
    // ones know the budget.
    stages::embed(tools, params, watch, &mut report).await?;
    if report.stopped.is_none() {
        records::read_all(tools, params, watch, &mut report).await?;
    }
    for (structure, built) in wanted {
        let stamp = stamp(tools, structure).await?;
        if built == stamp || report.stopped.is_some() {
            continue;
        }
        let whole = match structure {
            Structure::Graph => graph::build(tools, params, watch, &mut report).await?,
            Structure::Tree => tree::build(tools, params, watch, &mut report).await?,
        };
        if whole {
            tools.base.built(structure, &stamp).await?;
        }
        stages::embed(tools, params, watch, &mut report).await?;
    }
    tools.base.refresh().await?;
    Ok(report)
}

/// What of the parameters takes model calls.
fn paid(tools: &Tools, params: &Params, wanted: &[(Structure, String)]) -> Params {
    let is_paid = |structure: &Structure| match structure {
        Structure::Graph => tools.models.of(Role::Extract).is_some(),
        Structure::Tree => tools.models.of(Role::Summarize).is_some() && tools.embedder.is_some(),
    };
    let with = wanted.iter().map(|(structure, _)| *structure).filter(is_paid).collect();
    let mut records = params.records.clone();
    records.retain(|schema| schema.model && tools.models.of(Role::Extract).is_some());
    Params { with, records, ..params.clone() }
}

/// What a structure is built from: while that stays the same, there is nothing to do.
async fn stamp(tools: &Tools, structure: Structure) -> Result<String, StoreError> {
    let generation = tools.base.generation().await?;
    let maker = match structure {
        Structure::Graph => {
            let has = |role| if tools.models.of(role).is_some() { "model" } else { "names" };
            format!("{} {}", has(Role::Extract), has(Role::Summarize))
        }
        Structure::Tree => {
            tools.embedder.as_ref().map_or_else(String::new, |embedder| embedder.name().to_owned())
        }
    };
    Ok(format!("{generation} {maker}"))
}

/// The settings that decide what a file becomes: under others, it is read again.
pub fn recipe(params: &Params) -> String {
    format!(
        "parse {} extract {} chunk {}/{}",
        pikerag_parse::VERSION,
        pikerag_extract::VERSION,
        params.chunks.max_tokens,
        params.chunks.overlap_tokens
    )
}

async fn store_file(
    tools: &Tools,
    path: &str,
    params: &Params,
    problems: &mut Vec<(String, Problem)>,
) -> Result<Result<Outcome, FileError>, StoreError> {
    let hash = match tools.reader.hash(path).await {
        Ok(hash) => hash,
        Err(error) => return Ok(Err(error)),
    };
    let record = FileRecord { path: path.to_owned(), hash, recipe: recipe(params) };
    if tools.base.file(path).await?.as_ref() == Some(&record) {
        return Ok(Ok(Outcome::Unchanged));
    }
    let parsed = match tools.reader.parse(path).await {
        Ok(parsed) => parsed,
        Err(error) => return Ok(Err(error)),
    };
    problems.extend(parsed.problems.into_iter().map(|problem| (path.to_owned(), problem)));
    let graphs: Vec<_> = parsed
        .documents
        .into_iter()
        .map(|document| document_graph(path, document, params.chunks))
        .collect();
    let documents = graphs.len();
    if graphs.iter().all(|graph| graph.chunks.is_empty()) {
        return Ok(Err(FileError { reason: "it holds no text".to_owned() }));
    }
    let report = tools.base.put_file(&record, graphs).await?;
    Ok(Ok(Outcome::Stored { report, documents }))
}
