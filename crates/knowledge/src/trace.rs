//! What happened on the way to an answer? Typed events: the common language of all methods.

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
    /// The question's tags: chunks that bear them or hold their words.
    Tags,
    /// Verified answers to questions much like it: the chunks that they rest on.
    Verified,
    /// The backup: the question itself on atoms.
    BackupAtoms,
    /// The backup: the question itself on chunks.
    BackupChunks,
}

/// Something a selector may choose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Candidate {
    /// The atom, where an atom was found.
    #[schema(required)]
    pub atom: Option<AtomId>,
    /// What is shown of it: the atom's text, or the chunk's first words.
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
    /// How the score came about, part by part; may be empty.
    pub parts: BTreeMap<String, f32>,
}

/// Why a loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The proposer had nothing more to ask.
    NothingProposed,
    /// Retrieval, backups included, found nothing new.
    NothingFound,
    /// The selector chose none: the context tells enough.
    NothingSelected,
    /// The selector chose none, though the context does not tell enough: no candidate would help.
    NoneHelps,
    /// The limit of hops was reached.
    HopLimit,
    /// A reply stayed unreadable after it was asked for again.
    Unreadable,
}

/// What a judgement is about.
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
    /// A statement is borne out by its passage (Self-RAG).
    Supported,
    /// An answer is of use to the asker (Self-RAG).
    Useful,
    /// The knowledge of a step is enough to reason on (CRP-RAG §3.4).
    Sufficient,
    /// The model is sure of what it says (`ProbTree`, REPLUG).
    Confident,
    /// A thought leads towards the answer (tree of thoughts).
    Promising,
    /// An answer agrees with what was retrieved (`SearChain`).
    Consistent,
}

/// How a judgement was come by.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum JudgedBy {
    /// The log-probabilities of the reply's tokens.
    LogProbabilities,
    /// The model's own grade, where a setting says so in place of log-probabilities.
    SelfAssessment,
    /// The model's verdict in words.
    Verdict,
    /// The nearest labelled questions (SKR).
    Neighbours,
}

/// Who told the class of a question?
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ClassifiedBy {
    /// Rules over its words and over what the base offers.
    Rules,
    /// A model that saw both.
    Model,
    /// Whoever asked.
    Asker,
    /// A person, who accepted an answer to the same question or to one much like it.
    Verified,
}

