//! Finds the edges along which a chunk's score flows: references, rare names in common, reading
//! order and entities in common.

use std::collections::BTreeMap;

use pikerag_knowledge::{ChunkId, ChunksOf};

use super::LayerParams;
use super::spread::Out;
use crate::entities::by_entities;
use crate::finder::{Finder, RetrieveError};
use crate::links::{LinkParams, expand};
use crate::question::Asked;

/// The edges of the graph, looked up chunk by chunk.
pub(super) struct Edges<'a> {
    pub(super) finder: Finder<'a>,
    pub(super) asked: &'a Asked,
    pub(super) params: LayerParams,
}

impl Edges<'_> {
    /// The edges from one chunk, by identifier.
    pub(super) async fn of(&self, chunk: ChunkId) -> Result<Out, RetrieveError> {
        let mut all: BTreeMap<ChunkId, [f32; 4]> = BTreeMap::new();
        let mut add = |target: ChunkId, kind: usize, weight: f32| {
            if let Some(slot) = all.entry(target).or_default().get_mut(kind)
                && target != chunk
                && 0.0 < weight
            {
                *slot += weight;
            }
        };
        let params = self.params;
        if 0.0 < params.refers_to + params.referred_by + params.shares {
            let links = LinkParams {
                named_by: params.refers_to,
                names: params.referred_by,
                entities: 0.0, // Weighed on their own, below.
                rarity_floor: params.rarity_floor,
            };
            let found = expand(self.finder, self.asked, links, chunk).await?;
            for (target, strength) in &found.titles {
                add(*target, 0, *strength);
            }
            for (target, strength) in &found.names {
                add(*target, 1, params.shares * saturated(*strength));
            }
        }
        if 0.0 < params.next {
            let of = ChunksOf::Neighbours(&[chunk]);
            let beside = self.finder.base.chunks_of(of, usize::MAX).await?;
            for target in beside.into_iter().flat_map(|list| list.chunks) {
                add(target, 2, params.next);
            }
        }
        if 0.0 < params.relates {
            for (target, strength) in
                by_entities(self.finder, self.asked.rarity, params.rarity_floor, chunk).await?
            {
                add(target, 3, params.relates * saturated(strength));
            }
        }
        all.retain(|_, kinds| kinds.iter().any(|weight| 0.0 < *weight));
        let contrast = |kinds: [f32; 4]| {
            kinds.map(|weight| if 0.0 < weight { weight.powf(params.contrast) } else { 0.0 })
        };
        Ok(all.into_iter().map(|(target, kinds)| (target, contrast(kinds))).collect())
    }
}

/// Several names in common count more than one, but less than their number.
fn saturated(strength: f32) -> f32 {
    1.0 - (-strength).exp()
}
