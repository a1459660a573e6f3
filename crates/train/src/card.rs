//! Describes an export: counts, origins, models, cost, licence (the data card).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::split::{Apart, Part};
use crate::trajectory::{Bill, Origin, Trajectory};

/// The facts about an export.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Card {
    /// Trajectories read, right or not.
    pub trajectories: usize,
    /// Questions that were attempted.
    pub questions: usize,
    /// Questions with a right trajectory.
    pub right: usize,
    /// Attempts that ended with an error.
    pub failed: usize,
    /// Right trajectories by origin.
    pub origins: BTreeMap<Origin, usize>,
    /// Right trajectories by number of steps.
    pub steps: BTreeMap<usize, usize>,
    /// Examples and preferences by part.
    pub parts: BTreeMap<Part, Counts>,
    /// What no two parts share.
    pub apart: Apart,
    /// Questions that were left out because an evaluation set has them: the same, and nearly the same.
    pub leaks: [usize; 2],
    /// The evaluation sets that the questions were compared with.
    pub compared: Vec<String>,
    /// The models that collected, by role; empty for a data set's own decompositions.
    pub models: BTreeMap<String, String>,
    /// Calls and tokens of all attempts.
    pub spent: Bill,
    /// Their price in US dollars, as if the answering model had made all calls; `None` if its price is unknown.
    #[serde(default)]
    pub usd: Option<f64>,
    /// The licence of the documents and questions, as the user gave it.
    pub licence: Option<String>,
    /// Seed of the split.
    pub seed: u64,
}

/// The size of a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Questions.
    pub questions: usize,
    /// Examples for supervised training.
    pub examples: usize,
    /// Pairs for preference training.
    pub preferences: usize,
}

impl Card {
    /// The facts that the trajectories give.
    pub fn of(trajectories: &[Trajectory]) -> Self {
        let mut card = Self { trajectories: trajectories.len(), ..Self::default() };
        let mut right_of: BTreeMap<&str, bool> = BTreeMap::new();
        for trajectory in trajectories {
            *right_of.entry(&trajectory.item).or_default() |= trajectory.is_right;
            card.failed += usize::from(trajectory.failed.is_some());
            card.spent += trajectory.spent;
            if trajectory.is_right {
                *card.origins.entry(trajectory.origin).or_default() += 1;
                *card.steps.entry(trajectory.steps().count()).or_default() += 1;
            }
        }
        card.questions = right_of.len();
        card.right = right_of.values().filter(|right| **right).count();
        card
    }

    /// The card as a page.
    pub fn page(&self) -> String {
        let mut page =
            String::from("# Data card\n\nTraining data for a decomposer, written by pikerag.\n\n");
        let mut line = |name: &str, value: String| {
            let _ = writeln!(page, "- {name}: {value}");
        };
        line("questions attempted", self.questions.to_string());
        line("questions with a right trajectory", self.right.to_string());
        line(
            "trajectories",
            format!("{}, {} of them ended with an error", self.trajectories, self.failed),
        );
        line(
            "origin of the right trajectories",
            listed(self.origins.iter().map(|(origin, count)| (word(*origin).to_owned(), *count))),
        );
        line(
            "steps of the right trajectories",
            listed(self.steps.iter().map(|(steps, count)| (format!("{steps} steps:"), *count))),
        );
        line(
            "left out, because an evaluation set has the question",
            format!("{} (the same words), {} (nearly the same)", self.leaks[0], self.leaks[1]),
        );
        line(
            "compared with",
            if self.compared.is_empty() {
                "no evaluation set".to_owned()
            } else {
                self.compared.join(", ")
            },
        );
        line(
            "models",
            if self.models.is_empty() {
                "none".to_owned()
            } else {
                self.models
                    .iter()
                    .map(|(role, model)| format!("{role}: {model}"))
                    .collect::<Vec<_>>()
                    .join(", ")
            },
        );
        let Bill { calls, prompt_tokens, completion_tokens } = self.spent;
        let price = match self.usd {
            Some(usd) => format!("${usd:.2} if the answering model made all calls"),
            None => "price unknown".to_owned(),
        };
        line(
            "cost of collecting",
            match calls {
                0 => "no call".to_owned(),
                _ => {
                    format!("{calls} calls, {prompt_tokens} + {completion_tokens} tokens, {price}")
                }
            },
        );
        line(
            "licence of documents and questions",
            self.licence.clone().unwrap_or_else(|| "not stated".to_owned()),
        );
        line("seed", self.seed.to_string());
        let shared = match self.apart {
            Apart::Document => "No two parts share a question or a document.",
            Apart::Question => "No two parts share a question; they may share documents.",
        };
        let _ = writeln!(
            page,
            "\n{shared}\n\n| part | questions | examples | preferences |\n| --- | ---: | ---: | ---: |"
        );
        for (part, Counts { questions, examples, preferences }) in &self.parts {
            let _ =
                writeln!(page, "| {} | {questions} | {examples} | {preferences} |", part.name());
        }
        page
    }
}

fn word(origin: Origin) -> &'static str {
    match origin {
        Origin::Collected => "collected:",
        Origin::Given => "given by the data set:",
    }
}

fn listed(counts: impl Iterator<Item = (String, usize)>) -> String {
    let all: Vec<String> = counts.map(|(name, count)| format!("{name} {count}")).collect();
    if all.is_empty() { "none".to_owned() } else { all.join(", ") }
}
