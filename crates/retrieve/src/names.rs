//! Looks up the names in a chunk, and the chunks that name it.

use std::collections::{HashMap, HashSet};

use pikerag_knowledge::{Bearer, ChunkId, ChunkList, ChunksOf, LinkKind, NameKey};
use pikerag_language::names::{names_in, title_names};
use pikerag_language::terms;

use crate::finder::{Finder, RetrieveError};
use crate::rarity::Rarity;
use crate::titles::{MOST_BEARERS, key, named_titles};

/// The names in a chunk and the chunks that name it, unweighed, as the base stores them.
#[derive(Default)]
pub(crate) struct Names {
    /// How surely its text names each chunk by its title.
    pub(crate) titles: HashMap<ChunkId, f32>,
    /// The bearers of each name that it links to explicitly.
    pub(crate) links: Vec<Vec<Bearer>>,
    /// The chunks that mention its title, in full or in part; how surely each part means it.
    pub(crate) by_title: Vec<(f32, ChunkList)>,
    /// The chunks that mention each of its names that the question does not hold already.
    pub(crate) shared: Vec<ChunkList>,
    /// The terms of its title and its text.
    pub(crate) terms: HashSet<String>,
}

/// Looks up the names in a chunk, and the chunks that name it; empty if the chunk is gone. Names
/// that more than `most_sharing` chunks mention, or that the words `asked` hold, lead nowhere.
pub(crate) async fn names_of(
    finder: Finder<'_>,
    chunk: ChunkId,
    rarity: Rarity,
    most_sharing: usize,
    asked: &HashSet<String>,
) -> Result<Names, RetrieveError> {
    let Some(about) = finder.base.chunks(&[chunk]).await?.pop() else {
        return Ok(Names::default());
    };
    let links =
        finder.base.links_of(&[chunk], LinkKind::Names).await?.pop().unwrap_or_default().names;
    let titles = title_names(&about.title);
    let mut names = names_in(&about.text);
    names.extend(names_in(&about.title));
    names.extend(titles.iter().map(|(name, _)| name.clone()));
    names.retain(|name| name.iter().any(|word| !asked.contains(word)));
    let keys = titles.iter().map(|(name, _)| name).chain(&names).map(|name| key(name));
    let keys: Vec<NameKey> = keys.collect();
    let mut mentions =
        finder.base.chunks_of(ChunksOf::Names(&keys), most_sharing).await?.into_iter();
    let link_targets = finder.base.chunks_by_title(&links, MOST_BEARERS).await?;
    Ok(Names {
        titles: named_titles(finder, rarity, &about.text).await?,
        links: link_targets.into_iter().map(|list| list.bearers).collect(),
        by_title: titles
            .iter()
            .map(|(_, weight)| f32::from(*weight) / 100.0)
            .zip(mentions.by_ref())
            .collect(),
        shared: mentions.collect(),
        terms: chunk_terms(&about.full_title(), &about.text),
    })
}

/// The terms of a chunk, for coverage.
fn chunk_terms(title: &str, text: &str) -> HashSet<String> {
    terms(&format!("{title}\n{text}")).into_iter().collect()
}
