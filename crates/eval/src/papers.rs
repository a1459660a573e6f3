//! Reads the papers' figures from data (`papers.toml`), so that a report can compare ours with
//! theirs.

use serde::{Deserialize, Serialize};

use crate::EvalError;

/// One figure that a paper prints: a cell of one of its tables.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// `kar3`, `pike-rag`, `ra-isf` or `crp-rag`.
    pub paper: String,
    /// The table as the paper numbers it: `1`, `11`.
    pub table: String,
    /// The data set by [`known_name`](crate::datasets::known_name); `average` for a mean of several.
    pub data_set: String,
    /// The method by our name, with its parameters: `kar3:n=3`.
    pub method: String,
    /// The part of the method that it measures, if not the whole: a role, or the model of one.
    pub component: Option<String>,
    /// The method as the paper writes it.
    pub label: String,
    /// The model that answered, as the paper writes it.
    pub model: String,
    /// `em`, `f1`, `acc`, `tokens` and so on.
    pub metric: String,
    /// As printed: shares in %, tokens and calls as they are.
    pub value: f64,
    /// Whether the paper took it from another paper.
    pub is_quoted: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    table: Vec<Table>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    paper: String,
    number: String,
    #[expect(dead_code, reason = "for the reader of the file")]
    caption: String,
    model: String,
    columns: Vec<String>,
    rows: String,
}

/// All figures, in the file's order.
///
/// # Errors
/// The data file is broken: a bug of ours, which a test finds.
pub fn figures() -> Result<Vec<Figure>, EvalError> {
    parse(include_str!("papers.toml"))
}

fn parse(text: &str) -> Result<Vec<Figure>, EvalError> {
    let wrong = |reason: String| EvalError::Data { file: "papers.toml", reason };
    let file: File = toml::from_str(text).map_err(|error| wrong(error.to_string()))?;
    let mut figures = Vec::new();
    for table in file.table {
        for row in table.rows.lines().filter(|row| !row.trim().is_empty()) {
            add_row(&table, row, &mut figures)
                .ok_or_else(|| wrong(format!("{} table {}: {row}", table.paper, table.number)))?;
        }
    }
    Ok(figures)
}

