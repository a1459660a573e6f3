//! What has been read so far, and what was found in it? Each passage keeps its number through all looks, each fact its
//! passage.

use pikerag_knowledge::{Chunk, ChunkId, Context, FactRead};
use pikerag_prompt::{numbered_passages, quiet_words};
use pikerag_reason::{Claim, bearing_words};

use crate::context::tokens_of;

/// Questions of passages that are not shown which a look is told of, at most.
const OTHERS: usize = 6;

/// Passages, facts and what was looked up.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    /// In the order they were found; a passage's number is its place, from 1. With the look that it was found for.
    chunks: Vec<(usize, Chunk)>,
    /// Each once, in the order they were read.
    facts: Vec<Fact>,
    /// Sub-questions that were looked up.
    tried: Vec<String>,
    /// Questions that passages answer which were found but not taken, and these passages.
    others: Vec<(ChunkId, String)>,
}

/// A fact that was read off a passage.
#[derive(Debug)]
struct Fact {
    /// The passage's number.
    number: usize,
    /// As the model has it.
    said: String,
    /// The words of the passage that bear it out.
    quote: Option<String>,
}

impl Shelf {
    /// Takes chunks in, found for this look; their numbers, those of chunks that are there already too.
    pub(super) fn take(&mut self, look: usize, chunks: Vec<Chunk>) -> Vec<usize> {
        let mut numbers = Vec::new();
        for chunk in chunks {
            let held = self.chunks.iter().position(|(_, held)| held.id == chunk.id);
            let place = held.unwrap_or_else(|| {
                self.chunks.push((look, chunk));
                self.chunks.len() - 1
            });
            numbers.push(place + 1);
        }
        numbers
    }

    /// The passages that facts were read off.
    pub(super) fn kept(&self) -> Vec<ChunkId> {
        let chunks = self.bearing().into_iter().filter_map(|number| self.chunk(number));
        chunks.map(|chunk| chunk.id).collect()
    }

    fn chunk(&self, number: usize) -> Option<&Chunk> {
        self.chunks.get(number.checked_sub(1)?).map(|(_, chunk)| chunk)
    }

    /// Keeps facts that a look read, each once. One without a passage, or with one that was not shown, goes to the first shown
    /// passage that bears it out, else to the first.
    pub(super) fn keep(&mut self, shown: &[usize], facts: Vec<(Option<usize>, String)>) {
        for (number, said) in facts {
            let named = number.filter(|number| shown.contains(number));
            let bearing = |number: &usize| {
                self.chunk(*number).is_some_and(|chunk| bearing_words(chunk, &said).is_some())
            };
            let number = match named {
                Some(number) if bearing(&number) => number,
                _ => match shown.iter().find(|number| bearing(number)).or(named.as_ref()) {
                    Some(number) => *number,
                    None => continue,
                },
            };
            let quote = self.chunk(number).and_then(|chunk| bearing_words(chunk, &said));
            let is_twin = |held: &Fact| {
                held.number == number
                    && (held.said == said || held.quote.is_some() && held.quote == quote)
            };
            if !self.facts.iter().any(is_twin) {
                self.facts.push(Fact { number, said, quote });
            }
        }
    }

