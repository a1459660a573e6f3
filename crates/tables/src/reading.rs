//! Holds one reading of a question: its plans, the form of the answer and how sure the reading is.

use pikerag_knowledge::data::{Aggregate, TablePlan};
use pikerag_knowledge::tables::By;
use pikerag_language::is_chinese;

/// A question as plans over tables.
#[derive(Clone, Debug)]
pub struct Reading {
    /// How the answer is computed.
    pub reckoning: Reckoning,
    /// The kind of answer.
    pub form: Form,
    /// Words of the question that have no part in the plans; `…` for a period, number or other condition without a place.
    pub unused_words: Vec<String>,
    /// How many words or Chinese characters have a part in the plans.
    pub n_used: usize,
    /// The tables, by their places in the catalog; the first is the table of the plans.
    pub tables: Vec<usize>,
    /// How well the question fits; compares readings of one question.
    pub score: i64,
    /// Whether a value or a whole column name, other than of a time, points to the table.
    pub is_grounded: bool,
    /// The rank that the question asks for, from 1: 2 for the second most. `None` for the first, or for no rank.
    pub nth: Option<usize>,
}

/// Stands for a condition without a place, among unused words.
pub(crate) const UNPLACED: &str = "…";

impl Reading {
    /// Whether its result answers the question: something of the table is named, and all words have a part in the plans.
    pub fn is_certain(&self) -> bool {
        self.is_grounded && self.unused_words.is_empty()
    }

    /// The number of unused words; two Chinese characters count as one word.
    pub fn unused_weight(&self) -> usize {
        let weight = |word: &String| match word.chars().any(is_chinese) {
            true => word.chars().count().div_ceil(2),
            false => word.split_whitespace().count(),
        };
        self.unused_words.iter().map(weight).sum()
    }
}

/// How the answer is computed from the results of plans.
#[derive(Clone, Debug)]
pub enum Reckoning {
    /// The result of one plan.
    One(TablePlan),
    /// The second figure minus the first.
    Difference(TablePlan, TablePlan),
    /// The change from the first figure to the second, in percent of the first.
    Growth(TablePlan, TablePlan),
    /// The first figure in percent of the second.
    Share(TablePlan, TablePlan),
    /// The first figure divided by the second.
    Ratio(TablePlan, TablePlan),
    /// The name with the greater figure, or with the lesser.
    Compare {
        /// What is compared.
        names: [String; 2],
        /// The figure of each.
        plans: Box<[TablePlan; 2]>,
        /// Whether the greater figure is asked for.
        greater: bool,
    },
}

impl Reckoning {
    /// Its plans, in order.
    pub fn plans(&self) -> Vec<&TablePlan> {
        match self {
            Self::One(plan) => vec![plan],
            Self::Difference(first, second)
            | Self::Growth(first, second)
            | Self::Share(first, second)
            | Self::Ratio(first, second) => vec![first, second],
            Self::Compare { plans, .. } => plans.iter().collect(),
        }
    }
}

/// The kind of answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One figure.
    Figure,
    /// Things, or cells of one row.
    Things,
    /// A figure for each group.
    Groups,
    /// Yes or no.
    Exists,
}

/// A question about the time to come, over one table.
#[derive(Clone, Debug)]
pub struct SeriesReading {
    /// One plan, grouped by time and then by what tells series apart, if the question asks for one of each.
    pub reading: Reading,
    /// The length of a period: a year, a quarter or a month.
    pub step: By,
    /// How many keys of the plan's groups tell the period: its label or its year; or its year and its quarter or month.
    pub n_times: usize,
    /// The periods that are asked for.
    pub target: Target,
    /// How the figure of a period is worked out.
    pub function: Aggregate,
}

/// The periods that a question asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Those from one to another, both included: `2027`, `2027-Q1` or `2027-03`. They may be longer than a step.
    Named {
        /// The first; `None` for the one after the last that is known.
        from: Option<String>,
        /// The last.
        until: String,
    },
    /// Those of so many years, quarters or months after that of the last one that is known.
    Next {
        /// How many.
        count: usize,
        /// How long each is; no shorter than a step.
        by: By,
    },
    /// A month, from 1, of the year after the last one that is known.
    MonthOfNextYear(u32),
}
