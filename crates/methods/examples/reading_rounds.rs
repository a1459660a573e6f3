//! Chooses the sentences of reading rounds for `bench/reading_rounds.py`, by the rules of `adaptive`.
//!
//! It reads one request a line from the standard input and writes one JSON reply a line:
//!
//! - `{"first": {"question", "passages", "chunks", "passage_tokens"}}`: the choice of the first round;
//! - `{"later": {"questions", "passages", "passage_tokens"}}`: that of a later round. A passage that a round
//!   showed has `known`: its sentences in the round before, and the facts that were read from it;
//! - `{"sentences": TEXT}`, `{"words": TEXT}`, `{"tokens": TEXT}`: the parts of a text.
//!
//! A passage has `title` and `text`. The reply to a choice has for each passage the `places` of its sentences, from 0,
//! and the `text` that a prompt shows.

use std::error::Error;
use std::io::{BufRead, Write, stdin, stdout};

use pikerag_doubles::chunk;
use pikerag_knowledge::Chunk;
use pikerag_language::{content_words, estimate_tokens};
use pikerag_methods::adaptive::excerpt::{
    Candidate, Places, cut, in_first_round, in_later_round, parts, quoted_parts,
};
use pikerag_reason::bearing_words;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Request {
    First { question: String, passages: Vec<Passage>, chunks: usize, passage_tokens: u32 },
    Later { questions: Vec<String>, passages: Vec<Passage>, passage_tokens: u32 },
    Sentences(String),
    Words(String),
    Tokens(String),
}

#[derive(Deserialize)]
struct Passage {
    title: String,
    text: String,
    known: Option<Known>,
}

#[derive(Deserialize)]
struct Known {
    places: Places,
    facts: Vec<String>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut replies = stdout().lock();
    for line in stdin().lock().lines() {
        writeln!(replies, "{}", reply(serde_json::from_str(&line?)?))?;
        replies.flush()?;
    }
    Ok(())
}

fn reply(request: Request) -> Value {
    match request {
        Request::First { question, passages, chunks, passage_tokens } => {
            let all = chunks_of(&passages);
            let all: Vec<&Chunk> = all.iter().collect();
            shown(&all, in_first_round(&question, &all, chunks, passage_tokens))
        }
        Request::Later { questions, passages, passage_tokens } => {
            let all = chunks_of(&passages);
            let candidates = all.iter().zip(&passages).map(|(chunk, passage)| Candidate {
                chunk,
                known: passage.known.as_ref().map(|known| known_places(chunk, known)),
            });
            let candidates: Vec<Candidate<'_>> = candidates.collect();
            let chosen = in_later_round(&questions, &candidates, passage_tokens);
            shown(&all.iter().collect::<Vec<_>>(), chosen)
        }
        Request::Sentences(text) => {
            let chunk = chunk(0, "", &text);
            let parts = parts(&chunk).into_iter().filter_map(|part| text.get(part));
            json!(parts.collect::<Vec<_>>())
        }
        Request::Words(text) => json!(content_words(&text)),
        Request::Tokens(text) => json!(estimate_tokens(&text)),
    }
}

fn chunks_of(passages: &[Passage]) -> Vec<Chunk> {
    let numbered = (1..).zip(passages);
    numbered.map(|(id, passage)| chunk(id, &passage.title, &passage.text)).collect()
}

/// The sentences that need not be shown again.
fn known_places(chunk: &Chunk, known: &Known) -> Places {
    let quotes: Vec<String> =
        known.facts.iter().filter_map(|fact| bearing_words(chunk, fact)).collect();
    let quotes: Vec<&str> = quotes.iter().map(String::as_str).collect();
    let mut places = quoted_parts(chunk, &quotes);
    places.extend(&known.places);
    places
}

fn shown(chunks: &[&Chunk], chosen: Vec<Places>) -> Value {
    let passages = chunks.iter().zip(chosen).map(|(chunk, places)| {
        let text = cut(chunk, &places).text;
        json!({"places": places, "text": text})
    });
    passages.collect()
}
