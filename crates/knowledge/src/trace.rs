//! Defines the typed events of a run, which all methods share.

mod parts;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use self::parts::{Consulted, FactRead, MappedTag};
use crate::class::TaskClass;
use crate::facts::{
    LeftOut, Note, PlanStep, Reason, Recollection, Statement, TabulatedRow, UnreadableReply,
    one_or_many,
};
use crate::id::{AtomId, ChunkId, VerifiedId};
use crate::ports::Role;
use crate::tables::RecordQuery;
use crate::worked::{Coverage, Forecast};

/// The path that found a candidate (PIKE-RAG Fig. 11; hop retrieval is ours).
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Via {
    /// Path (b): proposal → atoms → their chunks.
    Atoms,
    /// Path (a): query → chunks.
    Chunks,
    /// Hop retrieval: links and names.
    Hops,
    /// The entity graph: entities → the chunks that mention them.
    Graph,
    /// The tree: summaries and chunks in one search.
    Tree,
    /// The question's tags: chunks with these tags or their words.
    Tags,
    /// Verified answers to similar questions: the chunks that they cite.
    Verified,
    /// The backup: the question itself on atoms.
    BackupAtoms,
    /// The backup: the question itself on chunks.
    BackupChunks,
}

/// An item that a selector may choose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Candidate {
    /// The atom, if an atom was found.
    #[schema(required)]
    pub atom: Option<AtomId>,
    /// Its displayed text: the atom's text, or the chunk's first words.
    pub text: String,
    /// The chunk it leads to.
    pub chunk: ChunkId,
    /// The chunk's title, with the headings above it.
    pub title: String,
    /// The path that found it.
    pub via: Via,
    /// The proposal that found it.
    pub proposal: String,
    /// Its score on that path: a cosine for atoms, else the path's own scale.
    pub score: f32,
    /// The components of the score; may be empty.
    pub parts: BTreeMap<String, f32>,
}

/// Why a loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The proposer had no further question.
    NothingProposed,
    /// Retrieval, backups included, found nothing new.
    NothingFound,
    /// The selector chose none: the context is sufficient.
    NothingSelected,
    /// The selector chose none, though the context is insufficient: no candidate would help.
    NoneHelps,
    /// The limit of hops was reached.
    HopLimit,
    /// A reply stayed unreadable after a retry.
    Unreadable,
}

/// The criterion of a judgement.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Criterion {
    /// The model knows the answer by itself (RA-ISF §3.3, SKR).
    Known,
    /// The question is clear and complete (Think-then-Act).
    Clear,
    /// Retrieval would help (Self-RAG).
    NeedsRetrieval,
    /// A passage is about the question (RA-ISF §3.3, Self-RAG).
    Relevant,
    /// A passage supports a statement (Self-RAG).
    Supported,
    /// An answer is useful (Self-RAG).
    Useful,
    /// The knowledge of a step is enough to reason on (CRP-RAG §3.4).
    Sufficient,
    /// The model is certain of its statement (`ProbTree`, REPLUG).
    Confident,
    /// A thought leads towards the answer (tree of thoughts).
    Promising,
    /// An answer agrees with what was retrieved (`SearChain`).
    Consistent,
}

/// The source of a judgement.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum JudgedBy {
    /// The log-probabilities of the reply's tokens.
    LogProbabilities,
    /// The model's own grade, if a setting allows it instead of log-probabilities.
    SelfAssessment,
    /// The model's verdict in words.
    Verdict,
    /// The nearest labelled questions (SKR).
    Neighbours,
}

/// Who classified a question.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ClassifiedBy {
    /// Rules over its words and the base's content.
    Rules,
    /// A model that saw both.
    Model,
    /// The caller.
    Asker,
    /// A person, who accepted an answer to the same or a similar question.
    Verified,
}

