//! What does a chunk name, and who names it?

use std::collections::{HashMap, HashSet};

use pikerag_knowledge::{Bearer, ChunkId, ChunkList, ChunksOf, LinkKind, NameKey};
use pikerag_language::names::{names_in, title_names};
use pikerag_language::terms;

use crate::finder::{Finder, RetrieveError};
use crate::rarity::Rarity;
use crate::titles::{key, named_titles};

/// What a chunk names and who names it, as the base has it: nothing is weighed yet.
#[derive(Default)]
pub(crate) struct Names {
    /// How surely its text names each chunk by its title.
    pub(crate) titles: HashMap<ChunkId, f32>,
    /// Who bears each name that it links to outright.
    pub(crate) links: Vec<Vec<Bearer>>,
    /// Who mentions it by its title, in full or in part; how surely each part means it.
    pub(crate) by_title: Vec<(f32, ChunkList)>,
    /// Who mentions each name in it that the question does not hold already.
    pub(crate) shared: Vec<ChunkList>,
    /// The terms of its title and its text.
    pub(crate) terms: HashSet<String>,
}

/// Looks up what a chunk names, and who names it; nothing of a chunk that is gone. Names that more than `most_sharing`
/// chunks mention, or that the words `asked` hold, lead nowhere.
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
    Ok(Names {
        titles: named_titles(finder, rarity, &about.text).await?,
        links: finder.base.chunks_by_title(&links).await?,
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
