//! What happened on the way to an answer? Typed events: the common language of all methods.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::graph::NodeKind;
use crate::id::{AtomId, ChunkId};
use crate::ports::{Role, Usage};

/// The path that found a candidate (PIKE-RAG Fig. 11; hop retrieval is ours).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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
    /// The backup: the question itself on atoms.
    BackupAtoms,
    /// The backup: the question itself on chunks.
    BackupChunks,
}

/// Something a selector may choose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// The atom, where an atom was found.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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

/// A distilled node that a method looked at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Consulted {
    /// Entity, community report or summary.
    pub kind: NodeKind,
    /// Its identifier, as the export has it.
    pub id: String,
    /// Its name or title, or its first words.
    pub title: String,
    /// How well it fits, on the search's own scale.
    pub score: f64,
}

/// A fact as a model read it off a passage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FactRead {
    /// The number that the passage has through all looks, from 1.
    pub passage: usize,
    /// The passage.
    pub chunk: ChunkId,
    /// Its title, with the headings above it.
    pub title: String,
    /// The fact in the model's words, which may be those of the passage.
    pub text: String,
    /// Whether these words, or a sentence that says as much, stand in the passage.
    pub stands: bool,
}

/// A tag of a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MappedTag {
    /// The tag as the question has it.
    pub tag: String,
    /// The name of its class; empty where nobody said.
    pub class: String,
    /// What the documents call it: words of tag pairs, or of tags that chunks bear. May be empty.
    pub to: Vec<String>,
}

/// One step of a method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
        reason: String,
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
    /// The answer was written (line 14).
    Answered {
        /// The answer.
        answer: String,
    },
    /// Something the reader should know.
    Noted {
        /// What a person should know, in one sentence.
        note: String,
    },
}

/// Calls and tokens by role; the same for a replayed run, whatever was really paid.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// By role: number of calls and what they used.
    pub by_role: BTreeMap<Role, (usize, Usage)>,
}

impl Spent {
    /// Adds one call.
    pub fn add(&mut self, role: Role, usage: Usage) {
        let (calls, used) = self.by_role.entry(role).or_default();
        *calls += 1;
        *used += usage;
    }

    /// Adds all of another account.
    pub fn merge(&mut self, other: &Self) {
        for (role, (calls, used)) in &other.by_role {
            let mine = self.by_role.entry(*role).or_default();
            mine.0 += calls;
            mine.1 += *used;
        }
    }

    /// Calls of all roles.
    pub fn calls(&self) -> usize {
        self.by_role.values().map(|(calls, _)| calls).sum()
    }

    /// Usage of all roles.
    pub fn usage(&self) -> Usage {
        let mut all = Usage::default();
        for (_, used) in self.by_role.values() {
            all += *used;
        }
        all
    }
}
