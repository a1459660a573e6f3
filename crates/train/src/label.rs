//! Labels questions and passages for the three modules of RA-ISF (§3.2, Appendix A), and converts labels to examples.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;

use pikerag_eval::datasets::Item;
use pikerag_eval::metrics::Scores;
use pikerag_eval::runner::ends_every_answer;
use pikerag_knowledge::{Role, Spent, error_chain};
use pikerag_methods::ra_isf::modules::{
    decompose_prompt, decompose_reply, know_prompt, know_reply, parts, passage_text, relevant_each,
    relevant_prompt, relevant_reply,
};
use pikerag_methods::retrieval::look_up;
use pikerag_methods::unaided::recall;
use pikerag_methods::{MethodLabel, Ports, RetrievalParams, Run, RunParams, SolveError};
use pikerag_prompt::AskError;
use serde::{Deserialize, Serialize};

use crate::convert::Example;
use crate::params::Right;
use crate::right::verdict;
use crate::split::OfQuestion;

/// A module of RA-ISF, for which data are made.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    strum::Display,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Module {
    /// `M_know`: whether the model knows the answer (A.1).
    Know,
    /// `M_rel`: whether a passage is relevant (A.2).
    Relevant,
    /// `M_decom`: the sub-questions (A.3).
    Decompose,
}

impl Module {
    /// All modules, in the order of the paper.
    pub const ALL: [Self; 3] = [Self::Know, Self::Relevant, Self::Decompose];

    /// The role whose model takes the part of the module.
    pub fn role(self) -> Role {
        match self {
            Self::Know => Role::Know,
            Self::Relevant => Role::Relevant,
            Self::Decompose => Role::Decompose,
        }
    }

    /// Its name in folders.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// How questions are labelled.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LabelParams {
    /// Passages of each question (RA-ISF §4.3: 5).
    pub passages: NonZeroUsize,
    /// Which closed-book answers equal the gold answer.
    pub right: Right,
}

impl Default for LabelParams {
    fn default() -> Self {
        Self { passages: const { NonZeroUsize::new(5).unwrap() }, right: Right::Em }
    }
}

impl LabelParams {
    /// Calls of a question, at most: its closed-book answer, each passage, its sub-questions, and a judge.
    pub fn calls(&self) -> u64 {
        2 + self.passages.get() as u64 + u64::from(self.right == Right::Judge)
    }
}

/// A question with its three kinds of labels.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Labelled {
    /// The question's identifier in its file.
    pub item: String,
    /// The question.
    pub question: String,
    /// The right answers.
    pub labels: Vec<String>,
    /// The model's answer without passages; empty if its reply stayed unreadable.
    pub answer: String,
    /// Exact match and F1 of that answer.
    pub scores: Scores,
    /// Whether the model knows the answer: its answer without passages is right (A.1).
    pub knows: bool,
    /// The passages that the question finds, best first.
    pub passages: Vec<LabelledPassage>,
    /// The sub-questions; empty if the reply stayed unreadable or lists none.
    pub parts: Vec<String>,
    /// Calls and tokens by role, made or read from the ledger.
    pub spent: Spent,
    /// The error that ended the labelling of this question, if one did. The next run tries it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

/// A passage with its label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelledPassage {
    /// Its document.
    pub document: String,
    /// Title and text, as the module reads them.
    pub text: String,
    /// Whether it is relevant to the question; `None` if the reply stayed unreadable.
    pub is_relevant: Option<bool>,
}

/// Labels a question. The error beside it is one that every further call would repeat: a spent budget, a bad key;
/// then there are no labels.
pub async fn label(
    ports: &Ports,
    item: &Item,
    params: &LabelParams,
) -> (Option<Labelled>, Option<SolveError>) {
    let mut made = Labelled {
        item: item.id.clone(),
        question: item.question.clone(),
        labels: item.answers.clone(),
        ..Labelled::default()
    };
    let question = item.asked();
    let mut run = Run::begin(MethodLabel::named("train-label"), &question, RunParams::default());
    let labelled = one(ports, item, params, &mut run, &mut made).await;
    made.spent.merge(&run.account.cost().spent);
    match labelled {
        Ok(()) => {}
        Err(error) if ends_every_answer(&error) => return (None, Some(error)),
        Err(error) => made.failed = Some(error_chain(&error)),
    }
    (Some(made), None)
}

async fn one(
    ports: &Ports,
    item: &Item,
    params: &LabelParams,
    run: &mut Run,
    made: &mut Labelled,
) -> Result<(), SolveError> {
    let question = item.asked();
    // A.1.
    if let Some(recalled) = recall(ports, run, &question, "").await? {
        let verdict = verdict(ports, item, &recalled.answer, params.right, &mut made.spent).await?;
        (made.scores, made.knows) = (verdict.scores, verdict.is_right);
        made.answer = recalled.answer;
    }
    // A.2.
    let top = RetrievalParams::top(params.passages.get());
    let chunks = look_up(ports, run, 1, question.query(), top).await?;
    let texts: Vec<String> = chunks.iter().map(passage_text).collect();
    let verdicts = relevant_each(ports, run, &question.text, &texts).await?;
    let passages = chunks.into_iter().zip(texts).zip(verdicts);
    let labelled = passages.map(|((chunk, text), is_relevant)| LabelledPassage {
        document: chunk.uri,
        text,
        is_relevant,
    });
    made.passages = labelled.collect();
    // A.3.
    made.parts = parts(ports, run, &question.text).await?.unwrap_or_default();
    Ok(())
}

