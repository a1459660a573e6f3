//! What answers a question without any language model? The words of the evidence themselves: from
//! each chunk the sentence that fits best, chosen so that each adds something new.

use std::collections::{HashMap, HashSet};

use pikerag_knowledge::{Chunk, Context, Question};
use pikerag_language::{content_words, sentences};

use crate::Claim;
use crate::read::Reading;

/// A sentence that may be quoted.
struct Sentence<'a> {
    chunk: &'a Chunk,
    text: &'a str,
    words: HashSet<String>,
}

/// Quotes at most `n` sentences of the context, at most one per chunk, in the order in which the
/// chunks were chosen. An empty context gives an empty reading.
///
/// A sentence is worth the question's words in it, the rarer in the context the more, and the words
/// it shares with the titles of other chunks: those carry the chain from hop to hop. Words that an
/// earlier quote holds already count half.
pub fn quote(question: &Question, context: &Context, n: usize) -> Reading {
    let chunks: Vec<&Chunk> = context.chunks.iter().map(|held| &held.chunk).collect();
    let candidates = candidates(&chunks);
    let rarity = rarity(&candidates);
    let asked: HashSet<String> = content_words(&question.text).into_iter().collect();
    let linked: HashSet<String> =
        chunks.iter().take(n + 1).flat_map(|chunk| content_words(&chunk.title)).collect();
    let mut covered: HashSet<&str> = HashSet::new();
    let mut claims = Vec::new();
    for chunk in chunks.iter().take(n) {
        let titled: HashSet<String> = content_words(&chunk.title).into_iter().collect();
        let worth = |sentence: &Sentence<'_>| -> f32 {
            let mut worth = 0.0;
            for word in &sentence.words {
                let rare = rarity.get(word.as_str()).copied().unwrap_or_default();
                let fresh = if covered.contains(word.as_str()) { 0.5 } else { 1.0 };
                if asked.contains(word) {
                    worth += rare * fresh;
                } else if linked.contains(word) && !titled.contains(word) {
                    worth += 0.5 * rare * fresh;
                }
            }
            worth / (4.0 + sentence.words.len() as f32).sqrt()
        };
        let mut best: Option<(f32, &Sentence<'_>)> = None;
        for sentence in candidates.iter().filter(|sentence| sentence.chunk.id == chunk.id) {
            let worth = worth(sentence);
            // The first of equals: documents open with what they are about.
            if best.as_ref().is_none_or(|(held, _)| *held < worth) {
                best = Some((worth, sentence));
            }
        }
        if let Some((_, sentence)) = best {
            covered.extend(sentence.words.iter().map(String::as_str));
            claims.push(Claim { chunk: chunk.id, quote: sentence.text.to_owned() });
        }
    }
    let answer = claims.iter().map(|claim| one_line(&claim.quote)).collect::<Vec<_>>().join(" ");
    Reading { answer, rationale: String::new(), claims }
}

fn candidates<'a>(chunks: &[&'a Chunk]) -> Vec<Sentence<'a>> {
    let mut found = Vec::new();
    for chunk in chunks {
        for line in chunk.text.split('\n').filter(|line| !line.trim_start().starts_with('#')) {
            for range in sentences(line) {
                let Some(text) = line.get(range) else { continue };
                let words: HashSet<String> = content_words(text).into_iter().collect();
                if !words.is_empty() {
                    found.push(Sentence { chunk, text, words });
                }
            }
        }
    }
    found
}

/// Inverse frequency of each word over the sentences.
fn rarity(sentences: &[Sentence<'_>]) -> HashMap<String, f32> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for word in sentences.iter().flat_map(|sentence| &sentence.words) {
        *counts.entry(word.clone()).or_default() += 1;
    }
    let all = sentences.len() as f32;
    counts.into_iter().map(|(word, count)| (word, (1.0 + all / count as f32).ln())).collect()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use pikerag_knowledge::{ChunkId, ChunkKind, SourceId, Span};

    use super::*;

    #[test]
    fn one_sentence_per_chunk_along_the_chain() {
        let mut context = Context::default();
        let texts = [
            (
                "KX-40",
                "The KX-40 is a crane. It lifts forty tons. The KX-40 was designed by Ilse Brandt.",
            ),
            ("Ilse Brandt", "Ilse Brandt likes tea. Ilse Brandt was born in Varnsund."),
        ];
        for (id, (title, text)) in texts.into_iter().enumerate() {
            let chunk = Chunk {
                id: ChunkId(id as u64),
                source: SourceId(id as u64),
                uri: title.to_owned(),
                title: title.to_owned(),
                section: None,
                headings: String::new(),
                ordinal: 0,
                kind: ChunkKind::Text,
                text: text.to_owned(),
                span: Span { start: 0, end: text.len() },
                page: None,
                table: None,
            };
            context.add(id + 1, chunk);
        }
        let question = Question {
            id: "q".to_owned(),
            text: "Where was the person born who designed the KX-40?".to_owned(),
        };
        let reading = quote(&question, &context, 3);
        assert_eq!(
            reading.answer,
            "The KX-40 was designed by Ilse Brandt. Ilse Brandt was born in Varnsund."
        );
        assert_eq!(quote(&question, &Context::default(), 3), Reading::default());
    }
}
