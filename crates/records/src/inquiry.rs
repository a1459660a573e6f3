//! Which query over records does a question ask for? By rules, in English and Chinese, over the fields and values that
//! there are; where they do not understand all of it, by a model that sees the schemas (PIKE-RAG §5.4: structuring under
//! the decomposer's instruction). Either way it is a typed query: the figures are an engine's.

mod cues;
mod fields;
mod reading;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use pikerag_knowledge::RecordSchema;
use pikerag_knowledge::tables::{By, Frame, RecordQuery};

pub use self::cues::{Cues, Wish};
use self::reading::Reading;

/// What a question asks of the records of one schema.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inquiry {
    /// The schema, by its place in the list that was given.
    pub schema: usize,
    /// What is to be worked out.
    pub query: RecordQuery,
    /// What kind of answer is wanted.
    pub form: Form,
    /// Words of the question that had no part in it.
    pub unexplained: Vec<String>,
    /// How well the question fits the schema: meanings that they share.
    pub fit: usize,
}

/// What kind of answer is wanted.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Form {
    /// Figures.
    #[default]
    Figures,
    /// The things themselves.
    List,
    /// A series carried on.
    Series {
        /// The field of the dates.
        date: String,
        /// The length of a period.
        by: By,
        /// The last period that is asked for, as a day within; else so many periods ahead.
        until: Option<String>,
        /// Periods ahead.
        periods: usize,
    },
    /// The values of a field that may come next.
    Kinds {
        /// The field.
        field: String,
        /// The field of the dates, where there is one.
        date: Option<String>,
    },
}

/// Records that can be asked.
pub struct Source<'a> {
    /// What they are declared as.
    pub schema: &'a RecordSchema,
    /// Their columns and values, unified.
    pub frame: &'a Frame,
    /// Further words for what they are about: titles of their documents.
    pub titles: &'a BTreeSet<String>,
}

/// What rules make of a question; `None` where it asks for no figure of these records.
pub fn by_rules(cues: &Cues, sources: &[Source<'_>]) -> Option<Inquiry> {
    let readings = sources.iter().enumerate().filter_map(|(at, source)| {
        let reading = Reading::new(cues, source).read()?;
        Some(Inquiry { schema: at, ..reading })
    });
    // The one that leaves least unexplained; then the one that fits best; then the first.
    readings.reduce(|best, next| {
        let better = next.unexplained.len() < best.unexplained.len()
            || (next.unexplained.len() == best.unexplained.len() && best.fit < next.fit);
        if better { next } else { best }
    })
}
