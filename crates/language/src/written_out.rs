//! Reads an amount that a text writes in words, with its unit: `forty crates`, `three quarters of an hour`,
//! `two and a half hours`, `十四小时`, `三个半小时`.

use crate::numerals::{is_chinese_numeral, numeral};
use crate::units;

/// The most words of a unit.
const UNIT_WORDS: usize = 3;

/// Words beside a unit that say nothing about the amount.
const FILLERS: [&str; 7] = ["more", "extra", "further", "additional", "longer", "full", "whole"];

const ONES: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
const TENS: [&str; 10] =
    ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];

/// The amount, and its unit; `None` if the text contains anything else, or writes no amount in words. `an hour` is one
/// hour, because an hour is a known unit; `a crate` is no amount.
pub fn written_out(text: &str) -> Option<(f64, Option<String>)> {
    let text = text.trim().trim_end_matches(['.', ',', ';', '。', '，', '；']);
    if text.starts_with(|c| is_chinese_numeral(c) || c == '半') {
        return chinese(text);
    }
    let lower = text.to_lowercase().replace('-', " ");
    let words: Vec<&str> = lower.split_whitespace().collect();
    english(&words)
}

fn english(words: &[&str]) -> Option<(f64, Option<String>)> {
    // Three quarters of an hour.
    if let Some(of) = words.iter().position(|word| *word == "of")
        && let (Some(share), Some(unit)) = (words.get(..of).and_then(share), words.get(of + 1..))
    {
        return Some((share, Some(one(unit)?)));
    }
    // Half an hour.
    if let ["half", unit @ ..] = words {
        return Some((0.5, Some(one(unit)?)));
    }
    // An hour and a half.
    if let [unit @ .., "and", "a", last @ ("half" | "quarter")] = words
        && let Some(unit) = one(unit)
    {
        return Some((1.0 + part(last), Some(unit)));
    }
    if let Some(unit) = one(words) {
        return Some((1.0, Some(unit)));
    }
    let (mut amount, mut rest) = cardinal(words)?;
    if let ["and", "a", last @ ("half" | "quarter"), unit @ ..] = rest {
        amount += part(last);
        rest = unit;
    }
    rest = without_fillers(rest);
    let is_unit = rest.len() <= UNIT_WORDS
        && rest.first().is_none_or(|first| !matches!(*first, "of" | "and" | "or" | "to"))
        && rest.iter().all(|word| word.chars().all(char::is_alphabetic));
    is_unit.then(|| (amount, (!rest.is_empty()).then(|| rest.join(" "))))
}

/// A unit without words that say nothing about the amount: `more days` are days. `None` if nothing is left.
pub fn bare_unit(unit: &str) -> Option<String> {
    let words: Vec<&str> = unit.split_whitespace().collect();
    let bare = without_fillers(&words);
    (!bare.is_empty())
        .then(|| if bare.len() == words.len() { unit.to_owned() } else { bare.join(" ") })
}

