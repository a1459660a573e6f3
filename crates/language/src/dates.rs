//! Reads dates as terms: `2025年4月22日`, `2025-04-22` and `April 22, 2025` are one term.

use crate::numerals::{chinese_digit, digit, leading_number, narrow};

/// In Chinese numerals, as in 三十一.
const LONGEST_DAY: usize = 3;
const DAYS: [u32; 12] = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
/// The months in English, in lower case, January first.
pub(crate) const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// The date that a text begins with, as terms, and the rest of the text.
///
/// The terms are the day, its month, its year, the month's name and the day's number. A month or a
/// day without a year gives only the last two, as its English words do anyway.
pub(crate) fn date(text: &str) -> Option<(Vec<String>, &str)> {
    let first = text.chars().next()?;
    if first.is_ascii_alphabetic() {
        return month_first(text);
    }
    chinese(text).or_else(|| in_digits(text)).or_else(|| day_first(text))
}

fn chinese(text: &str) -> Option<(Vec<String>, &str)> {
    let Some((year, after)) = year(text) else {
        let (month, rest) = chinese_month(text)?;
        let (day, rest) = chinese_day(rest, month);
        return Some((terms(None, month, day), rest));
    };
    let month = behind(after, &['年']).and_then(|rest| chinese_month(rest.trim_start()));
    if let Some((month, rest)) = month {
        let (day, rest) = chinese_day(rest, month);
        return Some((terms(Some(year), month, day), rest));
    }
    // 二〇二五年 gives the year in digits, as others write it. Texts that use the numerals have them as
    // a word anyway.
    let is_numeral = text.chars().next().is_some_and(|c| chinese_digit(c).is_some());
    (is_numeral && after.starts_with('年')).then(|| (vec![year.to_string()], after))
}

fn chinese_month(text: &str) -> Option<(u32, &str)> {
    let (month, rest) = leading_number(text, LONGEST_DAY)?;
    let rest = behind(rest, &['月'])?;
    (1..=12).contains(&month).then(|| (month, rest.strip_prefix('份').unwrap_or(rest)))
}

/// The day after a month, if there is one.
fn chinese_day(text: &str, month: u32) -> (Option<u32>, &str) {
    let day = leading_number(text.trim_start(), LONGEST_DAY).and_then(|(day, rest)| {
        let rest = behind(rest, &['日', '号'])?;
        is_day(day, month).then_some((day, rest))
    });
    day.map_or((None, text), |(day, rest)| (Some(day), rest))
}

/// `2025-04-22`, `2025/4/22`, `2025.4.22`, `2025-04`, `2025/4`, in digits of either width.
fn in_digits(text: &str) -> Option<(Vec<String>, &str)> {
    let (year, rest) = year(text)?;
    let separator = rest.chars().next().filter(|c| matches!(narrow(*c), '-' | '/' | '.'))?;
    let rest = rest.strip_prefix(separator)?;
    let (month, after_month) = one_or_two_digits(rest)?;
    if !(1..=12).contains(&month) {
        return None;
    }
    let day = after_month.strip_prefix(separator).and_then(one_or_two_digits);
    if let Some((day, rest)) = day.filter(|(day, rest)| is_day(*day, month) && ends(rest)) {
        return Some((terms(Some(year), month, Some(day)), rest));
    }
    // 2025.4 may also be a number, 2025-4 a range.
    let is_month = match narrow(separator) {
        '-' => rest.chars().take_while(|c| narrow(*c).is_ascii_digit()).count() == 2,
        other => other == '/',
    };
    (is_month && ends(after_month)).then(|| (terms(Some(year), month, None), after_month))
}

/// `22 April 2025`, `22nd of April, 2025`.
fn day_first(text: &str) -> Option<(Vec<String>, &str)> {
    let (day, rest) = one_or_two_digits(text)?;
    let rest = without_ending(rest);
    let rest = after_gap(rest).unwrap_or(rest);
    let rest = match word(rest) {
        (of, rest) if of == "of" => after_gap(rest)?,
        _ => rest,
    };
    let (month, rest) = english_month(rest)?;
    let (year, rest) = year(after_gap(rest)?)?;
    (is_day(day, month) && ends(rest)).then(|| (terms(Some(year), month, Some(day)), rest))
}

