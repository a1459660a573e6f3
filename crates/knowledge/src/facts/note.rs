//! Notes of a run, and faults of replies that could not be read.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Likelihood;
use crate::distilled::Structure;
use crate::ideas::IdeaScores;

/// Something that the reader of a run should know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case", tag = "note")]
#[expect(missing_docs, reason = "a field means what its variant's sentence says of it")]
pub enum Note {
    /// The answer quotes its evidence.
    QuotesEvidence { because: Quoting },
    /// No passage matches well, so the answer quotes the nearest ones; `fit` is the score of the best.
    NothingToQuote { because: Quoting, fit: f64 },
    /// Without a language model, the summary consists of the most central sentences.
    SummaryQuotes,
    /// The summary covers the passages with a tag.
    SummarizesTag { tag: String, passages: usize },
    /// The summary covers these documents.
    SummarizesDocuments { titles: Vec<String> },
    /// The run reads only the first passages, up to the limit.
    ReadsFirstPassages { limit: usize },
    /// The model is slow: it reads the best sentences of `passages` of `of` passages, at most
    /// `tokens` tokens.
    ContextCut { passages: usize, of: usize, tokens: u64 },
    /// Some of the parts could not be summarized.
    PartsNotSummarized { unread: usize, parts: usize },
    /// The budget allows only this number of agents.
    FewerAgents { agents: usize },
    /// An agent failed.
    AgentFailed { name: String, error: String },
    /// The coordinator failed: the judgements alone rank the ideas.
    CoordinatorFailed { error: String },
    /// The budget or the record of the run has no questions of this agent.
    QuestionsSkipped { name: String },
    /// The ideas after a round of critique, best first.
    Critiqued { round: usize, ranking: Vec<JudgedIdea> },
    /// An agent answered the objections to its ideas, which are named by their titles.
    IdeasRevised { name: String, changed: Vec<String>, defended: Vec<String>, dropped: Vec<String> },
    /// No agent revised an idea, so this round of critique is left out.
    NothingRevised { round: usize },
    /// The perspectives of the agents.
    Perspectives { names: Vec<String> },
    /// The model's wording names figures that no step gave; the results of the steps are listed instead.
    WordingDropped { figures: Vec<String> },
    /// The documents do not contain the quotes of `unchecked` of `given` arguments, which are left
    /// out.
    EvidenceUnchecked { unchecked: usize, given: usize },
    /// No checked evidence supports the model's verdict, so it became uncertain.
    VerdictUnsupported { verdict: Likelihood },
    /// The records reach to this period, so the run counts and does not forecast.
    CountedNotForecast { last: String },
    /// A model derived this schema from the question: its fields with their types, and its key.
    DerivesSchema { schema: String, fields: Vec<String>, key: Vec<String> },
    /// An earlier question derived this schema, in the run of this name.
    ReusesSchema { schema: String, run: String },
    /// These values of a field mean the same; the first one represents them.
    TakesAsSame { field: String, values: Vec<String> },
    /// These words of the question had no part in the query over the tables.
    WordsUnused { words: Vec<String> },
    /// How the rules and the model read the question over the tables.
    ReadingsDiffer { rules: String, model: String },
    /// The model read the question over the tables so, and then rejected this reading: passages are
    /// read instead.
    ReadingRejected { model: String },
    /// No relevant passage gave an answer: the model answers from memory.
    AnswersFromMemory,
    /// The score of the answer from a passage.
    PassageScored { title: String, score: f64 },
    /// The weight of an answer.
    AnswerWeighed { answer: String, weight: f64 },
    /// The search found nothing to verify the answer to this query.
    NothingToVerify { query: String },
    /// The search found nothing to answer this query.
    NothingToComplete { query: String },
    /// The question was already split `times` times.
    SplitLimit { times: usize, question: String },
    /// Some sub-questions are left out, because `limit` were taken up.
    SubQuestionsLeftOut { left_out: usize, limit: usize },
    /// A sub-question got no answer.
    NotAnswered { question: String },
    /// The graph has reached its limit of steps; the rest is left out.
    GraphFull { steps: usize, left_out: usize },
    /// Below this perplexity, which was measured with this model, the knowledge is sufficient.
    SufficiencyThreshold { perplexity: f64 },
    /// The run follows only some of all paths.
    PathsLimited { followed: usize, paths: usize },
    /// The base has no atomic questions, which `kar3-paper` searches.
    NoAtomicQuestions,
    /// The base has no sentences, which `kar3-sentences` searches.
    NoSentences,
    /// The least similarity δ, calibrated on this base.
    Calibrated { delta: f64 },
    /// The structure does not help: the run falls back to plain retrieval.
    StructureUnhelpful { structure: Structure },
    /// The question contains no tags of the base.
    NoTags,
    /// No passage has these words of the question: similar or formal words of the documents are
    /// searched for.
    SpellingCorrected { words: Vec<Respelling> },
    /// No passage has these names of the question; the documents have similar ones, which are not
    /// searched for.
    NamesSuggested { words: Vec<Respelling> },
}

/// A word of a question that no passage has, and the documents' word for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Respelling {
    /// The word as the question has it.
    pub word: String,
    /// The documents' word.
    pub to: String,
}

/// An idea in a round of critique.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct JudgedIdea {
    /// Its title.
    pub title: String,
    /// The means of its judgements, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub scores: Option<IdeaScores>,
}

/// Why an answer quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Quoting {
    /// No language model was used.
    NoModel,
    /// The reply of the model could not be read.
    ReplyUnreadable,
    /// No sentence that was read has the words of the model's answer.
    AnswerUnsupported,
}

/// The fault of a reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case", tag = "fault")]
#[expect(missing_docs, reason = "a field means what its variant's sentence says of it")]
pub enum UnreadableReply {
    /// It is empty, or contains nothing but thoughts.
    Empty,
    /// It was cut off at the limit of tokens.
    CutOff { max_tokens: u32 },
    /// It contains no JSON object with any of these keys.
    NoObject { keys: String },
    /// A key is missing or has a wrong value; `expected` is the prompt's description of it.
    BadKey { key: String, expected: String },
    /// The model refused the request.
    Refused,
}