/// Six more days; eleven days longer.
fn without_fillers<'a>(mut words: &'a [&'a str]) -> &'a [&'a str] {
    while let [filler, more @ ..] = words
        && FILLERS.contains(filler)
    {
        words = more;
    }
    while let [more @ .., filler] = words
        && FILLERS.contains(filler)
    {
        words = more;
    }
    words
}

/// A known unit behind an article.
fn one(words: &[&str]) -> Option<String> {
    let ["a" | "an" | "one", unit] = words else { return None };
    units::known(unit).map(|_| (*unit).to_owned())
}

fn part(word: &str) -> f64 {
    if word == "half" { 0.5 } else { 0.25 }
}

/// `half`, `a quarter`, `three quarters`.
fn share(words: &[&str]) -> Option<f64> {
    match words {
        ["half"] | ["a", "half"] => Some(0.5),
        ["a" | "one", "quarter"] => Some(0.25),
        ["three", "quarters"] => Some(0.75),
        _ => None,
    }
}

/// The number that the words begin with, and the words behind it: `a hundred and twenty`.
fn cardinal<'a>(words: &'a [&'a str]) -> Option<(f64, &'a [&'a str])> {
    let (mut total, mut section, mut at) = (0_u64, 0_u64, 0);
    // The value below which the next word must be, so that `two three` is no number.
    let mut below = 1000;
    if let ["a", next, ..] = words
        && matches!(*next, "hundred" | "thousand" | "dozen")
    {
        (section, at) = (1, 1);
    }
    while let Some(word) = words.get(at) {
        let is_and = *word == "and" && 0 < total + section;
        let next = words.get(at + 1).copied().unwrap_or_default();
        if is_and && value(next).is_some_and(|value| 0 < value && value < below.min(100)) {
            at += 1;
            continue;
        }
        if let Some(value) = value(word) {
            if below <= value || (value == 0 && 0 < at) {
                return None;
            }
            section += value;
            // Behind twenty comes one to nine.
            below = if 20 <= value { 10 } else { 1 };
        } else {
            match *word {
                "hundred" if 0 < section && section < 10 => (section, below) = (section * 100, 100),
                "dozen" if 0 < section && section < 100 => (section, below) = (section * 12, 1),
                "thousand" if 0 < section && section < 1000 => {
                    (total, section, below) = (section * 1000, 0, 1000);
                }
                _ => break,
            }
        }
        at += 1;
    }
    // Behind an article alone there is no number.
    let begins = words.first().is_some_and(|word| value(word).is_some() || *word == "a");
    (0 < at && begins).then(|| ((total + section) as f64, words.get(at..).unwrap_or_default()))
}

fn value(word: &str) -> Option<u64> {
    let ones = ONES.iter().position(|known| *known == word);
    let tens = TENS.iter().position(|known| !known.is_empty() && *known == word);
    ones.or(tens.map(|tens| tens * 10)).and_then(|value| u64::try_from(value).ok())
}

/// Numerals, with 个 and 半 before a unit: `三个半小时`, `半小时`, `两百一十户`.
fn chinese(text: &str) -> Option<(f64, Option<String>)> {
    let end = text.find(|c| !is_chinese_numeral(c)).unwrap_or(text.len());
    let (signs, rest) = text.split_at(end);
    let mut amount = if signs.is_empty() { 0.0 } else { numeral(signs)? as f64 };
    let counted = rest.strip_prefix('个').unwrap_or(rest);
    let (half, unit) = match counted.strip_prefix('半') {
        Some(unit) => (0.5, unit.strip_prefix('个').unwrap_or(unit)),
        None => (0.0, counted),
    };
    amount += half;
    // 个 belongs to the unit where no known unit follows: 三个 are three pieces.
    let unit = if units::known(unit).is_some() || 0.0 < half { unit } else { rest };
    let is_unit = unit.chars().count() <= 4 && unit.chars().all(char::is_alphabetic);
    let is_amount = !signs.is_empty() || units::known(unit).is_some();
    (is_unit && is_amount).then(|| (amount, (!unit.is_empty()).then(|| unit.to_owned())))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Option<(f64, String)> {
        written_out(text).map(|(amount, unit)| (amount, unit.unwrap_or_default()))
    }

    #[test]
    fn amounts_in_words_have_their_units() {
        for (text, amount, unit) in [
            ("forty crates", 40.0, "crates"),
            ("Sixty-five crates", 65.0, "crates"),
            ("a hundred and twenty crates", 120.0, "crates"),
            ("one hundred", 100.0, ""),
            ("two thousand three hundred and five", 2305.0, ""),
            ("a dozen", 12.0, ""),
            ("an hour", 1.0, "hour"),
            ("half an hour", 0.5, "hour"),
            ("a quarter of an hour", 0.25, "hour"),
            ("three quarters of an hour", 0.75, "hour"),
            ("an hour and a half", 1.5, "hour"),
            ("two and a half hours", 2.5, "hours"),
            ("thirty-five minutes", 35.0, "minutes"),
            ("six more days", 6.0, "days"),
            ("eleven days longer", 11.0, "days"),
            ("five more", 5.0, ""),
            ("十四小时", 14.0, "小时"),
            ("五个小时", 5.0, "小时"),
            ("三个半小时", 3.5, "小时"),
            ("一个半小时", 1.5, "小时"),
            ("半小时", 0.5, "小时"),
            ("半个小时", 0.5, "小时"),
            ("两百一十户", 210.0, "户"),
            ("三个", 3.0, "个"),
        ] {
            assert_eq!(read(text), Some((amount, unit.to_owned())), "{text}");
        }
    }

    #[test]
    fn other_words_are_no_amounts() {
        for text in [
            "",
            "a crate",
            "half",
            "one of them",
            "two or three",
            "two three",
            "twenty thirty",
            "about forty",
            "hour",
            "and a half",
            "hundred",
            "the 3rd",
            "半",
            "第三天",
            "nine to five",
            "两小时二十分钟",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    fn words(n: u64) -> String {
        let below_100 = |n: u64| match n {
            0..20 => ONES[n as usize].to_owned(),
            n if n % 10 == 0 => TENS[(n / 10) as usize].to_owned(),
            n => format!("{}-{}", TENS[(n / 10) as usize], ONES[(n % 10) as usize]),
        };
        let below_1000 = |n: u64| match (n / 100, n % 100) {
            (0, rest) => below_100(rest),
            (hundreds, 0) => format!("{} hundred", ONES[hundreds as usize]),
            (hundreds, rest) => {
                format!("{} hundred and {}", ONES[hundreds as usize], below_100(rest))
            }
        };
        match (n / 1000, n % 1000) {
            (0, rest) => below_1000(rest),
            (thousands, 0) => format!("{} thousand", below_1000(thousands)),
            (thousands, rest @ 1..100) => {
                format!("{} thousand and {}", below_1000(thousands), below_100(rest))
            }
            (thousands, rest) => format!("{} thousand {}", below_1000(thousands), below_1000(rest)),
        }
    }

    proptest! {
        #[test]
        fn reads_what_it_writes(n in 0_u64..1_000_000) {
            prop_assert_eq!(written_out(&words(n)), Some((n as f64, None)));
            prop_assert_eq!(written_out(&format!("{} crates", words(n))), Some((n as f64, Some("crates".to_owned()))));
        }

        #[test]
        fn handles_any_text(text in "\\PC{0,30}|((a|an|one|two|hundred|and|half|of|hour|quarter|dozen|-) ){0,8}|[一二两十百万半个小时]{0,8}") {
            if let Some((amount, _)) = written_out(&text) {
                prop_assert!(amount.is_finite() && 0.0 <= amount);
            }
        }
    }
}
