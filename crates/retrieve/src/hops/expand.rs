//! Where does a chunk lead? Strongly to what it names by title or links to, weakly to what shares a
//! rare proper name with it.

use std::collections::{BTreeSet, HashMap, HashSet};

use pikerag_knowledge::{ChunkId, NameKey};
use pikerag_language::fold::tokens;
use pikerag_language::names::{Name, joined, longest, names_in, title_names};
use pikerag_language::stem;

use super::question::Asked;
use super::{HopParams, chunk_terms};
use crate::finder::{Finder, RetrieveError};
use crate::layers::by_entities;

/// Where a chunk leads, and which terms it holds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Expansion {
    /// The strongest title link to each chunk.
    pub(crate) titles: HashMap<ChunkId, f32>,
    /// The summed rarity of the names shared with each chunk.
    pub(crate) names: HashMap<ChunkId, f32>,
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
    params: HopParams,
    chunk: ChunkId,
) -> Result<Expansion, RetrieveError> {
    let Some(about) = finder.base.chunks(&[chunk]).await?.pop() else {
        return Ok(Expansion::default());
    };
    let mut found =
        Expansion { terms: chunk_terms(&about.full_title(), &about.text), ..Expansion::default() };
    // Forward: the titles that its text names, and what it links to outright.
    for (target, strength) in named_titles(finder, asked, &about.text).await? {
        strengthen(&mut found.titles, target, params.named_by_chosen * strength);
    }
    let links = finder.base.links_of(&[chunk]).await?.into_iter().flatten().collect::<Vec<_>>();
    for bearers in finder.base.chunks_by_title(&links).await? {
        let shared_out = (bearers.len().max(1) as f32).sqrt();
        for (target, weight) in bearers {
            strengthen(
                &mut found.titles,
                target,
                params.named_by_chosen * f32::from(weight) / 100.0 / shared_out,
            );
        }
    }
    // Backward: the chunks that name it by its title.
    let most = asked.most_sharing();
    let titles = title_names(&about.title);
    let keys: Vec<NameKey> = titles.iter().map(|(name, _)| key(name)).collect();
    for ((_, weight), mentions) in titles.iter().zip(finder.base.mentions(&keys, most).await?) {
        let strength =
            params.names_chosen * f32::from(*weight) / 100.0 * asked.rarity(mentions.count);
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
        let strength = asked.rare(mentions.count);
        for target in mentions.chunks.into_iter().filter(|_| 0.0 < strength) {
            *found.names.entry(target).or_default() += strength;
        }
    }
    if 0.0 < params.entities {
        for (target, strength) in by_entities(finder, asked, chunk).await? {
            *found.names.entry(target).or_default() += params.entities * strength;
        }
    }
    found.titles.remove(&chunk);
    found.names.remove(&chunk);
    Ok(found)
}

fn strengthen(links: &mut HashMap<ChunkId, f32>, target: ChunkId, strength: f32) {
    let held = links.entry(target).or_default();
    *held = held.max(strength);
}

fn key(name: &[String]) -> NameKey {
    NameKey::of_folded(&joined(name))
}

/// Chunks that bear a name, with weights in hundredths.
type Bearers = Vec<(ChunkId, u8)>;

/// The chunks whose titles a text names, with how surely: the title's weight times how rare it is,
/// shared out over all that bear it. Of overlapping titles the longest counts.
pub(crate) async fn named_titles(
    finder: Finder<'_>,
    asked: &Asked,
    text: &str,
) -> Result<HashMap<ChunkId, f32>, RetrieveError> {
    let words: Name = tokens(text).into_iter().map(|token| token.folded).collect();
    let mut spans: Vec<&[String]> = Vec::new();
    for start in 0..words.len() {
        for length in 1..=reach(&words, start) {
            spans.extend(words.get(start..start + length));
        }
    }
    let keys: Vec<NameKey> = spans.iter().map(|span| key(span)).collect();
    let bearers = finder.base.chunks_by_title(&keys).await?;
    // (start, length) → who bears the title that stands there.
    let mut matched: Vec<(&[String], Bearers)> = Vec::new();
    let mut places = spans.into_iter().zip(bearers);
    let mut free_from = 0;
    for start in 0..words.len() {
        let mut found = None;
        for length in 1..=reach(&words, start) {
            if let Some((span, bearers)) = places.next()
                && !bearers.is_empty()
            {
                found = Some((length, span, bearers));
            }
        }
        if let Some((length, span, bearers)) = found
            && free_from <= start
        {
            free_from = start + length;
            matched.push((span, bearers));
        }
    }
    let rarities = title_rarities(finder, asked, matched.iter().map(|(span, _)| *span)).await?;
    let mut named = HashMap::new();
    for ((_, bearers), rarity) in matched.into_iter().zip(rarities) {
        let shared_out = (bearers.len() as f32).sqrt();
        for (chunk, weight) in bearers {
            strengthen(&mut named, chunk, f32::from(weight) / 100.0 * rarity / shared_out);
        }
    }
    Ok(named)
}

/// How many words from here on may be a title.
fn reach(words: &[String], start: usize) -> usize {
    words.get(start).map_or(0, |first| longest(first).min(words.len() - start))
}

/// A title is as rare as its rarest word, and at least as rare as it is as a name.
async fn title_rarities(
    finder: Finder<'_>,
    asked: &Asked,
    spans: impl Iterator<Item = &[String]>,
) -> Result<Vec<f32>, RetrieveError> {
    let spans: Vec<&[String]> = spans.collect();
    let terms: Vec<String> =
        spans.iter().flat_map(|span| span.iter().map(|word| stem(word))).collect();
    let keys: Vec<NameKey> = spans.iter().map(|span| key(span)).collect();
    let mut counts = finder.base.term_counts(&terms).await?.into_iter();
    let mentions = finder.base.mentions(&keys, asked.ln_chunks.exp() as usize).await?;
    let mut rarities = Vec::with_capacity(spans.len());
    for (span, mentions) in spans.iter().zip(mentions) {
        let rarest_word =
            counts.by_ref().take(span.len()).map(|count| count.max(1)).min().unwrap_or(1);
        // Chinese characters are no terms of full text: the name's own count decides there.
        let as_word =
            if span.iter().all(|word| word.is_ascii()) { rarest_word } else { usize::MAX };
        let as_name = if mentions.count == 0 { usize::MAX } else { mentions.count };
        let count = as_word.min(as_name);
        rarities.push(asked.rarity(if count == usize::MAX { 1 } else { count }));
    }
    Ok(rarities)
}
