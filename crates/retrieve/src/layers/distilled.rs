//! Scores chunks by the distilled nodes that lead to them: `g(Q, D)` over atoms, entities and their reports,
//! summaries of the tree, tags and records (PIKE-RAG §5.2.3). A chunk counts by its best node.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use pikerag_knowledge::{
    AtomKind, AtomQuery, Child, ChunkId, ChunksOf, EntityId, NameKey, NodeId, RecordsOf, Scored,
    SummaryId, Vector, VectorSet, Which, nearest_atoms,
};

use super::measure::{AROUND, MOST_CHUNKS, READ_BY_WORDS, SEEDS, Scores, Weights, scaled};
use super::{Aggregate, LayerParams};
use crate::finder::{Finder, RetrieveError};
use crate::question::Asked;
use crate::synonyms::phrases;

const KINDS: [AtomKind; 3] = [AtomKind::Question, AtomKind::Sentence, AtomKind::Statement];

/// The best score of each chunk over the nodes that lead to it, from 0 to 1.
#[derive(Default)]
pub(super) struct Distilled(HashMap<ChunkId, f32>);

impl Distilled {
    /// Scores by the nodes close to the question in meaning, and by its tags.
    pub(super) async fn find(
        finder: Finder<'_>,
        asked: &Asked,
        weights: &Weights,
        params: LayerParams,
    ) -> Result<Self, RetrieveError> {
        let mut found = Self::default();
        if params.distilled <= 0.0 {
            return Ok(found);
        }
        if let Some(vector) = &asked.vector {
            found.by_atoms(finder, vector, params.aggregate).await?;
            if 0.0 < params.entities + params.reports {
                found.by_entities(finder, vector, weights, params).await?;
            }
            if 0.0 < params.summaries {
                found.by_summaries(finder, vector, params.summaries).await?;
            }
        }
        if 0.0 < params.tags {
            found.by_tags(finder, asked, params.tags).await?;
        }
        Ok(found)
    }

    pub(super) fn chunks(&self) -> impl Iterator<Item = ChunkId> + '_ {
        self.0.keys().copied()
    }

    pub(super) fn of(&self, chunk: ChunkId) -> f32 {
        self.0.get(&chunk).copied().unwrap_or_default()
    }

    fn raise(&mut self, chunk: ChunkId, score: f32) {
        let slot = self.0.entry(chunk).or_default();
        *slot = slot.max(score);
    }

    async fn by_atoms(
        &mut self,
        finder: Finder<'_>,
        vector: &Vector,
        aggregate: Aggregate,
    ) -> Result<(), RetrieveError> {
        let queries = std::slice::from_ref(vector);
        for kind in KINDS {
            let found = nearest_atoms(finder.base, kind, queries, SEEDS, -1.0, &[]).await?;
            let found: Vec<Scored<_>> = found.into_iter().flatten().collect();
            let by_atom = scaled(found.iter().map(|hit| (hit.item.id, hit.score)));
            let mut by_chunk: BTreeMap<ChunkId, Vec<f32>> = BTreeMap::new();
            for hit in &found {
                let score = by_atom.get(&hit.item.id).copied().unwrap_or_default();
                by_chunk.entry(hit.item.chunk).or_default().push(score);
            }
            for (chunk, scores) in by_chunk {
                self.raise(chunk, aggregated(scores, aggregate));
            }
        }
        Ok(())
    }

    /// The chunks of the closest entities. An entity that many chunks mention leads to none of them. The reports on an
    /// entity's communities count for its chunks, because a report is on too much to lead to all its chunks.
    async fn by_entities(
        &mut self,
        finder: Finder<'_>,
        vector: &Vector,
        weights: &Weights,
        params: LayerParams,
    ) -> Result<(), RetrieveError> {
        let near = nearest(finder, VectorSet::Entities, vector).await?;
        let near: Vec<(EntityId, f32)> =
            near.into_iter().map(|(node, score)| (EntityId(node.0), score)).collect();
        let ids: Vec<EntityId> = near.iter().map(|(id, _)| *id).collect();
        let mut reported: HashMap<EntityId, f32> = HashMap::new();
        if 0.0 < params.reports && !ids.is_empty() {
            for community in finder.base.communities(Which::Of(&ids)).await? {
                let Some(report) = community.report else { continue };
                let text =
                    [report.title.as_str(), &report.summary, &report.findings.join(" ")].join(" ");
                let score = params.reports * weights.share(&text);
                for member in community.members {
                    let slot = reported.entry(member).or_default();
                    *slot = slot.max(score);
                }
            }
        }
        let mentioning = finder.base.chunks_of(ChunksOf::Entities(&ids), MOST_CHUNKS).await?;
        for ((id, score), mentions) in near.into_iter().zip(mentioning) {
            let by_report = reported.get(&id).copied().unwrap_or_default();
            for chunk in mentions.chunks {
                self.raise(chunk, (params.entities * score).max(by_report));
            }
        }
        Ok(())
    }

    /// The chunks below the closest summaries, if they are no more than a document's.
    async fn by_summaries(
        &mut self,
        finder: Finder<'_>,
        vector: &Vector,
        weight: f32,
    ) -> Result<(), RetrieveError> {
        let near = nearest(finder, VectorSet::Summaries, vector).await?;
        for (node, score) in near {
            for chunk in chunks_below(finder, SummaryId(node.0)).await? {
                self.raise(chunk, weight * score);
            }
        }
        Ok(())
    }

    /// The chunks with tags that the question has word for word, rare tags first.
    async fn by_tags(
        &mut self,
        finder: Finder<'_>,
        asked: &Asked,
        weight: f32,
    ) -> Result<(), RetrieveError> {
        let keys: BTreeSet<NameKey> =
            phrases(&asked.text).iter().map(|phrase| phrase.key).collect();
        let keys: Vec<NameKey> = keys.into_iter().collect();
        let mut bearing: BTreeMap<ChunkId, f32> = BTreeMap::new();
        let most = asked.rarity.most_sharing(0.0);
        for list in finder.base.chunks_of(ChunksOf::Tags(&keys), most).await? {
            let rarity = asked.rarity.of(list.count);
            for chunk in list.chunks {
                *bearing.entry(chunk).or_default() += rarity;
            }
        }
        let best = bearing.values().copied().fold(0.0, f32::max);
        for (chunk, rarity) in bearing.into_iter().filter(|_| 0.0 < best) {
            self.raise(chunk, weight * rarity / best);
        }
        Ok(())
    }
}