/// `None` for a row that does not fit its table.
fn add_row(table: &Table, row: &str, figures: &mut Vec<Figure>) -> Option<()> {
    let (label, rest) = row.split_once('|')?;
    let (method, values) = rest.split_once('|')?;
    let (method, model) = match method.split_once('@') {
        Some((method, model)) => (method.trim(), model.trim()),
        None => (method.trim(), table.model.as_str()),
    };
    let (method, component) = match method.split_once('#') {
        Some((method, component)) => (method, Some(component.to_owned())),
        None => (method, None),
    };
    let values: Vec<&str> = values.split_whitespace().collect();
    if values.len() != table.columns.len() {
        return None;
    }
    for (column, value) in table.columns.iter().zip(values) {
        let (data_set, metric) = column.split_once(' ')?;
        if value == "-" {
            continue;
        }
        figures.push(Figure {
            paper: table.paper.clone(),
            table: table.number.clone(),
            data_set: data_set.to_owned(),
            method: method.to_owned(),
            component: component.clone(),
            label: label.trim().to_owned(),
            model: model.to_owned(),
            metric: metric.to_owned(),
            value: value.trim_end_matches('*').parse().ok()?,
            is_quoted: value.ends_with('*'),
        });
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_table_is_there() {
        let figures = figures().unwrap();
        let there: BTreeSet<(&str, &str)> =
            figures.iter().map(|figure| (figure.paper.as_str(), figure.table.as_str())).collect();
        for (paper, tables) in [
            ("kar3", "1 2 3 6 8 9 10 11 12 13 14"),
            ("pike-rag", "4 5 6 9 10 11"),
            ("ra-isf", "1 2 3"),
            ("crp-rag", "1 2 3 4 5"),
        ] {
            for table in tables.split(' ') {
                assert!(there.contains(&(paper, table)), "{paper} table {table}");
            }
        }
        // 42 + 36 + 29 + 150 + 90 + 24 + 35 + 12 + 12 + 8 + 24; 45 · 3 + 21 + 21 + 12;
        // 87 + 21 + 10; 160 + 8 + 20 + 16 + 8.
        assert_eq!(figures.len(), 462 + 189 + 118 + 212);
    }

    /// Read off the papers again, by hand.
    #[test]
    fn sample_values_equal_the_papers() {
        let figures = figures().unwrap();
        for (paper, table, data_set, label, metric, value) in [
            ("kar3", "1", "musique", "KAR³ (Ours)", "acc", 62.60),
            ("kar3", "1", "2wiki", "ProbTree", "f1", 69.42),
            ("kar3", "2", "hotpotqa", "IRCoT", "acc", 88.00),
            (
                "kar3",
                "3",
                "2wiki",
                "Query Proposer: multiple queries → a single query",
                "f1",
                70.19,
            ),
            ("kar3", "6", "2wiki", "SearChain", "em", 7.00),
            ("kar3", "6", "musique", "KAR³ (Ours)", "recall", 61.37),
            ("kar3", "8", "musique", "N = 7", "evidence", 76.07),
            ("kar3", "8", "hotpotqa", "N = 10", "acc", 89.00),
            ("kar3", "9", "2wiki", "Self-Ask w/ Retrieval", "f1", 53.83),
            ("kar3", "10", "musique", "ProbTree", "tokens", 25875.0),
            ("kar3", "11", "musique", "Atomic Selector", "completion_tokens", 1429.0),
            ("kar3", "12", "musique", "Knowledge Atomizer", "calls", 7120.0),
            ("kar3", "13", "musique", "Llama 3, plain text sentence", "acc", 54.20),
            ("kar3", "14", "hotpotqa", "Zero-Shot IRCoT", "f1", 58.22),
            ("pike-rag", "4", "hotpotqa", "Self-Ask w/ H-R", "precision", 64.27),
            ("pike-rag", "6", "musique", "Ours", "em", 46.40),
            ("pike-rag", "9", "lawbench-3-2", "GraphRAG Local", "f1", 25.98),
            ("pike-rag", "10", "open-australian-legal-qa", "Ours (N = 5)", "acc", 98.59),
            ("pike-rag", "11", "musique", "phi-4-14B, FT", "acc", 65.76),
            ("ra-isf", "1", "strategyqa", "Iter-RetGen 3", "em", 72.3),
            ("ra-isf", "1", "triviaqa", "RA-ISF (ours), Llama 2", "em", 71.4),
            ("ra-isf", "2", "triviaqa", "No PRM", "em", 70.3),
            ("ra-isf", "3", "2wiki", "T5 780M", "em", 35.3),
            ("crp-rag", "1", "fever", "CRP-RAG", "acc", 85.0),
            ("crp-rag", "1", "webquestions", "RAPTOR", "f1", 65.2),
            ("crp-rag", "2", "fever", "CRP-RAG w/o Knowledge Evaluation", "acc", 64.1),
            ("crp-rag", "3", "fever", "ITER-RETGEN", "perplexity", 1094.8),
            ("crp-rag", "4", "hotpotqa", "Think-then-Act", "consistency", 81.9),
            ("crp-rag", "5", "fever", "CRP-RAG(Chain)", "acc", 69.8),
        ] {
            let found: Vec<&Figure> = figures
                .iter()
                .filter(|f| {
                    (f.paper.as_str(), f.table.as_str()) == (paper, table)
                        && (f.data_set.as_str(), f.label.as_str(), f.metric.as_str())
                            == (data_set, label, metric)
                })
                .collect();
            let [figure] = found.as_slice() else {
                panic!("{paper} table {table} {data_set} {label} {metric}: {found:?}");
            };
            assert_eq!(figure.value.to_bits(), f64::to_bits(value), "{figure:?}");
        }
    }

    /// Every value occurs in the paper's text, if that is next to the checkout.
    #[test]
    fn every_value_occurs_in_the_paper() {
        for paper in ["kar3", "pike-rag", "ra-isf", "crp-rag"] {
            let path = format!("papers/{paper}.txt");
            let Some(path) = pikerag_test_support::optional(&path) else { continue };
            let text = std::fs::read_to_string(path).unwrap();
            let printed: BTreeSet<u64> = text
                .split(|c: char| !c.is_ascii_digit() && c != '.')
                .filter_map(|word| word.parse::<f64>().ok())
                .map(f64::to_bits)
                .collect();
            for figure in figures().unwrap().iter().filter(|figure| figure.paper == paper) {
                assert!(printed.contains(&figure.value.to_bits()), "{figure:?}");
            }
        }
    }

    /// Table 10 adds up, within the paper's rounding.
    #[test]
    fn tokens_add_up() {
        let figures = figures().unwrap();
        let tokens = figures.iter().filter(|figure| figure.metric == "tokens");
        assert!(0 < tokens.clone().count());
        for figure in tokens {
            let part = |metric: &str| {
                let same = figures.iter().find(|other| {
                    (&other.table, &other.data_set, &other.label)
                        == (&figure.table, &figure.data_set, &figure.label)
                        && other.metric == metric
                });
                same.unwrap().value
            };
            let sum = part("prompt_tokens") + part("completion_tokens");
            assert!((sum - figure.value).abs() <= 1.0, "{figure:?}");
        }
    }

    #[test]
    fn a_broken_row_is_named() {
        let text = "[[table]]\npaper = \"p\"\nnumber = \"1\"\ncaption = \"\"\nmodel = \"m\"\n\
                    columns = [\"a f1\"]\nrows = \"x | y | 1 2\"\n";
        let error = parse(text).unwrap_err().to_string();
        assert_eq!(error, "our own `papers.toml` is broken: p table 1: x | y | 1 2");
    }
}
