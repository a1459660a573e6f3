//! Holds the passages of a reading round as its prompt shows them, and the sentences that earlier rounds showed.

use std::collections::{HashMap, HashSet};

use pikerag_knowledge::{Chunk, Context};
use pikerag_prompt::numbered_passages;

use super::excerpt::{Candidate, Places, cut, in_first_round, in_later_round};
use super::findings::Findings;
use super::params::Params;
use crate::context::tokens_of;

/// The passages of one reading round.
#[derive(Debug, Default)]
pub(super) struct Shown {
    passages: Vec<ShownPassage>,
}

#[derive(Debug)]
struct ShownPassage {
    /// Its number in the findings.
    number: usize,
    /// Its number in the prompt.
    label: usize,
    /// With its text in the prompt.
    chunk: Chunk,
}

impl Shown {
    /// Whole passages under their numbers in the findings.
    pub(super) fn whole(findings: &Findings, numbers: &[usize]) -> Self {
        let chunks = findings.numbered(numbers).into_iter();
        let passages = chunks.map(|(number, chunk)| ShownPassage {
            number,
            label: number,
            chunk: chunk.clone(),
        });
        Self { passages: passages.collect() }
    }

    /// Parts of passages in the order of their numbers; the prompt counts them from 1.
    fn counted(mut passages: Vec<(usize, Chunk)>) -> Self {
        passages.sort_by_key(|(number, _)| *number);
        let counted = (1..).zip(passages);
        let passages =
            counted.map(|(label, (number, chunk))| ShownPassage { number, label, chunk });
        Self { passages: passages.collect() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.passages.is_empty()
    }

    /// The numbers of the passages in the findings.
    pub(super) fn numbers(&self) -> Vec<usize> {
        self.passages.iter().map(|passage| passage.number).collect()
    }

    /// Facts with the numbers of their passages in the prompt, under the numbers in the findings; none for a number that
    /// the prompt does not have.
    pub(super) fn renumbered(
        &self,
        facts: Vec<(Option<usize>, String)>,
    ) -> Vec<(Option<usize>, String)> {
        let number = |label: usize| {
            let found = self.passages.iter().find(|passage| passage.label == label);
            found.map(|passage| passage.number)
        };
        facts.into_iter().map(|(label, text)| (label.and_then(number), text)).collect()
    }

    /// The passages with their text in the prompt.
    pub(super) fn context(&self) -> Context {
        Context::of(1, self.passages.iter().map(|passage| passage.chunk.clone()))
    }

    /// The passages with the text of a shortened context, under the same numbers, and the numbers in the findings of those
    /// that it leaves out.
    pub(super) fn shortened(self, cut: &Context) -> (Self, Vec<usize>) {
        let (mut passages, mut left_out) = (Vec::new(), Vec::new());
        for passage in self.passages {
            match cut.chunks.iter().find(|held| held.chunk.id == passage.chunk.id) {
                Some(held) => passages.push(ShownPassage { chunk: held.chunk.clone(), ..passage }),
                None => left_out.push(passage.number),
            }
        }
        (Self { passages }, left_out)
    }

    /// The passages as the prompt shows them; empty without any.
    pub(super) fn text(&self) -> String {
        numbered_passages(self.passages.iter().map(|passage| (passage.label, &passage.chunk)))
    }
}

/// The sentences that the last reading round showed, by the number of their passage.
#[derive(Debug, Default)]
pub(super) struct ShownBefore {
    last: HashMap<usize, Places>,
    /// The passages that any round showed.
    ever: HashSet<usize>,
}

impl ShownBefore {
    /// The passages of the first round, with their best sentences.
    pub(super) fn first(
        &mut self,
        findings: &Findings,
        numbers: &[usize],
        question: &str,
        params: &Params,
    ) -> Shown {
        let (numbers, chunks): (Vec<usize>, Vec<&Chunk>) =
            findings.numbered(numbers).into_iter().unzip();
        let chosen = in_first_round(question, &chunks, params.chunks, params.passage_tokens);
        self.show(findings, numbers.into_iter().zip(chosen).collect(), params)
    }

    /// The passages of a later round: new ones, and of those read before the sentences near the questions that the last
    /// round did not show and no fact repeats. Empty if there are none.
    pub(super) fn later(
        &mut self,
        findings: &Findings,
        found: &[usize],
        questions: &[String],
        params: &Params,
    ) -> Shown {
        let mut numbers = found.to_vec();
        numbers.extend(findings.with_facts().iter().filter(|number| !found.contains(number)));
        let (mut numbered, mut candidates) = (Vec::new(), Vec::new());
        for (number, chunk) in findings.numbered(&numbers) {
            let known = self.ever.contains(&number).then(|| {
                let mut known = findings.quoted_parts(number);
                known.extend(self.last.get(&number).into_iter().flatten());
                known
            });
            numbered.push(number);
            candidates.push(Candidate { chunk, known });
        }
        let chosen = in_later_round(questions, &candidates, params.passage_tokens);
        self.show(findings, numbered.into_iter().zip(chosen).collect(), params)
    }

    /// Notes that the last round did not show these passages: its prompt had no space for them.
    pub(super) fn leave_out(&mut self, numbers: &[usize]) {
        for number in numbers {
            self.last.remove(number);
            self.ever.remove(number);
        }
    }

