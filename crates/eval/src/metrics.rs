//! Scores how right an answer is, and how much of the evidence was found (KAR³ §4.1, Table 8).

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::normalize::{normalize, tokens};

mod figures;
mod forecast;
pub mod law;
mod refusal;
mod rouge;

pub use figures::{FigureScore, Wanted, WantedKind, figure_score};
pub use forecast::{ForecastScore, forecast_score};
pub use refusal::refuses;
pub use rouge::rouge_l;

/// The four scores of one answer, each in `[0, 1]`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Scores {
    /// Exact match: 1 or 0.
    pub em: f64,
    /// Harmonic mean of precision and recall over words (Chinese: characters).
    pub f1: f64,
    /// Share of the answer's words that a gold label has.
    pub precision: f64,
    /// Share of a gold label's words that the answer has.
    pub recall: f64,
}

/// Whether `answer` contains one of the labels, word for word after [`normalize`]: 1 or 0. CRP-RAG
/// calls this exact match (§4.2), and RA-ISF scores its models' full sentences so (Appendix E).
pub fn contains(answer: &str, labels: &[String]) -> f64 {
    let normalized = normalize(answer);
    let words = tokens(&normalized);
    let holds = |label: &String| {
        let label = normalize(label);
        let label = tokens(&label);
        !label.is_empty() && words.windows(label.len()).any(|window| window == label)
    };
    f64::from(u8::from(labels.iter().any(holds)))
}

/// Compares `answer` with each gold label after [`normalize`]: every score is the best over all
/// labels, so precision and recall may come from different ones. Without labels all are 0.
pub fn score(answer: &str, labels: &[String]) -> Scores {
    let answer = normalize(answer);
    let mut best = Scores::default();
    for label in labels {
        let scores = score_one(&answer, &normalize(label));
        best.em = best.em.max(scores.em);
        best.f1 = best.f1.max(scores.f1);
        best.precision = best.precision.max(scores.precision);
        best.recall = best.recall.max(scores.recall);
    }
    best
}

/// Share of the gold ids among the found ones, in `[0, 1]`; repetitions count once. `None` without
/// gold ids, because there is nothing to find.
pub fn supporting_recall(gold: &[String], found: &[String]) -> Option<f32> {
    let gold: HashSet<&String> = gold.iter().collect();
    let found: HashSet<&String> = found.iter().collect();
    let n_found = gold.intersection(&found).count();
    (!gold.is_empty()).then(|| n_found as f32 / gold.len() as f32)
}

fn score_one(answer: &str, label: &str) -> Scores {
    let (answer_words, label_words) = (tokens(answer), tokens(label));
    let n_common = n_common(&answer_words, &label_words) as f64;
    let mut scores = Scores { em: f64::from(u8::from(answer == label)), ..Scores::default() };
    if 0.0 < n_common {
        scores.precision = n_common / answer_words.len() as f64;
        scores.recall = n_common / label_words.len() as f64;
        scores.f1 = 2.0 * scores.precision * scores.recall / (scores.precision + scores.recall);
    }
    scores
}

/// Size of the intersection as multisets: a word counts as often as both have it.
fn n_common(left: &[&str], right: &[&str]) -> usize {
    let mut left_over: HashMap<&str, usize> = HashMap::new();
    for word in left {
        *left_over.entry(word).or_default() += 1;
    }
    let mut n_common = 0;
    for word in right {
        if let Some(n) = left_over.get_mut(word).filter(|n| 0 < **n) {
            *n -= 1;
            n_common += 1;
        }
    }
    n_common
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Scores, score, supporting_recall};

    /// Equals the output of the reference implementation.
    #[test]
    fn agrees_with_the_reference() {
        for line in include_str!("reference/metrics.jsonl").lines() {
            let vector: serde_json::Value = serde_json::from_str(line).unwrap();
            let labels: Vec<String> = serde_json::from_value(vector["labels"].clone()).unwrap();
            let wanted = &vector["scores"];
            let scores = score(vector["answer"].as_str().unwrap(), &labels);
            for (name, got) in [
                ("ExactMatch", scores.em),
                ("F1", scores.f1),
                ("Precision", scores.precision),
                ("Recall", scores.recall),
            ] {
                let wanted = wanted[name].as_f64().unwrap();
                assert!((got - wanted).abs() < 1e-12, "{name} is {got}: {line}");
            }
        }
    }

    #[test]
    fn scores_words() {
        check("Paris", &["Paris"], [1.0, 1.0, 1.0, 1.0]);
        check("the city of Paris", &["Paris"], [0.0, 0.5, 1.0 / 3.0, 1.0]);
        check("Paris, France", &["Paris", "Paris France"], [1.0; 4]);
        check("", &["x"], [0.0; 4]);
        check("unknown", &["Bob Smith"], [0.0; 4]);
        check("Bob Bob Smith", &["Bob Smith"], [0.0, 0.8, 2.0 / 3.0, 1.0]);
        check("1,000", &["one thousand"], [1.0; 4]);
        check("he was born in 1942", &["1942"], [0.0, 1.0 / 3.0, 0.2, 1.0]);
        check("x", &[], [0.0; 4]);
    }

    #[test]
    fn takes_each_best_from_any_label() {
        check("a b c d", &["a b", "b c d e"], [0.0, 6.0 / 7.0, 1.0, 1.0]);
        check("New York", &["new york city", "NYC"], [0.0, 0.8, 1.0, 2.0 / 3.0]);
    }

    /// Two empty texts match exactly but share no word, as in the reference.
    #[test]
    fn empty_texts_match_exactly() {
        check("The", &["a"], [1.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn scores_chinese_by_character() {
        check("上海。", &["上海"], [1.0; 4]);
        check("上海市", &["上海"], [0.0, 0.8, 2.0 / 3.0, 1.0]);
    }

    #[test]
    fn counts_found_evidence_once() {
        let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
        assert_eq!(supporting_recall(&ids(&["a", "b", "a"]), &ids(&["x", "b", "b"])), Some(0.5));
        assert_eq!(supporting_recall(&ids(&["a"]), &[]), Some(0.0));
        assert_eq!(supporting_recall(&[], &ids(&["a"])), None);
    }

    proptest! {
        /// Swapping answer and label swaps precision and recall, and does not change F1 and EM.
        #[test]
        fn is_bounded_and_symmetric(left in "([a-d]|the|two|京|,| ){0,12}", right in "([b-e]|a|2|京|.| ){0,12}") {
            let one = score(&left, std::slice::from_ref(&right));
            let other = score(&right, std::slice::from_ref(&left));
            for value in [one.em, one.f1, one.precision, one.recall] {
                prop_assert!((0.0..=1.0).contains(&value));
            }
            prop_assert!((one.f1 - other.f1).abs() < 1e-12);
            prop_assert!((one.precision - other.recall).abs() < 1e-12);
            prop_assert_eq!(one.em.to_bits(), other.em.to_bits());
            prop_assert!(one.f1 <= one.precision.max(one.recall) + 1e-12);
        }
    }

    fn check(answer: &str, labels: &[&str], wanted: [f64; 4]) {
        let labels: Vec<String> = labels.iter().map(|label| (*label).to_owned()).collect();
        let Scores { em, f1, precision, recall } = score(answer, &labels);
        for (got, wanted) in [em, f1, precision, recall].into_iter().zip(wanted) {
            assert!((got - wanted).abs() < 1e-12, "{answer}: {got} is not {wanted}");
        }
    }
}
