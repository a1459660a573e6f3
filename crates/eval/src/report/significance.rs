//! Tests whether a method is better than the first or was lucky: paired randomisation tests on the
//! questions that both answered (Fisher 1935; Yeh 2000), with Holm's correction.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::summary::{Estimate, bootstrap, by_method};
use super::{Metric, Row};
use pikerag_knowledge::Seeded;

/// One method against the first of the run, on one metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The compared method.
    pub method: String,
    /// The method that it is compared with: the first of the run.
    pub against: String,
    /// EM, F1, or a further score that both have.
    pub metric: Metric,
    /// Questions that both were asked; only these count.
    pub questions: usize,
    /// The mean difference per question, method less first, with its paired bootstrap interval.
    pub difference: Estimate,
    /// Two-sided: the probability that chance alone gives a difference at least as large.
    pub p: f64,
    /// The same after Holm (1979) over all methods that are compared on this metric.
    pub p_holm: f64,
}

/// Random sign flips if there are too many to try all.
const FLIPS: u32 = 9_999;
/// The most differences for which all sign flips are tried: 2¹³ of them.
const EXACT: usize = 13;

/// Every further method against the first, on every score that both have.
pub(super) fn compare(rows: &[&Row], seed: u64) -> Vec<Comparison> {
    let methods = by_method(rows);
    let Some(((first, first_rows), others)) = methods.split_first() else { return Vec::new() };
    let first_rows: HashMap<(&str, &str), &Row> =
        first_rows.iter().map(|row| ((row.data_set.as_str(), row.item.as_str()), *row)).collect();
    let mut all = Vec::new();
    for metric in [Metric::Em, Metric::F1].into_iter().chain(Metric::FURTHER) {
        let mut comparisons = Vec::new();
        for (method, rows) in others {
            let difference = |row: &&Row| {
                let first = first_rows.get(&(row.data_set.as_str(), row.item.as_str()))?;
                Some(metric.of(row)? - metric.of(first)?)
            };
            let differences: Vec<f64> = rows.iter().filter_map(difference).collect();
            if differences.is_empty() {
                continue;
            }
            comparisons.push(Comparison {
                method: (*method).to_owned(),
                against: (*first).to_owned(),
                metric,
                questions: differences.len(),
                difference: bootstrap(&differences, seed),
                p: p_value(&differences, seed),
                p_holm: 0.0,
            });
        }
        correct(&mut comparisons);
        all.extend(comparisons);
    }
    all
}

/// By chance each difference could have the other sign: the share of sign flips whose sum is at
/// least as far from 0. All flips if they are few, else `FLIPS` random ones and the observed one.
fn p_value(differences: &[f64], seed: u64) -> f64 {
    let moved: Vec<f64> = differences.iter().copied().filter(|d| *d != 0.0).collect();
    let observed = moved.iter().sum::<f64>().abs();
    // Sums of the same numbers in another order differ in the last bits.
    let is_far = |flipped: f64| observed - 1e-9 * (1.0 + observed) <= flipped.abs();
    if moved.len() <= EXACT {
        let all = 1_u64 << moved.len();
        let n_far = (0..all).filter(|signs| is_far(signed_sum(&moved, &[*signs]))).count();
        return n_far as f64 / all as f64;
    }
    let mut seeded = Seeded::new(seed);
    let mut signs = vec![0_u64; moved.len().div_ceil(64)];
    let mut n_far = 1;
    for _ in 0..FLIPS {
        signs.fill_with(|| seeded.bits());
        n_far += u32::from(is_far(signed_sum(&moved, &signs)));
    }
    f64::from(n_far) / f64::from(FLIPS + 1)
}

/// The sum with the sign changed if the bit is set, 64 values to a word.
fn signed_sum(values: &[f64], signs: &[u64]) -> f64 {
    let mut sum = 0.0;
    for (values, bits) in values.chunks(64).zip(signs) {
        for (place, value) in values.iter().enumerate() {
            sum += if (bits >> place) & 1 == 1 { -value } else { *value };
        }
    }
    sum
}

