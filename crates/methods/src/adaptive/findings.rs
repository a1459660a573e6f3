//! Holds the passages read so far and the facts found in them. A passage keeps its number through all rounds,
//! a fact its passage.

use pikerag_knowledge::{Chunk, ChunkId, Context, FactRead};
use pikerag_prompt::{numbered_passages, quiet_words};
use pikerag_reason::{Claim, bearing_words};

use crate::context::tokens_of;

/// Questions of other passages that a round shows, at most.
const OTHERS: usize = 6;

/// Passages, facts and the sub-questions that were searched.
#[derive(Debug, Default)]
pub(super) struct Findings {
    /// Each with the round that it was found for, in the order found; a passage's number is its place, from 1.
    chunks: Vec<(usize, Chunk)>,
    /// Each once, in the order read.
    facts: Vec<Fact>,
    /// Sub-questions that were searched.
    tried: Vec<String>,
    /// Questions that passages answer which were found but not taken, each with its passage.
    others: Vec<(ChunkId, String)>,
}

/// A fact read from a passage.
#[derive(Debug)]
struct Fact {
    /// The passage's number.
    number: usize,
    /// In the model's words.
    text: String,
    /// The words of the passage that support it.
    quote: Option<String>,
}

impl Findings {
    /// Adds chunks found for this round and returns their numbers, also of chunks that are there already.
    pub(super) fn add(&mut self, round: usize, chunks: Vec<Chunk>) -> Vec<usize> {
        let mut numbers = Vec::new();
        for chunk in chunks {
            let held = self.chunks.iter().position(|(_, held)| held.id == chunk.id);
            let place = held.unwrap_or_else(|| {
                self.chunks.push((round, chunk));
                self.chunks.len() - 1
            });
            numbers.push(place + 1);
        }
        numbers
    }

    /// The passages that facts were read from.
    pub(super) fn chunks_with_facts(&self) -> Vec<ChunkId> {
        let chunks = self.with_facts().into_iter().filter_map(|number| self.chunk(number));
        chunks.map(|chunk| chunk.id).collect()
    }

    fn chunk(&self, number: usize) -> Option<&Chunk> {
        self.chunks.get(number.checked_sub(1)?).map(|(_, chunk)| chunk)
    }

    /// Keeps the facts of a round, each once. A fact that its passage does not support goes to the first
    /// shown passage that supports it, else it stays with its passage. Without either, a fact whose passage
    /// was not shown is dropped.
    pub(super) fn keep(&mut self, shown: &[usize], facts: Vec<(Option<usize>, String)>) {
        for (number, text) in facts {
            let named = number.filter(|number| shown.contains(number));
            let supports = |number: &usize| {
                self.chunk(*number).is_some_and(|chunk| bearing_words(chunk, &text).is_some())
            };
            let number = match named {
                Some(number) if supports(&number) => number,
                _ => match shown.iter().find(|number| supports(number)).or(named.as_ref()) {
                    Some(number) => *number,
                    None => continue,
                },
            };
            let quote = self.chunk(number).and_then(|chunk| bearing_words(chunk, &text));
            let is_twin = |held: &Fact| {
                held.number == number
                    && (held.text == text || held.quote.is_some() && held.quote == quote)
            };
            if !self.facts.iter().any(is_twin) {
                self.facts.push(Fact { number, text, quote });
            }
        }
    }

