//! Describes an export: counts, origins, models, cost, licence (the data card).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use pikerag_knowledge::Spent;
use serde::{Deserialize, Serialize};

use crate::label::{LabelCounts, Labelled, Module};
use crate::split::{Apart, Part};
use crate::trajectory::{Origin, Trajectory};

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
    /// The models that collected, by role; empty for a data set's own decompositions. For kept runs, the model that
    /// answered their sub-questions.
    pub models: BTreeMap<String, String>,
    /// For an export of labels: what was labelled. Facts about trajectories are empty then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<Labels>,
    /// Calls and tokens of all attempts or labels, by role.
    pub spent: Spent,
    /// Their price in US dollars; `None` if the price of a model is unknown.
    #[serde(default)]
    pub usd: Option<f64>,
    /// The licence of the documents and questions, as the user gave it.
    pub licence: Option<String>,
    /// Seed of the split.
    pub seed: u64,
}

/// The facts about an export of labels.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Labels {
    /// The labels read.
    pub counts: LabelCounts,
    /// Examples of each module by part.
    pub modules: BTreeMap<Module, BTreeMap<Part, Counts>>,
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
            card.spent.merge(&trajectory.spent);
            if trajectory.is_right {
                *card.origins.entry(trajectory.origin).or_default() += 1;
                *card.steps.entry(trajectory.steps().count()).or_default() += 1;
            }
        }
        card.questions = right_of.len();
        card.right = right_of.values().filter(|right| **right).count();
        card
    }

    /// The facts that labels give.
    pub fn of_labels(all: &[Labelled]) -> Self {
        let counts = LabelCounts::of(all);
        Self {
            questions: counts.questions + counts.failed,
            failed: counts.failed,
            spent: counts.spent.clone(),
            labels: Some(Labels { counts, modules: BTreeMap::new() }),
            ..Self::default()
        }
    }

    /// The card as a page.
    pub fn page(&self) -> String {
        let of = if self.labels.is_some() { "the modules of RA-ISF" } else { "a decomposer" };
        let mut page = format!("# Data card\n\nTraining data for {of}, written by pikerag.\n\n");
        for (name, value) in self.lines() {
            let _ = writeln!(page, "- {name}: {value}");
        }
        let shared = match self.apart {
            Apart::Document => "No two parts share a question or a document.",
            Apart::Question => "No two parts share a question; they may share documents.",
        };
        let _ = writeln!(page, "\n{shared}\n");
        page += &match &self.labels {
            Some(labels) => table_of_modules(labels),
            None => table_of_parts(&self.parts),
        };
        page
    }

    fn lines(&self) -> Vec<(&'static str, String)> {
        let mut lines = match &self.labels {
            Some(labels) => lines_of_labels(&labels.counts),
            None => self.lines_of_trajectories(),
        };
        let [same, near] = self.leaks;
        let models: Vec<String> =
            self.models.iter().map(|(role, model)| format!("{role}: {model}")).collect();
        let or = |text: String, else_: &str| {
            if text.is_empty() { else_.to_owned() } else { text }
        };
        lines.extend([
            (
                "left out, because an evaluation set has the question",
                format!("{same} (the same words), {near} (nearly the same)"),
            ),
            ("compared with", or(self.compared.join(", "), "no evaluation set")),
            ("models", or(models.join(", "), "none")),
            ("cost", self.cost()),
            (
                "licence of documents and questions",
                self.licence.clone().unwrap_or_else(|| "not stated".to_owned()),
            ),
            ("seed", self.seed.to_string()),
        ]);
        lines
    }

    fn lines_of_trajectories(&self) -> Vec<(&'static str, String)> {
        let origins = self.origins.iter().map(|(origin, count)| (word(*origin).to_owned(), *count));
        let steps = self.steps.iter().map(|(steps, count)| (format!("{steps} steps:"), *count));
        vec![
            ("questions attempted", self.questions.to_string()),
            ("questions with a right trajectory", self.right.to_string()),
            (
                "trajectories",
                format!("{}, {} of them ended with an error", self.trajectories, self.failed),
            ),
            ("origin of the right trajectories", listed(origins)),
            ("steps of the right trajectories", listed(steps)),
        ]
    }

    fn cost(&self) -> String {
        let (calls, usage) = (self.spent.calls(), self.spent.usage());
        if calls == 0 {
            return "no call".to_owned();
        }
        let price = self.usd.map_or("price unknown".to_owned(), |usd| format!("${usd:.2}"));
        let (prompt, reply) = (usage.prompt_tokens, usage.completion_tokens);
        format!("{calls} calls, {prompt} + {reply} tokens, {price}")
    }
}

fn lines_of_labels(counts: &LabelCounts) -> Vec<(&'static str, String)> {
    let LabelCounts { questions, failed, unlabelled, .. } = counts;
    let ([known, unknown], [relevant, others]) = (counts.knows, counts.relevant);
    let [decomposed, whole] = counts.decomposed;
    vec![
        ("questions labelled", format!("{questions}; {failed} more ended with an error")),
        ("know", format!("the model knows {known} answers, and {unknown} not")),
        (
            "relevant",
            format!(
                "{relevant} passages are relevant, {others} are not, {unlabelled} have no label"
            ),
        ),
        ("decompose", format!("{decomposed} questions have sub-questions, {whole} have none")),
    ]
}

fn table_of_parts(parts: &BTreeMap<Part, Counts>) -> String {
    let mut table = String::from(
        "| part | questions | examples | preferences |\n| --- | ---: | ---: | ---: |\n",
    );
    for (part, Counts { questions, examples, preferences }) in parts {
        let _ = writeln!(table, "| {} | {questions} | {examples} | {preferences} |", part.name());
    }
    table
}

fn table_of_modules(labels: &Labels) -> String {
    let mut table =
        String::from("| module | part | questions | examples |\n| --- | --- | ---: | ---: |\n");
    for (module, parts) in &labels.modules {
        for (part, Counts { questions, examples, .. }) in parts {
            let _ = writeln!(table, "| {module} | {} | {questions} | {examples} |", part.name());
        }
    }
    table
}

fn word(origin: Origin) -> &'static str {
    match origin {
        Origin::Collected => "collected:",
        Origin::Given => "given by the data set:",
        Origin::Run => "kept runs:",
    }
}

fn listed(counts: impl Iterator<Item = (String, usize)>) -> String {
    let all: Vec<String> = counts.map(|(name, count)| format!("{name} {count}")).collect();
    if all.is_empty() { "none".to_owned() } else { all.join(", ") }
}
