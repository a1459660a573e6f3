//! Scores a chunk, its source, its section and its distilled nodes against the question: `g(Q, C)`,
//! `g(Q, I)` and `g(Q, D)`, each scaled to `[0, 1]`, weighed (PIKE-RAG §5.2.3).

use std::collections::{BTreeMap, HashMap};

use pikerag_knowledge::{Chunk, ChunkId, ChunksOf, NodeId, SectionId, SourceId, Vector, VectorSet};

use super::LayerParams;
use super::distilled::{Distilled, by_words};
use super::measure::{AROUND, MOST_CHUNKS, SEEDS, Scores, Weights, scaled};
use crate::finder::{Finder, RetrieveError};
use crate::question::Asked;

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
    // Many chunks share their title and their headings.
    let mut compared: HashMap<String, f32> = HashMap::new();
    let mut overlap = |text: String| match compared.get(&text) {
        Some(known) => *known,
        None => {
            let overlap = weights.overlap(&text);
            compared.insert(text, overlap);
            overlap
        }
    };
    let mut all = BTreeMap::new();
    for chunk in chunks.iter().filter(|chunk| chunk.is_searchable()) {
        let named = asked.named.get(&chunk.id).copied().unwrap_or_default();
        let source = overlap(about_source(chunk)).max(named);
        let section = overlap(chunk.heading_path());
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
