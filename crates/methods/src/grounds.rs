//! Finds the passages that support a person's answer: those that hold its words.

use std::collections::BTreeSet;

use pikerag_knowledge::{Check, ChunkId, Context, Ground, Question};
use pikerag_language::fold::folded;
use pikerag_reason::{Claim, cite};

use crate::ports::{Ports, SolveError};
use crate::retrieval::{RetrievalParams, retrieve};

/// Passages that are searched for the words.
const SEARCHED: usize = 32;
/// Passages that are returned, at most.
const GROUNDS: usize = 4;

/// Finds the passages that hold these words in their order, among `context` and the hits of the question: the
/// evidence of a person's correction. Empty where no document holds the words.
///
/// # Errors
/// The base cannot be read.
pub async fn find_support(
    ports: &Ports,
    question: &Question,
    context: &[ChunkId],
    words: &str,
) -> Result<Vec<Ground>, SolveError> {
    let params = RetrievalParams { chunks: SEARCHED, ..RetrievalParams::auto() };
    let mut ids = context.to_vec();
    let asked = format!("{} {words}", question.query());
    ids.extend(retrieve(ports, &asked, params).await?.iter().map(|candidate| candidate.chunk));
    let mut seen = BTreeSet::new();
    ids.retain(|id| seen.insert(*id));
    let mut context = Context::default();
    let words_of = |text: &str| format!(" {} ", folded(text));
    for chunk in ports.base.chunks(&ids).await? {
        if words_of(&chunk.text).contains(&words_of(words)) {
            context.add(0, chunk);
        }
    }
    let claims: Vec<Claim> = context
        .ids()
        .into_iter()
        .take(GROUNDS)
        .map(|chunk| Claim { chunk, quote: words.to_owned() })
        .collect();
    let citations = cite(ports.base.as_ref(), &context, words, &claims).await?;
    let verified = citations.iter().filter(|citation| citation.check == Check::Verified);
    Ok(verified.map(Ground::from).collect())
}