    /// The numbers of the passages that facts were read from, each once, in order.
    pub(super) fn with_facts(&self) -> Vec<usize> {
        let mut numbers: Vec<usize> = self.facts.iter().map(|fact| fact.number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    /// Whether a passage supports one of the facts.
    pub(super) fn has_supported_fact(&self) -> bool {
        self.facts.iter().any(|fact| fact.quote.is_some())
    }

    /// The passages that fit into `tokens`, in order; the first whatever its length.
    pub(super) fn within(&self, numbers: &[usize], tokens: u64) -> Vec<usize> {
        let (mut left, mut held) = (tokens, Vec::new());
        for number in numbers {
            let Some(chunk) = self.chunk(*number) else { continue };
            let size = tokens_of(chunk);
            if held.is_empty() || size <= left {
                left = left.saturating_sub(size);
                held.push(*number);
            }
        }
        held
    }

    /// Notes a question that was searched.
    pub(super) fn note_tried(&mut self, question: &str) {
        self.tried.push(question.to_owned());
    }

    /// Whether a question was searched before, in the same words apart from case.
    pub(super) fn has_tried(&self, question: &str) -> bool {
        self.tried.iter().any(|tried| tried.to_lowercase() == question.to_lowercase())
    }

    /// Notes a question that a passage answers which was found and not taken.
    pub(super) fn note_other(&mut self, chunk: ChunkId, question: &str) {
        if !self.others.iter().any(|(_, known)| known == question) {
            self.others.push((chunk, question.to_owned()));
        }
    }

    /// The passages with these numbers, as prompts show them.
    pub(super) fn passages(&self, numbers: &[usize]) -> String {
        let numbers = numbers.iter().filter_map(|number| Some((*number, self.chunk(*number)?)));
        numbered_passages(numbers)
    }

    /// The facts read so far, one a line with the number of its passage; empty in the first round.
    pub(super) fn facts_so_far(&self) -> String {
        let lines = self.facts.iter().map(|fact| fact_line(fact.number, &fact.text));
        lines.collect::<Vec<_>>().join("\n")
    }

    /// The questions that were searched, one a line.
    pub(super) fn tried(&self) -> String {
        listed(self.tried.iter().map(String::as_str))
    }

    /// Questions that passages outside `shown` answer, one a line, the last found first.
    pub(super) fn others(&self, shown: &[usize]) -> String {
        let is_shown = |id: &ChunkId| {
            shown.iter().any(|number| self.chunk(*number).is_some_and(|chunk| chunk.id == *id))
        };
        let others = self.others.iter().rev().filter(|(id, _)| !is_shown(id));
        listed(others.map(|(_, question)| question.as_str()).take(OTHERS))
    }

    /// The facts for the trace.
    pub(super) fn facts_for_trace(&self) -> Vec<FactRead> {
        let fact_read = |fact: &Fact| {
            let chunk = self.chunk(fact.number)?;
            Some(FactRead {
                passage: fact.number,
                chunk: chunk.id,
                title: chunk.full_title(),
                text: fact.text.clone(),
                is_quoted: fact.quote.is_some(),
            })
        };
        self.facts.iter().filter_map(fact_read).collect()
    }

    /// The facts as claims: the words of the passage where they were found there, else those of the model.
    pub(super) fn claims(&self) -> Vec<Claim> {
        let claim = |fact: &Fact| {
            let quote = fact.quote.clone().unwrap_or_else(|| fact.text.clone());
            Some(Claim { chunk: self.chunk(fact.number)?.id, quote })
        };
        self.facts.iter().filter_map(claim).collect()
    }

    /// The passages with these numbers, each with the round that it was found for.
    pub(super) fn context(&self, numbers: &[usize]) -> Context {
        let mut context = Context::default();
        for number in numbers {
            if let Some((round, chunk)) = number.checked_sub(1).and_then(|at| self.chunks.get(at)) {
                context.add(*round, chunk.clone());
            }
        }
        context
    }

    /// The numbers of all passages.
    pub(super) fn all(&self) -> Vec<usize> {
        (1..=self.chunks.len()).collect()
    }

    /// The numbers of the passages of the first round.
    pub(super) fn first(&self) -> Vec<usize> {
        let first = self.chunks.iter().take_while(|(round, _)| *round == 1).count();
        (1..=first).collect()
    }
}

/// A fact as the next round shows it.
fn fact_line(number: usize, words: &str) -> String {
    format!("- {} [{number}]", quiet_words(&pikerag_prompt::one_line(words)))
}

fn listed<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let line = |line: &str| format!("- {}", quiet_words(&pikerag_prompt::one_line(line)));
    lines.map(line).collect::<Vec<_>>().join("\n")
}
