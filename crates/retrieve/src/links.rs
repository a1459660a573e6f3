//! Finds the chunks that a chunk leads to: strongly to those that it names by title or links to,
//! weakly to those that share a rare proper name with it.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use pikerag_knowledge::ChunkId;

use crate::entities::by_entities;
use crate::finder::{Finder, RetrieveError};
use crate::names::Names;
use crate::question::Asked;
use crate::titles::strengthen;

/// The weights of links; a rare name in common weighs as much as it is rare.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkParams {
    /// Weight of a chunk whose title the starting chunk names.
    pub(crate) named_by: f32,
    /// Weight of a chunk that names the starting chunk by its title.
    pub(crate) names: f32,
    /// Weight of entities in common, or related to one of the chunk's own, beside names; 0 skips
    /// the look-up.
    pub(crate) entities: f32,
    /// The rarity that names and entities must exceed to count.
    pub(crate) rarity_floor: f32,
}

/// The links and names that lead on from a chunk, and the terms that it holds.
#[derive(Clone, Default)]
pub(crate) struct Expansion {
    /// The strongest title link to each chunk.
    pub(crate) titles: HashMap<ChunkId, f32>,
    /// The summed rarity of the names shared with each chunk.
    pub(crate) names: HashMap<ChunkId, f32>,
    /// The names in it, with the terms of its title and its text.
    names_of: Option<Arc<Names>>,
}

impl Expansion {
    /// Whether its title or its text holds this term.
    pub(crate) fn holds(&self, term: &str) -> bool {
        self.names_of.as_ref().is_some_and(|names| names.stored.terms.contains(term))
    }

    /// Every chunk that it leads to, by identifier.
    pub(crate) fn reached(&self) -> Vec<ChunkId> {
        let all: BTreeSet<ChunkId> = self.titles.keys().chain(self.names.keys()).copied().collect();
        all.into_iter().collect()
    }
}

/// Looks up the links and names that lead on from `chunk`.
pub(crate) async fn expand(
    finder: Finder<'_>,
    asked: &Asked,
    params: LinkParams,
    chunk: ChunkId,
) -> Result<Expansion, RetrieveError> {
    let known = asked.names_of(finder, chunk).await?;
    let mut found = Expansion { names_of: Some(Arc::clone(&known)), ..Expansion::default() };
    // Forward: the titles that its text names, and its explicit links.
    for (target, strength) in &known.titles {
        strengthen(&mut found.titles, *target, params.named_by * strength);
    }
    for bearers in &known.stored.links {
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
