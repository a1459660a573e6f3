//! Reads the numbers of an answer, apart from those in codes, dates and ranges.

use pikerag_language::{chinese_number, is_chinese, is_numeral, narrow, quantity};

/// English number words with their values; larger ones are written in digits.
const WORDS: [(&str, f64); 27] = [
    ("two", 2.0),
    ("three", 3.0),
    ("four", 4.0),
    ("five", 5.0),
    ("six", 6.0),
    ("seven", 7.0),
    ("eight", 8.0),
    ("nine", 9.0),
    ("ten", 10.0),
    ("eleven", 11.0),
    ("twelve", 12.0),
    ("thirteen", 13.0),
    ("fourteen", 14.0),
    ("fifteen", 15.0),
    ("sixteen", 16.0),
    ("seventeen", 17.0),
    ("eighteen", 18.0),
    ("nineteen", 19.0),
    ("twenty", 20.0),
    ("thirty", 30.0),
    ("forty", 40.0),
    ("fifty", 50.0),
    ("sixty", 60.0),
    ("seventy", 70.0),
    ("eighty", 80.0),
    ("ninety", 90.0),
    ("hundred", 100.0),
];

/// Digits of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Digits {
    /// A number that stands alone; whether a percent sign follows.
    Number(f64, bool),
    /// A part of a date or a range.
    Part(f64),
    /// A part of a code such as `KX-40`.
    Code,
}

/// The one number that a text gives; `None` if it gives none or several. Text in brackets counts only if there is
/// no number elsewhere.
pub(super) fn single(text: &str) -> Option<f64> {
    let text = text.trim();
    if let Some((value, _)) = quantity(text) {
        return Some(value);
    }
    let outside = without_brackets(text);
    let mut values = standing_alone(&outside);
    if values.is_empty() {
        values = standing_alone(text);
    }
    if values.is_empty() && !text.contains(|c: char| c.is_ascii_digit()) {
        values = english_words(&outside);
        let is_clear = |numeral: &&str| {
            1 < numeral.chars().count() || outside.trim_start().starts_with(*numeral)
        };
        // A single numeral within a text may be a part of a word, such as 一些.
        values.extend(numerals(&outside).into_iter().filter(is_clear).filter_map(value));
    }
    match values.as_slice() {
        [first, others @ ..] if others.iter().all(|other| is_same(*first, *other)) => Some(*first),
        _ => None,
    }
}

/// All numbers of a text, those in dates, ranges and words too. `5 %` is 5 and 0.05.
pub(super) fn all(text: &str) -> Vec<f64> {
    let mut values = english_words(text);
    values.extend(numerals(text).into_iter().filter_map(value));
    for digits in digits(text) {
        match digits {
            Digits::Number(value, is_percent) => {
                values.push(value);
                if is_percent {
                    values.push(value / 100.0);
                }
            }
            Digits::Part(value) => values.push(value),
            Digits::Code => {}
        }
    }
    values
}

/// Whether two numbers are equal, apart from rounding of their binary forms.
pub(super) fn is_same(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * one.abs().max(other.abs())
}

fn standing_alone(text: &str) -> Vec<f64> {
    let mut values = Vec::new();
    for digits in digits(text) {
        if let Digits::Number(value, _) = digits {
            values.push(value);
        }
    }
    values
}

fn without_brackets(text: &str) -> String {
    let (mut kept, mut depth) = (String::new(), 0_usize);
    for c in text.chars() {
        match c {
            '(' | '（' | '[' => depth += 1,
            ')' | '）' | ']' => depth = depth.saturating_sub(1),
            c if depth == 0 => kept.push(c),
            _ => {}
        }
    }
    kept
}

fn digits(text: &str) -> Vec<Digits> {
    let in_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '\'' | '’');
    let mut found = Vec::new();
    // The two characters before `rest`.
    let (mut earlier, mut before) = (' ', ' ');
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if !c.is_ascii_digit() {
            (earlier, before) = (before, c);
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
            continue;
        }
        let end = rest.find(|c| !in_number(c)).unwrap_or(rest.len());
        let run = rest.get(..end).unwrap_or_default().trim_end_matches(['.', ',', '\'', '’']);
        let after = rest.get(run.len()..).unwrap_or_default();
        found.push(judged(run, (earlier, before), after));
        (earlier, before) = ('0', run.chars().last().unwrap_or('0'));
        rest = after;
    }
    found
}

