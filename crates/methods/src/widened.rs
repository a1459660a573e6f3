//! Adds passages to those of a Chinese question whose words the documents do not have: passages with
//! words that share a character with them (生孩子, 生育).

use pikerag_knowledge::{ChunkId, Context};
use pikerag_language::{is_chinese, query_terms};

use crate::ports::{Ports, SolveError};

/// Passages are added if at least this share of the question's Chinese terms is in no passage.
const UNKNOWN: f64 = 0.5;
/// Characters whose words are looked up, at most: each look-up reads all terms of the base.
const CHARACTERS: usize = 6;
/// Words that are searched for, at most.
const WORDS: usize = 48;
/// Passages that are added, at most.
const PASSAGES: usize = 8;

/// The context, with more passages at its end if the base has few of the question's Chinese words.
///
/// # Errors
/// The base cannot be read.
pub(crate) async fn widened(
    ports: &Ports,
    query: &str,
    mut context: Context,
) -> Result<Context, SolveError> {
    let terms: Vec<String> =
        query_terms(query).into_iter().filter(|term| term.chars().all(is_chinese)).collect();
    if terms.is_empty() {
        return Ok(context);
    }
    let counts = ports.base.term_counts(&terms).await?;
    let unknown: Vec<&String> =
        terms.iter().zip(&counts).filter(|(_, count)| **count == 0).map(|(term, _)| term).collect();
    if (unknown.len() as f64) < UNKNOWN * terms.len() as f64 {
        return Ok(context);
    }
    let mut characters: Vec<char> = Vec::new();
    for c in unknown.iter().flat_map(|term| term.chars()) {
        if !characters.contains(&c) {
            characters.push(c);
        }
    }
    let mut words: Vec<String> = Vec::new();
    for c in characters.into_iter().take(CHARACTERS) {
        for similar in ports.base.similar_terms(&c.to_string(), 1).await? {
            if similar.term.contains(c) && !words.contains(&similar.term) {
                words.push(similar.term);
            }
        }
    }
    words.truncate(WORDS);
    if words.is_empty() {
        return Ok(context);
    }
    let found = ports.base.matching_chunks(&words.join(" "), PASSAGES).await?;
    let ids: Vec<ChunkId> = found.into_iter().map(|hit| hit.item).collect();
    context.extend(0, ports.base.chunks(&ids).await?);
    Ok(context)
}
