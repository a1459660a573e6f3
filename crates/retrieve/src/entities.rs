//! Finds the chunks that share an entity with a chunk, or mention one related to it.

use std::collections::HashMap;

use pikerag_knowledge::{ChunkId, ChunksOf, EntityId, LinkKind};

use crate::finder::{Finder, RetrieveError};
use crate::rarity::Rarity;

/// The most entities of one chunk that are followed, the rarest first.
const FOLLOWED: usize = 24;
/// The most relations of one chunk's entities that are followed, the heaviest first.
const RELATIONS: usize = 48;

/// The chunks that mention an entity of this chunk, or a related one, weighed by rarity (`floor` as
/// in [`Rarity::shared`]); none if the entity graph is not built.
pub(crate) async fn by_entities(
    finder: Finder<'_>,
    rarity: Rarity,
    floor: f32,
    chunk: ChunkId,
) -> Result<HashMap<ChunkId, f32>, RetrieveError> {
    let mut found: HashMap<ChunkId, f32> = HashMap::new();
    let links = finder.base.links_of(&[chunk], LinkKind::Entities).await?;
    let own: Vec<EntityId> = links.into_iter().flat_map(|links| links.entities).collect();
    if own.is_empty() {
        return Ok(found);
    }
    let most = rarity.most_sharing(floor);
    let mut rare: Vec<(f32, EntityId)> = Vec::new();
    let mentioning = finder.base.chunks_of(ChunksOf::Entities(&own), most).await?;
    for (entity, mentions) in own.iter().zip(mentioning) {
        let strength = rarity.shared(mentions.count, floor);
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
    for mentions in finder.base.chunks_of(ChunksOf::Entities(&others), most).await? {
        let strength = rarity.shared(mentions.count, floor) / 2.0;
        for target in mentions.chunks.into_iter().filter(|_| 0.0 < strength) {
            *found.entry(target).or_default() += strength;
        }
    }
    found.remove(&chunk);
    Ok(found)
}