/// One step of a method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case", tag = "event")]
pub enum Event {
    /// The first event of every run.
    Began {
        /// The method as it is shown.
        method: String,
        /// What is asked, word for word.
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
        /// What ended it: what was missing, or the limit.
        reason: StopReason,
    },
    /// A reply could not be read; the step went on as if it had said "none".
    Unreadable {
        /// The role whose reply it was.
        role: Role,
        /// What was wrong with it.
        reason: Statement<UnreadableReply>,
    },
    /// Chunks were taken in one go, without a loop.
    Gathered {
        /// The chunks as candidates, best first.
        candidates: Vec<Candidate>,
    },
    /// A model looked at passages, and said what it reads off them.
    Looked {
        /// Which look, from 1.
        look: usize,
        /// The model's own words; may be empty.
        thinking: String,
        /// All facts so far that the answer rests on, in the order they were found.
        facts: Vec<FactRead>,
        /// The answer as it would be now; empty where there is none.
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
        /// How deep below the question, which is at 0.
        depth: usize,
        /// The sub-question.
        question: String,
    },
    /// A sub-question was answered.
    Resolved {
        /// How deep below the question.
        depth: usize,
        /// The sub-question.
        question: String,
        /// Its answer.
        answer: String,
    },
    /// A yes or no that decides how the method goes on.
    Judged {
        /// What was judged: sufficiency, relevance, support, …
        criterion: Criterion,
        /// What was judged: a question, a passage's title, a step.
        of: String,
        /// Whether it holds.
        holds: bool,
        /// How far, on the criterion's scale, where there is one.
        #[schema(required)]
        score: Option<f64>,
        /// How that was come by.
        by: JudgedBy,
    },
    /// A node joined the reasoning graph, tree or chain.
    Node {
        /// Its number, from 0.
        node: usize,
        /// The nodes that it follows; none for a source.
        after: Vec<usize>,
        /// The step that it stands for.
        text: String,
    },
    /// Steps were merged into one that inherits what they follow (CRP-RAG eq. 6).
    Merged {
        /// The steps that went.
        steps: Vec<String>,
        /// The step that stands for them.
        into: String,
    },
    /// A path was reasoned along from a source to a sink.
    Path {
        /// Its nodes, in order.
        nodes: Vec<usize>,
        /// What came of it.
        answer: String,
    },
    /// Distilled nodes were looked at: entities, reports, summaries.
    Consulted {
        /// The nodes, best first.
        nodes: Vec<Consulted>,
    },
    /// The question's tags were found and mapped to those of the documents (PIKE-RAG Fig. 7).
    Tagged {
        /// The tags, in the order found.
        tags: Vec<MappedTag>,
        /// What is searched for in place of the question; the question itself where it was not
        /// rewritten.
        query: String,
        /// Words searched for besides.
        keywords: Vec<String>,
    },
    /// The question was told to be of a class (PIKE-RAG §3.2).
    Classified {
        /// The class.
        class: TaskClass,
        /// Who said so.
        by: ClassifiedBy,
        /// Why: what its words say, and what the base offers.
        reasons: Vec<Statement<Reason>>,
    },
    /// What is to be retrieved, and how it is to be reasoned on; made anew after each step (PIKE-RAG §4.1).
    Planned {
        /// The round, from 1.
        round: usize,
        /// Why it is planned so: the reasons for the class, or the failure of the round before. May be empty.
        #[serde(deserialize_with = "one_or_many")]
        because: Vec<Statement<Reason>>,
        /// The steps, in order.
        steps: Vec<Statement<PlanStep>>,
    },
    /// What somebody said of an answer to this question before, or to one much like it (PIKE-RAG §4.1).
    Recalled {
        /// What was said.
        verified: VerifiedId,
        /// Of which question.
        question: String,
        /// Who said it.
        by: String,
        /// Whether the run reuses it, and why, or why not.
        because: Statement<Recollection>,
    },
    /// Records were gathered under a schema (PIKE-RAG §5.4, knowledge structuring).
    Structured {
        /// Its name.
        schema: String,
        /// Whether it stands in the settings; else it was told from the columns of tables for this question.
        is_declared: bool,
        /// How many there are, and what holds none.
        coverage: Coverage,
    },
    /// A query was worked out over records.
    Tabulated {
        /// What was asked of them.
        query: RecordQuery,
        /// Things that fulfil all conditions.
        matched: usize,
        /// The groups with their figures, the first ones.
        rows: Vec<Statement<TabulatedRow>>,
    },
    /// A plan was worked out over typed tables.
    Queried {
        /// What the tables are called.
        tables: Vec<String>,
        /// The statements, with the names that `pikerag sql` knows.
        sql: Vec<String>,
        /// Rows that fulfil the conditions.
        matched: u64,
        /// Words of the question that had no part in it.
        unused: Vec<String>,
    },
    /// A series was carried on.
    Foretold {
        /// The series, and what is expected.
        forecast: Forecast,
    },
    /// What was found was put in order for reading (PIKE-RAG §4.2, knowledge organization).
    Organized {
        /// Chunks that were given.
        given: usize,
        /// Those that are read, in order.
        kept: usize,
        /// Why the others are not, with how many.
        left_out: Vec<(LeftOut, usize)>,
    },
    /// The answer was written (line 14).
    Answered {
        /// The answer.
        answer: String,
    },
    /// Something the reader should know.
    Noted {
        /// The note.
        note: Statement<Note>,
    },
}
