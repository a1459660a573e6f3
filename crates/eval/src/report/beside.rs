//! Puts the papers' figures beside ours.

use std::collections::BTreeMap;

use pikerag_knowledge::Role;
use serde::{Deserialize, Serialize};

use super::{Metric, Part, Report, Summary};
use crate::papers::Figure;

/// One of our figures with one of a paper's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Beside {
    /// As [`Summary::method`] has it, parameters included.
    pub method: String,
    /// Ours: a paper's EM of a choice is compared with our share of right choices.
    pub metric: Metric,
    /// Our value: shares in %, other metrics unscaled.
    pub ours: f64,
    /// The paper's figure, with its table.
    pub theirs: Figure,
}

/// The papers' figures for these methods on this data set, in the papers' order, each with ours. A
/// paper's EM of a choice is compared with our share of right choices, and that of articles with
/// ours. The EM of papers with full-sentence answers is compared with the share of answers that
/// contain a label. A row of a sub-model is beside the method's own: the settings say with which
/// sub-model it ran.
pub(super) fn beside(summaries: &[Summary], data_set: &str, papers: &[Figure]) -> Vec<Beside> {
    let of_set = papers.iter().filter(|figure| figure.data_set == data_set);
    of_set.filter_map(|figure| one(summaries, figure)).collect()
}

fn one(summaries: &[Summary], figure: &Figure) -> Option<Beside> {
    let summary = method_of(summaries, figure)?;
    let metric = of_task(named(&figure.metric)?, figure, summary);
    let ours = match figure.component.as_deref() {
        Some(role) if is_role(role) => of_component(summary, role, metric),
        _ => summary.mean(metric),
    }?;
    let ours = if metric.is_share() { 100.0 * ours } else { ours };
    Some(Beside { method: summary.method.clone(), metric, ours, theirs: figure.clone() })
}

/// The papers' averages over several data sets, if each of them was asked (RA-ISF Table 1).
pub(super) fn averages(parts: &[Part], papers: &[Figure]) -> Vec<Beside> {
    let average = |figure: &Figure| {
        let is_of_column = |other: &&Figure| {
            (&other.paper, &other.table, &other.metric)
                == (&figure.paper, &figure.table, &figure.metric)
        };
        let mut sets: Vec<&str> =
            papers.iter().filter(is_of_column).map(|it| it.data_set.as_str()).collect();
        sets.sort_unstable();
        sets.dedup();
        sets.retain(|set| *set != AVERAGE);
        let mut all: Vec<Beside> = Vec::new();
        for set in sets {
            let part = parts.iter().find(|part| part.name == set)?;
            all.push(one(&part.report.overall, figure)?);
        }
        let ours = all.iter().map(|beside| beside.ours).sum::<f64>() / all.len() as f64;
        all.into_iter().next_back().map(|last| Beside { ours, ..last })
    };
    papers.iter().filter(|figure| figure.data_set == AVERAGE).filter_map(average).collect()
}

/// The data set of a mean over several.
const AVERAGE: &str = "average";

/// What atomizing a data set's corpus cost; a run keeps it in `indexing.json`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Indexing {
    /// Chunks that were atomized.
    pub chunks: u64,
    /// Calls, one per chunk if no reply was asked for again.
    pub calls: u64,
    /// Tokens sent.
    pub prompt_tokens: u64,
    /// Tokens received.
    pub completion_tokens: u64,
    /// Tokens sent per chunk.
    pub prompt_tokens_per_chunk: f64,
    /// Tokens received per chunk.
    pub completion_tokens_per_chunk: f64,
}

