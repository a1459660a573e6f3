//! Answers with quotes, by how rare a question's words are in the base and which sentences are close to it.

use std::collections::{HashMap, HashSet};

use pikerag_knowledge::{
    AtomKind, ChunkId, Context, Event, Grade, Note, Question, Quoting, nearest_atoms,
};
use pikerag_language::{content_words, is_chinese, query_terms, stem};
use pikerag_narrate::{InWords, Language, Sentence};
use pikerag_reason::{CloseSentence, Known, Quoted, quote};
use pikerag_retrieve::{RetrieveError, with_spelling};

use crate::editions::newer_first;
use crate::ports::{Ports, SolveError};
use crate::respelling::corrected;
use crate::run::Run;

/// Sentences of an answer, at most.
const QUOTED: usize = 4;
/// The least weight of a term, where a term of a single chunk weighs 1: in a small base most terms are in many chunks.
const COMMON: f32 = 0.1;
/// The nearest sentences of the base that count as close to a question, at most.
const CLOSE: usize = 200;
/// The share of unrelated pairs of sentences that are less similar than a close sentence.
const UNRELATED: f32 = 0.95;
/// If the closest sentence is less close than this, similarities are too flat to tell close from unrelated, and
/// the order of the sentences counts alone.
const FLAT: f32 = 0.3;
/// The part of the range from that similarity to 1 that counts as fully close: no sentence equals its question.
const CLOSEST: f32 = 0.78;

/// Answers with quotes of the context. The trace notes the reason, and how well the best words fit if hardly any do. The
/// rationale names the words of the question that no passage has, if its subject is among them.
pub(crate) async fn quoted(
    ports: &Ports,
    question: &Question,
    context: &Context,
    run: &mut Run,
    because: Quoting,
) -> Result<Quoted, SolveError> {
    // In the documents' words, where tags gave them.
    let tagged = run.events().rev().find_map(|event| match event {
        Event::Tagged { query, .. } => Some(query.clone()),
        _ => None,
    });
    let query = tagged.unwrap_or_else(|| question.query().to_owned());
    let question = &question.reworded(with_spelling(&query, &corrected(run)));
    let known = known(ports, question).await?;
    let mut quoted = quote(question, context, &known, QUOTED);
    let quote_from = |part: &Context| quote(question, part, &known, 1).reading;
    let read = run.editions();
    newer_first(ports, read, question, context, &mut quoted.reading, quote_from).await?;
    if !quoted.unknown.is_empty() && !quoted.reading.claims.is_empty() {
        let words = Sentence::WordsUnknown(&quoted.unknown);
        quoted.reading.rationale = words.in_words(Language::of(question.query()));
    }
    let note = match quoted.grade() {
        Grade::Found | Grade::Possibly => Note::QuotesEvidence { because },
        Grade::NotFound => Note::NothingToQuote { because, fit: f64::from(quoted.fit) },
    };
    run.push(Event::Noted { note: note.into() });
    Ok(quoted)
}

/// What the base says of the question's words and meaning.
pub(crate) async fn known(ports: &Ports, question: &Question) -> Result<Known, SolveError> {
    let terms = query_terms(question.query());
    let counts = ports.base.term_counts(&terms).await?;
    let all = (ports.base.state().await?.chunks.max(2) as f32).ln();
    let rare = |count: usize| (1.0 - (count.max(1) as f32).ln() / all).clamp(COMMON, 1.0);
    let unknown = terms.iter().zip(&counts).filter(|(_, count)| **count == 0);
    let absent = unknown.map(|(term, _)| term.clone()).collect();
    // Pairs of characters only help to find a word that is cut in another way.
    let words: HashSet<String> =
        content_words(question.query()).iter().map(|word| stem(word)).collect();
    let is_pair = |term: &str| {
        term.chars().count() == 2 && term.chars().all(is_chinese) && !words.contains(term)
    };
    let counted = terms.into_iter().zip(counts);
    let counted = counted.filter(|(term, count)| 0 < *count || !is_pair(term));
    let rarity = counted.map(|(term, count)| (term, rare(count))).collect();
    Ok(Known { rarity, close: close(ports, question.query()).await?, absent })
}

async fn close(
    ports: &Ports,
    question: &str,
) -> Result<HashMap<ChunkId, Vec<CloseSentence>>, SolveError> {
    let mut close: HashMap<ChunkId, Vec<CloseSentence>> = HashMap::new();
    let vectors = ports.finder().vectors(&[question.to_owned()]).await;
    let Some(vectors) = vectors.map_err(RetrieveError::from)? else { return Ok(close) };
    let kind = AtomKind::Sentence;
    let start = ports.base.unrelated_similarity(kind, UNRELATED).await?.unwrap_or_default();
    let range = (CLOSEST * (1.0 - start)).max(f32::EPSILON);
    for found in nearest_atoms(ports.base.as_ref(), kind, &vectors, CLOSE, -1.0, &[]).await? {
        let (Some(first), Some(last)) = (found.first(), found.last()) else { continue };
        let (best, worst) = (first.score, last.score);
        let closeness = |score: f32| ((score - start) / range).clamp(0.0, 1.0);
        let is_flat = closeness(best) < FLAT;
        for hit in found {
            let closeness = closeness(hit.score);
            let standing = match is_flat {
                true => (hit.score - worst) / (best - worst).max(f32::EPSILON),
                false => closeness,
            };
            let sentence = CloseSentence { text: hit.item.text, closeness, standing };
            close.entry(hit.item.chunk).or_default().push(sentence);
        }
    }
    Ok(close)
}
