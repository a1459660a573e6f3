//! Looks up the names in a chunk, and the chunks that name it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use pikerag_knowledge::{ChunkId, ChunkList, ChunksOf, LinkKind, NameKey};
use pikerag_language::names::{Name, names_in, title_names};
use pikerag_language::terms;

use crate::finder::{Finder, RetrieveError};
use crate::known::StoredNames;
use crate::rarity::Rarity;
use crate::titles::{MOST_BEARERS, key, titles_in, weighed};

/// The names in a chunk and the chunks that name it, for one question, unweighed.
#[derive(Default)]
pub(crate) struct Names {
    /// How surely its text names each chunk by its title.
    pub(crate) titles: HashMap<ChunkId, f32>,
    /// As the base stores them.
    pub(crate) stored: Arc<StoredNames>,
    /// The chunks that mention its title, in full or in part; how surely each part means it.
    pub(crate) by_title: Vec<(f32, Arc<ChunkList>)>,
    /// The chunks that mention each of its names that the question does not hold already.
    pub(crate) shared: Vec<Arc<ChunkList>>,
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
    let stored = match finder.known().and_then(|known| known.names(chunk)) {
        Some(stored) => stored,
        None => {
            let stored = Arc::new(stored_names(finder, chunk, rarity).await?);
            if let Some(known) = finder.known() {
                known.add_names(chunk, &stored);
            }
            stored
        }
    };
    let is_new = |name: &Name| name.iter().any(|word| !asked.contains(word));
    let own = stored.by_title.iter().map(|(_, key)| *key);
    let new = stored.names.iter().filter(|(name, _)| is_new(name)).map(|(_, key)| *key);
    let keys: Vec<NameKey> = own.chain(new).collect();
    let mut mentions = mentions_of(finder, &keys, most_sharing).await?.into_iter();
    let weights = stored.by_title.iter().map(|(weight, _)| *weight);
    Ok(Names {
        by_title: weights.zip(mentions.by_ref()).collect(),
        shared: mentions.collect(),
        titles: weighed(finder, rarity, &stored.titles).await?,
        stored,
    })
}

/// The chunks that mention each name, by name in order; no list is longer than `most`.
async fn mentions_of(
    finder: Finder<'_>,
    keys: &[NameKey],
    most: usize,
) -> Result<Vec<Arc<ChunkList>>, RetrieveError> {
    let mut lists = match finder.known() {
        Some(known) => known.mentions(keys, most),
        None => vec![None; keys.len()],
    };
    let unknown = keys.iter().zip(&lists).filter(|(_, list)| list.is_none());
    let unknown: Vec<NameKey> = unknown.map(|(key, _)| *key).collect();
    if !unknown.is_empty() {
        let found = finder.base.chunks_of(ChunksOf::Names(&unknown), most).await?;
        let found: Vec<Arc<ChunkList>> = found.into_iter().map(Arc::new).collect();
        if let Some(known) = finder.known() {
            known.add_mentions(&unknown, most, &found);
        }
        for (list, found) in lists.iter_mut().filter(|list| list.is_none()).zip(found) {
            *list = Some(found);
        }
    }
    Ok(lists.into_iter().map(Option::unwrap_or_default).collect())
}

async fn stored_names(
    finder: Finder<'_>,
    chunk: ChunkId,
    rarity: Rarity,
) -> Result<StoredNames, RetrieveError> {
    let Some(about) = finder.base.chunks(&[chunk]).await?.pop() else {
        return Ok(StoredNames::default());
    };
    let links =
        finder.base.links_of(&[chunk], LinkKind::Names).await?.pop().unwrap_or_default().names;
    let titles = title_names(&about.title);
    let mut names = names_in(&about.text);
    names.extend(names_in(&about.title));
    names.extend(titles.iter().map(|(name, _)| name.clone()));
    let link_targets = finder.base.chunks_by_title(&links, MOST_BEARERS).await?;
    let by_title = |(name, weight): &(Name, u8)| (f32::from(*weight) / 100.0, key(name));
    let with_key = |name: Name| {
        let key = key(&name);
        (name, key)
    };
    Ok(StoredNames {
        titles: titles_in(finder, rarity, &about.text).await?,
        links: link_targets.into_iter().map(|list| list.bearers).collect(),
        by_title: titles.iter().map(by_title).collect(),
        names: names.into_iter().map(with_key).collect(),
        terms: chunk_terms(&about.full_title(), &about.text),
    })
}

/// The terms of a chunk, for coverage.
fn chunk_terms(title: &str, text: &str) -> HashSet<String> {
    terms(&format!("{title}\n{text}")).into_iter().collect()
}
