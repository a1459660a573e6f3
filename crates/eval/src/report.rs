//! Which method is better, by how much, how surely, and at what price? (KAR³ Tables 1–3 and 10–12)

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::EvalError;
use crate::metrics::Scores;
use crate::seeded::Seeded;

mod table;

/// What one method made of one question.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Row {
    /// The method's name, as the user gave it.
    pub method: String,
    /// The question's id.
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
    /// Share of the gold evidence in the context after each iteration (KAR³ Table 8). Empty if the
    /// question has no gold evidence or the method no iterations.
    pub supporting_recall: Vec<f32>,
    /// Share of the gold evidence in the context that answered; 0 if the method failed. None only
    /// for a question without gold evidence.
    pub final_recall: Option<f32>,
    /// Model calls.
    pub calls: u64,
    /// Tokens sent.
    pub prompt_tokens: u64,
    /// Tokens received.
    pub completion_tokens: u64,
    /// Wall time, from question to answer.
    pub seconds: f64,
    /// Why there is no answer.
    pub failed: Option<String>,
}

/// A mean over questions with its 95 % confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// 2.5 % of the resampled means lie below it.
    pub low: f64,
    /// 2.5 % of the resampled means lie above it.
    pub high: f64,
}

/// A method's means over its questions. A question on which it failed counts with score 0, and with
/// what it cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The method's name.
    pub method: String,
    /// Questions asked.
    pub questions: usize,
    /// Questions without an answer.
    pub failed: usize,
    /// Exact match.
    pub em: Estimate,
    /// F1 over words.
    pub f1: Estimate,
    /// Precision over words.
    pub precision: Estimate,
    /// Recall over words.
    pub recall: Estimate,
    /// Share of the gold evidence found, over the questions that have any; None if none has.
    pub final_recall: Option<Estimate>,
    /// The same after iteration 1, 2, …; a question that ended earlier keeps its last value.
    pub supporting_recall: Vec<f64>,
    /// Model calls per question.
    pub calls: Estimate,
    /// Tokens sent per question.
    pub prompt_tokens: Estimate,
    /// Tokens received per question.
    pub completion_tokens: Estimate,
    /// Seconds per question.
    pub seconds: Estimate,
}

/// The summaries of the questions that have something in common.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// What they have in common: `bridge`, `2`.
    pub name: String,
    /// One per method.
    pub summaries: Vec<Summary>,
}

/// All figures of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// One per method, over all questions.
    pub overall: Vec<Summary>,
    /// By the questions' class, sorted by name; without the questions that have none.
    pub by_kind: Vec<Group>,
    /// By reasoning steps, fewest first; without the questions whose number is unknown.
    pub by_hops: Vec<Group>,
}

/// Resamples per interval.
const RESAMPLES: usize = 1000;

/// Sums up the rows per method, methods in the order in which the rows first name them.
///
/// Intervals are percentile bootstraps over questions (Efron 1979) with 1000 resamples; every
/// method's draws start from `seed`, so that methods with the same questions see the same resamples.
pub fn summarize(rows: &[Row], seed: u64) -> Report {
    let group = |name, rows| Group { name, summaries: per_method(rows, seed) };
    let kinds = grouped(rows, |row| row.kind.clone()).into_iter();
    let hops = grouped(rows, |row| row.hops).into_iter();
    Report {
        overall: per_method(rows.iter().collect(), seed),
        by_kind: kinds.map(|(kind, rows)| group(kind, rows)).collect(),
        by_hops: hops.map(|(n, rows)| group(n.to_string(), rows)).collect(),
    }
}

/// The report as tables with aligned columns, for a terminal.
pub fn text(report: &Report) -> String {
    table::all(report, table::aligned)
}

/// The report as Markdown tables.
pub fn markdown(report: &Report) -> String {
    table::all(report, table::markdown)
}

/// The report as indented JSON.
pub fn json(report: &Report) -> Result<String, EvalError> {
    serde_json::to_string_pretty(report).map_err(|source| EvalError::Report { source })
}

