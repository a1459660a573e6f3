//! Finds the documents' formal words for everyday English words of a question (*bike*, bicycle).

use std::collections::HashSet;

use pikerag_knowledge::{ChunkId, Respelling};
use pikerag_language::fold::Token;
use pikerag_language::{formal_words, is_chinese, query_terms, stem, terms};

use crate::finder::{Finder, RetrieveError};
use crate::synonyms::declared;

/// Everyday words of one question that are looked up, at most.
const LOOKED_UP: usize = 6;
/// Passages with the best matching words that are compared for a formal word.
const COMPARED: usize = 16;

/// The everyday words of a question that no chunk has, each with a formal word of the documents. Of several formal words
/// it is the one that a passage has with most of the question's other words; of equals, the nearest in meaning. A word
/// that a person declared as a synonym stays as it is, and so does a name. Costs no model call.
pub(crate) async fn formal(
    finder: Finder<'_>,
    query: &str,
    tokens: &[Token<'_>],
) -> Result<Vec<Respelling>, RetrieveError> {
    let mut found: Vec<Respelling> = Vec::new();
    let everyday = everyday(query, tokens);
    if everyday.is_empty() {
        return Ok(found);
    }
    let stems: Vec<String> = everyday.iter().map(|(token, _)| stem(&token.folded)).collect();
    let counts = finder.base.term_counts(&stems).await?;
    let unknown = everyday.into_iter().zip(counts).filter(|(_, count)| *count == 0);
    let mut unknown: Vec<Everyday<'_>> = unknown.map(|(word, _)| word).collect();
    if unknown.is_empty() {
        return Ok(found);
    }
    let synonyms = declared(finder, query).await?;
    unknown.retain(|(token, _)| !synonyms.iter().any(|tag| tag.tag.contains(token.raw)));
    let asked = query_terms(query);
    for (token, formal) in unknown {
        let own = stem(&token.folded);
        let others: Vec<&str> =
            asked.iter().filter(|term| **term != own).map(String::as_str).collect();
        if let Some(to) = fitting(finder, formal, &others).await? {
            found.push(Respelling { word: token.raw.to_owned(), to: to.to_owned() });
        }
    }
    Ok(found)
}

/// A word of a question, and its formal words.
type Everyday<'a> = (&'a Token<'a>, &'static [&'static str]);

/// The words of an English question that have formal words, each once.
fn everyday<'a>(query: &str, tokens: &'a [Token<'a>]) -> Vec<Everyday<'a>> {
    let mut found: Vec<Everyday<'a>> = Vec::new();
    if query.chars().any(is_chinese) {
        return found;
    }
    for (place, token) in tokens.iter().enumerate() {
        // The first word of a question has a capital anyway.
        let is_name = token.raw.chars().skip(usize::from(place == 0)).any(char::is_uppercase);
        let formal = formal_words(&token.folded);
        let is_new = found.iter().all(|(held, _)| held.folded != token.folded);
        if !is_name && !formal.is_empty() && is_new {
            found.push((token, formal));
        }
    }
    found.truncate(LOOKED_UP);
    found
}

/// Of these words and phrases the one that a passage has with most of the other terms.
async fn fitting(
    finder: Finder<'_>,
    formal: &[&'static str],
    others: &[&str],
) -> Result<Option<&'static str>, RetrieveError> {
    let mut best: Option<(usize, &'static str)> = None;
    for phrase in formal {
        let own = query_terms(phrase);
        if finder.base.term_counts(&own).await?.contains(&0) {
            continue;
        }
        let with_others = format!("{phrase} {}", others.join(" "));
        let mut shared = common(finder, &with_others, &own, others).await?;
        if shared.is_none() {
            shared = common(finder, phrase, &own, others).await?;
        }
        if let Some(shared) = shared
            && best.is_none_or(|(held, _)| held < shared)
        {
            best = Some((shared, *phrase));
        }
    }
    Ok(best.map(|(_, phrase)| phrase))
}

/// The most of the other terms that a passage found for `query` has beside all of its own; `None` if none has all of its
/// own.
async fn common(
    finder: Finder<'_>,
    query: &str,
    own: &[String],
    others: &[&str],
) -> Result<Option<usize>, RetrieveError> {
    let hits = finder.base.matching_chunks(query, COMPARED).await?;
    let ids: Vec<ChunkId> = hits.into_iter().map(|hit| hit.item).collect();
    let chunks = finder.base.chunks(&ids).await?;
    let counts = chunks.iter().filter_map(|chunk| {
        let text = format!("{}\n{}", chunk.full_title(), chunk.searched_text());
        let held: HashSet<String> = terms(&text).into_iter().collect();
        let has_all = own.iter().all(|term| held.contains(term));
        has_all.then(|| others.iter().filter(|term| held.contains(**term)).count())
    });
    Ok(counts.max())
}

#[cfg(test)]
mod tests {
    use pikerag_language::fold::tokens;

    use super::*;

    #[test]
    fn names_and_chinese_questions_have_no_everyday_words() {
        for (query, words) in [
            ("Bikes, unpaid bills and a bike", vec!["Bikes", "unpaid", "bills", "bike"]),
            ("What does Anna Baker say about Bike and iPhone?", vec![]),
            ("BIKE", vec![]),
            ("bike 丢了怎么办？", vec![]),
        ] {
            let tokens = tokens(query);
            let found = everyday(query, &tokens);
            assert_eq!(found.iter().map(|(it, _)| it.raw).collect::<Vec<_>>(), words, "{query}");
        }
    }
}