/// One step of a method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case", tag = "event")]
pub enum Event {
    /// The first event of every run.
    Began {
        /// The method's displayed name.
        method: String,
        /// The question, word for word.
        question: String,
    },
    /// Sub-questions were proposed (Algorithm 1, line 3).
    Proposed {
        /// The hop, from 1.
        hop: usize,
        /// The model's own words; empty without one.
        thinking: String,
        /// The proposals, in order.
        proposals: Vec<String>,
    },
    /// Candidates were retrieved (line 4).
    Retrieved {
        /// The hop, from 1.
        hop: usize,
        /// The candidates, in the order that the selector saw.
        candidates: Vec<Candidate>,
    },
    /// One candidate was chosen and its chunk added (lines 5, 10, 11).
    Selected {
        /// The hop, from 1.
        hop: usize,
        /// The model's own words; empty without one.
        thinking: String,
        /// Place in the list of candidates, from 0.
        index: usize,
        /// The chunk added to the context.
        chunk: ChunkId,
        /// Its title, with the headings above it.
        title: String,
    },
    /// The loop ended (lines 6 to 8, or the limit).
    Stopped {
        /// The hop it ended in, from 1.
        hop: usize,
        /// The reason: missing input, or the limit.
        reason: StopReason,
    },
    /// A reply could not be read; the step continued as if it were "none".
    Unreadable {
        /// The role whose reply it was.
        role: Role,
        /// The fault of the reply.
        reason: Statement<UnreadableReply>,
    },
    /// Chunks were retrieved at once, without a loop.
    Gathered {
        /// The chunks as candidates, best first.
        candidates: Vec<Candidate>,
    },
    /// A model read passages, and listed facts from them.
    #[serde(rename = "looked")]
    RoundRead {
        /// The number of the reading round, from 1.
        look: usize,
        /// The model's own words; may be empty.
        thinking: String,
        /// All facts so far that the answer uses, in the order they were found.
        facts: Vec<FactRead>,
        /// The current answer; empty if there is none.
        answer: String,
    },
    /// A step of reasoning was written: a thought, a sentence of a rationale, a draft.
    Thought {
        /// The round, from 1.
        step: usize,
        /// The model's own words, shown to people and to later prompts.
        text: String,
    },
    /// A sub-question was taken up.
    Asked {
        /// The depth below the question, which is at 0.
        depth: usize,
        /// The sub-question.
        question: String,
    },
    /// A sub-question was answered.
    Resolved {
        /// The depth below the question.
        depth: usize,
        /// The sub-question.
        question: String,
        /// Its answer.
        answer: String,
    },
    /// A yes or no that decides how the method continues.
    Judged {
        /// The criterion: sufficiency, relevance, support, …
        criterion: Criterion,
        /// The judged item: a question, a passage's title, a step.
        of: String,
        /// Whether it holds.
        holds: bool,
        /// The degree on the criterion's scale, if there is one.
        #[schema(required)]
        score: Option<f64>,
        /// The source of the verdict.
        by: JudgedBy,
    },
    /// A node joined the reasoning graph, tree or chain.
    Node {
        /// Its number, from 0.
        node: usize,
        /// The nodes that it follows; none for a source.
        after: Vec<usize>,
        /// The step.
        text: String,
    },
    /// Steps were merged into one that inherits their predecessors (CRP-RAG eq. 6).
    Merged {
        /// The merged steps.
        steps: Vec<String>,
        /// The step that replaces them.
        into: String,
    },
    /// Reasoning followed a path from a source to a sink.
    Path {
        /// Its nodes, in order.
        nodes: Vec<usize>,
        /// The result.
        answer: String,
    },
    /// Distilled nodes were consulted: entities, reports, summaries.
    Consulted {
        /// The nodes, best first.
        nodes: Vec<Consulted>,
    },
    /// The question's tags were found and mapped to those of the documents (PIKE-RAG Fig. 7).
    Tagged {
        /// The tags, in the order found.
        tags: Vec<MappedTag>,
        /// The words to search for in place of the question; the question itself if it was not
        /// rewritten.
        query: String,
        /// Additional search words.
        keywords: Vec<String>,
    },
    /// The question was classified (PIKE-RAG §3.2).
    Classified {
        /// The class.
        class: TaskClass,
        /// Who classified it.
        by: ClassifiedBy,
        /// The reasons: its words, and the base's content.
        reasons: Vec<Statement<Reason>>,
    },
    /// The steps of retrieval and reasoning were planned; they are planned again after each step
    /// (PIKE-RAG §4.1).
    Planned {
        /// The round, from 1.
        round: usize,
        /// The reasons: those for the class, or the failure of the round before. May be empty.
        #[serde(deserialize_with = "one_or_many")]
        because: Vec<Statement<Reason>>,
        /// The steps, in order.
        steps: Vec<Statement<PlanStep>>,
    },
    /// An earlier judgment of an answer to this or a similar question was found (PIKE-RAG §4.1).
    Recalled {
        /// The judgment.
        verified: VerifiedId,
        /// Its question.
        question: String,
        /// Its author.
        by: String,
        /// Whether the run reuses it, and why, or why not.
        because: Statement<Recollection>,
    },
    /// Records were gathered under a schema (PIKE-RAG §5.4, knowledge structuring).
    Structured {
        /// Its name.
        schema: String,
        /// Whether it is declared in the settings; else it was derived for this question: from the
        /// columns of tables, or from passages if the coverage counts them.
        is_declared: bool,
        /// Their number, and the documents without any.
        coverage: Coverage,
    },
    /// A query over records was computed.
    Tabulated {
        /// The query.
        query: RecordQuery,
        /// Things that fulfil all conditions.
        matched: usize,
        /// The groups with their figures, the first ones.
        rows: Vec<Statement<TabulatedRow>>,
    },
    /// A plan over typed tables was run.
    Queried {
        /// The names of the tables.
        tables: Vec<String>,
        /// The statements, with the names that `pikerag sql` knows.
        sql: Vec<String>,
        /// Rows that fulfil the conditions.
        matched: u64,
        /// Words of the question that the plan does not use.
        unused: Vec<String>,
    },
    /// A series was forecast.
    #[serde(rename = "foretold")]
    SeriesForecast {
        /// The series and its forecast.
        forecast: Forecast,
    },
    /// The passages were put in reading order (PIKE-RAG §4.2, knowledge organization).
    Organized {
        /// Chunks that were given.
        given: usize,
        /// Chunks that are read, in order.
        kept: usize,
        /// Why the others are left out, with their number.
        left_out: Vec<(LeftOut, usize)>,
    },
    /// The answer was written (line 14).
    Answered {
        /// The answer.
        answer: String,
    },
    /// A model filled a schema of the caller from the answer. Its calls are those of this event, which
    /// comes after the end of the run, and which a replay leaves out.
    Filled {
        /// The name of the schema; empty if it has none.
        schema: String,
        /// Whether the answer gives the values.
        is_filled: bool,
    },
    /// Something the reader should know.
    Noted {
        /// The note.
        note: Statement<Note>,
    },
}