/// The rows that have the key, by their key.
fn grouped<K: Ord>(rows: &[Row], key: impl Fn(&Row) -> Option<K>) -> BTreeMap<K, Vec<&Row>> {
    let mut groups = BTreeMap::<K, Vec<&Row>>::new();
    for row in rows {
        if let Some(key) = key(row) {
            groups.entry(key).or_default().push(row);
        }
    }
    groups
}

fn per_method(rows: Vec<&Row>, seed: u64) -> Vec<Summary> {
    let mut methods: Vec<(&str, Vec<&Row>)> = Vec::new();
    for row in rows {
        match methods.iter_mut().find(|(method, _)| *method == row.method) {
            Some((_, rows)) => rows.push(row),
            None => methods.push((&row.method, vec![row])),
        }
    }
    methods.into_iter().map(|(method, rows)| summary(method, &rows, seed)).collect()
}

fn summary(method: &str, rows: &[&Row], seed: u64) -> Summary {
    let estimate = |value: &dyn Fn(&Row) -> f64| {
        let values: Vec<f64> = rows.iter().map(|row| value(row)).collect();
        bootstrap(&values, seed)
    };
    let found: Vec<f64> = rows.iter().filter_map(|row| row.final_recall).map(f64::from).collect();
    Summary {
        method: method.to_owned(),
        questions: rows.len(),
        failed: rows.iter().filter(|row| row.failed.is_some()).count(),
        em: estimate(&|row| row.scores.em),
        f1: estimate(&|row| row.scores.f1),
        precision: estimate(&|row| row.scores.precision),
        recall: estimate(&|row| row.scores.recall),
        final_recall: (!found.is_empty()).then(|| bootstrap(&found, seed)),
        supporting_recall: recall_by_iteration(rows),
        calls: estimate(&|row| row.calls as f64),
        prompt_tokens: estimate(&|row| row.prompt_tokens as f64),
        completion_tokens: estimate(&|row| row.completion_tokens as f64),
        seconds: estimate(&|row| row.seconds),
    }
}

fn recall_by_iteration(rows: &[&Row]) -> Vec<f64> {
    let n_iterations = rows.iter().map(|row| row.supporting_recall.len()).max().unwrap_or(0);
    let after = |iteration: usize| {
        let reached = |row: &&Row| {
            let last = row.supporting_recall.last().copied().or(row.final_recall);
            row.supporting_recall.get(iteration).copied().or(last).map(f64::from)
        };
        mean(&rows.iter().filter_map(reached).collect::<Vec<f64>>())
    };
    (0..n_iterations).map(after).collect()
}

/// The mean of `values` with its percentile interval; all 0 without values.
fn bootstrap(values: &[f64], seed: u64) -> Estimate {
    let mut seeded = Seeded::new(seed);
    let mut means: Vec<f64> = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        let draw = |_| values.get(seeded.below(values.len())).copied().unwrap_or(0.0);
        let drawn: Vec<f64> = (0..values.len()).map(draw).collect();
        means.push(mean(&drawn));
    }
    means.sort_by(f64::total_cmp);
    // 25 of 1000 means lie outside on either side.
    let at = |rank: usize| means.get(rank).copied().unwrap_or(0.0);
    Estimate {
        mean: mean(values),
        low: at(RESAMPLES / 40),
        high: at(RESAMPLES - 1 - RESAMPLES / 40),
    }
}

fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Row, bootstrap, json, markdown, summarize, text};
    use crate::metrics::Scores;

    #[test]
    fn prints_tables_for_a_terminal() {
        insta::assert_snapshot!(text(&summarize(&rows(), 7)), @r#"
        All questions
        method   n  failed                  EM                  F1  precision  recall              evidence  calls  prompt  reply  seconds
        kar3     2       0  75.0 [50.0, 100.0]  75.0 [50.0, 100.0]       75.0    75.0  100.0 [100.0, 100.0]    3.0    1200     30     1.50
        direct   2       1      0.0 [0.0, 0.0]      0.0 [0.0, 0.0]        0.0     0.0                     –    3.0    1200     30     1.50

        Evidence found after each iteration
        method     1      2
        kar3    50.0  100.0

        Type: bridge
        method   n  failed                    EM                    F1  precision  recall              evidence  calls  prompt  reply  seconds
        kar3     1       0  100.0 [100.0, 100.0]  100.0 [100.0, 100.0]      100.0   100.0  100.0 [100.0, 100.0]    3.0    1200     30     1.50
        direct   1       0        0.0 [0.0, 0.0]        0.0 [0.0, 0.0]        0.0     0.0                     –    3.0    1200     30     1.50

        Type: comparison
        method   n  failed                 EM                 F1  precision  recall              evidence  calls  prompt  reply  seconds
        kar3     1       0  50.0 [50.0, 50.0]  50.0 [50.0, 50.0]       50.0    50.0  100.0 [100.0, 100.0]    3.0    1200     30     1.50
        direct   1       1     0.0 [0.0, 0.0]     0.0 [0.0, 0.0]        0.0     0.0                     –    3.0    1200     30     1.50

        Hops: 2
        method   n  failed                    EM                    F1  precision  recall              evidence  calls  prompt  reply  seconds
        kar3     1       0  100.0 [100.0, 100.0]  100.0 [100.0, 100.0]      100.0   100.0  100.0 [100.0, 100.0]    3.0    1200     30     1.50
        direct   1       0        0.0 [0.0, 0.0]        0.0 [0.0, 0.0]        0.0     0.0                     –    3.0    1200     30     1.50

        Scores in %, with the 95 % bootstrap interval in brackets; a failed question scores 0.
        Evidence: share of the gold evidence found. Per question: calls, prompt and reply tokens, seconds.
        "#);
    }

    #[test]
    fn prints_markdown() {
        insta::assert_snapshot!(markdown(&summarize(&rows(), 7)), @r#"
        ### All questions

        | method |  n | failed |                 EM |                 F1 | precision | recall |             evidence | calls | prompt | reply | seconds |
        | ------ | -: | -----: | -----------------: | -----------------: | --------: | -----: | -------------------: | ----: | -----: | ----: | ------: |
        | kar3   |  2 |      0 | 75.0 [50.0, 100.0] | 75.0 [50.0, 100.0] |      75.0 |   75.0 | 100.0 [100.0, 100.0] |   3.0 |   1200 |    30 |    1.50 |
        | direct |  2 |      1 |     0.0 [0.0, 0.0] |     0.0 [0.0, 0.0] |       0.0 |    0.0 |                    – |   3.0 |   1200 |    30 |    1.50 |

        ### Evidence found after each iteration

        | method |    1 |     2 |
        | ------ | ---: | ----: |
        | kar3   | 50.0 | 100.0 |

        ### Type: bridge

        | method |  n | failed |                   EM |                   F1 | precision | recall |             evidence | calls | prompt | reply | seconds |
        | ------ | -: | -----: | -------------------: | -------------------: | --------: | -----: | -------------------: | ----: | -----: | ----: | ------: |
        | kar3   |  1 |      0 | 100.0 [100.0, 100.0] | 100.0 [100.0, 100.0] |     100.0 |  100.0 | 100.0 [100.0, 100.0] |   3.0 |   1200 |    30 |    1.50 |
        | direct |  1 |      0 |       0.0 [0.0, 0.0] |       0.0 [0.0, 0.0] |       0.0 |    0.0 |                    – |   3.0 |   1200 |    30 |    1.50 |

        ### Type: comparison

        | method |  n | failed |                EM |                F1 | precision | recall |             evidence | calls | prompt | reply | seconds |
        | ------ | -: | -----: | ----------------: | ----------------: | --------: | -----: | -------------------: | ----: | -----: | ----: | ------: |
        | kar3   |  1 |      0 | 50.0 [50.0, 50.0] | 50.0 [50.0, 50.0] |      50.0 |   50.0 | 100.0 [100.0, 100.0] |   3.0 |   1200 |    30 |    1.50 |
        | direct |  1 |      1 |    0.0 [0.0, 0.0] |    0.0 [0.0, 0.0] |       0.0 |    0.0 |                    – |   3.0 |   1200 |    30 |    1.50 |

        ### Hops: 2

        | method |  n | failed |                   EM |                   F1 | precision | recall |             evidence | calls | prompt | reply | seconds |
        | ------ | -: | -----: | -------------------: | -------------------: | --------: | -----: | -------------------: | ----: | -----: | ----: | ------: |
        | kar3   |  1 |      0 | 100.0 [100.0, 100.0] | 100.0 [100.0, 100.0] |     100.0 |  100.0 | 100.0 [100.0, 100.0] |   3.0 |   1200 |    30 |    1.50 |
        | direct |  1 |      0 |       0.0 [0.0, 0.0] |       0.0 [0.0, 0.0] |       0.0 |    0.0 |                    – |   3.0 |   1200 |    30 |    1.50 |

        Scores in %, with the 95 % bootstrap interval in brackets; a failed question scores 0.
        Evidence: share of the gold evidence found. Per question: calls, prompt and reply tokens, seconds.
        "#);
    }

    #[test]
    fn writes_json_that_reads_back() {
        let report = summarize(&rows(), 7);
        assert_eq!(serde_json::from_str::<super::Report>(&json(&report).unwrap()).unwrap(), report);
    }

    #[test]
    fn a_row_reads_back() {
        for row in rows() {
            let json = serde_json::to_string(&row).unwrap();
            assert_eq!(serde_json::from_str::<Row>(&json).unwrap(), row, "{json}");
        }
    }

    /// KAR³ Table 8: a question that needed fewer iterations keeps what it had.
    #[test]
    fn carries_recall_on_after_the_last_iteration() {
        let report = summarize(&rows(), 7);
        assert_eq!(report.overall[0].supporting_recall, [0.5, 1.0]);
        assert_eq!(report.overall[1].supporting_recall, [0.0; 0]);
    }

    #[test]
    fn no_rows_give_an_empty_report() {
        insta::assert_snapshot!(text(&summarize(&[], 7)), @r#"
        All questions
        method   n  failed  EM  F1  precision  recall  evidence  calls  prompt  reply  seconds

        Scores in %, with the 95 % bootstrap interval in brackets; a failed question scores 0.
        Evidence: share of the gold evidence found. Per question: calls, prompt and reply tokens, seconds.
        "#);
    }

    /// The interval of a mean of coin tosses is known: p ± 1.96 · √(p (1 − p) / n).
    #[test]
    fn the_interval_is_as_wide_as_theory_says() {
        let tosses: Vec<f64> = (0..400).map(|n| f64::from(n % 2)).collect();
        let estimate = bootstrap(&tosses, 1);
        assert!((estimate.low - (0.5 - 0.049)).abs() < 0.01, "{estimate:?}");
        assert!((estimate.high - (0.5 + 0.049)).abs() < 0.01, "{estimate:?}");
    }

    proptest! {
        #[test]
        fn the_interval_is_repeatable_and_within_the_values(
            values in prop::collection::vec(0.0..1.0, 1..20), seed: u64
        ) {
            let estimate = bootstrap(&values, seed);
            prop_assert_eq!(estimate, bootstrap(&values, seed));
            prop_assert!(estimate.low <= estimate.high);
            let (least, most) = (0.0_f64.max(values.iter().copied().fold(1.0, f64::min) - 1e-9), 1.0);
            prop_assert!(least <= estimate.low && estimate.high <= most);
        }
    }

    fn rows() -> Vec<Row> {
        let row = |method: &str, item: &str, em: f64| Row {
            method: method.to_owned(),
            item: item.to_owned(),
            kind: Some(if item == "q1" { "bridge" } else { "comparison" }.to_owned()),
            hops: (item == "q1").then_some(2),
            answer: "an answer".to_owned(),
            scores: Scores { em, f1: em, precision: em, recall: em },
            final_recall: Some(1.0),
            calls: 3,
            prompt_tokens: 1200,
            completion_tokens: 30,
            seconds: 1.5,
            ..Row::default()
        };
        vec![
            Row { supporting_recall: vec![0.0, 1.0], ..row("kar3", "q1", 1.0) },
            Row { supporting_recall: vec![1.0], ..row("kar3", "q2", 0.5) },
            Row { final_recall: None, ..row("direct", "q1", 0.0) },
            Row {
                answer: String::new(),
                final_recall: None,
                failed: Some("busy".to_owned()),
                ..row("direct", "q2", 0.0)
            },
        ]
    }
}
