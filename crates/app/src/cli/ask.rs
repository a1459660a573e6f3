//! What do `ask` and `classify` hear?

use std::path::PathBuf;

use clap::Args;
use pikerag_engine::knowledge::{Level, TaskClass};
use pikerag_engine::parts::Classifier;

use super::{Filters, named};

#[derive(Debug, Args)]
pub(crate) struct Ask {
    /// The question, in quotes.
    #[arg(required = true, value_name = "QUESTION")]
    pub(crate) question: Vec<String>,
    /// How to answer it: `pike` unless told otherwise, which goes by the class of the question.
    #[arg(long, short)]
    pub(crate) method: Option<String>,
    /// The class of the question: factual, bridging, comparative, quantitative, summarizing, predictive or
    /// creative. Else it is told from the question and from what the base offers.
    #[arg(long, value_name = "CLASS")]
    pub(crate) class: Option<TaskClass>,
    /// The level of the answer: L1 reads facts, L2 puts them together, L3 foretells, L4 creates.
    #[arg(long, value_name = "LEVEL", conflicts_with = "class")]
    pub(crate) level: Option<Level>,
    /// Draws what the answer rests on, a series and its forecast or figures side by side, into an SVG file.
    #[arg(long, value_name = "FILE")]
    pub(crate) chart: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) filters: Filters,
    /// Tells the reasoning, too: what was looked for, found and chosen.
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
    /// Questions in a file, a JSON object a line with `question`; where they have a `class`, it is told how often that
    /// was found.
    #[arg(long, value_name = "FILE", conflicts_with = "question")]
    pub(crate) questions: Option<PathBuf>,
    /// Who tells the class.
    #[arg(long, value_parser = named::<Classifier>(), default_value = "auto")]
    pub(crate) by: Classifier,
    #[command(flatten)]
    pub(crate) filters: Filters,
}
