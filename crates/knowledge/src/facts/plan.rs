//! The steps of a plan, and the use of a verified answer (PIKE-RAG §4.1).

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// One step of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case", tag = "step")]
#[expect(missing_docs, reason = "a field means what its variant's sentence says of it")]
pub enum PlanStep {
    /// Find the passages that match best.
    FindPassages,
    /// Read them, search for missing facts, read again.
    ReadAndSearch,
    /// Quote the sentences that match best.
    QuoteSentences,
    /// Find what the documents say about each compared thing.
    FindEachThing,
    /// Align it by attribute, each cell with its source.
    AlignByAttribute,
    /// Draw the conclusion from the table.
    ConcludeFromTable,
    /// Find records: declared ones first, then tables.
    FindRecords,
    /// Gather all records of a schema.
    GatherRecords { schema: String },
    /// Compute the figure with the query engine.
    ComputeFigure,
    /// Cite each record behind it.
    CiteRecords,
    /// Take the named documents, or all matching passages.
    TakeDocuments,
    /// Summarize each part, then all parts together.
    SummarizeParts,
    /// Sort the records by time.
    SortByTime,
    /// Test each model on the past, and forecast with the best one.
    ForecastSeries,
    /// Choose perspectives.
    ChoosePerspectives,
    /// Let one agent per perspective search and think, all at once.
    RunAgents,
    /// Let the agents judge each other's ideas.
    JudgeIdeas,
    /// Merge the ideas, with their evidence and their gaps.
    MergeIdeas,
}

/// Whether a run reuses a verified answer, and why, or why not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case", tag = "recollection")]
#[expect(missing_docs, reason = "a field means what its variant's sentence says of it")]
pub enum Recollection {
    /// The documents have nothing new: the run gives the verified answer.
    Reused,
    /// A person rejected that answer.
    Rejected,
    /// The passages behind the answer have changed.
    EvidenceChanged { titles: Vec<String> },
    /// Some of the best passages are new since then.
    NewPassages { count: usize },
    /// The answer was computed from records, and the run computes it again.
    ComputedAgain,
    /// The caller set a class.
    ClassRequested,
    /// Records answer the question without a model call.
    RecordsAnswer,
}