    /// The chosen sentences that fit into the round, and notes that it shows them.
    fn show(
        &mut self,
        findings: &Findings,
        chosen: Vec<(usize, Places)>,
        params: &Params,
    ) -> Shown {
        let mut left = params.tokens.map_or(u64::MAX, |tokens| tokens.get().into());
        let (mut passages, mut last) = (Vec::new(), HashMap::new());
        for (number, places) in chosen {
            let Some(chunk) = findings.chunk(number).filter(|_| !places.is_empty()) else {
                continue;
            };
            let chunk = cut(chunk, &places);
            let size = tokens_of(&chunk);
            if passages.is_empty() || size <= left {
                left = left.saturating_sub(size);
                passages.push((number, chunk));
                last.insert(number, places);
            }
        }
        if !passages.is_empty() {
            self.ever.extend(last.keys());
            self.last = last;
        }
        Shown::counted(passages)
    }
}

#[cfg(test)]
mod tests {
    use pikerag_doubles::chunk;

    use super::*;

    const BRANDT: &str =
        "Ilse Brandt was born in Varnsund. She has two sisters. She married Jon Hale in 1931.";

    fn params() -> Params {
        Params { chunks: 2, passage_tokens: 24, ..Params::default() }
    }

    #[test]
    fn later_rounds_repeat_no_sentence_of_the_last_one_and_no_fact() {
        let mut findings = Findings::default();
        let crane = chunk(1, "KX-40", "The KX-40 was designed by Ilse Brandt.");
        let numbers = findings.add(1, vec![crane, chunk(2, "Ilse Brandt", BRANDT)]);
        let mut before = ShownBefore::default();
        let first = before.first(
            &findings,
            &numbers,
            "Where was the designer of the KX-40 born?",
            &params(),
        );
        assert_eq!(first.numbers(), [1, 2]);
        // The second passage is in the lower half: eight tokens.
        let first_words = "[1] Ilse Brandt\nIlse Brandt was born in Varnsund. …";
        assert!(first.text().ends_with(&first_words.replace("[1]", "[2]")), "{}", first.text());
        let wanted = ["Who married Ilse Brandt?".to_owned()];
        let second = before.later(&findings, &[2], &wanted, &params());
        assert_eq!(second.text(), "[1] Ilse Brandt\n… She married Jon Hale in 1931.");
        let facts = [1, 2].map(|label| (Some(label), String::new())).to_vec();
        let numbers: Vec<Option<usize>> =
            second.renumbered(facts).into_iter().map(|(number, _)| number).collect();
        assert_eq!(numbers, [Some(2), None]);
        // The sentences of the last round are left out, and those before it come back.
        let third = before.later(&findings, &[2], &wanted, &params());
        assert_eq!(third.text(), first_words);
        // Unless a fact repeats them.
        findings.keep(&[2], vec![(Some(2), "Ilse Brandt was born in Varnsund.".to_owned())]);
        let far = ["How deep is the Sarn?".to_owned()];
        assert!(before.later(&findings, &[], &far, &params()).is_empty());
        let fifth = before.later(&findings, &[], &wanted, &params());
        assert_eq!(fifth.text(), second.text());
        let sixth = before.later(&findings, &[2], &wanted, &params());
        assert_eq!(sixth.text(), "[1] Ilse Brandt\n… She has two sisters. …");
    }

    /// A slow model reads a part of the round. The passages keep their numbers, and a later round may show the others.
    #[test]
    fn shortened_passages_keep_their_numbers() {
        let mut findings = Findings::default();
        let text = "The crane was built in 1998. It lifts forty tons.";
        let chunks = (1..=3).map(|id| chunk(id, &format!("Crane {id}"), text)).collect();
        let numbers = findings.add(1, chunks);
        let mut before = ShownBefore::default();
        let shown = before.first(&findings, &numbers, "When was it built?", &params());
        assert_eq!(shown.numbers(), [1, 2, 3]);
        let short = "The crane was built in 1998. …";
        let cut = Context::of(1, [chunk(1, "Crane 1", short), chunk(3, "Crane 3", short)]);
        let (shown, left_out) = shown.shortened(&cut);
        assert_eq!(left_out, [2]);
        assert_eq!(shown.text(), format!("[1] Crane 1\n{short}\n\n[3] Crane 3\n{short}"));
        let facts = [2, 3].map(|label| (Some(label), String::new())).to_vec();
        let facts: Vec<Option<usize>> =
            shown.renumbered(facts).into_iter().map(|(number, _)| number).collect();
        assert_eq!(facts, [None, Some(3)]);
        before.leave_out(&left_out);
        let wanted = ["When was it built?".to_owned()];
        let later = before.later(&findings, &[1, 2, 3], &wanted, &params());
        assert!(later.numbers().contains(&2), "{}", later.text());
    }

    #[test]
    fn a_round_has_its_limit_of_tokens() {
        let mut findings = Findings::default();
        let text = "The crane was built in 1998. It lifts forty tons.";
        let chunks = (1..=6).map(|id| chunk(id, &format!("Crane {id}"), text)).collect();
        let numbers = findings.add(1, chunks);
        let few = Params { chunks: 12, tokens: std::num::NonZeroU32::new(40), ..Params::default() };
        let shown = ShownBefore::default().first(&findings, &numbers, "When was it built?", &few);
        assert_eq!(shown.numbers(), [1, 2]);
        assert_eq!(
            Shown::whole(&findings, &[2, 5]).renumbered(vec![(Some(5), String::new())])[0].0,
            Some(5)
        );
    }
}
