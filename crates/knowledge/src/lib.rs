//! Defines the types that all crates share: the three layers of the knowledge base (PIKE-RAG §3.1),
//! questions and answers, the typed trace, and the ports to models and storage. No IO.

pub mod answer;
pub mod class;
pub mod correction;
pub mod data;
pub mod distilled;
pub mod document;
mod edit;
mod error_chain;
pub mod facts;
pub mod filter;
pub mod graph;
mod hexadecimal;
pub mod id;
mod ideas;
pub mod names;
mod open_call;
pub mod ports;
mod problem;
pub mod records;
mod references;
pub mod run;
mod seeded;
mod spent;
mod structured;
pub mod tables;
pub mod tags;
pub mod telemetry;
mod time;
pub mod trace;
pub mod uri;
mod verified;
pub mod worked;

pub use answer::{
    Answer, AnswerForm, Check, Citation, Context, ContextChunk, Grade, Question, Quotes,
    ReplacedBy, WrittenBy,
};
pub use class::{Level, TaskClass, UnknownClass, UnknownLevel};
pub use correction::{Correction, Misfit};
pub use data::{
    Aggregate, Arithmetic, ColumnKind, ColumnRef, DataColumn, DataError, DataPart, DataTable,
    DataValue, GroupFilter, NumberRange, OrderBy, PlanRow, PlanRows, RowOrigin, SqlRows,
    TableFilter, TableGroup, TableJoin, TableMeasure, TableOrder, TablePlan, TableTerm, TableTest,
};
pub use distilled::{
    Child, Community, DescriptionsKey, Entity, EntityMention, Extraction, Generation,
    LongDescription, Outline, OutlineEntity, OutlineRelation, Relation, RelationMention, Report,
    Structure, Summary,
};
pub use document::{
    Area, Block, BlockKind, Chunking, Document, Image, Link, PageBox, Problem, Span, Table,
    named_row,
};
pub use error_chain::error_chain;
pub use facts::{
    LeftOut, Likelihood, Note, PlanStep, Quoting, Reason, Recollection, Respelling, Statement,
    StepKind,
};
pub use filter::{BadFilter, Comparison, Condition, Filter, FilterField};
pub use graph::{
    Atom, AtomKind, Chunk, ChunkKind, DocumentGraph, EdgeKind, LayerKind, NodeKind, Section, Source,
};
pub use hexadecimal::hex;
pub use id::{
    AtomId, ChunkId, CommunityId, EntityId, NodeId, RecordId, RelationId, RunId, SectionId,
    SourceId, SummaryId, TagClassId, TagId, VerifiedId,
};
pub use names::{NameKey, NameUse};
pub use open_call::{DraftPart, OpenCall};
pub use ports::{
    AmountCaps, Amounts, AtomQuery, Backlog, BaseState, BaseSummary, Bearer, BearerList,
    CallOrigin, CallRecord, CallRef, CapReply, CapRequest, ChangeJob, ChargeEnd, ChatModel,
    ChatModels, ChatReply, ChatRequest, ChunkLinks, ChunkList, ChunkResults, ChunkSet, ChunkTags,
    ChunksOf, Claim, CommunityReport, CorpusReader, CorpusWriter, CountedVectors, DataTables,
    DataWriter, Derived, DraftFields, DueJob, Embedder, ExtractBy, FileMark, FileRecord,
    FinishReason, FoundTag, GraphReader, GraphWriter, HeldLeases, InChunk, JobBill, JobFile,
    JobKind, JobPart, JobPriority, JobQuery, JobRecord, JobState, Jobs, Kept, Key, KeyCharge,
    KeyParams, KeyStore, KeyUse, KeyedClass, KeyedPair, KnowledgeBase, KnowledgeWriter, Lease,
    LeaseAfter, Ledger, LeftBehind, LinkKind, Message, ModelError, ModelTexts, NodeVector, Parted,
    PartedVectors, PartsLeft, Picodollars, Progress, PutReport, RateRequest, RecordsBy, RecordsOf,
    Refusal, RefusalCause, RefusalCount, RefusalWriter, Relevance, Reranker, Reserved, Role,
    RowPlace, RowReader, SampleKey, Schema, Scope, Scored, SearchIndex, SearchWriter, Share,
    SharedLimits, ShortDescription, SimilarTerm, Snapshots, SourceSummary, SqlLimits, Stage,
    StopLeases, StoreError, StructureChange, StructuredReader, StructuredWriter, TableShape,
    TagClasses, TagEdit, TagQuery, TagReader, TagWriter, TakeRequest, Taken, TakenJob, Taking,
    TextToEmbed, Timings, TokenLogprob, Usage, Vector, VectorSet, VerifiedReader, VerifiedWriter,
    Wanted, Which, cosine, files_of_part, mean_probability, nearest_atoms, nearest_chunks,
    next_part, pairs_from, put_back,
};
pub use problem::ProblemFact;
pub use records::{
    DeclaredSchema, Record, RecordField, RecordOrigin, RecordSchema, SchemaHash, Value,
};
pub use references::{Reference, ReferenceKind};
pub use run::{
    Account, Change, Changed, Cost, ForkPoint, Pruned, RunEvent, RunQuery, RunRecord, RunSink,
    RunState, RunStore, RunsToKeep, ScoredReply,
};
pub use seeded::Seeded;
pub use spent::Spent;
pub use structured::{KeptSchema, ReadPassage, Structured};
pub use tables::{QueryEngine, QueryError, RecordQuery};
pub use tags::{Origin, Tag, TagClass, TagCount, TagExample, TagPair};
pub use time::Millis;
pub use trace::{
    Candidate, ClassifiedBy, Consulted, Criterion, Event, FactRead, JudgedBy, MappedTag,
    StopReason, Via,
};
pub use uri::{document_uri, file_part, file_uri};
pub use verified::{Agreement, Ground, Judgement, KeptVerified, Recalled, Verified};
pub use worked::Worked;
