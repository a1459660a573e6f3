//! What did one method make of one question?

use std::collections::BTreeMap;

use pikerag_knowledge::{Role, Spent, TaskClass};
use serde::{Deserialize, Serialize};

use crate::criteria::Criteria;
use crate::metrics::{Figured, Foresight, Scores};

/// What one method made of one question. What came later than the first version has a default, so
/// that the rows of an older run still read.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Row {
    /// The method's name, as the user gave it.
    pub method: String,
    /// The data set's name; empty in rows of an older run.
    #[serde(default)]
    pub data_set: String,
    /// [`Item::id`](crate::datasets::Item::id): unique within the data set.
    pub item: String,
    /// The question's class, to break the report down by.
    pub kind: Option<String>,
    /// The question's reasoning steps, to break the report down by.
    pub hops: Option<u32>,
    /// The answer as the method gave it; empty if it failed.
    pub answer: String,
    /// Its scores; all 0 if the method failed.
    #[serde(flatten)]
    pub scores: Scores,
    /// Acc: 1 if the judging model finds it right, else 0. None where nobody judged.
    #[serde(default)]
    pub acc: Option<f64>,
    /// 1 if the answer stems from what was retrieved, else 0. None where nobody judged, and for a
    /// refusal.
    #[serde(default)]
    pub consistent: Option<f64>,
    /// How sure a model is that writes from what was retrieved, from 1. None as above.
    #[serde(default)]
    pub perplexity: Option<f64>,
    /// The scores that only some tasks have; 0 if the method failed.
    #[serde(default)]
    pub task: TaskScores,
    /// What a forecast is worth; nothing for any other question.
    #[serde(default)]
    pub foresight: Foresight,
    /// What an answer over tables is worth. None for any other question.
    #[serde(default)]
    pub figured: Option<Figured>,
    /// What a judging model says of ideas. None where nobody judged, and for any other question.
    #[serde(default)]
    pub criteria: Option<Criteria>,
    /// The same without a model.
    #[serde(default)]
    pub proxies: Option<Criteria>,
    /// The class that the question was answered as; none of a method that tells none.
    #[serde(default)]
    pub class: Option<TaskClass>,
    /// Whether the answer says that there is none.
    #[serde(default)]
    pub refused: bool,
    /// How many quotes the answer cites.
    #[serde(default)]
    pub citations: u64,
    /// Those whose quote stands where they say.
    #[serde(default)]
    pub verified: u64,
    /// Share of the gold evidence in the context after each iteration (KAR³ Table 8). Empty if the
    /// question has no gold evidence or the method no iterations.
    pub supporting_recall: Vec<f32>,
    /// Share of the gold evidence in the context that answered; 0 if the method failed. None only
    /// for a question without gold evidence.
    pub final_recall: Option<f32>,
    /// Model calls, replayed ones included: what a run without the ledger would make.
    pub calls: u64,
    /// Tokens of prompts, as endpoints count them.
    pub prompt_tokens: u64,
    /// Tokens of replies, thinking included.
    pub completion_tokens: u64,
    /// The three by component of the method (KAR³ Table 11).
    #[serde(default)]
    pub by_role: BTreeMap<Role, Cost>,
    /// What they cost in US dollars, where the prices of all models are known.
    #[serde(default)]
    pub usd: Option<f64>,
    /// What judging cost; no part of the method's account.
    #[serde(default)]
    pub judge: Cost,
    /// Seconds of wall time, from question to answer.
    pub seconds: f64,
    /// Why there is no answer, causes included; none where there is one.
    pub failed: Option<String>,
}

/// The scores of a [`Task`](crate::datasets::Task) of its own; each in `[0, 1]`, none where the
/// question is of another task.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TaskScores {
    /// Whether a label stands whole in the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contained: Option<f64>,
    /// Whether exactly the right options are chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub choice: Option<f64>,
    /// Whether exactly the right articles are named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub articles: Option<f64>,
    /// F1 over the numbers of the articles named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub articles_f1: Option<f64>,
    /// F1 over the names of crimes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crimes_f1: Option<f64>,
    /// Rouge-L with the label that gives most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rouge_l: Option<f64>,
}

/// Calls and tokens of one account, as they would be paid without the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Cost {
    /// Model calls, replayed ones included: what a run without the ledger would make.
    pub calls: u64,
    /// Tokens of prompts, as endpoints count them.
    pub prompt_tokens: u64,
    /// Tokens of replies, thinking included.
    pub completion_tokens: u64,
}

impl Cost {
    /// All of an account, by role.
    pub(crate) fn by_role(spent: &Spent) -> BTreeMap<Role, Self> {
        let cost = |(role, (calls, usage)): (&Role, &(usize, pikerag_knowledge::Usage))| {
            let (prompt_tokens, completion_tokens) = (usage.prompt_tokens, usage.completion_tokens);
            (*role, Self { calls: *calls as u64, prompt_tokens, completion_tokens })
        };
        spent.by_role.iter().map(cost).collect()
    }

    /// The sum of an account.
    pub(crate) fn total(spent: &Spent) -> Self {
        let usage = spent.usage();
        Self {
            calls: spent.calls() as u64,
            prompt_tokens: usage.prompt_tokens,
            completion_tokens: usage.completion_tokens,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Row;

    /// A line as the first version wrote it.
    #[test]
    fn a_row_of_an_older_run_reads() {
        let line = r#"{"method":"kar3","item":"q1","kind":"bridge","hops":2,"answer":"x","em":1.0,"f1":1.0,
            "precision":1.0,"recall":1.0,"supporting_recall":[0.5],"final_recall":0.5,"calls":3,
            "prompt_tokens":10,"completion_tokens":2,"seconds":0.5,"failed":null}"#;
        let row: Row = serde_json::from_str(line).unwrap();
        assert_eq!((row.calls, row.acc, row.by_role.len()), (3, None, 0));
        assert_eq!(row.scores.em.to_bits(), 1.0_f64.to_bits());
    }
}