/// Holm's step-down correction: the smallest of m is multiplied by m, the next by m - 1, and so on;
/// never below one before, never above 1.
fn correct(comparisons: &mut [Comparison]) {
    let mut order: Vec<usize> = (0..comparisons.len()).collect();
    let p_of = |at: &usize| comparisons.get(*at).map_or(1.0, |comparison| comparison.p);
    order.sort_by(|left, right| p_of(left).total_cmp(&p_of(right)));
    let mut largest = 0.0_f64;
    let n_methods = comparisons.len();
    for (rank, at) in order.into_iter().enumerate() {
        let Some(comparison) = comparisons.get_mut(at) else { continue };
        largest = largest.max(comparison.p * (n_methods - rank) as f64).min(1.0);
        comparison.p_holm = largest;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::metrics::Scores;

    fn rows(method: &str, ems: &[f64]) -> Vec<Row> {
        let row = |(item, em): (usize, &f64)| Row {
            method: method.to_owned(),
            item: item.to_string(),
            scores: Scores { em: *em, f1: *em, ..Scores::default() },
            ..Row::default()
        };
        ems.iter().enumerate().map(row).collect()
    }

    fn em(all: &[Vec<Row>]) -> Vec<Comparison> {
        let rows: Vec<&Row> = all.iter().flatten().collect();
        compare(&rows, 7).into_iter().filter(|c| c.metric == Metric::Em).collect()
    }

    /// Five wins and no loss: 2 of the 32 sign flips reach that far, p = 1/16.
    #[test]
    fn few_differences_are_tried_exhaustively() {
        let all = [rows("a", &[0.0; 8]), rows("b", &[1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0])];
        let [comparison] = em(&all).try_into().unwrap();
        assert_eq!((comparison.questions, comparison.against.as_str()), (8, "a"));
        assert!((comparison.p - 2.0 / 32.0).abs() < 1e-12, "{comparison:?}");
        assert!((comparison.difference.mean - 0.625).abs() < 1e-12);
    }

    /// 60 wins against 40 in 100: the sign test's normal approximation gives 0.0455 without and
    /// 0.057 with the correction for continuity.
    #[test]
    fn many_differences_agree_with_the_sign_test() {
        let b: Vec<f64> = (0..100).map(|n| f64::from(u8::from(n < 60))).collect();
        let a: Vec<f64> = b.iter().map(|em| 1.0 - em).collect();
        let [comparison] = em(&[rows("a", &a), rows("b", &b)]).try_into().unwrap();
        assert!((0.045..0.07).contains(&comparison.p), "{comparison:?}");
    }

    #[test]
    fn only_questions_that_both_were_asked_count() {
        let mut b = rows("b", &[1.0, 1.0, 1.0]);
        b[2].item = "elsewhere".to_owned();
        let [comparison] = em(&[rows("a", &[0.0, 1.0]), b]).try_into().unwrap();
        assert_eq!((comparison.questions, comparison.p), (2, 1.0));
    }

    #[test]
    fn holm_by_hand() {
        let mut all: Vec<Comparison> = [0.01, 0.04, 0.03]
            .map(|p| Comparison {
                method: String::new(),
                against: String::new(),
                metric: Metric::F1,
                questions: 1,
                difference: Estimate::default(),
                p,
                p_holm: 0.0,
            })
            .to_vec();
        correct(&mut all);
        let holm: Vec<f64> = all.iter().map(|c| (c.p_holm * 1000.0).round()).collect();
        assert_eq!(holm, [30.0, 60.0, 60.0]);
    }

    proptest! {
        /// Changing all signs does not change the value, and it is a probability.
        #[test]
        fn is_two_sided_and_a_probability(
            differences in prop::collection::vec(-1.0..1.0, 0..30), seed: u64
        ) {
            let turned: Vec<f64> = differences.iter().map(|d| -d).collect();
            let p = p_value(&differences, seed);
            prop_assert_eq!(p.to_bits(), p_value(&turned, seed).to_bits());
            prop_assert!(0.0 < p && p <= 1.0);
        }
    }
}
