//! Where does a chunk lead? Strongly to what it names by title or links to, weakly to what shares a
//! rare proper name with it.

use std::collections::{BTreeSet, HashMap, HashSet};

use pikerag_knowledge::ChunkId;

use crate::entities::by_entities;
use crate::finder::{Finder, RetrieveError};
use crate::question::Asked;
use crate::titles::strengthen;

/// How links are weighed; a rare name in common always weighs as much as it is rare.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkParams {
    /// Weight of being named, by its title, in the chunk that leads there.
    pub(crate) named_by: f32,
    /// Weight of naming that chunk by its title.
    pub(crate) names: f32,
    /// Weight of entities in common with it, or related to one of its own, beside names; 0 looks none up.
    pub(crate) entities: f32,
    /// Names and entities less rare than this lead nowhere.
    pub(crate) rarity_floor: f32,
}

/// Where a chunk leads, and which terms it holds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Expansion {
    /// The strongest title link to each chunk.
    pub(crate) titles: HashMap<ChunkId, f32>,
    /// The summed rarity of the names shared with each chunk.
    pub(crate) names: HashMap<ChunkId, f32>,
    /// Those of its title and its text.
    pub(crate) terms: HashSet<String>,
}

impl Expansion {
    /// Every chunk it leads to, by identifier.
    pub(crate) fn reached(&self) -> Vec<ChunkId> {
        let all: BTreeSet<ChunkId> = self.titles.keys().chain(self.names.keys()).copied().collect();
        all.into_iter().collect()
    }
}

/// Where `chunk` leads.
pub(crate) async fn expand(
    finder: Finder<'_>,
    asked: &Asked,
    params: LinkParams,
    chunk: ChunkId,
) -> Result<Expansion, RetrieveError> {
    let known = asked.names_of(finder, chunk).await?;
    let mut found = Expansion { terms: known.terms.clone(), ..Expansion::default() };
    // Forward: the titles that its text names, and what it links to outright.
    for (target, strength) in &known.titles {
        strengthen(&mut found.titles, *target, params.named_by * strength);
    }
    for bearers in &known.links {
        let shared_out = (bearers.len().max(1) as f32).sqrt();
        for bearer in bearers {
            let strength = params.named_by * bearer.sureness() / shared_out;
            strengthen(&mut found.titles, bearer.chunk, strength);
        }
    }
    // Backward: the chunks that name it by its title.
    let most = asked.rarity.most_sharing(params.rarity_floor);
    for (weight, mentions) in known.by_title.iter().filter(|(_, by)| by.count <= most) {
        let strength = params.names * weight * asked.rarity.of(mentions.count);
        for target in &mentions.chunks {
            strengthen(&mut found.titles, *target, strength);
        }
    }
    // Sideways: the chunks that share a rare name which the question does not hold already.
    for mentions in known.shared.iter().filter(|mentions| mentions.count <= most) {
        let strength = asked.rarity.shared(mentions.count, params.rarity_floor);
        for target in mentions.chunks.iter().filter(|_| 0.0 < strength) {
            *found.names.entry(*target).or_default() += strength;
        }
    }
    if 0.0 < params.entities {
        let (rarity, floor) = (asked.rarity, params.rarity_floor);
        for (target, strength) in by_entities(finder, rarity, floor, chunk).await? {
            *found.names.entry(target).or_default() += params.entities * strength;
        }
    }
    found.titles.remove(&chunk);
    found.names.remove(&chunk);
    Ok(found)
}
