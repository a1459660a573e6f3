//! Computes a method's means over its questions, with confidence intervals.

use std::collections::BTreeMap;

use pikerag_knowledge::Role;
use serde::{Deserialize, Serialize};

use super::{Cost, Metric, Row};
use pikerag_knowledge::Seeded;

/// A mean over questions with its 95 % confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Estimate {
    /// Over all questions that have the figure; 0 if none has.
    pub mean: f64,
    /// 2.5 % of the resampled means lie below it.
    pub low: f64,
    /// 2.5 % of the resampled means lie above it.
    pub high: f64,
}

/// A method's means over its questions. A failed question counts with score 0, and with its cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The name in its rows, parameters included.
    pub method: String,
    /// Questions asked, the failed ones included.
    pub questions: usize,
    /// Questions that gave an error instead of an answer.
    pub failed: usize,
    /// Exact match, in `[0, 1]` as the next three.
    pub em: Estimate,
    /// F1 over words, with the best label.
    pub f1: Estimate,
    /// Share of the answer's words that a label has; the best over all labels.
    pub precision: Estimate,
    /// Share of a label's words that the answer has; the best over all labels.
    pub recall: Estimate,
    /// The scores that only some rows have, over those that have them.
    #[serde(default)]
    pub further: BTreeMap<Metric, Estimate>,
    /// Share of the gold evidence found, over the questions that have any; None if none has.
    pub final_recall: Option<Estimate>,
    /// The same after iteration 1, 2, …; a question that ended earlier keeps its last value.
    pub supporting_recall: Vec<f64>,
    /// Share of the answers that refuse.
    #[serde(default)]
    pub refused: f64,
    /// Share of an answer's citations that are verified, over the answers that cite.
    #[serde(default)]
    pub citations: Option<Estimate>,
    /// Model calls per question, without judging.
    pub calls: Estimate,
    /// Tokens of prompts per question, as endpoints count them.
    pub prompt_tokens: Estimate,
    /// Tokens of replies per question, reasoning included.
    pub completion_tokens: Estimate,
    /// The three by component of the method (KAR³ Table 11).
    #[serde(default)]
    pub by_role: BTreeMap<Role, CostMean>,
    /// US dollars per question, if all prices are known.
    #[serde(default)]
    pub usd: Option<f64>,
    /// The cost of judging per question; not part of the method's account.
    #[serde(default)]
    pub judge: CostMean,
    /// Wall time per question, from question to answer.
    pub seconds: Estimate,
}

/// The cost of one account per question; a question that did not use it counts as 0.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct CostMean {
    /// Model calls, replayed ones included.
    pub calls: f64,
    /// Tokens sent per question.
    pub prompt_tokens: f64,
    /// Tokens received per question.
    pub completion_tokens: f64,
}

/// The summaries of the questions that share a property.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// The shared property: `bridge`, `2`.
    pub name: String,
    /// One per method, over these questions alone.
    pub summaries: Vec<Summary>,
}

impl Summary {
    /// The mean of a metric; none if no row has it.
    pub fn mean(&self, metric: Metric) -> Option<f64> {
        Some(match metric {
            Metric::Em => self.em.mean,
            Metric::F1 => self.f1.mean,
            Metric::Precision => self.precision.mean,
            Metric::Recall => self.recall.mean,
            Metric::Evidence => self.final_recall?.mean,
            Metric::Refused => self.refused,
            Metric::Citations => self.citations?.mean,
            Metric::Calls => self.calls.mean,
            Metric::PromptTokens => self.prompt_tokens.mean,
            Metric::CompletionTokens => self.completion_tokens.mean,
            Metric::Tokens => self.prompt_tokens.mean + self.completion_tokens.mean,
            Metric::Usd => self.usd?,
            Metric::Seconds => self.seconds.mean,
            further => self.further.get(&further)?.mean,
        })
    }
}

/// Resamples per interval: 25 of them lie outside on either side.
const RESAMPLES: usize = 1000;

/// One summary per method, in the order in which the rows first name them.
pub(super) fn per_method(rows: &[&Row], seed: u64) -> Vec<Summary> {
    by_method(rows).into_iter().map(|(method, rows)| summary(method, &rows, seed)).collect()
}

/// The rows of each method, in the order in which they first name it.
pub(super) fn by_method<'a>(rows: &[&'a Row]) -> Vec<(&'a str, Vec<&'a Row>)> {
    let mut methods: Vec<(&str, Vec<&Row>)> = Vec::new();
    for row in rows.iter().copied() {
        match methods.iter_mut().find(|(method, _)| *method == row.method) {
            Some((_, rows)) => rows.push(row),
            None => methods.push((&row.method, vec![row])),
        }
    }
    methods
}

fn summary(method: &str, rows: &[&Row], seed: u64) -> Summary {
    let of_those_with = |metric: Metric| {
        let values: Vec<f64> = rows.iter().filter_map(|row| metric.of(row)).collect();
        (!values.is_empty()).then(|| bootstrap(&values, seed))
    };
    let estimate = |metric| of_those_with(metric).unwrap_or_default();
    let further = Metric::FURTHER
        .iter()
        .chain(&Metric::OF_LEVELS)
        .filter_map(|m| Some((*m, of_those_with(*m)?)));
    let prices: Option<Vec<f64>> = rows.iter().map(|row| row.usd).collect();
    Summary {
        method: method.to_owned(),
        questions: rows.len(),
        failed: rows.iter().filter(|row| row.failed.is_some()).count(),
        em: estimate(Metric::Em),
        f1: estimate(Metric::F1),
        precision: estimate(Metric::Precision),
        recall: estimate(Metric::Recall),
        further: further.collect(),
        final_recall: of_those_with(Metric::Evidence),
        supporting_recall: recall_by_iteration(rows),
        refused: mean(&rows.iter().filter_map(|row| Metric::Refused.of(row)).collect::<Vec<_>>()),
        citations: of_those_with(Metric::Citations),
        calls: estimate(Metric::Calls),
        prompt_tokens: estimate(Metric::PromptTokens),
        completion_tokens: estimate(Metric::CompletionTokens),
        by_role: by_role(rows),
        usd: prices.map(|prices| mean(&prices)),
        judge: cost_mean(rows.iter().map(|row| row.judge), rows.len()),
        seconds: estimate(Metric::Seconds),
    }
}

fn by_role(rows: &[&Row]) -> BTreeMap<Role, CostMean> {
    let mut costs: BTreeMap<Role, Vec<Cost>> = BTreeMap::new();
    for (role, cost) in rows.iter().flat_map(|row| &row.by_role) {
        costs.entry(*role).or_default().push(*cost);
    }
    let per_question = |(role, costs): (Role, Vec<Cost>)| {
        (role, cost_mean(costs.into_iter(), rows.len())) // A row without the role has 0 of it.
    };
    costs.into_iter().map(per_question).collect()
}

fn cost_mean(costs: impl Iterator<Item = Cost>, questions: usize) -> CostMean {
    let mut mean = CostMean::default();
    let share = 1.0 / questions.max(1) as f64;
    for cost in costs {
        mean.calls += cost.calls as f64 * share;
        mean.prompt_tokens += cost.prompt_tokens as f64 * share;
        mean.completion_tokens += cost.completion_tokens as f64 * share;
    }
    mean
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
pub(super) fn bootstrap(values: &[f64], seed: u64) -> Estimate {
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

pub(super) fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::bootstrap;

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
}
