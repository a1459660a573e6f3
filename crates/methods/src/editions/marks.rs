//! Reads dates and version numbers in names, titles and texts.

use std::fmt;
use std::ops::Range;

use pikerag_language::{is_chinese, month_named, narrow, number, pattern};

/// A date; 0 for an unknown month or day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CalendarDay {
    pub(super) year: u32,
    month: u32,
    day: u32,
}

impl CalendarDay {
    /// The part of the date that the other one has too: `2024-03-01` is `2024` beside `2022`.
    pub(super) fn as_exact_as(self, other: Self) -> Self {
        let month = if other.month == 0 { 0 } else { self.month };
        let day = if month == 0 || other.day == 0 { 0 } else { self.day };
        Self { month, day, ..self }
    }

    /// Whether nothing but the year is known.
    pub(super) fn is_year(self) -> bool {
        self.month == 0
    }
}

/// As `2024-03-01`, `2024-03` or `2024`.
impl fmt::Display for CalendarDay {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self { year, month: 0, .. } => write!(to, "{year}"),
            Self { year, month, day: 0 } => write!(to, "{year}-{month:02}"),
            Self { year, month, day } => write!(to, "{year}-{month:02}-{day:02}"),
        }
    }
}

/// The numbers of a version: `2.1` is `[2, 1]`; a letter is a number from [`LETTERS`] on.
pub(super) type Version = Vec<u32>;

/// The number of the letter `a`, above all numbers that versions are read with.
const LETTERS: u32 = 1000;

/// Whether both versions are numbers, or both letters: *rev. A* is older than *rev. B*, but older or
/// newer than *rev. 1*.
pub(super) fn are_of_one_kind(one: &[u32], other: &[u32]) -> bool {
    let is_letter = |version: &[u32]| version.iter().any(|number| LETTERS <= *number);
    is_letter(one) == is_letter(other)
}

/// A version as people write it: `2.1`, `B`.
pub(super) fn written(version: &[u32]) -> String {
    let part = |number: &u32| match number.checked_sub(LETTERS).and_then(|at| u8::try_from(at).ok())
    {
        Some(at) => char::from(b'A'.saturating_add(at)).to_string(),
        None => number.to_string(),
    };
    version.iter().map(part).collect::<Vec<_>>().join(".")
}

/// A mark, and its place in the text.
pub(super) struct Placed<T> {
    pub(super) at: Range<usize>,
    pub(super) mark: T,
}

pattern!(
    DATE,
    r"(?x)
    \b ((?:19|20)\d\d) (?:\s*[-./年]\s*) (\d{1,2}) (?:\s*[-./月]\s*) (\d{1,2}) \b (?:\s*日)?
    | \b ((?:19|20)\d\d) (0[1-9]|1[0-2]) (0[1-9]|[12]\d|3[01]) \b
    | \b (\d{1,2}) \s* (?:st|nd|rd|th)? \.? \s* (jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?) \b \.? ,? \s* ((?:19|20)\d\d) \b
    | \b (jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?) \b \.? \s* (\d{1,2}) \s* (?:st|nd|rd|th)? ,? \s+ ((?:19|20)\d\d) \b
    | \b (jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?) \b \.? \s* ((?:19|20)\d\d) \b
    | \b ((?:19|20)\d\d) \s* [-.年] \s* (0?[1-9]|1[0-2]) \b (?:\s*月)?
    | \b ((?:19|20)\d\d) \b (?:\s*年)?"
);
pattern!(
    VERSION,
    r"(?x)
    \b (?:version|vers?|revision|rev|edition|v) \b [\s.-]* (?:no\.?|number)? \s* [:=]? \s* (?:v\s*)? (\d{1,3}(?:\.\d{1,3})*) \b
    | \b (\d{1,2}) \s* (?:st|nd|rd|th) [\s-]+ (?:version|edition|revision) \b
    | \b (first|second|third|fourth|fifth) [\s-]+ (?:version|edition|revision) \b
    | 版本 \s* 号? \s* [:：为]? \s* (?:v\s*)? (\d{1,3}(?:\.\d{1,3})*) \b
    | \b (\d{1,3}\.\d{1,3}(?:\.\d{1,3})*) \s* 版
    | 第 \s* (\d{1,2}|[一二三四五六七八九十]{1,3}) \s* (?:版|次修订)
    | \b rev \b [\s.-]* ([a-z]) \b
    | \b revision \s+ ([a-z]) \s* (?:[)\]\n]|$)"
);