/// What a run of digits is, by the characters around it.
fn judged(run: &str, (earlier, before): (char, char), after: &str) -> Digits {
    let is_letter = |c: char| c.is_alphabetic() && !is_chinese(c);
    let joins = |c: char| matches!(c, '-' | '–' | '—' | '/' | ':' | '_' | '~' | '～' | '.');
    let Some((plain, _)) = quantity(run) else { return Digits::Code };
    if is_letter(before) || (joins(before) && is_letter(earlier)) {
        return Digits::Code;
    }
    let mut behind = after.chars();
    let next = behind.next().unwrap_or(' ');
    if is_letter(next) {
        let rest = after.trim_start_matches(is_letter);
        if rest.starts_with(|c: char| c.is_ascii_digit()) {
            return Digits::Code;
        }
    }
    let is_joined = (joins(before) && earlier.is_ascii_digit())
        || (joins(next) && behind.next().is_some_and(|c| c.is_ascii_digit()));
    if is_joined {
        return Digits::Part(plain);
    }
    let value = scaled(run, after).unwrap_or(plain);
    let is_negative = matches!(before, '-' | '−') && !earlier.is_alphanumeric();
    let is_percent = after.trim_start().starts_with(['%', '％']);
    Digits::Number(if is_negative { -value } else { value }, is_percent)
}

/// The value with the word behind it: `3.2 million`, `3.5亿元`.
fn scaled(run: &str, after: &str) -> Option<f64> {
    const LONGEST: usize = 12;
    let first = after.trim_start().chars().next()?;
    let is_part = |c: &char| c.is_alphabetic() && is_chinese(*c) == is_chinese(first);
    let word: String = after.trim_start().chars().take_while(is_part).take(LONGEST).collect();
    let most = if is_chinese(first) { 2 } else { LONGEST };
    let word: String = word.chars().take(most).collect();
    quantity(&format!("{run} {word}")).map(|(value, _)| value)
}

fn english_words(text: &str) -> Vec<f64> {
    let mut values = Vec::new();
    for word in text.to_lowercase().split(|c: char| !c.is_alphanumeric() || is_chinese(c)) {
        values.extend(WORDS.iter().find(|(name, _)| *name == word).map(|(_, value)| *value));
    }
    values
}

/// The runs of Chinese numerals.
fn numerals(text: &str) -> Vec<&str> {
    let is_written = |c: char| is_numeral(c) && !narrow(c).is_ascii_digit();
    text.split(|c: char| !is_written(c)).filter(|numeral| !numeral.is_empty()).collect()
}

fn value(numeral: &str) -> Option<f64> {
    chinese_number(numeral).map(f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_number_of_an_answer_is_read() {
        for (text, value) in [
            ("19 (number of rows in repairs-2024; port = Wrackness)", 19.0),
            ("The crane lifts 40 tons.", 40.0),
            ("The KX-40 lifts 12.5 t (the K2 lifts 9).", 12.5),
            ("1,260,000", 1_260_000.0),
            ("About 3.2 million euros", 3_200_000.0),
            ("-5 °C", -5.0),
            ("Forty tons.", 40.0),
            ("起重机可起吊40吨。", 40.0),
            ("3.5亿元", 350_000_000.0),
            ("二百六十四件", 264.0),
            ("Order MR-24-001 has 7 faults.", 7.0),
            ("In 1978.", 1978.0),
        ] {
            assert_eq!(single(text), Some(value), "{text}");
        }
        for text in [
            "",
            "The KX-40.",
            "3 of 12 cranes",
            "3-5 days",
            "2024-03-01",
            "No one knows.",
            "有一些故障。",
        ] {
            assert_eq!(single(text), None, "{text}");
        }
    }

    #[test]
    fn parts_of_dates_are_numbers_of_a_text_and_codes_are_not() {
        let found = all("On 2024-03-01, KX-40 had 5 % less.");
        let shown: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["2024", "3", "1", "5", "0.05"]);
    }
}
