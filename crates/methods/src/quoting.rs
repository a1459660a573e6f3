//! What does quoting know of a question? How rare its words are in the base, and which sentences are close to it.

use std::collections::HashMap;

use pikerag_knowledge::{
    AtomKind, ChunkId, Context, Event, Note, Question, Quoting, nearest_atoms,
};
use pikerag_language::query_terms;
use pikerag_reason::{Known, Quoted, quote};
use pikerag_retrieve::RetrieveError;

use crate::ports::{Ports, SolveError};
use crate::run::Run;

/// Sentences that are put together, at most.
const QUOTED: usize = 4;
/// What a term counts at least, beside one that a single chunk has: in a small base all are in many.
const COMMON: f32 = 0.1;
/// Sentences whose meaning is compared.
const CLOSE: usize = 100;
/// The share of unrelated pairs of sentences below which closeness says nothing.
const UNRELATED: f32 = 0.95;
/// How much of the way from there to equality is as close as a sentence can be expected to be to its question.
const CLOSEST: f32 = 0.78;

/// Answers from the words of the context alone, and tells in the trace how well they fit.
pub(crate) async fn quoted(
    ports: &Ports,
    question: &Question,
    context: &Context,
    run: &mut Run,
    because: Quoting,
) -> Result<Quoted, SolveError> {
    // In the documents' words, where tags told them.
    let tagged = run.events().rev().find_map(|event| match event {
        Event::Tagged { query, .. } => Some(query.clone()),
        _ => None,
    });
    let question = &question.reworded(tagged.unwrap_or_else(|| question.query().to_owned()));
    let quoted = quote(question, context, &known(ports, question).await?, QUOTED);
    let note = match quoted.reading.claims.is_empty() {
        false => Note::QuotesEvidence { because },
        true => Note::NothingToQuote { because, fit: f64::from(quoted.fit) },
    };
    run.push(Event::Noted { note: note.into() });
    Ok(quoted)
}

async fn known(ports: &Ports, question: &Question) -> Result<Known, SolveError> {
    let terms = query_terms(question.query());
    let counts = ports.base.term_counts(&terms).await?;
    let all = (ports.base.state().await?.chunks.max(2) as f32).ln();
    let rare = |count: usize| (1.0 - (count.max(1) as f32).ln() / all).clamp(COMMON, 1.0);
    let unknown = terms.iter().zip(&counts).filter(|(_, count)| **count == 0);
    let absent = unknown.map(|(term, _)| term.clone()).collect();
    let rarity = terms.into_iter().zip(counts).map(|(term, count)| (term, rare(count))).collect();
    Ok(Known { rarity, close: close(ports, question.query()).await?, absent })
}

async fn close(
    ports: &Ports,
    question: &str,
) -> Result<HashMap<ChunkId, Vec<(String, f32)>>, SolveError> {
    let mut close: HashMap<ChunkId, Vec<(String, f32)>> = HashMap::new();
    let vectors = ports.finder().vectors(&[question.to_owned()]).await;
    let Some(vectors) = vectors.map_err(RetrieveError::from)? else { return Ok(close) };
    let kind = AtomKind::Sentence;
    let start = ports.base.unrelated_similarity(kind, UNRELATED).await?.unwrap_or_default();
    let range = (CLOSEST * (1.0 - start)).max(f32::EPSILON);
    for found in nearest_atoms(ports.base.as_ref(), kind, &vectors, CLOSE, start, &[]).await? {
        for hit in found {
            let scaled = ((hit.score - start) / range).clamp(0.0, 1.0);
            close.entry(hit.item.chunk).or_default().push((hit.item.text, scaled));
        }
    }
    Ok(close)
}
