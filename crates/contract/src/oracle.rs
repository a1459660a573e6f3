//! Implements the ports with lists in memory and computes every answer by its definition: the
//! reference for real stores.

mod admitted;
mod corpus;
mod data;
mod derived;
mod graph;
mod jobs;
mod links;
mod progress;
mod record;
mod refusals;
mod search;
mod structured;
mod tags;
mod texts;
mod verified;
mod write;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use async_trait::async_trait;
use pikerag_knowledge::{
    Atom, CallRecord, Chunk, ChunkId, Community, CommunityId, DocumentGraph, Extraction,
    FileRecord, Filter, FoundTag, JobFile, JobPart, JobRecord, KeptSchema, KnowledgeBase, NameKey,
    NodeId, ReadPassage, Record, Refusal, RunEvent, RunId, RunRecord, SampleKey, SchemaHash,
    Snapshots, Source, SourceId, StoreError, Structure, Summary, SummaryId, TagClass, TagPair,
    Vector, VectorSet, Verified, VerifiedId,
};

/// A base in memory; clones share it.
#[derive(Clone, Default)]
pub struct Oracle(Arc<Mutex<State>>);

/// The whole content of a base.
#[derive(Clone, Default)]
struct State {
    files: BTreeMap<String, FileRecord>,
    documents: BTreeMap<SourceId, Document>,
    /// Increases with every change of documents.
    generation: u64,
    atoms: BTreeMap<ChunkId, Vec<Atom>>,
    records: Vec<HeldRecord>,
    /// Finished work by stage and chunk.
    done: BTreeSet<(String, ChunkId)>,
    extractions: BTreeMap<ChunkId, Extraction>,
    descriptions: BTreeMap<NodeId, String>,
    communities: BTreeMap<CommunityId, Community>,
    summaries: BTreeMap<SummaryId, Summary>,
    vectors: BTreeMap<(VectorSet, NodeId), (String, Vector)>,
    classes: Vec<HeldClass>,
    tags: BTreeMap<ChunkId, Vec<FoundTag>>,
    pairs: BTreeMap<(NameKey, NameKey), HeldPair>,
    wanted: BTreeMap<Structure, String>,
    /// By stage and node.
    refusals: BTreeMap<(String, NodeId), Refusal>,
    calls: BTreeMap<String, CallRecord>,
    /// The holder of each call, by the call's key.
    claims: BTreeMap<String, u64>,
    /// Holders that have released a call since calls were last claimed.
    released: BTreeSet<(u64, String)>,
    /// The generation when each chunk appeared or was last summarized.
    born: BTreeMap<ChunkId, u64>,
    /// People's judgments, each with the generation at that time.
    verified: BTreeMap<VerifiedId, (Verified, u64)>,
    /// Schemas that questions derived, by hash.
    structured: BTreeMap<u64, HeldSchema>,
    /// Each run with its events by number.
    runs: BTreeMap<RunId, (RunRecord, BTreeMap<u32, RunEvent>)>,
    /// By number, each with its files by name.
    jobs: BTreeMap<u64, (JobRecord, BTreeMap<String, JobFile>)>,
    /// The last number of a job.
    last_job: u64,
    /// The leases on jobs, by fence.
    leases: BTreeMap<u64, HeldLease>,
    /// The last fence.
    last_fence: u64,
    /// The base that determines how rare words are; `None` unless a filter shows a part.
    whole: Option<Arc<State>>,
}

/// A document with the file that it came from.
#[derive(Clone)]
struct Document {
    file: String,
    graph: DocumentGraph,
}

/// A lease on a part of a job.
#[derive(Clone)]
struct HeldLease {
    /// `None` holds all jobs.
    of: Option<(u64, JobPart)>,
    /// The names of its files.
    files: BTreeSet<String>,
    until: Instant,
}

/// A record in the order of its chunk; its span is relative to the chunk's beginning.
#[derive(Clone)]
struct HeldRecord {
    declared: SchemaHash,
    ordinal: usize,
    record: Record,
}

/// A schema that a question derived, with its passages.
#[derive(Clone)]
struct HeldSchema {
    kept: KeptSchema,
    basis: BTreeSet<ChunkId>,
    read: BTreeMap<ChunkId, ReadPassage>,
}

#[derive(Clone)]
struct HeldClass {
    key: NameKey,
    class: TagClass,
    is_dropped: bool,
}

#[derive(Clone)]
struct HeldPair {
    pair: TagPair,
    samples: BTreeSet<SampleKey>,
}

impl Oracle {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Every chunk with its document, by document and position.
    fn chunks(&self) -> impl Iterator<Item = &Chunk> {
        self.documents.values().flat_map(|document| &document.graph.chunks)
    }

    fn chunk(&self, id: ChunkId) -> Option<&Chunk> {
        self.chunks().find(|chunk| chunk.id == id)
    }

    fn source(&self, id: SourceId) -> Option<&Source> {
        self.documents.get(&id).map(|document| &document.graph.source)
    }

    /// The order in which mentions are read.
    fn reading_order(&self, chunk: ChunkId) -> (String, u32, ChunkId) {
        self.chunk(chunk)
            .map_or((String::new(), 0, chunk), |held| (held.uri.clone(), held.ordinal, chunk))
    }
}

#[async_trait]
impl Snapshots for Oracle {
    async fn snapshot(
        &self,
        visible: &Filter,
        filter: &Filter,
    ) -> Result<Arc<dyn KnowledgeBase>, StoreError> {
        let state = self.state().visible(visible).admitted(filter)?;
        Ok(Arc::new(Self(Arc::new(Mutex::new(state)))))
    }
}
