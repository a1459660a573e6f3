//! Scores chunks on all layers at once: similarities to sources, sections, chunks and what was distilled from them.
//! A part of each score then spreads along the graph's edges (PIKE-RAG §5.2.3, Fig. 8).

mod distilled;
mod edges;
mod measure;
mod scores;
mod spread;

use std::collections::BTreeMap;

use pikerag_knowledge::ChunkId;
use serde::{Deserialize, Serialize};

use self::edges::Edges;
use self::measure::Scores;
use self::scores::scores;
use self::spread::{Flow, Mass, OWN};
use crate::finder::{Finder, Hit, RetrieveError};
use crate::question::Asked;

/// The weights of layers, and how far scores spread. Each similarity is scaled to `[0, 1]` over the
/// finds of one question on its layer, so that weights of layers can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LayerParams {
    /// `w_C`: weight of a chunk's own similarity.
    pub chunk: f32,
    /// Weight of a chunk that the question names by title, heading, file or identifier. It is not
    /// in the paper's formula: averages over words or meaning do not show names.
    pub named: f32,
    /// `w_I`: weight of its source's similarity.
    pub source: f32,
    /// `w_S`: weight of its section's similarity.
    pub section: f32,
    /// `w_D`: weight of the similarity of its best distilled node. Atoms count in full; each other kind by a factor of
    /// its own, below.
    pub distilled: f32,
    /// Factor of the entities that it mentions, by name and description; needs an embedder.
    pub entities: f32,
    /// Factor of the reports on communities of the entities that it mentions; needs an embedder.
    pub reports: f32,
    /// Factor of the summaries of the tree above it; needs an embedder.
    pub summaries: f32,
    /// Factor of its tags that the question has word for word.
    pub tags: f32,
    /// Factor of its typed records, by their values.
    pub records: f32,
    /// How the similarities of a chunk's atoms are combined.
    pub aggregate: Aggregate,
    /// The share of words in a similarity; meaning has the rest. Without an embedder words have it
    /// all.
    pub words: f32,
    /// Whether scores spread to neighbours once, repeatedly, or not at all.
    pub spread: Spread,
    /// `λ`: the part of each score that spreads.
    pub lambda: f32,
    /// The power applied to scores before they spread; a higher power lets the second best send out
    /// less.
    pub sharpness: f32,
    /// Weight of an edge to a chunk that this one links to or names by its title.
    pub refers_to: f32,
    /// Weight of the reverse edge: from the chunk that is linked to or named.
    pub referred_by: f32,
    /// Weight of an edge by a rare name in common.
    pub shares: f32,
    /// Weight of an edge to the chunk before or after.
    pub next: f32,
    /// Weight of an edge by an entity in common or related to one, if the entity graph is built.
    /// Titles and rare names show the same more surely (`docs/explain/retrieval.md`).
    pub relates: f32,
    /// The rarity that a name or entity must exceed to count, on a logarithmic scale: 1 for one
    /// that a single chunk has, 0 for one that all chunks have.
    pub rarity_floor: f32,
    /// The power applied to the weight of an edge; a higher power favours the strongest edges.
    pub contrast: f32,
    /// The most chunks that spread their score; only their edges are looked up.
    pub pushes: usize,
}

/// How the similarities of a chunk's atoms are combined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aggregate {
    /// The best of them.
    #[default]
    Max,
    /// Their sum, at most 1.
    Sum,
    /// The mean of the best two; the second is 0 if there is only one.
    MeanTop2,
}

/// How far scores spread along the edges of the graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spread {
    /// Not at all: each chunk keeps its own score.
    Off,
    /// To the chunks one edge away, once.
    #[default]
    OneStep,
    /// Repeatedly, each time by `λ` of the rest: personalised `PageRank`, by local pushes.
    PageRank,
}

impl Default for LayerParams {
    fn default() -> Self {
        Self {
            chunk: 1.0,
            named: 0.5,
            source: 0.6,
            section: 0.2,
            distilled: 0.5,
            entities: 0.0,
            reports: 0.0,
            summaries: 0.0,
            tags: 0.0,
            records: 0.0,
            aggregate: Aggregate::Max,
            words: 0.5,
            spread: Spread::OneStep,
            lambda: 0.5,
            sharpness: 4.0,
            refers_to: 1.0,
            referred_by: 0.3,
            shares: 0.7,
            next: 0.3,
            relates: 0.0,
            rarity_floor: 0.5,
            contrast: 2.0,
            pushes: 16,
        }
    }
}

/// The `k` best chunks over all layers, best first, ties by identifier. The parts of a hit sum to
/// its score: its own score by layer, and the received score by kind of edge.
///
/// # Errors
/// See [`RetrieveError`].
pub async fn layers(
    finder: Finder<'_>,
    question: &str,
    k: usize,
    params: LayerParams,
) -> Result<Vec<Hit>, RetrieveError> {
    let asked = Asked::new(finder, question, params.rarity_floor).await?;
    let mut all = spread_scores(finder, &asked, params).await?;
    all.truncate(k);
    Ok(all)
}

/// All chunks that have a score, best first.
pub(crate) async fn spread_scores(
    finder: Finder<'_>,
    asked: &Asked,
    params: LayerParams,
) -> Result<Vec<Hit>, RetrieveError> {
    let found = scores(finder, asked, params).await?;
    let own = sharpened(&found, params.sharpness);
    let mut flow = Flow::new(own.iter().map(|(chunk, (mass, _))| (*chunk, *mass)), params);
    if params.spread != Spread::Off {
        let edges = Edges { finder, asked, params };
        for _ in 0..params.pushes {
            let Some(chunk) = flow.next() else { break };
            let out = edges.of(chunk).await?;
            flow.push(chunk, &out);
        }
    }
    let mut hits: Vec<Hit> =
        flow.settle().into_iter().map(|(chunk, mass)| hit(chunk, &mass, own.get(&chunk))).collect();
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.chunk.cmp(&b.chunk)));
    Ok(hits)
}

/// A chunk's score before it spreads, and the part of each layer in it.
type Own = (f32, [(&'static str, f32); 5]);

/// Each score, multiplied by a power of its ratio to the best one.
fn sharpened(found: &BTreeMap<ChunkId, Scores>, sharpness: f32) -> BTreeMap<ChunkId, Own> {
    let best = found.values().map(Scores::sum).fold(0.0, f32::max);
    let mut own = BTreeMap::new();
    for (chunk, scores) in found {
        let sum = scores.sum();
        if sum <= 0.0 || best <= 0.0 {
            continue;
        }
        let factor = (sum / best).powf(sharpness - 1.0);
        let parts = scores.parts().map(|(name, part)| (name, part * factor));
        own.insert(*chunk, (sum * factor, parts));
    }
    own
}

fn hit(chunk: ChunkId, mass: &Mass, own: Option<&Own>) -> Hit {
    let mut parts = BTreeMap::new();
    for (kind, came) in spread::KINDS.iter().zip(mass.iter().skip(OWN + 1)) {
        if 0.0 < *came {
            parts.insert((*kind).to_owned(), *came);
        }
    }
    if let (Some((before, layers)), Some(kept)) = (own, mass.first()) {
        for (name, part) in layers.iter().filter(|(_, part)| *part != 0.0) {
            parts.insert((*name).to_owned(), part * kept / before);
        }
    }
    Hit { chunk, score: parts.values().sum(), parts }
}
