//! Holds the passages read so far and the facts found in them. A passage keeps its number through all rounds,
//! a fact its passage.

use std::collections::HashSet;

use pikerag_knowledge::{Chunk, ChunkId, ChunkKind, Context, FactRead};
use pikerag_language::content_words;
use pikerag_prompt::{one_line, quiet_words};
use pikerag_reason::{Claim, bearing_words};

use super::excerpt::{Places, quoted_parts};
use super::params::Reads;
use crate::context::tokens_of;
use crate::verdict::bare;

/// Questions of other passages that a round shows, at most.
const OTHERS: usize = 6;
/// The fewest words of a fact that counts as repeated by a fact from another passage.
const LONG: usize = 4;

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
    reads: Reads,
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
    /// None yet, of rounds that read passages or sentences.
    pub(super) fn of(reads: Reads) -> Self {
        Self { reads, ..Self::default() }
    }

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
        let chunks = self.numbered(&self.with_facts());
        chunks.into_iter().map(|(_, chunk)| chunk.id).collect()
    }

    /// The passage with this number.
    pub(super) fn chunk(&self, number: usize) -> Option<&Chunk> {
        self.chunks.get(number.checked_sub(1)?).map(|(_, chunk)| chunk)
    }

    /// The passages with these numbers, each with its number.
    pub(super) fn numbered(&self, numbers: &[usize]) -> Vec<(usize, &Chunk)> {
        let numbered = numbers.iter().filter_map(|number| Some((*number, self.chunk(*number)?)));
        numbered.collect()
    }

    /// Keeps the facts of a round, each once. A fact that its passage does not support goes to the first
    /// shown passage that supports it, else it stays with its passage. Without either, a fact whose passage
    /// was not shown is dropped.
    pub(super) fn keep(&mut self, shown: &[usize], facts: Vec<(Option<usize>, String)>) {
        for (number, text) in facts {
            if self.reads == Reads::Sentences && self.repeats(number, &text) {
                continue;
            }
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

    /// Whether a fact repeats words of an earlier one: rounds that see the earlier facts copy them, under any number.
    fn repeats(&self, number: Option<usize>, text: &str) -> bool {
        let own = bare(text);
        let is_long = LONG <= own.split(' ').count();
        let is_twin = |held: &Fact| {
            let is_same = is_long || number == Some(held.number);
            is_same
                && [Some(&held.text), held.quote.as_ref()]
                    .into_iter()
                    .flatten()
                    .any(|held| bare(held).contains(&own))
        };
        !own.is_empty() && self.facts.iter().any(is_twin)
    }

    /// The numbers of the passages that facts were read from, each once, in order.
    pub(super) fn with_facts(&self) -> Vec<usize> {
        let mut numbers: Vec<usize> = self.facts.iter().map(|fact| fact.number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    /// The sentences of a passage that its facts repeat.
    pub(super) fn quoted_parts(&self, number: usize) -> Places {
        let Some(chunk) = self.chunk(number) else { return Places::new() };
        let own = self.facts.iter().filter(|fact| fact.number == number);
        let quotes: Vec<&str> = own.filter_map(|fact| fact.quote.as_deref()).collect();
        quoted_parts(chunk, &quotes)
    }

    /// Whether the passages with facts hold all words of an answer.
    pub(super) fn hold(&self, answer: &str) -> bool {
        let chunks = self.with_facts().into_iter().filter_map(|number| self.chunk(number));
        let held: HashSet<String> = chunks
            .flat_map(|chunk| content_words(&format!("{}\n{}", chunk.full_title(), chunk.text)))
            .collect();
        let words = content_words(answer);
        !words.is_empty() && words.iter().all(|word| held.contains(word))
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

    /// The facts read so far, one a line with the number of its passage, or with its title where the prompt does not show
    /// the passage again; empty in the first round.
    pub(super) fn facts_so_far(&self) -> String {
        let lines = self.facts.iter().map(|fact| match (self.reads, self.chunk(fact.number)) {
            (Reads::Sentences, Some(chunk)) => titled_line(chunk, &fact.text),
            _ => fact_line(fact.number, &fact.text),
        });
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
}

/// A fact as the next round shows it, with its passage.
fn fact_line(number: usize, words: &str) -> String {
    format!("- {} [{number}]", quiet_words(&one_line(words)))
}

/// A fact as the next round shows it, without its passage. Rows of a table stay apart.
fn titled_line(chunk: &Chunk, words: &str) -> String {
    let words = match chunk.kind {
        ChunkKind::Table => words.lines().map(one_line).collect::<Vec<_>>().join(" / "),
        _ => one_line(words),
    };
    format!("- {} ({})", quiet_words(&words), quiet_words(&one_line(&chunk.full_title())))
}

fn listed<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let line = |line: &str| format!("- {}", quiet_words(&one_line(line)));
    lines.map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use pikerag_doubles::chunk;

    use super::*;

    const BRANDT: &str = "Ilse Brandt was born in Varnsund. She married Jon Hale.";

    fn fact(number: usize, text: &str) -> (Option<usize>, String) {
        (Some(number), text.to_owned())
    }

    #[test]
    fn facts_are_kept_once_and_shown_with_their_titles() {
        let mut findings = Findings::of(Reads::Sentences);
        let rows =
            Chunk { kind: ChunkKind::Table, ..chunk(3, "Ports", "Varnsund | 41000\nOslo | 7") };
        findings.add(
            1,
            vec![
                chunk(1, "KX-40", "Designed by Ilse Brandt."),
                chunk(2, "Ilse Brandt", BRANDT),
                rows,
            ],
        );
        let all = [1, 2, 3];
        findings.keep(
            &all,
            vec![
                fact(2, "Ilse Brandt was born in Varnsund."),
                fact(3, "Varnsund | 41000\nOslo | 7"),
            ],
        );
        // The same words again: whole, in part, in another case, and under the number of another passage.
        for number in all {
            findings.keep(
                &all,
                vec![
                    fact(number, "ilse Brandt was born in Varnsund"),
                    fact(number, "was born in Varnsund"),
                ],
            );
        }
        findings.keep(&all, vec![fact(2, "Varnsund")]);
        assert_eq!(
            findings.facts_so_far(),
            "- Ilse Brandt was born in Varnsund. (Ilse Brandt)\n- Varnsund | 41000 / Oslo | 7 (Ports)"
        );
        assert_eq!(findings.quoted_parts(2), Places::from([0]));
        // A short fact of another passage is a fact of its own.
        findings.keep(&all, vec![fact(1, "Ilse Brandt")]);
        assert_eq!(findings.with_facts(), [1, 2, 3]);
    }

    #[test]
    fn a_table_stays_open_for_its_other_rows() {
        let text = "Varnsund | 41000\nOslo | 700000\nBergen | 290000";
        let mut findings = Findings::of(Reads::Sentences);
        findings.add(1, vec![Chunk { kind: ChunkKind::Table, ..chunk(1, "Ports", text) }]);
        findings.keep(&[1], vec![fact(1, "Oslo | 700000")]);
        assert!(findings.quoted_parts(1).is_empty());
        findings.keep(&[1], vec![fact(1, text)]);
        assert_eq!(findings.quoted_parts(1), Places::from([0]));
    }

    #[test]
    fn an_answer_is_held_by_passages_with_facts_alone() {
        let mut findings = Findings::of(Reads::Sentences);
        findings.add(
            1,
            vec![chunk(1, "KX-40", "Designed by Ilse Brandt."), chunk(2, "Ilse Brandt", BRANDT)],
        );
        findings.keep(&[1, 2], vec![fact(2, "Ilse Brandt was born in Varnsund.")]);
        for (answer, is_held) in [
            ("Varnsund", true),
            ("in Varnsund", true),
            ("KX-40", false),
            ("Oslo", false),
            ("", false),
        ] {
            assert_eq!(findings.hold(answer), is_held, "{answer}");
        }
    }

    /// Rounds that read whole passages show facts by number, and keep each per passage, as kept runs do.
    #[test]
    fn whole_passages_keep_their_numbers() {
        let mut findings = Findings::of(Reads::Passages);
        findings.add(1, vec![chunk(1, "A", "The sea is deep."), chunk(2, "B", "The sea is deep.")]);
        findings.keep(
            &[1, 2],
            vec![
                fact(1, "The sea is deep."),
                fact(2, "The sea is deep."),
                fact(2, "The sea is deep."),
            ],
        );
        assert_eq!(findings.facts_so_far(), "- The sea is deep. [1]\n- The sea is deep. [2]");
    }
}
