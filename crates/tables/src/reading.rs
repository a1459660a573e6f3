//! Holds one reading of a question: its plans, the form of the answer and how sure the reading is.

use pikerag_knowledge::data::{Aggregate, TablePlan};
use pikerag_knowledge::tables::By;
use pikerag_language::is_chinese;

/// A question as plans over tables.
#[derive(Clone, Debug)]
pub struct Reading {
    /// How the answer is computed.
    pub computation: Computation,
    /// The kind of answer.
    pub form: Form,
    /// Unused words of the question; `…` stands for a period, number or other condition without a place.
    pub unused_words: Vec<String>,
    /// The number of words or Chinese characters that the plans use.
    pub n_used: usize,
    /// The tables, by their places in the catalog; the first is the table of the plans.
    pub tables: Vec<usize>,
    /// The quality of the match; it compares readings of one question.
    pub score: i64,
    /// Whether a value or a whole column name, other than of a time, points to the table.
    pub is_grounded: bool,
    /// The rank that the question asks for, from 1: 2 for the second most. `None` for the first, or for no rank.
    pub nth: Option<usize>,
}

/// Stands for a condition without a place among the unused words.
pub(crate) const UNPLACED: &str = "…";

impl Reading {
    /// Whether its result answers the question: it names something of the table, and the plans use all words.
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
pub enum Computation {
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

impl Computation {
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

/// A question about the future, over one table.
#[derive(Clone, Debug)]
pub struct SeriesReading {
    /// One plan, grouped by time, then by series if the question asks for a series for each group.
    pub reading: Reading,
    /// The length of a period: a year, a quarter or a month.
    pub step: By,
    /// The number of the plan's group keys that give the period: 1 for its label or year, 2 for its year and its
    /// quarter or month.
    pub n_times: usize,
    /// The requested periods.
    pub target: Target,
    /// How the figure of a period is worked out.
    pub function: Aggregate,
}

/// The periods that a question asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The periods from one to another, both included: `2027`, `2027-Q1` or `2027-03`. They may be longer than a step.
    Named {
        /// The first; `None` for the period after the last known one.
        from: Option<String>,
        /// The last.
        until: String,
    },
    /// The next `count` years, quarters or months after the last known one.
    Next {
        /// The number of periods.
        count: usize,
        /// The length of each period; no shorter than a step.
        by: By,
    },
    /// A month, from 1, of the year after the last known one.
    MonthOfNextYear(u32),
}