    /// The numbers of the passages that facts were read off, each once.
    pub(super) fn bearing(&self) -> Vec<usize> {
        let mut numbers: Vec<usize> = self.facts.iter().map(|fact| fact.number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    /// Whether some fact stands in its passage.
    pub(super) fn has_fact_that_stands(&self) -> bool {
        self.facts.iter().any(|fact| fact.quote.is_some())
    }

    /// Of these passages those that so many tokens hold, in their order: the first whatever its length.
    pub(super) fn within(&self, numbers: &[usize], tokens: u64) -> Vec<usize> {
        let (mut room, mut held) = (tokens, Vec::new());
        for number in numbers {
            let Some(chunk) = self.chunk(*number) else { continue };
            let size = tokens_of(chunk);
            if held.is_empty() || size <= room {
                room = room.saturating_sub(size);
                held.push(*number);
            }
        }
        held
    }

    /// A question was looked up.
    pub(super) fn tries(&mut self, question: &str) {
        self.tried.push(question.to_owned());
    }

    /// Whether a question was looked up before, in these words.
    pub(super) fn has_tried(&self, question: &str) -> bool {
        self.tried.iter().any(|tried| tried.to_lowercase() == question.to_lowercase())
    }

    /// A passage that was found and not taken answers this.
    pub(super) fn tells_of(&mut self, chunk: ChunkId, question: &str) {
        if !self.others.iter().any(|(_, known)| known == question) {
            self.others.push((chunk, question.to_owned()));
        }
    }

    /// The passages with these numbers, as prompts show them.
    pub(super) fn passages(&self, numbers: &[usize]) -> String {
        let numbers = numbers.iter().filter_map(|number| Some((*number, self.chunk(*number)?)));
        numbered_passages(numbers)
    }

    /// What was read so far, a line each with the number of its passage; empty at the first look.
    pub(super) fn facts_so_far(&self) -> String {
        let lines = self.facts.iter().map(|fact| fact_line(fact.number, &fact.said));
        lines.collect::<Vec<_>>().join("\n")
    }

    /// What was looked up, a line each.
    pub(super) fn tried(&self) -> String {
        listed(self.tried.iter().map(String::as_str))
    }

    /// What can be found out besides, a line each: the last found first.
    pub(super) fn others(&self, shown: &[usize]) -> String {
        let is_shown = |id: &ChunkId| {
            shown.iter().any(|number| self.chunk(*number).is_some_and(|chunk| chunk.id == *id))
        };
        let others = self.others.iter().rev().filter(|(id, _)| !is_shown(id));
        listed(others.map(|(_, question)| question.as_str()).take(OTHERS))
    }

    /// The facts for the trace.
    pub(super) fn told(&self) -> Vec<FactRead> {
        let told = |fact: &Fact| {
            let chunk = self.chunk(fact.number)?;
            Some(FactRead {
                passage: fact.number,
                chunk: chunk.id,
                title: chunk.full_title(),
                text: fact.said.clone(),
                stands: fact.quote.is_some(),
            })
        };
        self.facts.iter().filter_map(told).collect()
    }

    /// The facts as claims: the words of the passage where they were found there, else those of the model.
    pub(super) fn claims(&self) -> Vec<Claim> {
        let claim = |fact: &Fact| {
            let quote = fact.quote.clone().unwrap_or_else(|| fact.said.clone());
            Some(Claim { chunk: self.chunk(fact.number)?.id, quote })
        };
        self.facts.iter().filter_map(claim).collect()
    }

    /// The passages with these numbers, each with the look that it was found for.
    pub(super) fn context(&self, numbers: &[usize]) -> Context {
        let mut context = Context::default();
        for number in numbers {
            if let Some((look, chunk)) = number.checked_sub(1).and_then(|at| self.chunks.get(at)) {
                context.add(*look, chunk.clone());
            }
        }
        context
    }

    /// The numbers of all passages.
    pub(super) fn all(&self) -> Vec<usize> {
        (1..=self.chunks.len()).collect()
    }

    /// The numbers of the passages that were there at the first look.
    pub(super) fn first(&self) -> Vec<usize> {
        let first = self.chunks.iter().take_while(|(look, _)| *look == 1).count();
        (1..=first).collect()
    }
}

/// A fact as the next look is shown it.
fn fact_line(number: usize, words: &str) -> String {
    format!("- {} [{number}]", quiet_words(&pikerag_prompt::one_line(words)))
}

fn listed<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let line = |line: &str| format!("- {}", quiet_words(&pikerag_prompt::one_line(line)));
    lines.map(line).collect::<Vec<_>>().join("\n")
}
