//! Finds the chunks that a text names by their titles.

use std::collections::HashMap;

use pikerag_knowledge::{Bearer, ChunkId, ChunkList, ChunksOf, NameKey};
use pikerag_language::fold::tokens;
use pikerag_language::names::{Name, joined, longest};
use pikerag_language::stem;

use crate::finder::{Finder, RetrieveError};
use crate::known::NamedTitle;
use crate::rarity::Rarity;

/// A title that more chunks share means none of them: a link to one of a thousand is weaker than 1 in
/// 30, and the rows of one table can be a million.
pub(crate) const MOST_BEARERS: usize = 1000;

/// The chunks whose titles a text names, with how surely it names them: the title's weight times
/// its rarity, shared out over all bearers of the title. Of overlapping titles the longest counts.
pub(crate) async fn named_titles(
    finder: Finder<'_>,
    rarity: Rarity,
    text: &str,
) -> Result<HashMap<ChunkId, f32>, RetrieveError> {
    weighed(finder, rarity, &titles_in(finder, rarity, text).await?).await
}

/// The titles that occur in a text.
pub(crate) async fn titles_in(
    finder: Finder<'_>,
    rarity: Rarity,
    text: &str,
) -> Result<Vec<NamedTitle>, RetrieveError> {
    let words: Name = tokens(text).into_iter().map(|token| token.folded).collect();
    let mut spans: Vec<&[String]> = Vec::new();
    for start in 0..words.len() {
        for length in 1..=reach(&words, start) {
            spans.extend(words.get(start..start + length));
        }
    }
    let keys: Vec<NameKey> = spans.iter().map(|span| key(span)).collect();
    let bearers = finder.base.chunks_by_title(&keys, MOST_BEARERS).await?;
    let mut matched: Vec<(NameKey, &[String], Vec<Bearer>)> = Vec::new();
    let mut places = keys.into_iter().zip(spans).zip(bearers);
    let mut free_from = 0;
    for start in 0..words.len() {
        let mut found = None;
        for length in 1..=reach(&words, start) {
            if let Some(((key, span), borne)) = places.next()
                && 0 < borne.count
            {
                found = Some((length, (key, span, borne.bearers)));
            }
        }
        if let Some((length, title)) = found
            && free_from <= start
        {
            free_from = start + length;
            matched.push(title);
        }
    }
    let keys: Vec<NameKey> = matched.iter().map(|(key, _, _)| *key).collect();
    let mentions = finder.base.chunks_of(ChunksOf::Names(&keys), rarity.n_chunks()).await?;
    let title =
        |((_, words, bearers), mentions): ((NameKey, &[String], Vec<Bearer>), ChunkList)| {
            NamedTitle {
                terms: words.iter().map(|word| stem(word)).collect(),
                has_terms: words.iter().all(|word| word.is_ascii()),
                mentions: mentions.count,
                bearers,
            }
        };
    Ok(matched.into_iter().zip(mentions).map(title).collect())
}

/// How surely titles name each of their bearers.
pub(crate) async fn weighed(
    finder: Finder<'_>,
    rarity: Rarity,
    titles: &[NamedTitle],
) -> Result<HashMap<ChunkId, f32>, RetrieveError> {
    let terms: Vec<String> = titles.iter().flat_map(|title| title.terms.iter().cloned()).collect();
    let counts = match terms.is_empty() {
        true => Vec::new(),
        false => finder.base.term_counts(&terms).await?,
    };
    let (mut counts, mut named) = (counts.into_iter(), HashMap::new());
    for title in titles {
        let counts = counts.by_ref().take(title.terms.len());
        let rare = rarity_of(rarity, title, counts.min());
        let shared_out = (title.bearers.len() as f32).sqrt();
        for bearer in &title.bearers {
            strengthen(&mut named, bearer.chunk, bearer.sureness() * rare / shared_out);
        }
    }
    Ok(named)
}

/// The most words of a title that starts here.
fn reach(words: &[String], start: usize) -> usize {
    words.get(start).map_or(0, |first| longest(first).min(words.len() - start))
}

/// A title is as rare as its rarest word, and at least as rare as the whole title is as a name.
fn rarity_of(rarity: Rarity, title: &NamedTitle, rarest_word: Option<usize>) -> f32 {
    // Where words are no terms of the full-text index, the name's own count decides.
    let as_word = rarest_word.filter(|_| title.has_terms).map(|count| count.max(1));
    let as_name = Some(title.mentions).filter(|count| 0 < *count);
    let counts = as_word.into_iter().chain(as_name);
    rarity.of(counts.min().unwrap_or(1))
}

/// Keeps the strongest link to a chunk.
pub(crate) fn strengthen(links: &mut HashMap<ChunkId, f32>, target: ChunkId, strength: f32) {
    let held = links.entry(target).or_default();
    *held = held.max(strength);
}

/// The key of a name whose words are folded.
pub(crate) fn key(name: &[String]) -> NameKey {
    NameKey::of_folded(&joined(name))
}
