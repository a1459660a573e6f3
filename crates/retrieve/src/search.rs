//! Lists all searches by name. One function runs each of them, so that settings choose and evaluations compare them.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::Arc;

use pikerag_knowledge::ChunkId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::atoms::closest_atoms;
use crate::auto::{AutoParams, auto};
use crate::chunks::{fuse_hits, hybrid, nearest};
use crate::finder::{Finder, Hit, RetrieveError};
use crate::hops::{HopParams, Walk, hops};
use crate::layers::{LayerParams, layers, spread_scores};
use crate::question::Asked;

/// A strategy for finding chunks, by the name that settings and the command line use.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    ToSchema,
    strum::Display,
    strum::EnumMessage,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Search {
    /// Hops, layers, words and meaning, fused.
    #[default]
    Auto,
    /// Words only (BM25).
    ///
    /// Over title and text.
    Words,
    /// Meaning only (embeddings).
    ///
    /// By words where there is no embedder.
    Meaning,
    /// Atomic questions or sentences, and their chunks.
    Atoms,
    /// Words and meaning, fused.
    ///
    /// By reciprocal rank.
    Hybrid,
    /// From chunk to chunk along links and names.
    Hops,
    /// Sources, sections, chunks and atoms at once; scores spread along edges.
    Layers,
    /// Hops, with the scores that were spread over the layers.
    Joined,
    /// The lists of hops and layers, fused.
    ///
    /// By reciprocal rank.
    Fused,
}

/// A name that is no search's.
#[derive(Debug, thiserror::Error)]
#[error("there is no search `{0}`; choose from {known}", known = Search::ALL.iter().map(|search| search.name()).collect::<Vec<_>>().join(", "))]
pub struct UnknownSearch(String);

impl Search {
    /// All of them: the default, then the simplest first.
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Its name in settings, on the command line and in reports.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl FromStr for Search {
    type Err = UnknownSearch;

    fn from_str(name: &str) -> Result<Self, UnknownSearch> {
        let found = Self::ALL.iter().copied().find(|search| search.name() == name);
        found.ok_or_else(|| UnknownSearch(name.to_owned()))
    }
}

/// The weights of all searches that have any.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SearchParams {
    /// For auto.
    pub auto: AutoParams,
    /// For auto, hops, joined and fused.
    pub hops: HopParams,
    /// For auto, layers, joined and fused.
    pub layers: LayerParams,
}

/// The `k` best chunks that a search finds, best first; each chunk once.
///
/// # Errors
/// See [`RetrieveError`].
pub async fn search(
    finder: Finder<'_>,
    by: Search,
    query: &str,
    k: usize,
    params: SearchParams,
) -> Result<Vec<Hit>, RetrieveError> {
    match by {
        Search::Auto => auto(finder, query, k, params.auto, (params.hops, params.layers)).await,
        Search::Words => nearest(Finder { embedder: None, ..finder }, query, k, 0.0).await,
        Search::Meaning => nearest(finder, query, k, -1.0).await,
        Search::Atoms => by_atoms(finder, query, k).await,
        Search::Hybrid => hybrid(finder, query, k).await,
        Search::Hops => hops(finder, query, k, params.hops).await,
        Search::Layers => layers(finder, query, k, params.layers).await,
        Search::Joined => joined(finder, query, k, params).await,
        Search::Fused => {
            let sides = [
                ("hops", hops(finder, query, k, params.hops).await?),
                ("layers", layers(finder, query, k, params.layers).await?),
            ];
            let mut fused = fuse_hits(&sides);
            fused.truncate(k);
            Ok(fused)
        }
    }
}

/// The chunks of the best atoms: questions if the base has any, else statements, else sentences.
async fn by_atoms(finder: Finder<'_>, query: &str, k: usize) -> Result<Vec<Hit>, RetrieveError> {
    // Several atoms may lead to one chunk.
    let found = closest_atoms(finder, query, 4 * k, -1.0).await?;
    let mut hits: Vec<Hit> = Vec::new();
    for hit in &found {
        if !hits.iter().any(|held| held.chunk == hit.atom.chunk) {
            hits.push(hit.as_chunk());
        }
    }
    hits.truncate(k);
    Ok(hits)
}

/// Hop retrieval with the spread scores of layers as priors.
async fn joined(
    finder: Finder<'_>,
    query: &str,
    k: usize,
    params: SearchParams,
) -> Result<Vec<Hit>, RetrieveError> {
    let floor = params.hops.rarity_floor.min(params.layers.rarity_floor);
    let asked = Arc::new(Asked::new(finder, query, floor).await?);
    let spread = spread_scores(finder, &asked, params.layers).await?;
    let best = spread.first().map_or(0.0, |hit| hit.score);
    let prior: BTreeMap<ChunkId, f32> = spread
        .into_iter()
        .filter(|hit| 0.0 < hit.score)
        .map(|hit| (hit.chunk, hit.score / best))
        .collect();
    Walk::along(finder, asked, params.hops, prior).await?.gather(finder, k).await
}
