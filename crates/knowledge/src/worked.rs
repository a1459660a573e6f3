//! What was an answer worked out from? Figures with their records, a series and its forecast, a table of what was
//! compared: what stands beside the words of an answer, for people to look at and programs to reckon with.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::class::TaskClass;
use crate::document::Span;
use crate::facts::Reason;
use crate::id::{ChunkId, RecordId};
use crate::tables::RecordQuery;
use crate::verified::Recalled;

/// What an answer of the levels above facts rests on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Worked {
    /// What kind of question was answered.
    pub class: TaskClass,
    /// What was reckoned with, where figures were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub figures: Option<Figures>,
    /// What was foretold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub forecast: Option<Forecast>,
    /// What was foretold of each group, where a question asks for one of each; its series are named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forecasts: Vec<Forecast>,
    /// What may come next, where that is a kind and no figure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outlook: Vec<Outcome>,
    /// What was put side by side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub comparison: Option<Comparison>,
    /// What was thought of, the best first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ideas: Vec<Idea>,
    /// What people had said of the question before; none where nobody did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub recalled: Option<Recalled>,
    /// Why there is no answer, where one was refused: for a question over tables with its readings to choose from. Absent in runs
    /// of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub refusal: Option<Reason>,
}

impl Worked {
    /// Nothing yet, for a question of a class.
    pub fn of(class: TaskClass) -> Self {
        Self {
            class,
            figures: None,
            forecast: None,
            forecasts: Vec::new(),
            outlook: Vec::new(),
            comparison: None,
            ideas: Vec::new(),
            recalled: None,
            refusal: None,
        }
    }
}

/// Figures that a query engine worked out of records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Figures {
    /// The schema of the records.
    pub schema: String,
    /// Whether the schema was declared in settings; else it was read off the tables for this question.
    pub is_declared: bool,
    /// What was worked out.
    pub query: RecordQuery,
    /// The groups in order; one without a key for a figure about all.
    pub rows: Vec<Figure>,
    /// Every record that a figure rests on, each once; figures name them by their places here.
    pub records: Vec<RecordPlace>,
    /// How much was looked at, and what was left out.
    pub coverage: Coverage,
}

/// A figure with what it rests on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Figure {
    /// What tells its group apart, in the order of the query; empty where nothing is known of it.
    pub key: Vec<String>,
    /// The figure; none for a period of which nothing is known.
    #[schema(required)]
    pub value: Option<f64>,
    /// What it is measured in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub unit: Option<String>,
    /// The things that it was worked out from: of each, its records, by their places in [`Figures::records`].
    pub things: Vec<Vec<usize>>,
}

impl Figure {
    /// What tells its group apart on one line, for a chart: a dash for what the records do not tell; empty where there is
    /// one group.
    pub fn label(&self) -> String {
        let part = |part: &String| if part.is_empty() { "–".to_owned() } else { part.clone() };
        self.key.iter().map(part).collect::<Vec<_>>().join(", ")
    }
}

/// Where a record stands.
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
    /// Where it stands in the document's text.
    pub span: Span,
}

/// How much was looked at for a figure, and what was left out of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Coverage {
    /// Documents that could be seen.
    pub documents: usize,
    /// Those that hold a record of the schema.
    pub with_records: usize,
    /// Those that hold none, by why; the counts add up to the rest of the documents.
    pub without: Vec<(NoRecord, usize)>,
    /// Records of the schema.
    pub records: usize,
    /// Things that they tell of.
    pub things: usize,
    /// Things that fulfil the conditions.
    pub matched: usize,
    /// Things that say nothing of a condition, or not precisely enough.
    pub undecided: usize,
    /// Things without a value of what is measured.
    pub unmeasured: usize,
    /// Fields of which records of one thing say different things; the first one stands.
    pub conflicts: usize,
}

/// Why does a document hold no record?
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum NoRecord {
    /// No table, line or field of it fits the schema, and no model reads texts.
    NotPlain,
    /// Neither that, nor did a model that reads texts find any.
    NotFound,
    /// It was read off tables for this question, and the document has no such table.
    NoTable,
}

