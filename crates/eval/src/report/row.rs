//! Defines the row that holds one method's result for one question.

use std::collections::BTreeMap;

use pikerag_knowledge::{Role, Spent, TaskClass};
use serde::{Deserialize, Serialize};

use crate::criteria::Criteria;
use crate::metrics::{FigureScore, ForecastScore, Scores};

/// One method's result for one question. Later fields have a default, so that the rows of older
/// runs still read.
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
    /// Acc: 1 if the judging model finds it right, else 0. `None` without a judge.
    #[serde(default)]
    pub acc: Option<f64>,
    /// 1 if the answer comes from the retrieved passages, else 0. `None` without a judge, and for a
    /// refusal.
    #[serde(default)]
    pub consistent: Option<f64>,
    /// The perplexity of a model that writes from the retrieved passages, from 1. `None` as above.
    #[serde(default)]
    pub perplexity: Option<f64>,
    /// The scores that only some tasks have; 0 if the method failed.
    #[serde(default)]
    pub task: TaskScores,
    /// The score of a forecast; empty for other questions.
    #[serde(default)]
    pub foresight: ForecastScore,
    /// The score of an answer over tables. `None` for other questions.
    #[serde(default)]
    pub figured: Option<FigureScore>,
    /// A judging model's scores of ideas. `None` without a judge, and for other questions.
    #[serde(default)]
    pub criteria: Option<Criteria>,
    /// The same scores without a model.
    #[serde(default)]
    pub proxies: Option<Criteria>,
    /// The class that the question was answered as; `None` if the method reports none.
    #[serde(default)]
    pub class: Option<TaskClass>,
    /// Whether the answer refuses.
    #[serde(default)]
    pub refused: bool,
    /// The number of quotes that the answer cites.
    #[serde(default)]
    pub citations: u64,
    /// The citations whose quotes were found in their sources.
    #[serde(default)]
    pub verified: u64,
    /// Share of the gold evidence in the context after each iteration (KAR³ Table 8). Empty if the
    /// question has no gold evidence or the method no iterations.
    pub supporting_recall: Vec<f32>,
    /// Share of the gold evidence in the context of the answer; 0 if the method failed. `None` only
    /// for a question without gold evidence.
    pub final_recall: Option<f32>,
    /// Model calls, replayed ones included: the number that a run without the ledger would make.
    pub calls: u64,
    /// Tokens of prompts, as endpoints count them.
    pub prompt_tokens: u64,
    /// Tokens of replies, reasoning included.
    pub completion_tokens: u64,
    /// The three by component of the method (KAR³ Table 11).
    #[serde(default)]
    pub by_role: BTreeMap<Role, Cost>,
    /// Their cost in US dollars, if the prices of all models are known.
    #[serde(default)]
    pub usd: Option<f64>,
    /// The cost of judging; not part of the method's account.
    #[serde(default)]
    pub judge: Cost,
    /// Seconds of wall time, from question to answer.
    pub seconds: f64,
    /// Why there is no answer, causes included; `None` if there is one.
    pub failed: Option<String>,
}

/// The scores of a particular [`Task`](crate::datasets::Task); each in `[0, 1]`, `None` for a
/// question of another task.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TaskScores {
    /// Whether the answer contains a label.
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
    /// Rouge-L with the best label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rouge_l: Option<f64>,
}

/// Calls and tokens of one account, as they would cost without the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Cost {
    /// Model calls, replayed ones included: the number that a run without the ledger would make.
    pub calls: u64,
    /// Tokens of prompts, as endpoints count them.
    pub prompt_tokens: u64,
    /// Tokens of replies, reasoning included.
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

    /// A line of the first version.
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
