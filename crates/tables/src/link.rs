//! Finds the columns and values that the words of a question name.

mod columns;
mod values;

use std::ops::Range;

use crate::cues::Cues;
use crate::lexicon::{Meaning, english_names, known_length, meanings};
use crate::pieces::han_run;
use crate::scope::{ColumnPlace, Scope};

/// Columns that words name; several if they fit equally well.
#[derive(Clone, Debug)]
pub(crate) struct ColumnMention {
    pub(crate) span: Range<usize>,
    pub(crate) columns: Vec<ColumnPlace>,
    /// The number of words of the column's name in the question.
    pub(crate) n_matched: usize,
    /// The number of words in the column's name.
    pub(crate) n_words: usize,
    /// Further spans of the same mention, separate from the first.
    pub(crate) further_spans: Vec<Range<usize>>,
}

impl ColumnMention {
    /// Whether the question has all words of the column's name.
    pub(crate) fn is_whole(&self) -> bool {
        self.n_matched == self.n_words
    }
}

/// Values that words name, by column.
#[derive(Clone, Debug)]
pub(crate) struct ValueMention {
    pub(crate) span: Range<usize>,
    pub(crate) columns: Vec<(ColumnPlace, Vec<String>)>,
    /// Whether the words are the whole value, not a part of it.
    pub(crate) is_exact: bool,
}

/// The columns and values that a question names, in its order.
#[derive(Debug, Default)]
pub(crate) struct Links {
    pub(crate) columns: Vec<ColumnMention>,
    pub(crate) values: Vec<ValueMention>,
    /// Pieces that name the topic of a table.
    pub(crate) topic: Vec<usize>,
}

impl Links {
    /// The only fitting column that mentions name; `None` if they name several or none.
    pub(crate) fn only_column(&self, fits: impl Fn(ColumnPlace) -> bool) -> Option<ColumnPlace> {
        let mut named =
            self.columns.iter().filter_map(|mention| match mention.columns.as_slice() {
                [only] if fits(*only) => Some(*only),
                _ => None,
            });
        named.next().filter(|first| named.all(|other| other == *first))
    }
}

/// A word of the question as columns are compared with it: a piece, or several Chinese characters.
struct Word {
    span: Range<usize>,
    stem: String,
    meanings: &'static [Meaning],
}

/// A used word up to this length does not name a column again.
const SHORT_WORD: usize = 3;

/// Links the words of a question to the tables of a scope.
pub(crate) fn link(cues: &Cues, scope: &Scope<'_>) -> Links {
    let mut links = Links::default();
    let mut claimed = cues.used.clone();
    columns::link_periods(cues, scope, &mut links);
    values::link_values(cues, scope, &mut links, &mut claimed);
    let words = words(cues, &claimed);
    columns::link_columns(cues, scope, &words, &mut links);
    link_topic(cues, scope, &words, &mut links);
    values::link_partial_values(cues, scope, &mut links, &claimed);
    links
}

fn words(cues: &Cues, claimed: &[bool]) -> Vec<Word> {
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(piece) = cues.pieces.get(at) {
        if !piece.is_han {
            if claimed.get(at) != Some(&true) || SHORT_WORD < piece.folded.len() {
                let stem = piece.stem.clone();
                words.push(Word { span: at..at + 1, meanings: meanings(&stem), stem });
            }
            at += 1;
            continue;
        }
        let run = han_run(cues.pieces.get(at..).unwrap_or_default());
        let length = known_length(&run).max(1);
        let stem: String = run.iter().take(length).collect();
        words.push(Word { span: at..at + length, meanings: meanings(&stem), stem });
        at += length;
    }
    words
}

fn link_topic(cues: &Cues, scope: &Scope<'_>, words: &[Word], links: &mut Links) {
    for word in words {
        let is_topic = scope.views.iter().any(|table| {
            let has_all_parts = |name: &String| {
                name.split(' ').all(|part| table.about.contains(&pikerag_language::stem(part)))
            };
            table.about.contains(&word.stem)
                || word.meanings.iter().any(|meaning| table.about_meanings.contains(meaning))
                || english_names(&word.stem).iter().any(has_all_parts)
        });
        if is_topic {
            links.topic.extend(word.span.clone());
        }
    }
    // A table named `2009` is about 2009.
    for period in &cues.periods {
        if let Some(only) = period.from.as_deref().filter(|_| period.from == period.to)
            && scope.views.iter().any(|table| table.about.contains(only))
        {
            links.topic.extend(period.span.clone());
        }
    }
}