/// The nodes of a set that are closest to the question in meaning, best first, scaled over the seeds.
async fn nearest(
    finder: Finder<'_>,
    set: VectorSet,
    vector: &Vector,
) -> Result<Vec<(NodeId, f32)>, RetrieveError> {
    let found = finder.base.nearest(set, std::slice::from_ref(vector), SEEDS, -1.0, &[]).await?;
    let found: Vec<(NodeId, f32)> =
        found.into_iter().flatten().map(|hit| (hit.item, hit.score)).collect();
    let by_node = scaled(found.iter().copied());
    let score = |node: &NodeId| by_node.get(node).copied().unwrap_or_default();
    Ok(found.iter().take(AROUND).map(|(node, _)| (*node, score(node))).collect())
}

/// The chunks below a summary; none if there are more than [`MOST_CHUNKS`].
async fn chunks_below(
    finder: Finder<'_>,
    summary: SummaryId,
) -> Result<Vec<ChunkId>, RetrieveError> {
    let (mut chunks, mut open) = (Vec::new(), vec![summary]);
    let mut seen: HashSet<SummaryId> = HashSet::new();
    while let Some(id) = open.pop() {
        if !seen.insert(id) {
            continue;
        }
        for summary in finder.base.summaries(&[id]).await? {
            for child in summary.children {
                match child {
                    Child::Chunk(chunk) => chunks.push(chunk),
                    Child::Summary(below) => open.push(below),
                }
            }
        }
        if MOST_CHUNKS < chunks.len() + open.len() {
            return Ok(Vec::new());
        }
    }
    Ok(chunks)
}

/// Scores the best chunks by the words of their nodes: their records, and their atoms if the question has no vector.
pub(super) async fn by_words(
    finder: Finder<'_>,
    has_vector: bool,
    weights: &Weights,
    params: LayerParams,
    all: &mut BTreeMap<ChunkId, Scores>,
) -> Result<(), RetrieveError> {
    let compares = !has_vector || 0.0 < params.records;
    if params.distilled <= 0.0 || !compares {
        return Ok(());
    }
    let mut best: Vec<(f32, ChunkId)> =
        all.iter().map(|(chunk, scores)| (scores.sum(), *chunk)).collect();
    best.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    best.truncate(READ_BY_WORDS);
    let ids: Vec<ChunkId> = best.into_iter().map(|(_, chunk)| chunk).collect();
    let mut raise = |chunk: ChunkId, score: f32| {
        if let Some(held) = all.get_mut(&chunk) {
            held.raise_distilled(params.distilled * score);
        }
    };
    if !has_vector {
        for kind in KINDS {
            let mut by_chunk: BTreeMap<ChunkId, Vec<f32>> = BTreeMap::new();
            for atom in finder.base.atoms(AtomQuery::InChunks(kind, &ids)).await? {
                by_chunk.entry(atom.chunk).or_default().push(weights.overlap(&atom.text));
            }
            for (chunk, scores) in by_chunk {
                raise(chunk, aggregated(scores, params.aggregate));
            }
        }
    }
    if 0.0 < params.records {
        for record in finder.base.records(RecordsOf::Chunks(&ids)).await? {
            let values: Vec<&str> = record.fields.iter().map(|field| field.raw.as_str()).collect();
            let text = [record.schema.replace('_', " "), values.join(" ")].join(" ");
            raise(record.chunk, params.records * weights.overlap(&text));
        }
    }
    Ok(())
}

fn aggregated(mut scores: Vec<f32>, aggregate: Aggregate) -> f32 {
    scores.sort_by(|a, b| b.total_cmp(a));
    match aggregate {
        Aggregate::Max => scores.first().copied().unwrap_or_default(),
        Aggregate::Sum => scores.iter().sum::<f32>().min(1.0),
        Aggregate::MeanTop2 => scores.iter().take(2).sum::<f32>() / 2.0,
    }
}
