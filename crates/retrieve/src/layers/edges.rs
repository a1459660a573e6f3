//! Where does a chunk's score flow to? Along what it refers to, the rare names it shares, reading
//! order, and the entities that it has in common with others.

use std::collections::{BTreeMap, HashMap};

use pikerag_knowledge::{ChunkId, EntityId};

use super::LayerParams;
use super::spread::Out;
use crate::finder::{Finder, RetrieveError};
use crate::hops::{Asked, HopParams, expand};

/// Entities of one chunk that are followed, the rarest first.
const FOLLOWED: usize = 24;
/// Relations of one chunk's entities that are followed, the heaviest first.
const RELATIONS: usize = 48;

/// The edges of the graph, looked up chunk by chunk.
pub(super) struct Edges<'a> {
    pub(super) finder: Finder<'a>,
    pub(super) asked: &'a Asked,
    pub(super) params: LayerParams,
}

impl Edges<'_> {
    /// Where one chunk leads, by identifier.
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
            let hops = HopParams {
                named_by_chosen: params.refers_to,
                names_chosen: params.referred_by,
                rarity_floor: params.rarity_floor,
                ..HopParams::default()
            };
            let found = expand(self.finder, self.asked, hops, chunk).await?;
            for (target, strength) in &found.titles {
                add(*target, 0, *strength);
            }
            for (target, strength) in &found.names {
                add(*target, 1, params.shares * saturated(*strength));
            }
        }
        if 0.0 < params.next {
            for target in self.finder.base.neighbours(&[chunk]).await?.into_iter().flatten() {
                add(target, 2, params.next);
            }
        }
        if 0.0 < params.relates {
            for (target, strength) in by_entities(self.finder, self.asked, chunk).await? {
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

/// Several names in common say more than one, and less than so many times as much.
fn saturated(strength: f32) -> f32 {
    1.0 - (-strength).exp()
}

/// The chunks that mention an entity of this chunk, or one that is related to it, by how rare those
/// are; none where the entity graph is not built.
pub(crate) async fn by_entities(
    finder: Finder<'_>,
    asked: &Asked,
    chunk: ChunkId,
) -> Result<HashMap<ChunkId, f32>, RetrieveError> {
    let mut found: HashMap<ChunkId, f32> = HashMap::new();
    let own: Vec<EntityId> =
        finder.base.entities_in(&[chunk]).await?.into_iter().flatten().collect();
    if own.is_empty() {
        return Ok(found);
    }
    let most = asked.most_sharing();
    let mut rare: Vec<(f32, EntityId)> = Vec::new();
    for (entity, mentions) in own.iter().zip(finder.base.entity_mentions(&own, most).await?) {
        let strength = asked.rare(mentions.count);
        if strength <= 0.0 {
            continue;
        }
        rare.push((strength, *entity));
        for target in mentions.chunks {
            *found.entry(target).or_default() += strength;
        }
    }
    rare.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    rare.truncate(FOLLOWED);
    let own: Vec<EntityId> = rare.iter().map(|(_, entity)| *entity).collect();
    let others = finder.base.related_to(&own, RELATIONS).await?;
    for mentions in finder.base.entity_mentions(&others, most).await? {
        let strength = asked.rare(mentions.count) / 2.0;
        for target in mentions.chunks.into_iter().filter(|_| 0.0 < strength) {
            *found.entry(target).or_default() += strength;
        }
    }
    found.remove(&chunk);
    Ok(found)
}
