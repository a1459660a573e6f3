//! Scores a chunk, its source, its section and its atoms against the question: `g(Q, C)`, `g(Q, I)`
//! and `g(Q, D)`, each scaled to `[0, 1]`, weighed (PIKE-RAG §5.2.3).

use std::collections::{BTreeMap, HashMap, HashSet};

use pikerag_knowledge::{
    AtomKind, AtomQuery, Chunk, ChunkId, ChunksOf, NodeId, Scored, SectionId, SourceId, Vector,
    VectorSet, nearest_atoms,
};
use pikerag_language::query_terms;

use super::{Aggregate, LayerParams};
use crate::finder::{Finder, RetrieveError};
use crate::question::Asked;

/// Candidates that meaning contributes on each layer.
const SEEDS: usize = 200;
/// The number of closest sources and sections whose chunks are candidates too …
const AROUND: usize = 20;
/// … if they have no more chunks than this.
const MOST_CHUNKS: usize = 16;
/// The chunks whose atoms are compared word by word, without vectors.
const READ_FOR_ATOMS: usize = 50;

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
    let close = Close::find(finder, asked.vector.as_ref(), params).await?;
    let mut ids = asked.seeds();
    ids.extend(close.chunks.iter());
    ids.extend(close.distilled.keys());
    ids.sort_unstable();
    ids.dedup();
    let chunks = finder.base.chunks(&ids).await?;
    let of_words = asked.words_of(finder, &ids).await?.into_iter().map(|words| words.iter().sum());
    let by_words: HashMap<ChunkId, f32> = ids.iter().copied().zip(of_words).collect();
    let by_meaning = scaled(asked.closest.iter().copied());
    let weights = Weights::new(finder, asked).await?;
    let mut all = BTreeMap::new();
    for chunk in chunks.iter().filter(|chunk| chunk.is_searchable()) {
        let named = asked.named.get(&chunk.id).copied().unwrap_or_default();
        let source = weights.overlap(&about_source(chunk)).max(named);
        let section = weights.overlap(&chunk.heading_path());
        let mix = |of_words: f32, of_meaning: Option<&f32>| {
            words * of_words + (1.0 - words) * of_meaning.copied().unwrap_or_default()
        };
        let meant_section = chunk.section.and_then(|section| close.sections.get(&section));
        let own = by_words.get(&chunk.id).copied().unwrap_or_default();
        all.insert(
            chunk.id,
            Scores {
                chunk: params.chunk * mix(own, by_meaning.get(&chunk.id)),
                named: params.named * named,
                source: params.source * mix(source, close.sources.get(&chunk.source)),
                section: params.section * mix(section, meant_section),
                distilled: params.distilled
                    * close.distilled.get(&chunk.id).copied().unwrap_or_default(),
            },
        );
    }
    if asked.vector.is_none() && 0.0 < params.distilled {
        atoms_by_words(finder, &weights, params, &mut all).await?;
    }
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
    /// The atoms' scores by chunk, aggregated.
    distilled: HashMap<ChunkId, f32>,
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
        if 0.0 < params.distilled {
            for kind in [AtomKind::Question, AtomKind::Sentence, AtomKind::Statement] {
                let found = nearest_atoms(finder.base, kind, queries, SEEDS, -1.0, &[]).await?;
                let found: Vec<Scored<_>> = found.into_iter().flatten().collect();
                if found.is_empty() {
                    continue;
                }
                let ids = found.iter().map(|hit| (hit.item.id, hit.score));
                let by_atom = scaled(ids);
                let mut by_chunk: BTreeMap<ChunkId, Vec<f32>> = BTreeMap::new();
                for hit in &found {
                    let score = by_atom.get(&hit.item.id).copied().unwrap_or_default();
                    by_chunk.entry(hit.item.chunk).or_default().push(score);
                }
                for (chunk, scores) in by_chunk {
                    let slot = close.distilled.entry(chunk).or_default();
                    *slot = slot.max(aggregated(scores, params.aggregate));
                }
            }
        }
        Ok(close)
    }
}

/// Scales scores so that the best is 1 and the last 0: a similarity that every text has means
/// nothing.
fn scaled<K: std::hash::Hash + Eq>(
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

fn aggregated(mut scores: Vec<f32>, aggregate: Aggregate) -> f32 {
    scores.sort_by(|a, b| b.total_cmp(a));
    match aggregate {
        Aggregate::Max => scores.first().copied().unwrap_or_default(),
        Aggregate::Sum => scores.iter().sum::<f32>().min(1.0),
        Aggregate::MeanTop2 => scores.iter().take(2).sum::<f32>() / 2.0,
    }
}

/// The weight of each word of the question: a word that few chunks have weighs more.
struct Weights {
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

    /// The geometric mean of two shares: of the question that a short text holds, and of the text
    /// that the question holds.
    fn overlap(&self, text: &str) -> f32 {
        if text.is_empty() || self.all <= 0.0 {
            return 0.0;
        }
        let words: HashSet<String> = query_terms(text).into_iter().collect();
        let shared: Vec<f32> =
            words.iter().filter_map(|word| self.by_word.get(word)).copied().collect();
        let of_text = shared.len() as f32 / words.len().max(1) as f32;
        let mut shared = shared;
        // In a fixed order: sums of floats depend on it.
        shared.sort_by(f32::total_cmp);
        (shared.iter().sum::<f32>() / self.all * of_text).sqrt()
    }
}

/// Scores the atoms of the best chunks by their words, without vectors.
async fn atoms_by_words(
    finder: Finder<'_>,
    weights: &Weights,
    params: LayerParams,
    all: &mut BTreeMap<ChunkId, Scores>,
) -> Result<(), RetrieveError> {
    let mut best: Vec<(f32, ChunkId)> =
        all.iter().map(|(chunk, scores)| (scores.sum(), *chunk)).collect();
    best.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    best.truncate(READ_FOR_ATOMS);
    let ids: Vec<ChunkId> = best.into_iter().map(|(_, chunk)| chunk).collect();
    for kind in [AtomKind::Question, AtomKind::Sentence, AtomKind::Statement] {
        let mut by_chunk: BTreeMap<ChunkId, Vec<f32>> = BTreeMap::new();
        for atom in finder.base.atoms(AtomQuery::InChunks(kind, &ids)).await? {
            by_chunk.entry(atom.chunk).or_default().push(weights.overlap(&atom.text));
        }
        for (chunk, scores) in by_chunk {
            if let Some(held) = all.get_mut(&chunk) {
                let found = params.distilled * aggregated(scores, params.aggregate);
                held.distilled = held.distilled.max(found);
            }
        }
    }
    Ok(())
}
