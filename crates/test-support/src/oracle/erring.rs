//! Imitates a proposer and a selector that err, by a seed: a harder world, on which the plain loop of KAR³ often goes
//! astray.

use serde_json::{Value, json};

use super::{Context, asked, chain, oracle, question, section, walk};
use crate::world::relations::{Language, RELATIONS, language_of};

/// A model that errs.
#[derive(Clone, Copy, Debug)]
pub struct Erring {
    /// Draws the errors.
    pub seed: u64,
    /// The share of facts for which the proposer does not know the documents' words.
    pub share: f64,
}

impl Erring {
    /// The reply to a prompt; `sample` draws other errors at a temperature.
    ///
    /// For a share of facts the proposer words the question unlike the documents, so that the atom is near but below
    /// δ. It always asks for another fact of the same thing, too, whose atom distracts a
    /// selector that must choose. And it asks again for the last fact that it knows, in the documents' words: a
    /// sampled passage shows it these words. Every other step is the oracle's.
    #[must_use]
    pub fn reply(&self, prompt: &str, sample: u32) -> String {
        let plain = oracle(prompt);
        match plain.kind {
            "propose" => self.propose(prompt, sample).map_or(plain.text, |reply| reply.to_string()),
            "select" => must_choose(prompt, plain.text),
            _ => plain.text,
        }
    }

    fn propose(&self, prompt: &str, sample: u32) -> Option<Value> {
        let context = Context::read(section(prompt, "Context"));
        let (mut at, relations) = chain(question(prompt))?;
        let (mut questions, mut known) = (Vec::new(), None);
        for relation in relations {
            let Some(fact) = context.0.get(&(at.clone(), relation)) else {
                questions.push(match self.errs(&format!("{sample}|{at}|{relation}")) {
                    true => veiled(&at, relation),
                    false => asked(&at, relation, 1),
                });
                questions.push(asked(&at, other(relation), 0));
                break;
            };
            known = Some(asked(&at, relation, 0));
            at.clone_from(&fact.object);
        }
        questions.extend(known);
        Some(json!({"thinking": "One step after the other.", "sub_questions": questions}))
    }

    fn errs(&self, about: &str) -> bool {
        let hash = blake3::hash(format!("{}|{about}", self.seed).as_bytes());
        let draw = u32::from_le_bytes(hash.as_bytes()[..4].try_into().unwrap());
        f64::from(draw) < self.share * f64::from(u32::MAX)
    }
}

/// Another relation of the same kind of thing.
fn other(relation: usize) -> usize {
    let of = RELATIONS[relation].of;
    let after = (relation + 1..RELATIONS.len()).chain(0..relation);
    after.into_iter().find(|other| RELATIONS[*other].of == of).unwrap()
}

/// A wording that shares the name of the thing with the documents, and nothing else.
fn veiled(subject: &str, relation: usize) -> String {
    match language_of(subject) {
        Language::English => {
            format!("Please report on {subject}, as regards item {relation} of our list")
        }
        Language::Chinese => format!("请说明{subject}清单中第{relation}项"),
    }
}

/// A selector that takes the first candidate if none is the needed one, as long as a fact is missing.
fn must_choose(prompt: &str, reply: String) -> String {
    let context = Context::read(section(prompt, "Context"));
    let is_missing =
        walk(question(prompt), &context).is_some_and(|walked| walked.missing.is_some());
    let is_none = reply.contains("\"question_idx\":null");
    match is_missing && is_none && section(prompt, "Sub-questions").starts_with("1. ") {
        true => json!({"thinking": "It may help.", "question_idx": 1}).to_string(),
        false => reply,
    }
}
