//! Checks whether an answer over tables has the right figure, text or list, with the rules of
//! `examples/tables`.

use std::sync::LazyLock;

use pikerag_knowledge::{Answer, WrittenBy};
use pikerag_language::Regex;
use serde::{Deserialize, Serialize};

use super::refuses;

/// The right answer to a question over tables.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Wanted {
    /// The kind of answer.
    pub kind: WantedKind,
    /// For a number: the tolerance, as a share of it.
    pub tolerance: f64,
}

/// The kind of answer that is right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WantedKind {
    /// The first label as a number.
    Number,
    /// One of the labels.
    Text,
    /// All labels.
    List,
    /// None: the tables do not hold the answer.
    None,
}

/// The score of an answer over tables: one of the three is 1.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct FigureScore {
    /// 1 if it is right, or refused when the tables do not hold the answer.
    pub right: f64,
    /// 1 if it gives another answer.
    pub wrong: f64,
    /// 1 if it refuses, admits not knowing, or only quotes passages.
    pub withheld: f64,
}

/// The numbers of an answer that are compared.
const LOOKED_AT: usize = 3;
/// The most cells of a lead that answers a question for one thing; with more it is a list.
const CELLS: usize = 4;
/// The tolerance of a number if none is given.
const ROUNDING: f64 = 1e-9;

/// Compares an answer with the labels. Only its lead counts: the text before the last bracket,
/// which explains how the question was understood. The sign of a number does not count, because
/// words can express the direction of a change.
pub fn figure_score(answer: Option<&Answer>, wanted: Wanted, labels: &[String]) -> FigureScore {
    let given = answer.filter(|answer| {
        !answer.refused
            && answer.written_by != WrittenBy::Quotation
            && !refuses(&answer.text, labels)
    });
    let Some(given) = given else {
        return match wanted.kind {
            WantedKind::None => FigureScore { right: 1.0, ..FigureScore::default() },
            _ => FigureScore { withheld: 1.0, ..FigureScore::default() },
        };
    };
    let lead = lead(&given.text).to_lowercase();
    let labels: Vec<String> = labels.iter().map(|label| label.to_lowercase()).collect();
    let numbers = numbers(&lead);
    let is_right = match wanted.kind {
        WantedKind::None => false,
        WantedKind::Number => {
            let gold = labels.first().and_then(|label| number(label));
            gold.is_some_and(|gold| {
                let off = gold.abs() * wanted.tolerance + ROUNDING;
                let mut looked_at = numbers.iter().take(LOOKED_AT);
                looked_at.any(|one| (one.abs() - gold.abs()).abs() <= off)
            })
        }
        WantedKind::Text => {
            labels.iter().any(|label| lead.contains(label.as_str()))
                && lead.split([';', '；']).count() <= CELLS
        }
        WantedKind::List => labels.iter().all(|label| {
            let is_number = number(label).is_some_and(|number| numbers.contains(&number));
            lead.contains(label.as_str()) || is_number
        }),
    };
    match is_right {
        true => FigureScore { right: 1.0, ..FigureScore::default() },
        false => FigureScore { wrong: 1.0, ..FigureScore::default() },
    }
}

/// The text before its last bracket, if it ends with one; nested brackets belong to it.
fn lead(text: &str) -> &str {
    let is_close = |c: char| matches!(c, ')' | '）');
    let mut depth = 0_usize;
    for (at, c) in text.char_indices().rev() {
        match c {
            _ if is_close(c) => depth += 1,
            '(' | '（' if depth == 1 => return text.get(..at).unwrap_or_default().trim(),
            '(' | '（' => depth = depth.saturating_sub(1),
            _ if depth == 0 && !c.is_whitespace() => return text,
            _ => {}
        }
    }
    text
}

fn numbers(text: &str) -> Vec<f64> {
    static NUMBER: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"[-−]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?").ok());
    let found = NUMBER.iter().flat_map(|number| number.find_iter(text));
    found.filter_map(|found| number(found.as_str())).collect()
}

fn number(text: &str) -> Option<f64> {
    text.replace(',', "").replace('−', "-").parse().ok()
}

#[cfg(test)]
mod tests {
    use pikerag_knowledge::Context;

    use super::*;

    fn answer(text: &str, written_by: WrittenBy) -> Answer {
        Answer {
            text: text.to_owned(),
            rationale: String::new(),
            refused: false,
            missing: Vec::new(),
            written_by,
            citations: Vec::new(),
            context: Context::default(),
            quotes: None,
            worked: None,
        }
    }

    fn verdict(text: &str, kind: WantedKind, labels: &[&str]) -> char {
        let labels: Vec<String> = labels.iter().map(|&label| label.to_owned()).collect();
        let answer = answer(text, WrittenBy::Computation);
        let answer = Some(&answer).filter(|answer| !answer.text.is_empty());
        match figure_score(answer, Wanted { kind, tolerance: 0.001 }, &labels) {
            FigureScore { right: 1.0, .. } => 'r',
            FigureScore { wrong: 1.0, .. } => 'w',
            _ => '-',
        }
    }

    #[test]
    fn only_the_text_before_the_bracket_counts() {
        use WantedKind::{List, None, Number, Text};
        for (text, kind, labels, expected) in [
            ("344 (number of rows in penguins)", Number, &["344"][..], 'r'),
            ("1,550.4 EUR (sum of amount; region = North)", Number, &["1550"], 'r'),
            ("12 (rows; year = 344)", Number, &["344"], 'w'),
            ("−3 (2 − 5) (difference)", Number, &["3"], 'r'),
            ("Gentoo（5076）（penguins：species）", Text, &["gentoo"], 'r'),
            ("a; b; c; d; Gentoo (species)", Text, &["Gentoo"], 'w'),
            ("168; 124; 52 (rows)", List, &["168", "52"], 'r'),
            ("168; 124 (rows)", List, &["168", "52"], 'w'),
            ("", Number, &["1"], '-'),
            ("", None, &[], 'r'),
            ("N/A", None, &[], 'r'),
            ("7 (rows)", None, &[], 'w'),
        ] {
            assert_eq!(verdict(text, kind, labels), expected, "{text}");
        }
        let quoted = answer("344", WrittenBy::Quotation);
        let wanted = Wanted { kind: Number, tolerance: 0.0 };
        assert!(
            (figure_score(Some(&quoted), wanted, &["344".to_owned()]).withheld - 1.0).abs() < 1e-9
        );
    }
}
