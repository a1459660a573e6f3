//! Orders found passages for reading, and leaves out duplicates and passages beyond the token limit, each
//! with its reason (PIKE-RAG §4.2, knowledge organization).

use std::collections::{BTreeSet, HashMap};
use std::num::NonZeroU32;

use pikerag_knowledge::{Chunk, ChunkId, LeftOut, SourceId};
use pikerag_language::estimate_tokens;
use pikerag_language::fold::tokens;

/// How passages are ordered for reading.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// Tokens of all passages, at most; the first is read whatever its length, then each in order that still fits.
    pub tokens: Option<u32>,
    /// The share of common words from which on the later of two passages is left out; above 1, none is.
    pub alike: f64,
    /// The order in which they are read.
    pub order: ReadingOrder,
}

/// The order in which passages are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadingOrder {
    /// As they were given: the best first.
    Given,
    /// Document by document in the order of their best passages, each document in its own order.
    Document,
}

impl Rules {
    /// All passages in the order found, as the papers' methods read them.
    pub fn all() -> Self {
        Self { tokens: None, alike: f64::INFINITY, order: ReadingOrder::Given }
    }

    /// Passages without duplicates that fit into `tokens`, as our own methods read them. All passages where
    /// no limit is set.
    pub fn within(tokens: Option<NonZeroU32>) -> Self {
        match tokens {
            None => Self::all(),
            Some(tokens) => Self { tokens: Some(tokens.get()), ..Self::default() },
        }
    }
}

impl Default for Rules {
    fn default() -> Self {
        Self { tokens: None, alike: 0.9, order: ReadingOrder::Given }
    }
}

/// Passages in order for reading.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Organized {
    /// The passages to read, in order.
    pub kept: Vec<Chunk>,
    /// The others, each with its reason, in the order given.
    pub left_out: Vec<(ChunkId, LeftOut)>,
}

impl Organized {
    /// How many were left out for each reason.
    pub fn reasons(&self) -> Vec<(LeftOut, usize)> {
        let mut counts: Vec<(LeftOut, usize)> = Vec::new();
        for (_, why) in &self.left_out {
            match counts.iter_mut().find(|(held, _)| held == why) {
                Some((_, count)) => *count += 1,
                None => counts.push((*why, 1)),
            }
        }
        counts.sort();
        counts
    }
}

/// Tokens of a passage as prompts show it, estimated.
pub fn tokens_of(chunk: &Chunk) -> u64 {
    estimate_tokens(&chunk.full_title()) + estimate_tokens(&chunk.text)
}

/// Orders passages, given best first, for reading.
pub fn organize(given: Vec<Chunk>, rules: Rules) -> Organized {
    let mut organized = Organized::default();
    let mut words: Vec<Words> = Vec::new();
    let mut left = rules.tokens.map_or(u64::MAX, u64::from);
    for chunk in given {
        let own = words_of(&chunk);
        let why = if organized.kept.iter().any(|held| held.id == chunk.id) {
            Some(LeftOut::Twice)
        } else if words.iter().any(|held| held.is_duplicate(&own, rules.alike)) {
            Some(LeftOut::Alike)
        } else if left < tokens_of(&chunk) && !organized.kept.is_empty() {
            Some(LeftOut::NoRoom)
        } else {
            None
        };
        match why {
            Some(why) => organized.left_out.push((chunk.id, why)),
            None => {
                left = left.saturating_sub(tokens_of(&chunk));
                words.push(own);
                organized.kept.push(chunk);
            }
        }
    }
    if rules.order == ReadingOrder::Document {
        let mut first: HashMap<SourceId, usize> = HashMap::new();
        for (place, chunk) in organized.kept.iter().enumerate() {
            first.entry(chunk.source).or_insert(place);
        }
        organized.kept.sort_by_key(|chunk| (first.get(&chunk.source).copied(), chunk.ordinal));
    }
    organized
}

