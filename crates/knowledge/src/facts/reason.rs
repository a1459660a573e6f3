//! Why a question has its class, and why a plan for it failed (PIKE-RAG §3.2, §4.1).

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::class::{Level, TaskClass};
use crate::tables::By;

/// A reason for a class or a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case", tag = "reason")]
#[expect(missing_docs, reason = "a field means what its variant's sentence says of it")]
pub enum Reason {
    /// The question asks for new ideas.
    AsksForIdeas,
    /// The question compares the things that it names.
    ComparesNamed { things: Vec<String> },
    /// The question asks about the future.
    AsksAboutFuture,
    /// The records of a schema already cover the period.
    RecordsCoverPeriod { schema: String },
    /// The records of `count` things, the latest of day `last`, allow a forecast.
    RecordsAllowForecast {
        count: usize,
        schema: String,
        #[schema(required)]
        last: Option<String>,
    },
    /// The question asks for a judgement of a development.
    AsksForJudgement,
    /// The question asks what a document or a person states about the future.
    AsksWhatIsStated,
    /// No records match the question and allow a forecast.
    NoRecordsForForecast,
    /// One document lists the answer as records of a schema.
    OneDocumentLists { schema: String },
    /// The question asks for a list.
    AsksForList,
    /// The question asks for a figure.
    AsksForFigure,
    /// The answer must be computed from the records of `count` things.
    NeedsCalculation { count: usize, schema: String },
    /// The question asks for a summary.
    AsksForSummary,
    /// The question contains words of comparison.
    Compares,
    /// No record of a schema contains these words of the question.
    WordsNotInRecords { schema: String, words: Vec<String> },
    /// The question names one thing by its relation to another.
    IsChain,
    /// No single passage contains most of the words of the question.
    IsScattered,
    /// The best passage contains this share of the words of the question, in percent.
    BestPassageCovers { percent: f64 },
    /// The question asks for something that the documents may state.
    AsksForFact,
    /// The caller set the class.
    ClassRequested,
    /// The caller set the level.
    LevelRequested { level: Level },
    /// The question is of a class that only systems from level `needs` on answer, and the caller set `level`.
    AboveLevel { class: TaskClass, level: Level, needs: Level },
    /// The answer combines steps of several kinds.
    CombinesSteps,
    /// A step of the plan gave this result.
    StepGave { name: String, result: String },
    /// A step of the plan gave no answer.
    StepGaveNothing { name: String },
    /// An agent asks: ideas are no answer for it.
    AgentAsks,
    /// A person verified an answer to this question under this class.
    VerifiedSameQuestion { by: String },
    /// A person verified an answer to a similar question of this class.
    VerifiedSimilarQuestion { question: String },
    /// The base's data that a model saw: records by schema, documents of the best passages, the
    /// largest share of the question's words that one passage contains, in percent, and titles.
    BaseOffers { records: Vec<OfferedRecords>, documents: usize, percent: f64, titles: Vec<String> },
    /// The base has no matching records.
    NoMatchingRecords,
    /// No record contains the answer.
    RecordsLackAnswer,
    /// None of the passages that were read reports such a thing, or too few report what tells one
    /// from another.
    PassagesLackRecords { schema: String, read: usize },
    /// No record of a schema mentions these words.
    RecordsDoNotMention { schema: String, words: Vec<String> },
    /// These tables answer the question.
    TablesAnswer { tables: Vec<String> },
    /// A table fits the question, and these words of it were not understood; the names of its columns, and how the question
    /// reads without these words.
    TableUnclear {
        table: String,
        columns: Vec<String>,
        words: Vec<String>,
        /// Absent in runs of earlier versions.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        readings: Vec<String>,
        /// For each reading, the `SELECT` that gives its result.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        statements: Vec<String>,
    },
    /// The question asks about all rows of a table, but the answer was read from some of them.
    TableExcerpt {
        table: String,
        columns: Vec<String>,
        /// The number of rows read, and of rows of the table in that document.
        read: u64,
        rows: u64,
        readings: Vec<String>,
        /// For each reading, the `SELECT` that gives its result.
        statements: Vec<String>,
    },
    /// The possible meanings of the question over the tables; none was chosen.
    TableUndecided {
        readings: Vec<String>,
        /// For each reading, the `SELECT` that gives its result. Absent in runs of earlier versions.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        statements: Vec<String>,
    },
    /// The best passage contains too small a share of the words of the question, in percent.
    TooLittleCovered { percent: f64 },
    /// The question does not name two things.
    NotTwoThings,
    /// The search found nothing about the compared things.
    NothingToCompare,
    /// The table that a model wrote could not be read.
    TableUnreadable,
    /// The documents describe fewer than two of the things.
    FewerThanTwoDescribed,
    /// No part of the passages could be summarized.
    NoPartSummarized,
    /// The search found nothing to summarize.
    NothingToSummarize,
    /// The passages contain no sentences.
    NoSentences,
    /// No agent found an idea.
    NoIdeas,
    /// Ideas need a language model, and none is set.
    IdeasNeedModel,
    /// A judgement of a development needs a language model, none is set, and no passage can be
    /// quoted.
    JudgementNeedsModel,
    /// The search found no passage that a judgement could use.
    NothingToJudge,
    /// A forecast needs matching records with dates, and the base has none.
    ForecastNeedsRecords,
    /// No matching record has a date in the field.
    NoDates { field: String },
    /// The figures have different units.
    MixedUnits,
    /// The dates in the field are too far apart for one series.
    DatesTooFarApart { field: String },
    /// A forecast needs figures of at least `least` periods, and the records have `known`.
    TooFewPeriods { least: usize, known: usize, period: By },
    /// Of `periods` periods from the first to the last, `missing` have no figure.
    SeriesHasGaps { periods: usize, missing: usize },
    /// The requested period is `steps` periods after the last record, and `farthest` is the limit.
    TooFarAhead { last: String, steps: usize, farthest: usize },
    /// Shares need at least `least` cases, and the records have `known`.
    TooFewCases { least: usize, known: usize },
}

/// The records of one schema that a base offers for a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OfferedRecords {
    /// The name of the schema.
    pub schema: String,
    /// How many things they describe.
    pub count: usize,
    /// The first and the last date, if the question is about dates.
    #[schema(required)]
    pub dates: Option<(String, String)>,
}
