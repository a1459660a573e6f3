//! What does the question alone say about each chunk? Words, meaning, and names.

use std::collections::{HashMap, HashSet};

use pikerag_knowledge::{ChunkId, Vector};
use pikerag_language::fold::tokens;
use pikerag_language::query_terms;

use crate::finder::{Finder, RetrieveError};
use crate::rarity::Rarity;
use crate::titles::named_titles;

/// Chunks closest in meaning that are looked up.
const CLOSEST: usize = 200;

/// How the question's own words and meaning are weighed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QuestionParams {
    /// Weight of its words, where there are vectors too.
    pub(crate) words: f32,
    /// Weight of its words, where there are no vectors.
    pub(crate) words_alone: f32,
    /// Weight of its meaning: what the closest chunk of all gets.
    pub(crate) meaning: f32,
    /// What is less rare than this counts as common, see [`Rarity`].
    pub(crate) rarity_floor: f32,
}

/// The question, looked up once.
pub(crate) struct Asked {
    /// Its terms as full text has them, stemmed, each once.
    pub(crate) words: Vec<String>,
    /// All its words, folded, stop words included.
    pub(crate) all_words: HashSet<String>,
    /// How surely it names each chunk by its title, 0 to 1.
    pub(crate) named: HashMap<ChunkId, f32>,
    /// How rare names and titles are in this base.
    pub(crate) rarity: Rarity,
    /// By term: what it adds to a chunk's score, scaled so that the best chunk has `words` in all.
    by_word: Vec<HashMap<ChunkId, f32>>,
    /// Its vector; none without an embedder.
    pub(crate) vector: Option<Vector>,
    /// The chunks closest in meaning, best first.
    pub(crate) closest: Vec<(ChunkId, f32)>,
    meaning_scale: f32,
}

impl Asked {
    pub(crate) async fn new(
        finder: Finder<'_>,
        question: &str,
        params: QuestionParams,
    ) -> Result<Self, RetrieveError> {
        let words = query_terms(question);
        let vector = finder
            .vectors(&[question.to_owned()])
            .await?
            .and_then(|vectors| vectors.into_iter().next());
        let closest: Vec<(ChunkId, f32)> = match &vector {
            Some(vector) => {
                let lists =
                    finder.base.nearest_chunks(std::slice::from_ref(vector), CLOSEST, -1.0).await?;
                lists.into_iter().flatten().map(|hit| (hit.item, hit.score.max(0.0))).collect()
            }
            None => Vec::new(),
        };
        let best = closest.first().map_or(0.0, |(_, cosine)| *cosine);
        let weight = if vector.is_some() { params.words } else { params.words_alone };
        let count = finder.base.chunk_count().await?;
        let rarity = Rarity::new(count, params.rarity_floor);
        Ok(Self {
            by_word: scaled(finder, &words, weight).await?,
            all_words: tokens(question).into_iter().map(|token| token.folded).collect(),
            words,
            named: named_titles(finder, rarity, question).await?,
            rarity,
            vector,
            closest,
            meaning_scale: if 0.0 < best { params.meaning / best } else { 0.0 },
        })
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
