//! Defines the judgement of a development that no series can forecast (PIKE-RAG §6.1, trend judgement and qualitative analysis).

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{ForecastPoint, Known};
use crate::facts::Likelihood;

/// A judgement whether a development is likely, with its evidence.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Prospect {
    /// The judged statement; the question, if no model worded it.
    pub statement: String,
    /// The verdict; null if no language model judged.
    #[schema(required)]
    pub verdict: Option<Likelihood>,
    /// The model's verdict, if no checked evidence supported it; the verdict is `uncertain` then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub unsupported: Option<Likelihood>,
    /// The evidence for the statement.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub for_it: Vec<Argument>,
    /// The evidence against the statement.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub against: Vec<Argument>,
    /// Without a verdict: quotes about the question, for neither side.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<Argument>,
    /// The number of arguments that were left out, because the documents do not contain their
    /// quotes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unchecked: usize,
    /// Facts that would change the verdict, in the model's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub would_change: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// A piece of evidence.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Argument {
    /// The argument in a sentence; empty for a computed trend.
    pub text: String,
    /// The number of the supporting citation of the answer; null if there is none.
    #[schema(required)]
    pub citation: Option<usize>,
    /// The computed trend, if it is the evidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub trend: Option<Trend>,
}

/// The trend of a series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Trend {
    /// Its direction.
    pub direction: Direction,
    /// Its first figure.
    pub first: Known,
    /// Its last figure.
    pub last: Known,
    /// The number of figures.
    pub length: usize,
    /// The last forecast figure.
    #[schema(required)]
    pub next: Option<ForecastPoint>,
    /// The unit of the series.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub unit: Option<String>,
}

/// The direction of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = TrendDirection)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Later figures are mostly higher.
    Rising,
    /// Later figures are mostly lower.
    Falling,
    /// Neither.
    Level,
}
