//! Where does a chunk lead? Strongly to what it names by title or links to, weakly to what shares a
//! rare proper name with it.

use std::collections::{BTreeSet, HashMap, HashSet};

use pikerag_knowledge::{ChunkId, NameKey};
use pikerag_language::names::{names_in, title_names};
use pikerag_language::terms;

use crate::entities::by_entities;
use crate::finder::{Finder, RetrieveError};
use crate::question::Asked;
use crate::titles::{key, named_titles, strengthen};

/// How links are weighed; a rare name in common always weighs as much as it is rare.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkParams {
    /// Weight of being named, by its title, in the chunk that leads there.
    pub(crate) named_by: f32,
    /// Weight of naming that chunk by its title.
    pub(crate) names: f32,
    /// Weight of entities in common with it, or related to one of its own, beside names; 0 looks none up.
    pub(crate) entities: f32,
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

/// Looks up where `chunk` leads.
pub(crate) async fn expand(
    finder: Finder<'_>,
    asked: &Asked,
    params: LinkParams,
    chunk: ChunkId,
) -> Result<Expansion, RetrieveError> {
    let Some(about) = finder.base.chunks(&[chunk]).await?.pop() else {
        return Ok(Expansion::default());
    };
    let mut found =
        Expansion { terms: chunk_terms(&about.full_title(), &about.text), ..Expansion::default() };
    // Forward: the titles that its text names, and what it links to outright.
    for (target, strength) in named_titles(finder, asked.rarity, &about.text).await? {
        strengthen(&mut found.titles, target, params.named_by * strength);
    }
    let links = finder.base.links_of(&[chunk]).await?.into_iter().flatten().collect::<Vec<_>>();
    for bearers in finder.base.chunks_by_title(&links).await? {
        let shared_out = (bearers.len().max(1) as f32).sqrt();
        for bearer in bearers {
            let strength = params.named_by * bearer.sureness() / shared_out;
            strengthen(&mut found.titles, bearer.chunk, strength);
        }
    }
    // Backward: the chunks that name it by its title.
    let most = asked.rarity.most_sharing();
    let titles = title_names(&about.title);
    let keys: Vec<NameKey> = titles.iter().map(|(name, _)| key(name)).collect();
    for ((_, weight), mentions) in titles.iter().zip(finder.base.mentions(&keys, most).await?) {
        let strength = params.names * f32::from(*weight) / 100.0 * asked.rarity.of(mentions.count);
        for target in mentions.chunks {
            strengthen(&mut found.titles, target, strength);
        }
    }
    // Sideways: the chunks that share a rare name which the question does not hold already.
    let mut names = names_in(&about.text);
    names.extend(names_in(&about.title));
    names.extend(titles.into_iter().map(|(name, _)| name));
    names.retain(|name| name.iter().any(|word| !asked.all_words.contains(word)));
    let keys: Vec<NameKey> = names.iter().map(|name| key(name)).collect();
    for mentions in finder.base.mentions(&keys, most).await? {
        let strength = asked.rarity.shared(mentions.count);
        for target in mentions.chunks.into_iter().filter(|_| 0.0 < strength) {
            *found.names.entry(target).or_default() += strength;
        }
    }
    if 0.0 < params.entities {
        for (target, strength) in by_entities(finder, asked.rarity, chunk).await? {
            *found.names.entry(target).or_default() += params.entities * strength;
        }
    }
    found.titles.remove(&chunk);
    found.names.remove(&chunk);
    Ok(found)
}

/// The terms of a chunk, for coverage.
fn chunk_terms(title: &str, text: &str) -> HashSet<String> {
    terms(&format!("{title}\n{text}")).into_iter().collect()
}
