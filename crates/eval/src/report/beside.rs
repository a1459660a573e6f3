//! Puts the papers' figures beside ours.

use serde::{Deserialize, Serialize};

use super::{Metric, Summary};
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
/// contain a label.
pub(super) fn beside(summaries: &[Summary], data_set: &str, papers: &[Figure]) -> Vec<Beside> {
    let mut all = Vec::new();
    for figure in papers.iter().filter(|figure| figure.data_set == data_set) {
        let is_of = |summary: &&Summary| without_rule(&summary.method) == figure.method;
        let Some(summary) = summaries.iter().find(is_of) else { continue };
        let named = Metric::ALL.iter().copied().find(|metric| metric.name() == figure.metric);
        let Some(metric) = named.map(|metric| of_task(metric, figure, summary)) else { continue };
        let ours = match &figure.component {
            None => summary.mean(metric),
            Some(role) => of_component(summary, role, metric),
        };
        if let Some(ours) = ours {
            let ours = if metric.is_share() { 100.0 * ours } else { ours };
            all.push(Beside {
                method: summary.method.clone(),
                metric,
                ours,
                theirs: figure.clone(),
            });
        }
    }
    all
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

/// `None` if the component is not one of our roles, such as a model of its own.
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
