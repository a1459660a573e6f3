//! One search that loses nowhere (ours): the lists of hops, layers, words and meaning, fused by reciprocal rank, each
//! with a weight. Where chunks name each other hops lead, where they do not the plain lists hold the others' places.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use pikerag_knowledge::{ChunkId, Embedder, ModelError, Vector};
use serde::{Deserialize, Serialize};

use crate::chunks::nearest;
use crate::finder::{Finder, Hit, RetrieveError};
use crate::hops::hops;
use crate::layers::layers;
use crate::search::SearchParams;

/// How the lists are weighed. Chosen on train splits and halves of data sets (docs/retrieval.md).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AutoParams {
    /// Weight of hop retrieval.
    pub hops: f32,
    /// Weight of all layers at once.
    pub layers: f32,
    /// Weight of words alone.
    pub words: f32,
    /// Weight of meaning alone, where there is an embedder.
    pub meaning: f32,
    /// A chunk at rank r of a list adds the list's weight / (offset + r): the smaller, the more the first ranks count.
    pub offset: f32,
}

impl Default for AutoParams {
    fn default() -> Self {
        Self { hops: 2.0, layers: 1.0, words: 1.0, meaning: 0.0, offset: 5.0 }
    }
}

/// Chunks that each list brings, at least: one that is in several lists, late in each, may be among the best.
const DEPTH: usize = 30;

/// The `k` best chunks of all lists together, best first, ties by identifier.
///
/// # Errors
/// See [`RetrieveError`].
pub(crate) async fn auto(
    finder: Finder<'_>,
    query: &str,
    k: usize,
    params: SearchParams,
) -> Result<Vec<Hit>, RetrieveError> {
    let once = finder.embedder.map(Once::new);
    let finder = Finder { embedder: once.as_ref().map(|once| once as &dyn Embedder), ..finder };
    let by_words = Finder { embedder: None, ..finder };
    let (depth, weights) = (k.max(DEPTH), params.auto);
    let mut lists = Vec::new();
    if 0.0 < weights.hops {
        lists.push(("hops", weights.hops, hops(finder, query, depth, params.hops).await?));
    }
    if 0.0 < weights.layers {
        lists.push(("layers", weights.layers, layers(finder, query, depth, params.layers).await?));
    }
    if 0.0 < weights.words {
        lists.push(("words", weights.words, nearest(by_words, query, depth, 0.0).await?));
    }
    if 0.0 < weights.meaning && finder.embedder.is_some() {
        lists.push(("meaning", weights.meaning, nearest(finder, query, depth, -1.0).await?));
    }
    let mut fused = fuse(&lists, weights.offset);
    fused.truncate(k);
    Ok(fused)
}

/// Weighted reciprocal ranks; the parts of a score are what each list adds to it.
fn fuse(lists: &[(&str, f32, Vec<Hit>)], offset: f32) -> Vec<Hit> {
    let mut all: BTreeMap<ChunkId, BTreeMap<String, f32>> = BTreeMap::new();
    for (name, weight, hits) in lists {
        for (place, hit) in hits.iter().enumerate() {
            let part = weight / (offset + (place + 1) as f32);
            all.entry(hit.chunk).or_default().insert((*name).to_owned(), part);
        }
    }
    let hit = |(chunk, parts): (ChunkId, BTreeMap<String, f32>)| Hit {
        chunk,
        score: parts.values().sum(),
        parts,
    };
    let mut fused: Vec<Hit> = all.into_iter().map(hit).collect();
    fused.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.chunk.cmp(&b.chunk)));
    fused
}

/// An embedder that embeds one query once, however many searches ask for it.
struct Once<'a> {
    embedder: &'a dyn Embedder,
    known: Mutex<Option<(Vec<String>, Vec<Vector>)>>,
}

impl<'a> Once<'a> {
    fn new(embedder: &'a dyn Embedder) -> Self {
        Self { embedder, known: Mutex::default() }
    }
}

#[async_trait]
impl Embedder for Once<'_> {
    fn name(&self) -> &str {
        self.embedder.name()
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vector>, ModelError> {
        self.embedder.embed(texts).await
    }

    async fn embed_queries(&self, texts: &[String]) -> Result<Vec<Vector>, ModelError> {
        let held = self.known.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((_, vectors)) = held.filter(|(known, _)| known == texts) {
            return Ok(vectors);
        }
        let vectors = self.embedder.embed_queries(texts).await?;
        let known = Some((texts.to_vec(), vectors.clone()));
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = known;
        Ok(vectors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(ids: &[u64]) -> Vec<Hit> {
        let hit = |id: &u64| Hit { chunk: ChunkId(*id), score: 9.0, parts: BTreeMap::new() };
        ids.iter().map(hit).collect()
    }

    #[test]
    fn a_list_counts_by_its_weight_and_ties_go_by_id() {
        let lists = [("hops", 2.0, list(&[7, 2])), ("words", 1.0, list(&[3, 2]))];
        let fused = fuse(&lists, 1.0);
        let order: Vec<u64> = fused.iter().map(|hit| hit.chunk.0).collect();
        assert_eq!(order, [2, 7, 3], "2/3 + 1/3 is as much as 2/2");
        assert_eq!(fused[0].parts.keys().collect::<Vec<_>>(), ["hops", "words"]);
        for hit in &fused {
            assert!((hit.score - hit.parts.values().sum::<f32>()).abs() < 1e-6);
        }
    }
}
