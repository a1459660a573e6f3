//! How do files become a knowledge base? Read, split, atomize, embed, and over all of them an entity
//! graph and a tree where they are wanted; each stage resumes where it was left, and no paid step is done twice.

mod call_batch;
pub(crate) mod describe;
mod graph;
mod learn;
mod outcome;
mod reading;
pub(crate) mod records;
mod report;
mod stages;
pub(crate) mod tags;
mod tree;

pub use self::learn::{Learned, Sample, keyed_pair, learn};
pub use self::outcome::{Outcome, Progress, Report};
pub(crate) use self::report::{entity_line, relation_line};

use std::sync::Arc;

use async_trait::async_trait;
use futures::channel::mpsc;
use futures::future::join;
use pikerag_extract::ChunkParams;
use pikerag_knowledge::{
    AtomKind, Embedder, KnowledgeWriter, RecordSchema, Role, StoreError, Structure, TagClass,
};
use pikerag_parse::Parsed;
use serde::{Deserialize, Serialize};

use crate::estimate::left_to_do;
use crate::ports::Models;

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
    /// Who decides where they end.
    pub chunk_by: ChunkBy,
    /// What a model says in short, besides text that it cuts.
    pub summarize: Vec<Summarized>,
    /// Whether a model that sees describes figures.
    pub describe: bool,
    /// What is known of tags beforehand.
    pub tags: TagParams,
    /// Which atoms to make. Questions need a model.
    pub atoms: Vec<AtomKind>,
    /// What to build over all documents together. What was built once is kept up to date by every
    /// later run.
    pub with: Vec<Structure>,
    /// Which records to read: exactly these are in the base afterwards.
    pub records: Vec<RecordSchema>,
    /// Files that are parsed at a time.
    pub parsers: usize,
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
            chunk_by: ChunkBy::Structure,
            summarize: Vec::new(),
            describe: false,
            tags: TagParams::default(),
            atoms: vec![AtomKind::Sentence],
            with: Vec::new(),
            records: Vec::new(),
            parsers: 1,
            in_flight: 16,
            embed_batch: 64,
            embeds_in_flight: 4,
        }
    }
}

/// Who decides where chunks end?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChunkBy {
    /// The document's structure, and the size.
    #[default]
    Structure,
    /// A model, within a range of sizes (PIKE-RAG §5.2.1); the structure where there is none.
    Model {
        /// The fewest tokens of a chunk.
        min_tokens: u64,
    },
}

/// What a model says in short.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Summarized {
    /// What each table shows.
    Tables,
    /// What each document is about.
    Sources,
}

/// What is known of tags beforehand.
#[derive(Clone, Debug, PartialEq)]
pub struct TagParams {
    /// Classes that a person declares.
    pub classes: Vec<TagClass>,
    /// Whether classes are looked for in the documents where some are declared; where there is none they
    /// are.
    pub find: bool,
    /// How many chunks are looked at for that.
    pub sample: usize,
}

impl Default for TagParams {
    fn default() -> Self {
        Self { classes: Vec::new(), find: false, sample: 32 }
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
    reading::read_all(tools, files, params, watch, &mut report).await?;
    for structure in &params.with {
        tools.base.request(*structure).await?;
    }
    let wanted = tools.base.structures().await?;
    let paid = paid(tools, params, &wanted);
    if report.stopped.is_none() && is_paid(tools, &paid) {
        watch(Progress::Bill(left_to_do(tools.base.as_ref(), &paid).await?));
    }
    if report.stopped.is_none() {
        describe::describe(tools, params, watch, &mut report).await?;
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
        let stamp = stamp(tools, params, structure).await?;
        if built == stamp || report.stopped.is_some() {
            continue;
        }
        let whole = match structure {
            Structure::Graph => graph::build(tools, params, watch, &mut report).await?,
            Structure::Tree => tree::build(tools, params, watch, &mut report).await?,
            Structure::Tags => tags::build(tools, params, watch, &mut report).await?,
        };
        if whole {
            tools.base.mark_built(structure, &stamp).await?;
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
        Structure::Tags => tools.models.of(Role::Tag).is_some(),
    };
    let with = wanted.iter().map(|(structure, _)| *structure).filter(is_paid).collect();
    let mut paid = Params { with, ..params.clone() };
    paid.records.retain(|schema| schema.model && tools.models.of(Role::Extract).is_some());
    if tools.models.of(Role::Summarize).is_none() {
        paid.summarize.clear();
    }
    paid.describe &= tools.models.of(Role::Describe).is_some();
    if tools.models.of(Role::Atomize).is_none() {
        paid.atoms.retain(|kind| *kind == AtomKind::Sentence);
    }
    paid
}

fn is_paid(tools: &Tools, paid: &Params) -> bool {
    let structures = !paid.with.is_empty() || !paid.records.is_empty();
    let stages = structures || !paid.summarize.is_empty() || paid.describe;
    stages || tools.models.of(Role::Atomize).is_some()
}

/// What a structure is built from: while that stays the same, there is nothing to do.
async fn stamp(tools: &Tools, params: &Params, structure: Structure) -> Result<String, StoreError> {
    let generation = tools.base.generation().await?;
    let maker = match structure {
        Structure::Graph => {
            let has = |role| if tools.models.of(role).is_some() { "model" } else { "names" };
            format!("{} {}", has(Role::Extract), has(Role::Summarize))
        }
        Structure::Tree => {
            tools.embedder.as_ref().map_or_else(String::new, |embedder| embedder.name().to_owned())
        }
        Structure::Tags => tags::stamp(tools, params).await?,
    };
    Ok(format!("{generation} {maker}"))
}

/// The settings that decide what a file becomes: under others, it is read again.
pub fn recipe(params: &Params) -> String {
    let by_structure = format!(
        "parse {} extract {} chunk {}/{}",
        pikerag_parse::VERSION,
        pikerag_extract::VERSION,
        params.chunks.max_tokens,
        params.chunks.overlap_tokens
    );
    match params.chunk_by {
        ChunkBy::Structure => by_structure,
        ChunkBy::Model { min_tokens } => {
            format!(
                "{by_structure} enhanced {} from {min_tokens}",
                pikerag_extract::ENHANCED_VERSION
            )
        }
    }
}
