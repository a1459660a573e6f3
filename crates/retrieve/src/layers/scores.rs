//! Scores a chunk, its source, its section and its distilled nodes against the question: `g(Q, C)`,
//! `g(Q, I)` and `g(Q, D)`, each scaled to `[0, 1]`, weighed (PIKE-RAG §5.2.3).

use std::collections::{BTreeMap, HashMap, HashSet};

use pikerag_knowledge::{Chunk, ChunkId, ChunksOf, NodeId, SectionId, SourceId, Vector, VectorSet};
use pikerag_language::query_terms;

use super::LayerParams;
use super::distilled::{Distilled, by_words};
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
    chunk: f32,
    named: f32,
    source: f32,
    section: f32,
    distilled: f32,
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

/// All candidates with their scores.
pub(super) async fn scores(
    finder: Finder<'_>,
    asked: &Asked,
    params: LayerParams,
) -> Result<BTreeMap<ChunkId, Scores>, RetrieveError> {
    let words = if asked.vector.is_some() { params.words } else { 1.0 };
    let weights = Weights::new(finder, asked).await?;
    let close = Close::find(finder, asked.vector.as_ref(), params).await?;
    let distilled = Distilled::find(finder, asked, &weights, params).await?;
    let mut ids = asked.seeds();
    ids.extend(close.chunks.iter());
    ids.extend(distilled.chunks());
    ids.sort_unstable();
    ids.dedup();
    let chunks = finder.base.chunks(&ids).await?;
    let of_words = asked.words_of(finder, &ids).await?.into_iter().map(|words| words.iter().sum());
    let own_words: HashMap<ChunkId, f32> = ids.iter().copied().zip(of_words).collect();
    let by_meaning = scaled(asked.closest.iter().copied());
    let mut all = BTreeMap::new();
    for chunk in chunks.iter().filter(|chunk| chunk.is_searchable()) {
        let named = asked.named.get(&chunk.id).copied().unwrap_or_default();
        let source = weights.overlap(&about_source(chunk)).max(named);
        let section = weights.overlap(&chunk.heading_path());
        let mix = |of_words: f32, of_meaning: Option<&f32>| {
            words * of_words + (1.0 - words) * of_meaning.copied().unwrap_or_default()
        };
        let meant_section = chunk.section.and_then(|section| close.sections.get(&section));
        let own = own_words.get(&chunk.id).copied().unwrap_or_default();
        all.insert(
            chunk.id,
            Scores {
                chunk: params.chunk * mix(own, by_meaning.get(&chunk.id)),
                named: params.named * named,
                source: params.source * mix(source, close.sources.get(&chunk.source)),
                section: params.section * mix(section, meant_section),
                distilled: params.distilled * distilled.of(chunk.id),
            },
        );
    }
    by_words(finder, asked.vector.is_some(), &weights, params, &mut all).await?;
    Ok(all)
}

/// The text of a source that is compared word by word: its title alone, because its vector finds
/// its summary.
fn about_source(chunk: &Chunk) -> String {
    chunk.title.clone()
}

/// The nodes close to the question in meaning, layer by layer, scaled.
#[derive(Default)]
struct Close {
    sources: HashMap<SourceId, f32>,
    sections: HashMap<SectionId, f32>,
    /// The chunks of the closest sources and sections.
    chunks: Vec<ChunkId>,
}

impl Close {
    async fn find(
        finder: Finder<'_>,
        vector: Option<&Vector>,
        params: LayerParams,
    ) -> Result<Self, RetrieveError> {
        let Some(vector) = vector else { return Ok(Self::default()) };
        let queries = std::slice::from_ref(vector);
        let mut close = Self::default();
        let nearest = async |set| -> Result<Vec<(NodeId, f32)>, RetrieveError> {
            let found = finder.base.nearest(set, queries, SEEDS, -1.0, &[]).await?;
            Ok(found.into_iter().flatten().map(|hit| (hit.item, hit.score)).collect())
        };
        if 0.0 < params.source {
            let found = nearest(VectorSet::Sources).await?;
            let first: Vec<SourceId> =
                found.iter().take(AROUND).map(|(id, _)| SourceId(id.0)).collect();
            let chunks = finder.base.chunks_of(ChunksOf::Sources(&first), MOST_CHUNKS).await?;
            close.chunks.extend(chunks.into_iter().flat_map(|list| list.chunks));
            close.sources = scaled(found.into_iter().map(|(id, score)| (SourceId(id.0), score)));
        }
        if 0.0 < params.section {
            let found = nearest(VectorSet::Sections).await?;
            let first: Vec<SectionId> =
                found.iter().take(AROUND).map(|(id, _)| SectionId(id.0)).collect();
            let chunks = finder.base.chunks_of(ChunksOf::Sections(&first), MOST_CHUNKS).await?;
            close.chunks.extend(chunks.into_iter().flat_map(|list| list.chunks));
            close.sections = scaled(found.into_iter().map(|(id, score)| (SectionId(id.0), score)));
        }
        Ok(close)
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
    async fn new(finder: Finder<'_>, asked: &Asked) -> Result<Self, RetrieveError> {
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