/// A series carried on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Forecast {
    /// The model whose figures these are: the one that erred least in the back-test.
    pub model: ForecastModel,
    /// The periods to come, in order, up to the one that was asked for.
    pub points: Vec<Foretold>,
    /// The share of cases in which the truth should lie within the interval, above 0 and below 1.
    pub level: f64,
    /// Every model that was tried, the best first.
    pub tried: Vec<Tried>,
    /// Of so many back-test figures, so many lay within the interval that would have been told then.
    pub within: (usize, usize),
    /// Periods at the ends that were left out, because the records cover a part of them only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub partial: Vec<String>,
    /// Periods without a figure that were put in between their neighbours.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filled: Vec<String>,
    /// The series that is carried on, in order. Empty in runs of earlier versions, whose series is that of the figures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub past: Vec<Known>,
    /// What the series is measured in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub unit: Option<String>,
    /// The group that the series is of, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub group: Option<String>,
}

/// A period of a series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Known {
    /// As series name it.
    pub period: String,
    /// Its figure; none for a period of which nothing is known.
    #[schema(required)]
    pub value: Option<f64>,
}

/// A period to come.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Foretold {
    /// As series name it: `2020`, `2020-Q1`, `2020-01`.
    pub period: String,
    /// The likeliest figure.
    pub value: f64,
    /// Where the interval begins.
    pub low: f64,
    /// Where it ends.
    pub high: f64,
}

/// How a series is carried on.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ForecastModel {
    /// The mean of all others.
    Combination,
    /// As the last figure.
    Naive,
    /// As the same season a year before.
    SeasonalNaive,
    /// The mean of all figures.
    Mean,
    /// The line from the first figure to the last.
    Drift,
    /// Exponential smoothing, the best of its kinds.
    Smoothing,
    /// The seasons taken off, and smoothing of the rest.
    Seasonal,
}

/// How well a model did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Tried {
    /// The model.
    pub model: ForecastModel,
    /// The mean absolute error over all origins and steps.
    pub mae: f64,
    /// The same in multiples of the naive model's: of the seasonal one where there are seasons. None where naive made
    /// no error.
    #[schema(required)]
    pub mase: Option<f64>,
    /// Figures that were foretold and compared.
    pub compared: usize,
}

/// A kind that may come next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Outcome {
    /// The kind.
    pub kind: String,
    /// The share expected of it, from 0 to 1.
    pub share: f64,
    /// Where the interval of the share begins.
    pub low: f64,
    /// Where it ends.
    pub high: f64,
    /// Cases so far.
    pub count: usize,
    /// Its share in the later half less that in the earlier one.
    pub trend: f64,
}

/// Things side by side.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Comparison {
    /// What is compared.
    pub things: Vec<String>,
    /// By what, each with a cell for each thing.
    pub rows: Vec<ComparedBy>,
}

/// One attribute of all things.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ComparedBy {
    /// The attribute.
    pub attribute: String,
    /// By thing, in order; `None` where the documents do not tell.
    pub cells: Vec<Option<ComparedCell>>,
}

/// What the documents tell of a thing's attribute.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ComparedCell {
    /// As the documents tell it.
    pub text: String,
    /// The number of the answer's citation that bears it out; none where none does.
    #[schema(required)]
    pub citation: Option<usize>,
}

/// An idea that agents came to (PIKE-RAG §5.5).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Idea {
    /// In a few words.
    pub title: String,
    /// In sentences.
    pub text: String,
    /// The perspectives that it came from.
    pub perspectives: Vec<String>,
    /// What speaks against it, in the words of other perspectives; kept, whatever the ranking.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dissent: Vec<String>,
    /// Numbers of the answer's citations that it rests on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub citations: Vec<usize>,
    /// What it would take to know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<Gap>,
}

/// What an idea leaves open.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Gap {
    /// What is not known.
    pub missing: String,
    /// How to come to know it.
    pub next_step: String,
}
