//! Measures what the layers share: a chunk's scores, the weight of a question's words, and how similarities are scaled.

use std::collections::{HashMap, HashSet};

use pikerag_language::query_terms;

use crate::finder::{Finder, RetrieveError};
use crate::question::Asked;

/// Candidates that meaning contributes on each layer.
pub(super) const SEEDS: usize = 200;
/// The number of closest sources and sections whose chunks are candidates too …
pub(super) const AROUND: usize = 20;
/// … if they have no more chunks than this.
pub(super) const MOST_CHUNKS: usize = 16;
/// The chunks whose records, and atoms without vectors, are compared word by word.
pub(super) const READ_BY_WORDS: usize = 50;

/// One chunk's score on each layer, weighed.
#[derive(Clone, Debug, Default)]
pub(super) struct Scores {
    pub(super) chunk: f32,
    pub(super) named: f32,
    pub(super) source: f32,
    pub(super) section: f32,
    pub(super) distilled: f32,
}

impl Scores {
    pub(super) fn parts(&self) -> [(&'static str, f32); 5] {
        [
            ("chunk", self.chunk),
            ("named_in_question", self.named),
            ("source", self.source),
            ("section", self.section),
            ("distilled", self.distilled),
        ]
    }

    /// Takes the score of a distilled node, if it is better than those so far.
    pub(super) fn raise_distilled(&mut self, score: f32) {
        self.distilled = self.distilled.max(score);
    }

    pub(super) fn sum(&self) -> f32 {
        self.parts().iter().map(|(_, part)| part).sum()
    }
}

/// Scales scores so that the best is 1 and the last 0: a similarity that every text has means
/// nothing.
pub(super) fn scaled<K: std::hash::Hash + Eq>(
    found: impl Iterator<Item = (K, f32)> + Clone,
) -> HashMap<K, f32> {
    let scores = found.clone().map(|(_, score)| score);
    let (least, best) = scores.fold((f32::INFINITY, f32::NEG_INFINITY), |(least, best), score| {
        (least.min(score), best.max(score))
    });
    let range = best - least;
    let scale = |score: f32| if 0.0 < range { (score - least) / range } else { 1.0 };
    found.map(|(key, score)| (key, scale(score))).collect()
}

/// The weight of each word of the question: a word that few chunks have weighs more.
pub(super) struct Weights {
    by_word: HashMap<String, f32>,
    all: f32,
}

impl Weights {
    pub(super) async fn new(finder: Finder<'_>, asked: &Asked) -> Result<Self, RetrieveError> {
        let counts = finder.base.term_counts(&asked.words).await?;
        let (mut by_word, mut all) = (HashMap::new(), 0.0);
        for (word, count) in asked.words.iter().zip(counts) {
            // A number or identifier distinguishes texts with the same words otherwise.
            let is_identifier = word.chars().any(|c| c.is_ascii_digit());
            let weight = if is_identifier { 1.0 } else { asked.rarity.of(count) };
            all += weight;
            by_word.insert(word.clone(), weight);
        }
        Ok(Self { by_word, all })
    }

    /// The share of the question that a long text holds, by the weight of its words.
    pub(super) fn share(&self, text: &str) -> f32 {
        if self.all <= 0.0 { 0.0 } else { self.shared(text).0 / self.all }
    }

    /// The weight of the question's words that a text holds, their number, and the number of all words of the text.
    fn shared(&self, text: &str) -> (f32, usize, usize) {
        let words: HashSet<String> = query_terms(text).into_iter().collect();
        let mut shared: Vec<f32> =
            words.iter().filter_map(|word| self.by_word.get(word)).copied().collect();
        // In a fixed order: sums of floats depend on it.
        shared.sort_by(f32::total_cmp);
        (shared.iter().sum(), shared.len(), words.len())
    }

    /// The geometric mean of two shares: of the question that a short text holds, and of the text
    /// that the question holds.
    pub(super) fn overlap(&self, text: &str) -> f32 {
        if text.is_empty() || self.all <= 0.0 {
            return 0.0;
        }
        let (shared, number, words) = self.shared(text);
        let of_text = number as f32 / words.max(1) as f32;
        (shared / self.all * of_text).sqrt()
    }
}
