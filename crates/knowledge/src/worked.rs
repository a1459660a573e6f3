//! Defines the evidence behind an answer for people and programs: figures with their records, a
//! series and its forecast, a comparison table.

mod prospect;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::class::TaskClass;
use crate::document::Span;
use crate::facts::{Reason, StepKind};
use crate::id::{ChunkId, RecordId};
pub use crate::ideas::{Gap, Idea, IdeaFinding, IdeaScores};
use crate::tables::RecordQuery;
use crate::verified::Recalled;

pub use self::prospect::{Argument, Direction, Prospect, Trend};

/// The evidence of an answer above the level of facts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Worked {
    /// The class of the answered question.
    pub class: TaskClass,
    /// The computed figures, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub figures: Option<Figures>,
    /// The forecast.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub forecast: Option<Forecast>,
    /// The forecasts of several groups, if the question asks for one of each; their series are
    /// named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forecasts: Vec<Forecast>,
    /// The figure of each group that a plan over typed tables gives, in order, for a chart.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<Figure>,
    /// The possible next outcomes, if they are categories and not figures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outlook: Vec<Outcome>,
    /// The comparison.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub comparison: Option<Comparison>,
    /// The judgement of a development that no series can forecast.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub prospect: Option<Prospect>,
    /// The ideas, best first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ideas: Vec<Idea>,
    /// The steps of the plan that gave the answer, in order; empty without such a plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<WorkedStep>,
    /// What the answer gives, without further words: names, else figures. A later step of a plan
    /// asks about these. Empty if the text says it as shortly.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
    /// Earlier judgments of answers to the question, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub recalled: Option<Recalled>,
    /// Why the answer was refused; for a question over tables with its readings to choose from.
    /// Absent in runs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub refusal: Option<Reason>,
}

impl Worked {
    /// An empty value for a question of a class.
    pub fn of(class: TaskClass) -> Self {
        Self {
            class,
            figures: None,
            forecast: None,
            forecasts: Vec::new(),
            groups: Vec::new(),
            outlook: Vec::new(),
            comparison: None,
            prospect: None,
            ideas: Vec::new(),
            steps: Vec::new(),
            values: Vec::new(),
            recalled: None,
            refusal: None,
        }
    }
}

/// A step of a plan, with its result (PIKE-RAG §4.1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct WorkedStep {
    /// The name by which later steps refer to its result.
    pub name: String,
    /// What it does.
    pub kind: StepKind,
    /// Its question, with the results of earlier steps filled in.
    pub question: String,
    /// Its answer, or why there is none.
    pub answer: String,
    /// Whether it has no answer.
    pub refused: bool,
    /// The numbers of its citations among those of the whole answer.
    pub citations: Vec<usize>,
}

/// Figures that a query engine computed from records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Figures {
    /// The schema of the records.
    pub schema: String,
    /// Whether the schema was declared in settings; else it was derived for this question, from
    /// tables or from passages.
    pub is_declared: bool,
    /// The query.
    pub query: RecordQuery,
    /// The groups in order; one without a key for a figure about all.
    pub rows: Vec<Figure>,
    /// Every record behind a figure, each once; figures refer to them by position.
    pub records: Vec<RecordPlace>,
    /// The coverage of the records, and what was left out.
    pub coverage: Coverage,
}

/// A figure with its sources.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Figure {
    /// The key of its group, in the order of the query; empty if unknown.
    pub key: Vec<String>,
    /// The figure; null for a period without data.
    #[schema(required)]
    pub value: Option<f64>,
    /// Its unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub unit: Option<String>,
    /// The things behind it: for each, its records, by their positions in [`Figures::records`].
    pub things: Vec<Vec<usize>>,
}

impl Figure {
    /// The key of its group on one line, for a chart: a dash for a missing value; empty if there is
    /// only one group.
    pub fn label(&self) -> String {
        let part = |part: &String| if part.is_empty() { "–".to_owned() } else { part.clone() };
        self.key.iter().map(part).collect::<Vec<_>>().join(", ")
    }
}

/// The place of a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RecordPlace {
    /// The record.
    pub id: RecordId,
    /// Its chunk.
    pub chunk: ChunkId,
    /// The document as the user named it.
    pub uri: String,
    /// Page, from 1, where the format has pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub page: Option<u32>,
    /// Its span in the document's text.
    pub span: Span,
}