/// The text in lower case, with a space between letters, digits and Chinese characters that touch
/// each other, and spaces in place of underscores.
pub(super) fn in_plain_form(text: &str) -> String {
    #[derive(PartialEq)]
    enum Kind {
        Digit,
        Letter,
        Chinese,
    }
    let mut plain = String::with_capacity(text.len() + text.len() / 8);
    let mut before: Option<Kind> = None;
    for letter in text.chars().flat_map(|c| narrow(c).to_lowercase()) {
        let kind = match letter {
            '0'..='9' => Some(Kind::Digit),
            c if is_chinese(c) => Some(Kind::Chinese),
            c if c.is_alphabetic() => Some(Kind::Letter),
            _ => None,
        };
        if kind.is_some() && before.is_some() && kind != before {
            plain.push(' ');
        }
        plain.push(if letter == '_' { ' ' } else { letter });
        before = kind;
    }
    plain
}

/// The dates of a text in plain form, in order.
pub(super) fn dates(text: &str) -> Vec<Placed<CalendarDay>> {
    let mut dates = Vec::new();
    for found in DATE.captures_iter(text) {
        let word = |group: usize| found.get(group).map(|part| part.as_str());
        let value = |group: usize| word(group).and_then(|part| part.parse::<u32>().ok());
        let month = |group: usize| {
            word(group).and_then(|name| month_named(name.get(..3).unwrap_or(name))).unwrap_or(0)
        };
        // The groups of year, month and day in each form.
        let (year, month, day) = match (1..=17).find(|group| found.get(*group).is_some()) {
            Some(1) => (value(1), value(2).unwrap_or(0), value(3).unwrap_or(0)),
            Some(4) => (value(4), value(5).unwrap_or(0), value(6).unwrap_or(0)),
            Some(7) => (value(9), month(8), value(7).unwrap_or(0)),
            Some(10) => (value(12), month(10), value(11).unwrap_or(0)),
            Some(13) => (value(14), month(13), 0),
            Some(15) => (value(15), value(16).unwrap_or(0), 0),
            _ => (value(17), 0, 0),
        };
        if let (Some(whole), Some(year)) = (found.get(0), year)
            && month <= 12
            && day <= 31
        {
            dates.push(Placed { at: whole.range(), mark: CalendarDay { year, month, day } });
        }
    }
    dates
}

/// The versions of a text in plain form, in order.
pub(super) fn versions(text: &str) -> Vec<Placed<Version>> {
    const WORDS: [&str; 5] = ["first", "second", "third", "fourth", "fifth"];
    let mut versions = Vec::new();
    for found in VERSION.captures_iter(text) {
        let Some(whole) = found.get(0) else { continue };
        let Some(written) = (1..=8).find_map(|group| found.get(group)) else { continue };
        let written = written.as_str();
        let mark: Option<Version> = match WORDS.iter().position(|word| *word == written) {
            Some(at) => Some(vec![at as u32 + 1]),
            None => match written.as_bytes() {
                [letter @ b'a'..=b'z'] => Some(vec![LETTERS + u32::from(*letter - b'a')]),
                _ => written.split('.').map(number).collect(),
            },
        };
        if let Some(mark) = mark {
            versions.push(Placed { at: whole.range(), mark });
        }
    }
    versions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_in_each_form() {
        for (text, date) in [
            ("policy-2024-03-01", "2024-03-01"),
            ("policy_20240301", "2024-03-01"),
            ("valid from 1st March 2024", "2024-03-01"),
            ("Sept. 3, 2024", "2024-09-03"),
            ("March 2024", "2024-03"),
            ("自2024年3月1日起", "2024-03-01"),
            ("２０２４年３月", "2024-03"),
            ("policy2024", "2024"),
            ("2023年版", "2023"),
        ] {
            let dates = dates(&in_plain_form(text));
            let dates: Vec<String> = dates.iter().map(|date| date.mark.to_string()).collect();
            assert_eq!(dates, [date], "{text}");
        }
        assert!(dates(&in_plain_form("room 12024, KX-40")).is_empty());
    }

    #[test]
    fn versions_are_read_in_each_form() {
        for (text, version) in [
            ("manual-v2.10", vec![2, 10]),
            ("Version: 3", vec![3]),
            ("rev. 4", vec![4]),
            ("handbook-second-edition", vec![2]),
            ("3rd edition", vec![3]),
            ("价目表V3", vec![3]),
            ("版本号：V2.1", vec![2, 1]),
            ("第十一版", vec![11]),
            ("2.0版", vec![2, 0]),
            ("guide (Rev B)", vec![LETTERS + 1]),
            ("guide revision C", vec![LETTERS + 2]),
        ] {
            let versions = versions(&in_plain_form(text));
            let versions: Vec<Version> = versions.into_iter().map(|found| found.mark).collect();
            assert_eq!(versions, [version], "{text}");
        }
        assert!(versions(&in_plain_form("version 2024, 2023年版, 出版")).is_empty());
        assert!(versions(&in_plain_form("after revision a new list")).is_empty());
        assert_eq!([written(&[2, 1]), written(&[LETTERS + 1])], ["2.1", "B"]);
    }
}
