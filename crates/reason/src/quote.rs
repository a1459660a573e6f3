//! What answers a question without any language model? The words of the evidence themselves: from
//! each chunk the sentence or row that fits best, chosen so that each adds something new.

use std::collections::{HashMap, HashSet};

use pikerag_knowledge::{Chunk, ChunkKind, Context, Question};
use pikerag_language::{content_words, sentences, stem};

use crate::Claim;
use crate::read::Reading;

/// A sentence or row that may be quoted.
struct Sentence<'a> {
    chunk: &'a Chunk,
    text: &'a str,
    words: HashSet<String>,
}

/// What a word of a sentence is worth, as a part of its rarity: asked for; leading on from an
/// earlier quote; leading on to another chunk by its title. A word that an earlier quote holds
/// already has done its work for the most part.
const ASKED: f32 = 1.0;
const BRIDGES: f32 = 0.6;
const NAMES_OTHER: f32 = 0.5;
const DONE: f32 = 0.4;

/// Quotes at most `n` sentences of the context, at most one per chunk, in the order in which the
/// chunks were chosen. An empty context gives an empty reading.
pub fn quote(question: &Question, context: &Context, n: usize) -> Reading {
    let chunks: Vec<&Chunk> = context.chunks.iter().map(|held| &held.chunk).take(n).collect();
    let candidates = candidates(&chunks);
    let rarity = rarity(&candidates);
    let asked = meanings(&question.text);
    let mut quoted: HashSet<&str> = HashSet::new();
    let mut claims = Vec::new();
    for chunk in &chunks {
        let own = meanings(&chunk.full_title());
        let others = chunks.iter().filter(|other| other.source != chunk.source);
        let named: HashSet<String> = others.flat_map(|other| meanings(&other.title)).collect();
        let worth = |sentence: &Sentence<'_>| -> f32 {
            let mut worth = 0.0;
            for word in &sentence.words {
                let part = match (asked.contains(word), quoted.contains(word.as_str())) {
                    (true, false) => ASKED,
                    (true, true) => DONE,
                    (false, true) => BRIDGES,
                    (false, false) if named.contains(word) && !own.contains(word) => NAMES_OTHER,
                    (false, false) => 0.0,
                };
                worth += part * rarity.get(word).copied().unwrap_or_default();
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
            quoted.extend(sentence.words.iter().map(String::as_str));
            claims.push(Claim { chunk: chunk.id, quote: sentence.text.to_owned() });
        }
    }
    let answer = claims.iter().map(|claim| shown(&claim.quote)).collect::<Vec<_>>().join(" ");
    Reading { answer, rationale: String::new(), claims }
}

fn candidates<'a>(chunks: &[&'a Chunk]) -> Vec<Sentence<'a>> {
    let mut found = Vec::new();
    for chunk in chunks {
        for text in parts(chunk) {
            let words = meanings(text);
            if !words.is_empty() {
                found.push(Sentence { chunk, text, words });
            }
        }
    }
    found
}

/// What can be quoted of a chunk: rows of a table, lines of code, else sentences.
fn parts(chunk: &Chunk) -> Vec<&str> {
    match chunk.kind {
        ChunkKind::Table | ChunkKind::Code => {
            // A header says what the columns mean, not what is the case.
            let header = chunk.table.as_ref().filter(|table| table.rows.len() < table.lines.len());
            let body = header
                .and_then(|table| table.lines.get(1))
                .map_or(0, |row| row.start.saturating_sub(chunk.span.start));
            let body = chunk.text.get(body..).unwrap_or(&chunk.text);
            body.lines().filter(|line| !is_frame(line)).collect()
        }
        _ => {
            let sentences_of =
                |block| sentences(block).into_iter().filter_map(move |range| block.get(range));
            blocks(&chunk.text).into_iter().flat_map(sentences_of).collect()
        }
    }
}

/// The paragraphs and list items of a text. A line goes on with the one before unless it is blank or
/// opens an item; headings and rules are left out.
fn blocks(text: &str) -> Vec<&str> {
    let mut spans: Vec<std::ops::Range<usize>> = Vec::new();
    let (mut at, mut goes_on) = (0, false);
    for line in text.split_inclusive('\n') {
        let (start, end) = (at, at + line.trim_end().len());
        at += line.len();
        if is_frame(line) {
            goes_on = false;
            continue;
        }
        match spans.last_mut() {
            Some(last) if goes_on && !opens_item(line) => last.end = end,
            _ => spans.push(start..end),
        }
        goes_on = true;
    }
    spans.into_iter().filter_map(|span| text.get(span)).collect()
}

fn opens_item(line: &str) -> bool {
    let line = line.trim_start();
    let after_number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = after_number.len() < line.len() && after_number.starts_with(['.', ')', '、']);
    numbered || line.starts_with(['-', '*', '•', '|', '>', '+'])
}

/// Blank lines, headings and the rules of tables hold no sentence.
fn is_frame(line: &str) -> bool {
    let line = line.trim();
    line.starts_with('#')
        || line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' ' | '=' | '*' | '`'))
}

fn meanings(text: &str) -> HashSet<String> {
    content_words(text).iter().map(|word| stem(word)).collect()
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

/// A quote as it reads in an answer: one line, without the marks of lists and tables around it.
fn shown(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = line.trim_matches(['|', '*', '-', '•', ' ']).replace("**", "");
    if line.ends_with(['.', '!', '?', '。', '！', '？', ';', '；']) {
        line
    } else {
        format!("{line}.")
    }
}

#[cfg(test)]
mod tests {
    use pikerag_doubles::chunk;
    use pikerag_knowledge::Chunk;

    use super::*;

    #[test]
    fn wrapped_lines_are_one_paragraph_and_items_are_not() {
        let text = "# A\nIt was built\nin 1998.\n\n- one\n  more\n- two\n1. three\n| --- |\nend";
        assert_eq!(
            blocks(text),
            ["It was built\nin 1998.", "- one\n  more", "- two", "1. three", "end"]
        );
    }

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
            let chunk = Chunk { uri: title.to_owned(), ..chunk(id as u64, title, text) };
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