/// `April 22, 2025`, `April 2025`.
fn month_first(text: &str) -> Option<(Vec<String>, &str)> {
    let (month, rest) = english_month(text)?;
    let rest = after_gap(rest)?;
    if let Some((year, rest)) = year(rest).filter(|(_, rest)| ends(rest)) {
        return Some((terms(Some(year), month, None), rest));
    }
    let (day, rest) = one_or_two_digits(rest)?;
    let (year, rest) = year(after_gap(without_ending(rest))?)?;
    (is_day(day, month) && ends(rest)).then(|| (terms(Some(year), month, Some(day)), rest))
}

fn english_month(text: &str) -> Option<(u32, &str)> {
    let (name, rest) = word(text);
    let is_short = name.len() == 3 || name == "sept";
    let rest = if is_short { rest.strip_prefix('.').unwrap_or(rest) } else { rest };
    Some((month_named(&name)?, rest))
}

/// The number of the month with this English name, in full or in three letters, in any case; also
/// accepts `sept`.
pub fn month_named(name: &str) -> Option<u32> {
    let name = name.to_ascii_lowercase();
    let is_short = name.len() == 3 || name == "sept";
    let at = MONTHS
        .iter()
        .position(|month| *month == name || (is_short && month.starts_with(name.as_str())))?;
    Some(at as u32 + 1)
}

/// The letters that a text begins with, in lower case, and the rest.
fn word(text: &str) -> (String, &str) {
    let end = text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (word, rest) = text.split_at_checked(end).unwrap_or((text, ""));
    (word.to_ascii_lowercase(), rest)
}

/// The text after a gap: spaces on the same line, with a comma or a hyphen allowed. `None` if there
/// is no gap.
fn after_gap(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches([' ', ',', '-', '\u{a0}']);
    (rest.len() < text.len() && text.len() <= rest.len() + 3).then_some(rest)
}

/// Removes the ending of 1st, 22nd.
fn without_ending(text: &str) -> &str {
    let ends = ["st", "nd", "rd", "th"].iter().find_map(|ending| text.strip_prefix(ending));
    ends.unwrap_or(text)
}

/// Four digits in one script.
fn year(text: &str) -> Option<(u32, &str)> {
    let signs = text.chars().take_while(|c| digit(*c).is_some()).count();
    let (year, rest) = leading_number(text, 4)?;
    (signs == 4 && (1000..3000).contains(&year)).then_some((year, rest))
}

fn one_or_two_digits(text: &str) -> Option<(u32, &str)> {
    let signs = text.chars().take_while(|c| narrow(*c).is_ascii_digit()).count();
    if (1..=2).contains(&signs) { leading_number(text, signs) } else { None }
}

/// The text after one of these characters; spaces before the character are skipped.
fn behind<'a>(text: &'a str, names: &[char]) -> Option<&'a str> {
    text.trim_start().strip_prefix(names)
}

fn is_day(day: u32, month: u32) -> bool {
    let most = DAYS.get(month.saturating_sub(1) as usize);
    most.is_some_and(|most| (1..=*most).contains(&day))
}

/// Whether a date may end before this text. An identifier or a fraction would continue it; a time
/// of day may follow.
fn ends(text: &str) -> bool {
    let mut next = text.chars().map(narrow);
    match next.next() {
        Some('T') => next.next().is_some_and(|c| c.is_ascii_digit()),
        Some('-' | '/' | '.') => next.next().is_none_or(|c| !c.is_ascii_digit()),
        Some(c) => !c.is_ascii_alphanumeric(),
        None => true,
    }
}

fn terms(year: Option<u32>, month: u32, day: Option<u32>) -> Vec<String> {
    let mut terms = Vec::new();
    if let Some(year) = year {
        terms.extend(day.map(|day| format!("{year}-{month:02}-{day:02}")));
        terms.push(format!("{year}-{month:02}"));
        terms.push(year.to_string());
    }
    terms.extend(MONTHS.get(month.saturating_sub(1) as usize).map(|name| (*name).to_owned()));
    terms.extend(day.map(|day| day.to_string()));
    // 2011-12 may also mean a season of two years, which `2011–12` searches for.
    if day.is_none() && year.is_some_and(|year| (year + 1) % 100 == month) {
        terms.push(format!("{month:02}"));
    }
    terms
}
