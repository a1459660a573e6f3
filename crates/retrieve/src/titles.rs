//! Finds the chunks that a text names by their titles.

use std::collections::HashMap;

use pikerag_knowledge::{Bearer, ChunkId, ChunksOf, NameKey};
use pikerag_language::fold::tokens;
use pikerag_language::names::{Name, joined, longest};
use pikerag_language::stem;

use crate::finder::{Finder, RetrieveError};
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
    let words: Name = tokens(text).into_iter().map(|token| token.folded).collect();
    let mut spans: Vec<&[String]> = Vec::new();
    for start in 0..words.len() {
        for length in 1..=reach(&words, start) {
            spans.extend(words.get(start..start + length));
        }
    }
    let keys: Vec<NameKey> = spans.iter().map(|span| key(span)).collect();
    let bearers = finder.base.chunks_by_title(&keys, MOST_BEARERS).await?;
    // (start, length) → the bearers of the title there.
    let mut matched: Vec<(&[String], Vec<Bearer>)> = Vec::new();
    let mut places = spans.into_iter().zip(bearers);
    let mut free_from = 0;
    for start in 0..words.len() {
        let mut found = None;
        for length in 1..=reach(&words, start) {
            if let Some((span, borne)) = places.next()
                && 0 < borne.count
            {
                found = Some((length, span, borne.bearers));
            }
        }
        if let Some((length, span, bearers)) = found
            && free_from <= start
        {
            free_from = start + length;
            matched.push((span, bearers));
        }
    }
    let rarities = title_rarities(finder, rarity, matched.iter().map(|(span, _)| *span)).await?;
    let mut named = HashMap::new();
    for ((_, bearers), rare) in matched.into_iter().zip(rarities) {
        let shared_out = (bearers.len() as f32).sqrt();
        for bearer in bearers {
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
async fn title_rarities(
    finder: Finder<'_>,
    rarity: Rarity,
    spans: impl Iterator<Item = &[String]>,
) -> Result<Vec<f32>, RetrieveError> {
    let spans: Vec<&[String]> = spans.collect();
    let terms: Vec<String> =
        spans.iter().flat_map(|span| span.iter().map(|word| stem(word))).collect();
    let keys: Vec<NameKey> = spans.iter().map(|span| key(span)).collect();
    let mut counts = finder.base.term_counts(&terms).await?.into_iter();
    let mentions = finder.base.chunks_of(ChunksOf::Names(&keys), rarity.n_chunks()).await?;
    let mut rarities = Vec::with_capacity(spans.len());
    for (span, mentions) in spans.iter().zip(mentions) {
        let rarest_word =
            counts.by_ref().take(span.len()).map(|count| count.max(1)).min().unwrap_or(1);
        // Chinese characters are no terms of the full-text index, so the name's own count decides.
        let as_word =
            if span.iter().all(|word| word.is_ascii()) { rarest_word } else { usize::MAX };
        let as_name = if mentions.count == 0 { usize::MAX } else { mentions.count };
        let count = as_word.min(as_name);
        rarities.push(rarity.of(if count == usize::MAX { 1 } else { count }));
    }
    Ok(rarities)
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