/// The coverage of a figure, and what was left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Coverage {
    /// Visible documents.
    pub documents: usize,
    /// Documents with a record of the schema.
    pub with_records: usize,
    /// Documents without one, by reason; the counts add up to the rest of the documents.
    pub without: Vec<(NoRecord, usize)>,
    /// Records of the schema.
    pub records: usize,
    /// Things that the records describe.
    pub things: usize,
    /// Things that fulfil the conditions.
    pub matched: usize,
    /// Things whose value for a condition is missing or not precise enough.
    pub undecided: usize,
    /// Things without a measured value.
    pub unmeasured: usize,
    /// Fields with contradicting records of one thing; the first one is used.
    pub conflicts: usize,
    /// The passages that a model read for this question; absent where the base or its tables had
    /// the records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub passages: Option<PassagesRead>,
}

/// The passages that were read as records for a question, and what was dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PassagesRead {
    /// Passages that may report such things.
    pub fit: usize,
    /// Those of them that were read, now or for an earlier question.
    pub read: usize,
    /// Those of the read ones that were read for an earlier question.
    pub reused: usize,
    /// Passages whose reading failed: the model refused, or its reply stayed unreadable.
    pub failed: usize,
    /// Values that were dropped, because their passage does not contain them.
    pub invented: usize,
    /// Reported things that were dropped, because their passage does not say what tells them from
    /// others.
    pub incomplete: usize,
}

/// Why a document holds no record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum NoRecord {
    /// No table, line or field of it fits the schema, and no model reads texts.
    NotPlain,
    /// Neither rules nor a model that reads texts found any.
    NotFound,
    /// The schema was derived from tables for this question, and the document has no such table.
    NoTable,
    /// The schema was derived for this question, and no passage of the document was read.
    NotRead,
}

/// A forecast of a series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Forecast {
    /// The model of these figures: the one with the smallest error in the back-test.
    pub model: ForecastModel,
    /// The future periods, in order, up to the requested one.
    pub points: Vec<ForecastPoint>,
    /// The expected share of true values within the interval, above 0 and below 1.
    pub level: f64,
    /// Every model that was tried, the best first.
    pub tried: Vec<Tried>,
    /// The number of back-test figures within their interval at that time, and the number of all.
    pub within: (usize, usize),
    /// Periods at the ends that were left out, because the records cover them only partly.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub partial: Vec<String>,
    /// Periods without a figure that were interpolated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filled: Vec<String>,
    /// The series, in order. Empty in runs of earlier versions, whose series is that of the
    /// figures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub past: Vec<Known>,
    /// The unit of the series.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub unit: Option<String>,
    /// The group of the series, if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub group: Option<String>,
}

/// A period of a series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Known {
    /// Its name in series.
    pub period: String,
    /// Its figure; null for a period without data.
    #[schema(required)]
    pub value: Option<f64>,
}

/// A future period.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ForecastPoint {
    /// Its name in series: `2020`, `2020-Q1`, `2020-01`.
    pub period: String,
    /// The most likely figure.
    pub value: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

/// The method of a forecast.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ForecastModel {
    /// The mean of all others.
    Combination,
    /// The last figure.
    Naive,
    /// The figure of the same season a year before.
    SeasonalNaive,
    /// The mean of all figures.
    Mean,
    /// The line from the first figure to the last.
    Drift,
    /// Exponential smoothing, the best of its kinds.
    Smoothing,
    /// Smoothing after the seasons are removed.
    Seasonal,
}

/// The accuracy of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Tried {
    /// The model.
    pub model: ForecastModel,
    /// The mean absolute error over all origins and steps.
    pub mae: f64,
    /// The error relative to the naive model's, or to the seasonal naive model's if there are
    /// seasons. Null if naive made no error.
    #[schema(required)]
    pub mase: Option<f64>,
    /// The number of compared forecasts.
    pub compared: usize,
}

/// A category that may come next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Outcome {
    /// The category.
    pub kind: String,
    /// The expected share, from 0 to 1.
    pub share: f64,
    /// The lower end of the interval of the share.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Cases so far.
    pub count: usize,
    /// Its share in the later half minus that in the earlier half.
    pub trend: f64,
}

/// A comparison of things.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Comparison {
    /// The compared things.
    pub things: Vec<String>,
    /// The attributes, each with a cell for each thing.
    pub rows: Vec<ComparedBy>,
}

/// One attribute of all things.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ComparedBy {
    /// The attribute.
    pub attribute: String,
    /// By thing, in order; `None` if the documents do not say.
    pub cells: Vec<Option<ComparedCell>>,
}

/// A thing's attribute in the documents.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ComparedCell {
    /// The documents' statement.
    pub text: String,
    /// The number of the supporting citation of the answer; null if there is none.
    #[schema(required)]
    pub citation: Option<usize>,
}