/// Puts the papers' figures for atomizing beside ours, by data set (KAR³ Table 12).
pub fn add_indexing(report: &mut Report, papers: &[Figure], costs: &BTreeMap<String, Indexing>) {
    let is_alone = report.data_sets.is_empty();
    for (data_set, cost) in costs {
        let place = report.data_sets.iter().position(|part| part.name == *data_set);
        let own = match place {
            Some(place) => match report.data_sets.get_mut(place) {
                Some(part) => &mut part.report,
                None => continue,
            },
            None if is_alone => &mut *report,
            None => continue,
        };
        let is_atomizer = |figure: &&Figure| {
            figure.data_set == *data_set
                && figure.component.as_deref() == Some(Role::Atomize.as_str())
        };
        for figure in papers.iter().filter(is_atomizer) {
            let Some(metric) = named(&figure.metric) else { continue };
            let Some(summary) = method_of(&own.overall, figure) else { continue };
            let (prompt, reply) = (cost.prompt_tokens_per_chunk, cost.completion_tokens_per_chunk);
            let ours = match metric {
                Metric::PromptTokens => prompt,
                Metric::CompletionTokens => reply,
                Metric::Tokens => prompt + reply,
                Metric::Calls => cost.calls as f64,
                _ => continue,
            };
            let (method, theirs) = (summary.method.clone(), figure.clone());
            own.beside.push(Beside { method, metric, ours, theirs });
        }
    }
}

fn method_of<'a>(summaries: &'a [Summary], figure: &Figure) -> Option<&'a Summary> {
    summaries.iter().find(|summary| without_rule(&summary.method) == figure.method)
}

fn named(metric: &str) -> Option<Metric> {
    Metric::ALL.iter().copied().find(|known| known.name() == metric)
}

/// Whether a component is a role; otherwise it is a sub-model.
pub(super) fn is_role(component: &str) -> bool {
    Role::ALL.iter().any(|role| role.as_str() == component)
}

/// A method's name without the rule of its thresholds, which fits it to another embedder than the
/// paper's and makes no other method of it.
fn without_rule(label: &str) -> String {
    label.split(':').filter(|part| !part.starts_with("rule=")).collect::<Vec<_>>().join(":")
}

/// Papers whose exact match means that the answer contains a label (CRP-RAG §4.2, RA-ISF Appendix
/// E).
const SENTENCES: [&str; 2] = ["ra-isf", "crp-rag"];

fn of_task(metric: Metric, figure: &Figure, summary: &Summary) -> Metric {
    let has = |metric| summary.further.contains_key(&metric);
    match metric {
        Metric::Em if SENTENCES.contains(&figure.paper.as_str()) && has(Metric::Contained) => {
            Metric::Contained
        }
        Metric::Em if has(Metric::Choice) => Metric::Choice,
        // Texts may cite articles too; they have Rouge-L.
        Metric::Em if has(Metric::Articles) && !has(Metric::RougeL) => Metric::Articles,
        metric => metric,
    }
}

