//! Compares methods: which is better, by how much, how surely, and at what price (KAR³ Tables 1–3
//! and 10–12).

use std::collections::BTreeMap;

use pikerag_knowledge::TaskClass;
use pikerag_narrate::Language;
use serde::{Deserialize, Serialize};

use crate::EvalError;
use crate::papers::Figure;

mod beside;
mod html;
mod metric;
mod plots;
mod row;
mod significance;
mod summary;
mod table;

pub use beside::{Beside, Indexing, add_indexing};
pub use html::html;
pub use metric::Metric;
pub use row::{Cost, Row, TaskScores};
pub use significance::Comparison;
pub use summary::{CostMean, Estimate, Group, Summary};

use summary::per_method;

/// All figures of a run, or of one of its data sets.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Report {
    /// One per method, in the order in which the rows first name them, over all questions.
    pub overall: Vec<Summary>,
    /// By the questions' class, sorted by name; without the questions that have none.
    pub by_kind: Vec<Group>,
    /// By the class that a question was answered as, given by the first method that reports one,
    /// from the lowest level up; without the questions for which no method does.
    #[serde(default)]
    pub by_class: Vec<Group>,
    /// By reasoning steps, fewest first; without the questions whose number is unknown.
    pub by_hops: Vec<Group>,
    /// Each method against the first, on the questions that both were asked.
    #[serde(default)]
    pub significance: Vec<Comparison>,
    /// The papers' figures beside ours, in the papers' order; for several data sets together, the
    /// averages that a paper prints.
    #[serde(default)]
    pub beside: Vec<Beside>,
    /// One per data set if there are several; the figures above then cover all of them.
    #[serde(default)]
    pub data_sets: Vec<Part>,
}

/// The report on one data set of several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// The name in [`Row::data_set`].
    pub name: String,
    /// Its figures; without parts of its own.
    pub report: Report,
}

/// Summarises the rows per method, in the order in which the rows first name them; several data
/// sets together and each on its own.
///
/// Intervals are percentile bootstraps over questions (Efron 1979) with 1000 resamples; every
/// method's draws start from `seed`, so that methods with the same questions get the same
/// resamples.
pub fn summarize(rows: &[Row], seed: u64, papers: &[Figure]) -> Report {
    let mut by_set: Vec<(&str, Vec<&Row>)> = Vec::new();
    for row in rows {
        match by_set.iter_mut().find(|(name, _)| *name == row.data_set) {
            Some((_, rows)) => rows.push(row),
            None => by_set.push((&row.data_set, vec![row])),
        }
    }
    if let [(name, rows)] = by_set.as_slice() {
        return of_one(rows, name, seed, papers);
    }
    let all: Vec<&Row> = rows.iter().collect();
    let parts = by_set.iter().map(|(name, rows)| Part {
        name: (*name).to_owned(),
        report: of_one(rows, name, seed, papers),
    });
    let parts: Vec<Part> = parts.collect();
    Report {
        overall: per_method(&all, seed),
        significance: significance::compare(&all, seed),
        beside: beside::averages(&parts, papers),
        data_sets: parts,
        ..Report::default()
    }
}

fn of_one(rows: &[&Row], data_set: &str, seed: u64, papers: &[Figure]) -> Report {
    let group = |name, rows: Vec<&Row>| Group { name, summaries: per_method(&rows, seed) };
    let kinds = grouped(rows, |row| row.kind.clone()).into_iter();
    let hops = grouped(rows, |row| row.hops).into_iter();
    let mut class_of: BTreeMap<&str, TaskClass> = BTreeMap::new();
    for row in rows {
        if let Some(class) = row.class {
            class_of.entry(&row.item).or_insert(class);
        }
    }
    let classes = grouped(rows, |row| class_of.get(row.item.as_str()).copied()).into_iter();
    let overall = per_method(rows, seed);
    Report {
        by_kind: kinds.map(|(kind, rows)| group(kind, rows)).collect(),
        by_class: classes.map(|(class, rows)| group(class.to_string(), rows)).collect(),
        by_hops: hops.map(|(n, rows)| group(n.to_string(), rows)).collect(),
        significance: significance::compare(rows, seed),
        beside: beside::beside(&overall, data_set, papers),
        data_sets: Vec::new(),
        overall,
    }
}

/// The report as tables with aligned columns, for a terminal.
pub fn text(report: &Report, language: Language) -> String {
    table::all(report, language, table::aligned, |name| format!("== {name} ==\n"))
}

/// The report as Markdown tables, in English as all files of a run.
pub fn markdown(report: &Report) -> String {
    table::all(report, Language::English, table::markdown, |name| {
        format!("## {}\n", table::one_line(name))
    })
}

