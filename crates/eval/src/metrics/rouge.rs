//! Measures how much of a text's wording, in its order, an answer keeps: Rouge-L (Lin 2004), the
//! metric of LawBench for texts.

use crate::normalize::{normalize, tokens};

/// The most tokens of a text; the rest is cut, because the table grows with the product of both
/// lengths.
const MOST_TOKENS: usize = 4096;

/// Rouge-L as an F1 over the longest common subsequence of tokens (Chinese: characters), in `[0, 1]`;
/// the best over all labels, 0 without labels.
///
/// Differs from Lin's β = 1.2: precision and recall weigh the same, as in LawBench.
pub fn rouge_l(answer: &str, labels: &[String]) -> f64 {
    let answer = normalize(answer);
    let answer = cut(tokens(&answer));
    let mut best = 0.0_f64;
    for label in labels {
        let label = normalize(label);
        let label = cut(tokens(&label));
        let common = longest_common(&answer, &label) as f64;
        if 0.0 < common {
            best = best.max(2.0 * common / (answer.len() + label.len()) as f64);
        }
    }
    best
}

fn cut(mut tokens: Vec<&str>) -> Vec<&str> {
    tokens.truncate(MOST_TOKENS);
    tokens
}

/// Length of the longest common subsequence, row by row.
fn longest_common(left: &[&str], right: &[&str]) -> usize {
    let mut row = vec![0; right.len() + 1];
    for one in left {
        let mut diagonal = 0;
        let mut before = 0;
        for (other, cell) in right.iter().zip(row.iter_mut().skip(1)) {
            let above = *cell;
            *cell = if one == other { diagonal + 1 } else { above.max(before) };
            (diagonal, before) = (above, *cell);
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{longest_common, rouge_l};

    #[test]
    fn keeps_count_of_order() {
        let score = |answer: &str, label: &str| rouge_l(answer, &[label.to_owned()]);
        assert!(
            (score("police killed the gunman", "police kill the gunman") - 4.0 / 6.0).abs() < 1e-9
        );
        assert!((score("gunman police", "police gunman") - 0.5).abs() < 1e-9);
        assert!((score("有权自主经营", "有权经营") - 0.8).abs() < 1e-9);
        assert_eq!((score("", "x"), score("x", ""), rouge_l("x", &[])), (0.0, 0.0, 0.0));
    }

    proptest! {
        #[test]
        fn is_symmetric_bounded_and_whole_for_itself(left in "([abc] ){0,12}", right in "([bcd] ){0,12}") {
            let score = |a: &str, b: &str| rouge_l(a, &[b.to_owned()]);
            prop_assert!((score(&left, &right) - score(&right, &left)).abs() < 1e-12);
            prop_assert!((0.0..=1.0).contains(&score(&left, &right)));
            prop_assert!(0.999 < score(&right, &right) || right.trim().is_empty());
        }

        /// Compares with the textbook recursion.
        #[test]
        fn agrees_with_the_recursion(left in "[ab]{0,7}", right in "[ab]{0,7}") {
            fn slow(left: &[&str], right: &[&str]) -> usize {
                match (left, right) {
                    ([a, left @ ..], [b, right @ ..]) if a == b => 1 + slow(left, right),
                    ([_, rest @ ..], [_, other @ ..]) => slow(rest, right).max(slow(left, other)),
                    _ => 0,
                }
            }
            let split = |text: &'static str| text.split("").collect::<Vec<_>>();
            let (left, right) = (split(left.leak()), split(right.leak()));
            prop_assert_eq!(longest_common(&left, &right), slow(&left, &right));
        }
    }
}
