//! Arguments of `ask`, `classify` and `search`, and the filter that they share.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use pikerag_engine::knowledge::{Condition, Level, TaskClass};
use pikerag_engine::parts::{Classifier, Search as SearchBy};

use super::{at_least, named};

#[derive(Debug, Args)]
pub(crate) struct Ask {
    /// The question, in quotes.
    #[arg(required = true, value_name = "QUESTION")]
    pub(crate) question: Vec<String>,
    /// How to answer it. Default: `pike`, which chooses a strategy by the class of the question.
    #[arg(long, short)]
    pub(crate) method: Option<String>,
    /// The class of the question: factual, bridging, comparative, quantitative, summarizing, predictive or
    /// creative. Default: detected from the question and the base.
    #[arg(long, value_name = "CLASS")]
    pub(crate) class: Option<TaskClass>,
    /// The level of the system, which includes the lower ones: L0 gives passages, L1 reads facts, L2
    /// combines and computes, L3 forecasts, L4 creates. Questions above it are refused.
    #[arg(long, value_name = "LEVEL", conflicts_with = "class")]
    pub(crate) level: Option<Level>,
    /// Draw the figures of the answer, or a series with its forecast, to an SVG file.
    #[arg(long, value_name = "FILE")]
    pub(crate) chart: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) filters: Filters,
    /// Also show the reasoning: the searches, the candidates found and the choices.
    #[arg(long, conflicts_with = "quiet")]
    pub(crate) trace: bool,
    /// Only the answer with its citations.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Classify {
    /// The question, in quotes.
    #[arg(value_name = "QUESTION", required_unless_present = "questions")]
    pub(crate) question: Vec<String>,
    /// File of questions: a JSON object with `question` in each line. Where lines have a `class`, the share of
    /// correct classes is shown.
    #[arg(long, value_name = "FILE", conflicts_with = "question")]
    pub(crate) questions: Option<PathBuf>,
    /// How to find the class.
    #[arg(long, value_parser = named::<Classifier>(), default_value = "auto")]
    pub(crate) by: Classifier,
    #[command(flatten)]
    pub(crate) filters: Filters,
}

#[derive(Debug, Args)]
pub(crate) struct Search {
    /// The words to search for, in quotes.
    #[arg(required = true, value_name = "QUERY")]
    pub(crate) query: Vec<String>,
    /// How to search.
    #[arg(long, value_parser = named::<SearchBy>(), default_value = "auto")]
    pub(crate) by: SearchBy,
    /// Number of chunks to show.
    #[arg(short, default_value_t = at_least(8))]
    pub(crate) k: NonZeroUsize,
    /// The largest number of hits that the reranker of `[rerank]` puts in order; 0 for none. Default:
    /// `rerank.first`.
    #[arg(long, value_name = "N")]
    pub(crate) rerank: Option<usize>,
    #[command(flatten)]
    pub(crate) filters: Filters,
}

#[derive(Debug, Args)]
pub(crate) struct Filters {
    /// Use only matching chunks: `source=URI`, `folder=NAME`, `date>=2020-01-31`,
    /// `meta:NAME=VALUE`, `tag:CLASS=TAG`, `record:SCHEMA.FIELD>=VALUE`. `|` separates alternative values.
    /// Repeated filters must all match.
    #[arg(long = "filter", value_name = "FILTER")]
    pub(crate) conditions: Vec<Condition>,
}
