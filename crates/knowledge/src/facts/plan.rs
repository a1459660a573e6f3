//! The steps of a plan, and the use of a verified answer (PIKE-RAG §4.1).

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::class::TaskClass;

/// What a step of a plan with several questions does.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    ToSchema,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantNames,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum StepKind {
    /// Reads facts, also over several documents.
    Read,
    /// Computes a figure, a ranking or a list; structures records first where there are none.
    Compute,
    /// Compares named things.
    Compare,
    /// Summarizes what documents say.
    Summarize,
    /// Forecasts from the past.
    Forecast,
    /// Lets agents find ideas.
    Think,
}

impl StepKind {
    /// The class of question that such a step answers.
    pub fn class(self) -> TaskClass {
        match self {
            Self::Read => TaskClass::Bridging,
            Self::Compute => TaskClass::Quantitative,
            Self::Compare => TaskClass::Comparative,
            Self::Summarize => TaskClass::Summarizing,
            Self::Forecast => TaskClass::Predictive,
            Self::Think => TaskClass::Creative,
        }
    }
}

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
    /// If no records match, derive their schema from the question, and read passages as records.
    StructurePassages,
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
    /// Find passages on the past, on causes, and on doubts.
    FindPastAndCauses,
    /// Weigh the evidence for and against.
    WeighEvidence,
    /// Check each quote; a verdict without checked evidence becomes uncertain.
    CheckEvidence,
    /// Choose perspectives.
    ChoosePerspectives,
    /// Let one agent per perspective search and think, all at once.
    RunAgents,
    /// Let the agents judge each other's ideas.
    JudgeIdeas,
    /// Merge the ideas, with their evidence and their gaps.
    MergeIdeas,
    /// Answer a question of the plan; `{a}` in it stands for the result of the step `a`.
    AnswerPart { name: String, kind: StepKind, question: String },
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
