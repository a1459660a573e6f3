//! Finds training questions that evaluation sets contain too, word for word or nearly.

use std::collections::{BTreeMap, BTreeSet};

use pikerag_eval::normalize::normalize;
use pikerag_language::words;

/// The least share of common word pairs that makes two questions near-duplicates.
pub const NEAR: f64 = 0.8;

/// Why a training question is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Leak {
    /// An evaluation set has the same question, after normalization.
    Same,
    /// An evaluation set has a question with nearly the same words: a Jaccard index of word pairs of [`NEAR`] or
    /// more.
    Near,
}

/// The questions of evaluation sets.
#[derive(Debug, Default)]
pub struct Held {
    same: BTreeSet<String>,
    shingles: Vec<BTreeSet<String>>,
    /// Word pair → the questions that have it, by place in `shingles`.
    by_shingle: BTreeMap<String, Vec<usize>>,
}

impl Held {
    /// Adds a question of an evaluation set.
    pub fn add(&mut self, question: &str) {
        let place = self.shingles.len();
        let shingles = shingles(question);
        for shingle in &shingles {
            self.by_shingle.entry(shingle.clone()).or_default().push(place);
        }
        self.shingles.push(shingles);
        self.same.insert(normalize(question));
    }

    /// Whether an evaluation set contains the question.
    pub fn leak(&self, question: &str) -> Option<Leak> {
        if self.same.contains(&normalize(question)) {
            return Some(Leak::Same);
        }
        let own = shingles(question);
        let mut common: BTreeMap<usize, usize> = BTreeMap::new();
        for place in own.iter().filter_map(|shingle| self.by_shingle.get(shingle)).flatten() {
            *common.entry(*place).or_default() += 1;
        }
        let is_near = |(place, common): (&usize, &usize)| {
            let other = self.shingles.get(*place).map_or(0, BTreeSet::len);
            let all = own.len() + other - common;
            NEAR <= *common as f64 / all.max(1) as f64
        };
        common.iter().any(is_near).then_some(Leak::Near)
    }
}

/// Pairs of neighbouring words; a single word where there is one only.
fn shingles(question: &str) -> BTreeSet<String> {
    let words = words(question);
    match words.as_slice() {
        [only] => BTreeSet::from([only.clone()]),
        words => words.windows(2).map(|pair| pair.join(" ")).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_same_and_near_questions() {
        let mut held = Held::default();
        held.add("Where was the designer of the KX-40 harbour crane born and raised?");
        held.add("谁设计了北港的四号起重机？");
        let leak = |question| held.leak(question);
        assert_eq!(
            leak("where was the designer of the KX-40 harbour crane born and raised"),
            Some(Leak::Same)
        );
        let near = "Where was the designer of the KX-40 harbour crane born and raised today?";
        assert_eq!(leak(near), Some(Leak::Near));
        assert_eq!(leak("谁设计了北港的四号起重机"), Some(Leak::Same));
        assert_eq!(leak("Where was the owner of the lighthouse born and raised?"), None);
        assert_eq!(leak(""), None);
    }
}
