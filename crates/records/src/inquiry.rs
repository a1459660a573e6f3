//! Turns a question into a typed query over records, by rules over the fields and values of the base, in
//! English and Chinese (PIKE-RAG §5.4: structuring under the decomposer's instruction). A query engine
//! computes the figures.

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

/// A question's query over the records of one schema.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inquiry {
    /// The schema, by its position in the given list.
    pub schema: usize,
    /// The query to compute.
    pub query: RecordQuery,
    /// The kind of answer wanted.
    pub form: Form,
    /// Words of the question that the query does not explain.
    pub unexplained: Vec<String>,
    /// How well the question fits the schema: a score of the meanings they share.
    pub fit: usize,
}

/// The kind of answer wanted.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Form {
    /// Figures.
    #[default]
    Figures,
    /// The things themselves.
    List,
    /// A forecast of a series.
    Series {
        /// The field of the dates.
        date: String,
        /// The length of a period.
        by: By,
        /// The last period wanted, as a day in it; if `None`, `periods` decides.
        until: Option<String>,
        /// The number of periods ahead.
        periods: usize,
    },
    /// The values of a field that may come next.
    Kinds {
        /// The field.
        field: String,
        /// The field of the dates, if there is one.
        date: Option<String>,
    },
}

/// Records that a question may query.
pub struct Source<'a> {
    /// Their declaration.
    pub schema: &'a RecordSchema,
    /// Their columns and values, unified.
    pub frame: &'a Frame,
    /// Further words for their subject: the titles of their documents.
    pub titles: &'a BTreeSet<String>,
}

/// Reads a question by rules; `None` if it asks for no figure of these records.
pub fn by_rules(cues: &Cues, sources: &[Source<'_>]) -> Option<Inquiry> {
    let readings = sources.iter().enumerate().filter_map(|(at, source)| {
        let reading = Reading::new(cues, source).read()?;
        Some(Inquiry { schema: at, ..reading })
    });
    // Prefers the reading with the fewest unexplained words, then the best fit, then the first.
    readings.reduce(|best, next| {
        let is_better = next.unexplained.len() < best.unexplained.len()
            || (next.unexplained.len() == best.unexplained.len() && best.fit < next.fit);
        if is_better { next } else { best }
    })
}