/// The report as indented JSON.
pub fn json(report: &Report) -> Result<String, EvalError> {
    serde_json::to_string_pretty(report).map_err(|source| EvalError::Report { source })
}

/// The rows that have the key, by their key.
fn grouped<'a, K: Ord>(
    rows: &[&'a Row],
    key: impl Fn(&Row) -> Option<K>,
) -> BTreeMap<K, Vec<&'a Row>> {
    let mut groups = BTreeMap::<K, Vec<&Row>>::new();
    for row in rows {
        if let Some(key) = key(row) {
            groups.entry(key).or_default().push(row);
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use pikerag_narrate::Language;

    use super::{Report, Row, json, markdown, summarize};
    use crate::metrics::Scores;

    fn text(report: &Report) -> String {
        super::text(report, Language::English)
    }

    #[test]
    fn prints_chinese_tables_for_a_terminal() {
        insta::assert_snapshot!(super::text(&summarize(&rows(), 7, &[]), Language::Chinese));
    }

    #[test]
    fn prints_tables_for_a_terminal() {
        insta::assert_snapshot!(text(&summarize(&rows(), 7, &[])), @r#"
        All questions
        method   n  failed                  EM                  F1  precision  recall              evidence  calls  prompt  reply  seconds
        kar3     2       0  75.0 [50.0, 100.0]  75.0 [50.0, 100.0]       75.0    75.0  100.0 [100.0, 100.0]    3.0    1200     30     1.50
        direct   2       1      0.0 [0.0, 0.0]      0.0 [0.0, 0.0]        0.0     0.0                     –    3.0    1200     30     1.50

        Evidence found after each iteration
        method     1      2
        kar3    50.0  100.0

        Difference to the first method
        method  against  metric   n             difference      p  p (Holm)
        direct     kar3      EM   2  -75.0 [-100.0, -50.0]  0.500     0.500
        direct     kar3      F1   2  -75.0 [-100.0, -50.0]  0.500     0.500

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
        insta::assert_snapshot!(markdown(&summarize(&rows(), 7, &[])), @r#"
        ### All questions

        | method |  n | failed |                 EM |                 F1 | precision | recall |             evidence | calls | prompt | reply | seconds |
        | ------ | -: | -----: | -----------------: | -----------------: | --------: | -----: | -------------------: | ----: | -----: | ----: | ------: |
        | kar3   |  2 |      0 | 75.0 [50.0, 100.0] | 75.0 [50.0, 100.0] |      75.0 |   75.0 | 100.0 [100.0, 100.0] |   3.0 |   1200 |    30 |    1.50 |
        | direct |  2 |      1 |     0.0 [0.0, 0.0] |     0.0 [0.0, 0.0] |       0.0 |    0.0 |                    – |   3.0 |   1200 |    30 |    1.50 |

        ### Evidence found after each iteration

        | method |    1 |     2 |
        | ------ | ---: | ----: |
        | kar3   | 50.0 | 100.0 |

        ### Difference to the first method

        | method | against | metric |  n |            difference |     p | p (Holm) |
        | ------ | ------: | -----: | -: | --------------------: | ----: | -------: |
        | direct |    kar3 |     EM |  2 | -75.0 [-100.0, -50.0] | 0.500 |    0.500 |
        | direct |    kar3 |     F1 |  2 | -75.0 [-100.0, -50.0] | 0.500 |    0.500 |

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
        let report = summarize(&rows(), 7, &[]);
        assert_eq!(serde_json::from_str::<Report>(&json(&report).unwrap()).unwrap(), report);
    }

    #[test]
    fn a_row_reads_back() {
        for row in rows() {
            let json = serde_json::to_string(&row).unwrap();
            assert_eq!(serde_json::from_str::<Row>(&json).unwrap(), row, "{json}");
        }
    }

    /// KAR³ Table 8: a question that needed fewer iterations keeps its last value.
    #[test]
    fn recall_continues_after_the_last_iteration() {
        let report = summarize(&rows(), 7, &[]);
        assert_eq!(report.overall[0].supporting_recall, [0.5, 1.0]);
        assert_eq!(report.overall[1].supporting_recall, [0.0; 0]);
    }

    #[test]
    fn no_rows_give_an_empty_report() {
        insta::assert_snapshot!(text(&summarize(&[], 7, &[])), @r#"
        All questions
        method   n  failed  EM  F1  precision  recall  evidence  calls  prompt  reply  seconds

        Scores in %, with the 95 % bootstrap interval in brackets; a failed question scores 0.
        Evidence: share of the gold evidence found. Per question: calls, prompt and reply tokens, seconds.
        "#);
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
