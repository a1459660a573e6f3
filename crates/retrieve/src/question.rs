//! Looks up a question once, and scores chunks by its words, its meaning and its names.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use futures::try_join;
use pikerag_knowledge::{ChunkId, Vector, nearest_chunks};
use pikerag_language::fold::tokens;
use pikerag_language::{is_chinese, query_terms};

use crate::finder::{Finder, RetrieveError};
use crate::names::{Names, names_of};
use crate::rarity::Rarity;
use crate::synonyms::in_documents_words;
use crate::titles::named_titles;

/// The number of chunks closest in meaning, and of chunks that fit the words best, that are looked
/// up.
pub(crate) const CLOSEST: usize = 200;

/// A question, looked up once: hops and layers share it, and each weighs it differently. Only
/// requested chunks are scored, whatever the size of the base.
pub(crate) struct Asked {
    /// Its text, with the documents' words for declared synonyms.
    pub(crate) text: String,
    /// How many words it has; two Chinese characters count as one.
    pub(crate) length: f32,
    /// Its terms in the form of the full-text index, stemmed, each once.
    pub(crate) words: Vec<String>,
    /// All its words, folded, stop words included.
    pub(crate) all_words: HashSet<String>,
    /// How surely it names each chunk by its title, 0 to 1.
    pub(crate) named: HashMap<ChunkId, f32>,
    /// How rare names and titles are in this base.
    pub(crate) rarity: Rarity,
    /// Names less rare than this are not looked up.
    rarity_floor: f32,
    /// Its vector; none without an embedder.
    pub(crate) vector: Option<Vector>,
    /// The chunks closest in meaning, best first.
    pub(crate) closest: Vec<(ChunkId, f32)>,
    /// The chunks that fit its words best, best first.
    pub(crate) matching: Vec<(ChunkId, f32)>,
    /// The names in chunks, and the chunks that name them, as far as they were looked up.
    names: Mutex<HashMap<ChunkId, Arc<Names>>>,
}

impl Asked {
    /// Looks a question up; names less rare than `rarity_floor` will lead nowhere.
    pub(crate) async fn new(
        finder: Finder<'_>,
        question: &str,
        rarity_floor: f32,
    ) -> Result<Self, RetrieveError> {
        let question = in_documents_words(finder, question).await?;
        let question = question.as_ref();
        let rarity = Rarity::new(finder.base.state().await?.chunks);
        // Side by side: the first question waits for the embedder to be loaded.
        let matching = async { Ok(finder.base.matching_chunks(question, CLOSEST).await?) };
        let named = named_titles(finder, rarity, question);
        let ((vector, closest), matching, named) =
            try_join!(closest(finder, question), matching, named)?;
        let all_words = tokens(question).into_iter().map(|token| token.folded);
        let size = |word: &str| if word.chars().any(is_chinese) { 0.5 } else { 1.0 };
        Ok(Self {
            text: question.to_owned(),
            length: all_words.clone().map(|word| size(&word)).sum(),
            words: query_terms(question),
            all_words: all_words.collect(),
            named,
            rarity,
            rarity_floor,
            vector,
            closest,
            matching: matching.into_iter().map(|hit| (hit.item, hit.score)).collect(),
            names: Mutex::default(),
        })
    }

    /// The best chunks by words, the best by meaning, and all chunks that the question names.
    pub(crate) fn seeds(&self) -> Vec<ChunkId> {
        let best = self.matching.iter().chain(&self.closest).map(|(chunk, _)| *chunk);
        let mut seeds: Vec<ChunkId> = best.chain(self.named.keys().copied()).collect();
        seeds.sort_unstable();
        seeds.dedup();
        seeds
    }

    /// The contribution of each question word to each of these chunks; the sum for the best of all
    /// chunks is 1.
    pub(crate) async fn words_of(
        &self,
        finder: Finder<'_>,
        chunks: &[ChunkId],
    ) -> Result<Vec<Vec<f32>>, RetrieveError> {
        let best = self.matching.first().map_or(0.0, |(_, score)| *score);
        if best <= 0.0 || chunks.is_empty() {
            return Ok(vec![vec![0.0; self.words.len()]; chunks.len()]);
        }
        let mut scores = finder.base.term_scores(&self.words, chunks).await?;
        for score in scores.iter_mut().flatten() {
            *score /= best;
        }
        Ok(scores)
    }

    /// How close each of these chunks is in meaning; the closest of all has 1.
    pub(crate) async fn meaning_of(
        &self,
        finder: Finder<'_>,
        chunks: &[ChunkId],
    ) -> Result<Vec<f32>, RetrieveError> {
        let best = self.closest.first().map_or(0.0, |(_, cosine)| *cosine);
        let Some(vector) = self.vector.as_ref().filter(|_| 0.0 < best) else {
            return Ok(vec![0.0; chunks.len()]);
        };
        let known: HashMap<ChunkId, f32> = self.closest.iter().copied().collect();
        let unknown: Vec<ChunkId> =
            chunks.iter().copied().filter(|chunk| !known.contains_key(chunk)).collect();
        let found = finder.base.similarities(vector, &unknown).await?;
        let looked_up: HashMap<ChunkId, f32> = unknown.into_iter().zip(found).collect();
        let cosine =
            |chunk| known.get(chunk).or_else(|| looked_up.get(chunk)).copied().unwrap_or_default();
        Ok(chunks.iter().map(|chunk| cosine(chunk).max(0.0) / best).collect())
    }

    /// The names in a chunk, and the chunks that name it; looked up once.
    pub(crate) async fn names_of(
        &self,
        finder: Finder<'_>,
        chunk: ChunkId,
    ) -> Result<Arc<Names>, RetrieveError> {
        let held = || self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let known = held().get(&chunk).cloned();
        match known {
            Some(known) => Ok(known),
            None => {
                let most = self.rarity.most_sharing(self.rarity_floor);
                let names = names_of(finder, chunk, self.rarity, most, &self.all_words).await?;
                let names = Arc::new(names);
                Ok(Arc::clone(held().entry(chunk).or_insert(names)))
            }
        }
    }
}

/// The vector of a question, and the chunks closest to it, best first; neither without an embedder.
async fn closest(
    finder: Finder<'_>,
    question: &str,
) -> Result<(Option<Vector>, Vec<(ChunkId, f32)>), RetrieveError> {
    let vectors = finder.vectors(&[question.to_owned()]).await?;
    let Some(vector) = vectors.and_then(|vectors| vectors.into_iter().next()) else {
        return Ok((None, Vec::new()));
    };
    let found = nearest_chunks(finder.base, std::slice::from_ref(&vector), CLOSEST, -1.0).await?;
    let found = found.into_iter().flatten().map(|hit| (hit.item, hit.score.max(0.0))).collect();
    Ok((Some(vector), found))
}