/// `None` if the method has no calls of this role.
fn of_component(summary: &Summary, component: &str, metric: Metric) -> Option<f64> {
    let cost = summary.by_role.iter().find(|(role, _)| role.as_str() == component)?.1;
    Some(match metric {
        Metric::Calls => cost.calls,
        Metric::PromptTokens => cost.prompt_tokens,
        Metric::CompletionTokens => cost.completion_tokens,
        Metric::Tokens => cost.prompt_tokens + cost.completion_tokens,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::figures;
    use crate::report::{Row, TaskScores, summarize};

    fn of_table(paper: &str, table: &str) -> Vec<Figure> {
        let mut all = figures().unwrap();
        all.retain(|figure| figure.paper == paper && figure.table == table);
        all
    }

    fn row(method: &str, data_set: &str, contained: f64) -> Row {
        Row {
            method: method.to_owned(),
            data_set: data_set.to_owned(),
            item: "q".to_owned(),
            task: TaskScores { contained: Some(contained), ..TaskScores::default() },
            ..Row::default()
        }
    }

    fn shown(all: &[Beside]) -> Vec<String> {
        let of = |it: &Beside| {
            let Figure { label, data_set, value, .. } = &it.theirs;
            format!("{label}, {data_set}: {} {:.1} beside {value}", it.metric.name(), it.ours)
        };
        all.iter().map(of).collect()
    }

    /// RA-ISF Table 3: whatever sub-model a run has, both rows of the table are beside it.
    #[test]
    fn rows_of_sub_models_are_beside() {
        let rows = [row("ra-isf", "nq", 0.5)];
        let report = summarize(&rows, 7, &of_table("ra-isf", "3"));
        assert_eq!(
            shown(&report.beside),
            [
                "Llama 2 7B, nq: contained 50.0 beside 40.2",
                "T5 780M, nq: contained 50.0 beside 39.6"
            ]
        );
        assert_eq!(of_table("pike-rag", "11").len(), 12);
        // The untrained rows are beside `kar3-paper`, the trained ones beside `kar3-trained`.
        for method in ["kar3-paper", "kar3-trained:rule=printed"] {
            let acc = Row { acc: Some(1.0), ..row(method, "musique", 0.0) };
            let report = summarize(&[acc], 7, &of_table("pike-rag", "11"));
            assert_eq!(report.beside.len(), 6, "{method}");
        }
    }

    /// RA-ISF Table 1: the average is over all five data sets, and missing without one of them.
    #[test]
    fn averages_are_over_all_data_sets_of_the_table() {
        let sets = ["nq", "triviaqa", "hotpotqa", "strategyqa", "2wiki"];
        let rows: Vec<Row> = sets
            .iter()
            .zip([0.0, 0.0, 0.0, 1.0, 1.0])
            .map(|(set, one)| row("ra-isf", set, one))
            .collect();
        let papers = of_table("ra-isf", "1");
        let report = summarize(&rows, 7, &papers);
        assert_eq!(
            shown(&report.beside),
            [
                "RA-ISF (ours), average: contained 40.0 beside 55",
                "RA-ISF (ours), Llama 2, average: contained 40.0 beside 46"
            ]
        );
        assert!(summarize(&rows[1..], 7, &papers).beside.is_empty());
    }

    /// KAR³ Table 12: tokens per chunk come from indexing, not from the questions.
    #[test]
    fn the_cost_of_atomizing_is_beside() {
        let papers = of_table("kar3", "12");
        let mut report = summarize(&[row("kar3-paper", "musique", 1.0)], 7, &papers);
        assert!(report.beside.is_empty());
        let cost = Indexing {
            chunks: 10,
            calls: 11,
            prompt_tokens: 2000,
            completion_tokens: 1000,
            prompt_tokens_per_chunk: 200.0,
            completion_tokens_per_chunk: 100.0,
        };
        let costs = BTreeMap::from([("musique".to_owned(), cost), ("nq".to_owned(), cost)]);
        add_indexing(&mut report, &papers, &costs);
        assert_eq!(
            shown(&report.beside),
            [
                "Knowledge Atomizer, musique: prompt_tokens 200.0 beside 197",
                "Knowledge Atomizer, musique: completion_tokens 100.0 beside 123",
                "Knowledge Atomizer, musique: tokens 300.0 beside 320",
                "Knowledge Atomizer, musique: calls 11.0 beside 7120"
            ]
        );
    }

    /// A table that is fitted to another embedder keeps its figures.
    #[test]
    fn the_rule_of_thresholds_is_no_other_method() {
        let f1 = |method: &str| {
            let report = summarize(&[row(method, "hotpotqa", 0.0)], 7, &of_table("pike-rag", "4"));
            report.beside.iter().any(|it| it.theirs.metric == "f1")
        };
        assert!(f1("naive-rag-hr") && f1("naive-rag-hr:rule=printed"));
        assert!(f1("kar3-paper:rule=calibrated") && f1("self-ask-r:chunks=16"));
        assert!(!f1("self-ask-r"), "PIKE-RAG retrieves 16 chunks (§6.1)");
    }
}
