//! What does the question alone say about each chunk? Words, meaning, and names.

use std::collections::{HashMap, HashSet};

use pikerag_knowledge::{ChunkId, Vector};
use pikerag_language::fold::tokens;

use super::expand::named_titles;
use super::{HopParams, question_terms};
use crate::finder::{Finder, RetrieveError};

/// The question, looked up once.
pub(crate) struct Asked {
    /// Its terms.
    pub(crate) words: Vec<String>,
    /// All its words, folded.
    pub(crate) all_words: HashSet<String>,
    /// How surely it names each chunk by its title, 0 to 1.
    pub(crate) named: HashMap<ChunkId, f32>,
    /// Natural logarithm of the number of chunks, at least that of 2.
    pub(crate) ln_chunks: f32,
    /// By term: what it adds to a chunk's score, scaled so that the best chunk has `words` in all.
    by_word: Vec<HashMap<ChunkId, f32>>,
    pub(crate) vector: Option<Vector>,
    /// The chunks closest in meaning, best first.
    pub(crate) closest: Vec<(ChunkId, f32)>,
    meaning_scale: f32,
    rarity_floor: f32,
}

impl Asked {
    pub(crate) async fn new(
        finder: Finder<'_>,
        question: &str,
        params: HopParams,
    ) -> Result<Self, RetrieveError> {
        let words = question_terms(question);
        let vector = finder
            .vectors(&[question.to_owned()])
            .await?
            .and_then(|vectors| vectors.into_iter().next());
        let closest: Vec<(ChunkId, f32)> = match &vector {
            Some(vector) => {
                let lists = finder
                    .base
                    .nearest_chunks(std::slice::from_ref(vector), super::SEEDS, -1.0)
                    .await?;
                lists.into_iter().flatten().map(|hit| (hit.item, hit.score.max(0.0))).collect()
            }
            None => Vec::new(),
        };
        let best = closest.first().map_or(0.0, |(_, cosine)| *cosine);
        let weight = if vector.is_some() { params.words } else { params.words_alone };
        let count = finder.base.chunk_count().await?;
        let ln_chunks = (count.max(2) as f32).ln();
        let mut asked = Self {
            by_word: scaled(finder, &words, weight).await?,
            all_words: tokens(question).into_iter().map(|token| token.folded).collect(),
            words,
            named: HashMap::new(),
            ln_chunks,
            vector,
            closest,
            meaning_scale: if 0.0 < best { params.meaning / best } else { 0.0 },
            rarity_floor: params.rarity_floor,
        };
        asked.named = named_titles(finder, &asked, question).await?;
        Ok(asked)
    }

    /// The best chunks by words, the best by meaning, and all that the question names.
    pub(crate) fn seeds(&self, most: usize) -> Vec<ChunkId> {
        let mut by_words: Vec<(ChunkId, f32)> = self.words_in_all().into_iter().collect();
        by_words.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        by_words.truncate(most);
        let mut seeds: Vec<ChunkId> = by_words.into_iter().map(|(chunk, _)| chunk).collect();
        seeds.extend(self.closest.iter().map(|(chunk, _)| *chunk));
        seeds.extend(self.named.keys());
        seeds.sort_unstable();
        seeds.dedup();
        seeds
    }

    /// What all words together contribute to each chunk that has any.
    pub(crate) fn words_in_all(&self) -> HashMap<ChunkId, f32> {
        let mut sums: HashMap<ChunkId, f32> = HashMap::new();
        for scores in &self.by_word {
            for (chunk, score) in scores {
                *sums.entry(*chunk).or_default() += score;
            }
        }
        sums
    }

    /// What each question word contributes to a chunk.
    pub(crate) fn words_of(&self, chunk: ChunkId) -> Vec<f32> {
        self.by_word.iter().map(|scores| scores.get(&chunk).copied().unwrap_or_default()).collect()
    }

    /// What meaning contributes to each of these chunks; the closest chunk of all has the full weight.
    pub(crate) async fn meaning(
        &self,
        finder: Finder<'_>,
        chunks: &[ChunkId],
    ) -> Result<Vec<f32>, RetrieveError> {
        let Some(vector) = &self.vector else { return Ok(vec![0.0; chunks.len()]) };
        let known: HashMap<ChunkId, f32> = self.closest.iter().copied().collect();
        let unknown: Vec<ChunkId> =
            chunks.iter().copied().filter(|chunk| !known.contains_key(chunk)).collect();
        let found = finder.base.similarities(vector, &unknown).await?;
        let looked_up: HashMap<ChunkId, f32> = unknown.into_iter().zip(found).collect();
        let cosine =
            |chunk| known.get(chunk).or_else(|| looked_up.get(chunk)).copied().unwrap_or_default();
        Ok(chunks.iter().map(|chunk| cosine(chunk).max(0.0) * self.meaning_scale).collect())
    }

    /// What it says to have something in common that `count` chunks have: 1 where it is rarest, 0 where
    /// it is no longer rare.
    pub(crate) fn rare(&self, count: usize) -> f32 {
        let rare = (self.rarity(count) - self.rarity_floor) / (1.0 - self.rarity_floor);
        rare.max(0.0).powi(2)
    }

    /// More chunks than this may not share a name that still counts as rare.
    pub(crate) fn most_sharing(&self) -> usize {
        (self.ln_chunks * (1.0 - self.rarity_floor)).exp().ceil() as usize + 1
    }

    /// How rare something is that `count` chunks have: 1 for one chunk, 0 for all of them.
    pub(crate) fn rarity(&self, count: usize) -> f32 {
        (1.0 - (count.max(1) as f32).ln() / self.ln_chunks).clamp(0.0, 1.0)
    }
}

async fn scaled(
    finder: Finder<'_>,
    words: &[String],
    weight: f32,
) -> Result<Vec<HashMap<ChunkId, f32>>, RetrieveError> {
    let mut by_word: Vec<HashMap<ChunkId, f32>> = Vec::with_capacity(words.len());
    let mut sums: HashMap<ChunkId, f32> = HashMap::new();
    for hits in finder.base.term_scores(words).await? {
        let mut scores = HashMap::with_capacity(hits.len());
        for hit in hits {
            *sums.entry(hit.item).or_default() += hit.score;
            scores.insert(hit.item, hit.score);
        }
        by_word.push(scores);
    }
    let best = sums.into_values().fold(1e-9, f32::max);
    for score in by_word.iter_mut().flat_map(HashMap::values_mut) {
        *score *= weight / best;
    }
    Ok(by_word)
}