impl OfQuestion for Labelled {
    fn item(&self) -> &str {
        &self.item
    }

    fn question(&self) -> &str {
        &self.question
    }

    fn documents(&self) -> BTreeSet<&str> {
        self.passages.iter().map(|passage| passage.document.as_str()).collect()
    }
}

/// The examples of a question for a module: one for `know`, one for each labelled passage for `relevant`, one for
/// `decompose` if there are sub-questions.
///
/// # Errors
/// [`AskError::Template`]: a defect of pikerag.
pub fn label_examples(labelled: &Labelled, module: Module) -> Result<Vec<Example>, AskError> {
    let question = labelled.question.as_str();
    let mut examples = Vec::new();
    let mut add = |prompt: String, completion: String| {
        examples.push(Example { item: labelled.item.clone(), prompt, completion });
    };
    match module {
        Module::Know => add(know_prompt(question)?, know_reply(labelled.knows)),
        Module::Relevant => {
            for passage in &labelled.passages {
                if let Some(is_relevant) = passage.is_relevant {
                    add(relevant_prompt(question, &passage.text)?, relevant_reply(is_relevant));
                }
            }
        }
        Module::Decompose if labelled.parts.is_empty() => {}
        Module::Decompose => add(decompose_prompt(question)?, decompose_reply(&labelled.parts)),
    }
    Ok(examples)
}

/// The counts of labels.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelCounts {
    /// Questions without an error.
    pub questions: usize,
    /// Questions that ended with an error.
    pub failed: usize,
    /// Questions whose answer the model knows, and the others.
    pub knows: [usize; 2],
    /// Relevant passages, and the others.
    pub relevant: [usize; 2],
    /// Passages whose reply stayed unreadable.
    pub unlabelled: usize,
    /// Questions with sub-questions, and the others.
    pub decomposed: [usize; 2],
    /// Calls and tokens by role.
    pub spent: Spent,
}

impl LabelCounts {
    /// Counts labels.
    pub fn of(all: &[Labelled]) -> Self {
        let mut counts = Self::default();
        for one in all {
            counts.spent.merge(&one.spent);
            if one.failed.is_some() {
                counts.failed += 1;
                continue;
            }
            counts.questions += 1;
            let [yes, no] = &mut counts.knows;
            *if one.knows { yes } else { no } += 1;
            let [yes, no] = &mut counts.decomposed;
            *if one.parts.is_empty() { no } else { yes } += 1;
            for passage in &one.passages {
                let [yes, no] = &mut counts.relevant;
                *match passage.is_relevant {
                    Some(true) => yes,
                    Some(false) => no,
                    None => &mut counts.unlabelled,
                } += 1;
            }
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labelled() -> Labelled {
        let passage = |text: &str, is_relevant| LabelledPassage {
            document: "a.md".to_owned(),
            text: text.to_owned(),
            is_relevant,
        };
        Labelled {
            item: "1".to_owned(),
            question: "Where was its builder born?".to_owned(),
            knows: false,
            passages: vec![
                passage("Title: Heron. Content: Ada built it.", Some(true)),
                passage("Title: Tea. Content: Tea is hot.", Some(false)),
                passage("Title: Lost. Content: …", None),
            ],
            parts: vec!["Who built it?".to_owned(), "Where was that person born?".to_owned()],
            ..Labelled::default()
        }
    }

    #[test]
    fn each_label_is_an_example() {
        let of = |module| label_examples(&labelled(), module).unwrap();
        let know = of(Module::Know);
        assert_eq!(know[0].completion, "No");
        assert!(know[0].prompt.contains("Where was its builder born?"));
        let relevant = of(Module::Relevant);
        let replies: Vec<&str> = relevant.iter().map(|one| one.completion.as_str()).collect();
        let [yes, no] = [
            "{\"thinking\": \"\", \"paragraph_idx\": [1]}",
            "{\"thinking\": \"\", \"paragraph_idx\": []}",
        ];
        // The passage without a label gives none.
        assert_eq!(replies, [yes, no]);
        assert!(relevant[1].prompt.contains("Tea is hot."));
        assert!(!relevant[1].prompt.contains("Ada"));
        assert!(of(Module::Decompose)[0].completion.contains("Who built it?"));
        let without = Labelled { parts: Vec::new(), ..labelled() };
        assert!(label_examples(&without, Module::Decompose).unwrap().is_empty());
    }

    #[test]
    fn counts_add_up() {
        let failed = Labelled { failed: Some("no model".to_owned()), ..labelled() };
        let counts = LabelCounts::of(&[labelled(), failed]);
        assert_eq!((counts.questions, counts.failed), (1, 1));
        assert_eq!((counts.knows, counts.relevant, counts.unlabelled), ([0, 1], [1, 1], 1));
        assert_eq!(counts.decomposed, [1, 0]);
    }
}