/// The words of a passage. Passages with different numbers differ, even if they share all other words.
struct Words {
    all: BTreeSet<String>,
    numbers: BTreeSet<String>,
}

impl Words {
    fn is_duplicate(&self, other: &Self, alike: f64) -> bool {
        alike <= overlap(&self.all, &other.all) && self.numbers == other.numbers
    }
}

fn words_of(chunk: &Chunk) -> Words {
    let all: BTreeSet<String> = tokens(&chunk.text).into_iter().map(|token| token.folded).collect();
    let is_number = |word: &&String| word.contains(char::is_numeric);
    Words { numbers: all.iter().filter(is_number).cloned().collect(), all }
}

/// The share of all their words that both have; 0 where one has none.
fn overlap(a: &BTreeSet<String>, b: &BTreeSet<String>) -> f64 {
    if a.is_empty() || b.is_empty() {
        return 0.0;
    }
    let shared = a.intersection(b).count() as f64;
    shared / (a.len() + b.len()) as f64 * 2.0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn chunk(id: u64, source: u64, ordinal: u32, text: &str) -> Chunk {
        Chunk { source: SourceId(source), ordinal, ..pikerag_doubles::chunk(id, "A", text) }
    }

    /// The passages share twenty words and differ in the year.
    #[test]
    fn passages_with_other_numbers_are_no_duplicates() {
        let of = |year: u32| {
            format!(
                "In the year {year} the pumps of all cranes of the old port were looked at by two men who found nothing to mend."
            )
        };
        let given =
            vec![chunk(1, 1, 0, &of(2019)), chunk(2, 2, 0, &of(2020)), chunk(3, 3, 0, &of(2019))];
        let organized = organize(given.clone(), Rules::default());
        assert_eq!(organized.left_out, [(ChunkId(3), LeftOut::Alike)]);
        assert_eq!(organize(given, Rules::all()).kept.len(), 3);
    }

    #[test]
    fn duplicates_are_read_once_and_the_rest_in_order() {
        let given = vec![
            chunk(1, 1, 7, "The pump of crane 7 was changed in May."),
            chunk(2, 2, 0, "The brake was worn."),
            chunk(1, 1, 7, "The pump of crane 7 was changed in May."),
            chunk(3, 3, 0, "the pump of crane 7 was changed in May"),
            chunk(4, 1, 2, "The pump of crane 8 was changed in June after a leak at the flange."),
        ];
        let rules = Rules { order: ReadingOrder::Document, ..Rules::default() };
        let organized = organize(given.clone(), rules);
        let kept: Vec<u64> = organized.kept.iter().map(|chunk| chunk.id.0).collect();
        assert_eq!(kept, [4, 1, 2]);
        assert_eq!(organized.reasons(), [(LeftOut::Twice, 1), (LeftOut::Alike, 1)]);
        let narrow = organize(given, Rules { tokens: Some(14), ..Rules::default() });
        assert_eq!(narrow.kept.len(), 1);
        assert_eq!(narrow.left_out.iter().filter(|(_, why)| *why == LeftOut::NoRoom).count(), 2);
    }

    proptest! {
        #[test]
        fn passages_are_kept_or_left_out_within_the_limit(
            texts in prop::collection::vec("[a-d ]{0,12}", 0..12), tokens in 1..40_u32,
        ) {
            let given: Vec<Chunk> = texts.iter().enumerate()
                .map(|(at, text)| chunk(at as u64 % 9, at as u64 % 3, at as u32, text)).collect();
            let count = given.len();
            let organized = organize(given, Rules { tokens: Some(tokens), ..Rules::default() });
            prop_assert_eq!(organized.kept.len() + organized.left_out.len(), count);
            let read: u64 = organized.kept.iter().map(tokens_of).sum();
            prop_assert!(read <= u64::from(tokens) || organized.kept.len() == 1);
        }
    }
}
