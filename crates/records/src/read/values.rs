//! Reads a cell as a value of its field's type: numbers with thousands separators and units, or in words, dates in
//! common spellings, yes and no; in English and Chinese.

use jiff::civil;
use pikerag_knowledge::Value;
use pikerag_knowledge::records::{DayOrder, Field, FieldType, Quantity};
use pikerag_language::{
    bare_unit, chinese_digit, chinese_number, month_named, quantity, written_out,
};

/// The most bytes of a number, date or truth value.
const LONGEST: usize = 80;

/// Reads a cell; `None` if it has no value of the field's type.
pub(crate) fn read(field: &Field, raw: &str) -> Option<Value> {
    let raw = raw.trim();
    if raw.is_empty() || (LONGEST < raw.len() && field.kind != FieldType::Text) {
        return None;
    }
    match field.kind {
        FieldType::Text => Some(Value::Text(raw.split_whitespace().collect::<Vec<_>>().join(" "))),
        FieldType::Number => {
            let raw = narrow(raw);
            let read = quantity(&raw).or_else(|| written_out(&raw));
            read.map(|(amount, unit)| {
                let unit = unit.and_then(|unit| bare_unit(&unit));
                Value::Number(Quantity { amount, unit })
            })
        }
        FieldType::Date => date(&narrow(raw), field.order).map(Value::Date),
        FieldType::Bool => truth(raw).map(Value::Bool),
    }
}

/// Replaces full-width characters by narrow ones, and white space by spaces.
fn narrow(text: &str) -> String {
    let narrow = |c: char| match c {
        c if c.is_whitespace() => ' ',
        '−' => '-',
        c => pikerag_language::narrow(c),
    };
    text.chars().map(narrow).collect()
}

fn truth(raw: &str) -> Option<bool> {
    const YES: [&str; 10] = ["true", "yes", "y", "t", "1", "是", "有", "对", "✓", "✔"];
    const NO: [&str; 10] = ["false", "no", "n", "f", "0", "否", "无", "没有", "✗", "✘"];
    let word = raw.to_lowercase();
    if YES.contains(&word.as_str()) {
        return Some(true);
    }
    NO.contains(&word.as_str()).then_some(false)
}

/// A day, month or year in ISO 8601.
fn date(text: &str, order: DayOrder) -> Option<String> {
    let text = chinese_digits(without_time(text.trim()));
    let mut numbers: Vec<&str> = Vec::new();
    let mut month = None;
    let mut separator = None;
    let mut rest = text.as_str();
    while let Some(first) = rest.chars().next() {
        let alike = |c: char| {
            if first.is_ascii_digit() { c.is_ascii_digit() } else { c.is_alphabetic() }
        };
        let end = rest.find(|c| !alike(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end.max(first.len_utf8()));
        rest = after;
        if first.is_ascii_digit() {
            numbers.push(word);
        } else if first.is_alphabetic() {
            match month_named(word).and_then(|month| i8::try_from(month).ok()) {
                Some(found) if month.is_none() => month = Some(found),
                _ if is_filler(word) => {}
                _ => return None,
            }
        } else if matches!(first, '-' | '/' | '.' | ',' | ' ' | '–') {
            separator.get_or_insert(first);
        } else {
            return None;
        }
    }
    let parts = match month {
        Some(month) => with_named_month(&numbers, month),
        None => from_numbers(&numbers, order, separator),
    };
    let (year, month, day) = parts?;
    let whole = civil::Date::new(year, month.unwrap_or(1), day.unwrap_or(1)).ok()?;
    Some(match (month, day) {
        (Some(_), Some(_)) => whole.to_string(),
        (Some(month), None) => format!("{year:04}-{month:02}"),
        _ => format!("{year:04}"),
    })
}

type Parts = (i16, Option<i8>, Option<i8>);

fn with_named_month(numbers: &[&str], month: i8) -> Option<Parts> {
    match numbers {
        [year] if year.len() == 4 => Some((year.parse().ok()?, Some(month), None)),
        [year, day] if 2 < year.len() => {
            Some((year_of(year)?, Some(month), Some(day.parse().ok()?)))
        }
        [day, year] => Some((year_of(year)?, Some(month), Some(day.parse().ok()?))),
        _ => None,
    }
}

fn from_numbers(numbers: &[&str], order: DayOrder, separator: Option<char>) -> Option<Parts> {
    match numbers {
        [whole] if whole.len() == 8 => {
            let part = |range| whole.get(range);
            let (year, month, day) = (part(0..4)?, part(4..6)?, part(6..8)?);
            Some((year_of(year)?, Some(month.parse().ok()?), Some(day.parse().ok()?)))
        }
        [year] if year.len() == 4 => Some((year_of(year)?, None, None)),
        [year, month] if year.len() == 4 => Some((year_of(year)?, Some(month.parse().ok()?), None)),
        [month, year] if year.len() == 4 => Some((year_of(year)?, Some(month.parse().ok()?), None)),
        [year, month, day] if year.len() == 4 => {
            Some((year_of(year)?, Some(month.parse().ok()?), Some(day.parse().ok()?)))
        }
        [a, b, year] => {
            let (year, a, b): (i16, i8, i8) = (year_of(year)?, a.parse().ok()?, b.parse().ok()?);
            // A number above 12 is a day; a date with dots, such as `31.12.2010`, has the day first in
            // every order.
            let day_first = match (12 < a, 12 < b) {
                (true, _) => true,
                (_, true) => false,
                _ => separator == Some('.') || order == DayOrder::Dmy,
            };
            let (day, month) = if day_first { (a, b) } else { (b, a) };
            Some((year, Some(month), Some(day)))
        }
        _ => None,
    }
}

/// A year of four digits, or of two, of which 00 to 68 are in this century, as in POSIX.
fn year_of(digits: &str) -> Option<i16> {
    let year: i16 = digits.parse().ok()?;
    match digits.len() {
        4 if 1000 <= year => Some(year),
        2 => Some(if year <= 68 { 2000 + year } else { 1900 + year }),
        _ => None,
    }
}

/// Whether a word may be in a date without a meaning for it.
fn is_filler(word: &str) -> bool {
    const FILLERS: [&str; 19] = [
        "of", "the", "st", "nd", "rd", "th", "on", "mon", "tue", "wed", "thu", "fri", "sat", "sun",
        "年", "月", "日", "号", "星期",
    ];
    let word = word.to_lowercase();
    FILLERS.contains(&word.as_str()) || word.ends_with("day")
}

/// A date without the time of day that follows it.
fn without_time(text: &str) -> &str {
    let Some(colon) = text.find(':') else { return text };
    let before = text.get(..colon).unwrap_or_default();
    before.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches(['T', 't', ' ', ','])
}

/// `二〇一〇年十二月三十一日` with digits in place of numerals.
fn chinese_digits(text: &str) -> String {
    if !text.contains('年') || text.chars().any(|c| c.is_ascii_digit()) {
        return text.to_owned();
    }
    let mut written = String::new();
    let mut numeral = String::new();
    for c in text.chars() {
        if "〇零一二三四五六七八九十".contains(c) {
            numeral.push(c);
            continue;
        }
        if !numeral.is_empty() {
            let digits = match numeral.contains('十') {
                true => chinese_number(&numeral).unwrap_or_default().to_string(),
                false => numeral.chars().filter_map(chinese_digit).map(|d| d.to_string()).collect(),
            };
            written.push_str(&digits);
            numeral.clear();
        }
        written.push(c);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(kind: FieldType, raw: &str) -> String {
        let order = if raw.ends_with(" dmy") { DayOrder::Dmy } else { DayOrder::Mdy };
        let field =
            Field { name: "x".to_owned(), kind, columns: Vec::new(), order, same: Vec::new() };
        let raw = raw.trim_end_matches(" dmy");
        read(&field, raw).map_or_else(|| "-".to_owned(), |value| value.to_string())
    }

    fn all(kind: FieldType, list: &[&str]) -> String {
        let lines: Vec<String> =
            list.iter().map(|raw| format!("{raw} -> {}", shown(kind, raw))).collect();
        lines.join("\n")
    }

    #[test]
    fn dates() {
        let list = [
            "2010-12-31",
            "2010/1/2",
            "12/31/2010",
            "31/12/2010",
            "3/4/2010",
            "3/4/2010 dmy",
            "03.04.2010",
            "12/23/19",
            "23-Dec-19",
            "31 December 2010",
            "Dec. 31, 2010",
            "Friday, the 31st of December, 2010",
            "Sept 2010",
            "2010-12",
            "2010",
            "20101231",
            "2010年12月31日",
            "２０１０年１２月",
            "二〇一〇年十二月三十一日",
            "2010-12-31T23:59:00Z",
            "2010-12-31 08:15",
            "2010-02-30",
            "31/31/2010",
            "soon",
            "2010-12-31 or later",
            "12",
            "May 1",
            "",
        ];
        insta::assert_snapshot!(all(FieldType::Date, &list), @r"
        2010-12-31 -> 2010-12-31
        2010/1/2 -> 2010-01-02
        12/31/2010 -> 2010-12-31
        31/12/2010 -> 2010-12-31
        3/4/2010 -> 2010-03-04
        3/4/2010 dmy -> 2010-04-03
        03.04.2010 -> 2010-04-03
        12/23/19 -> 2019-12-23
        23-Dec-19 -> 2019-12-23
        31 December 2010 -> 2010-12-31
        Dec. 31, 2010 -> 2010-12-31
        Friday, the 31st of December, 2010 -> 2010-12-31
        Sept 2010 -> 2010-09
        2010-12 -> 2010-12
        2010 -> 2010
        20101231 -> 2010-12-31
        2010年12月31日 -> 2010-12-31
        ２０１０年１２月 -> 2010-12
        二〇一〇年十二月三十一日 -> 2010-12-31
        2010-12-31T23:59:00Z -> 2010-12-31
        2010-12-31 08:15 -> 2010-12-31
        2010-02-30 -> -
        31/31/2010 -> -
        soon -> -
        2010-12-31 or later -> -
        12 -> -
        May 1 -> -
         -> -
        ");
    }

    #[test]
    fn numbers() {
        let list = [
            "42",
            "1,234",
            "1,234.5",
            "1.234,5",
            "1 234 567",
            "1,23",
            "-5 %",
            "(300)",
            "$5.20",
            "US$ 3.2 million",
            "12 kg",
            "5 metres",
            "3.5亿元",
            "１２３",
            "1.5e3",
            "12/23/19",
            "NCT0282",
            "5-10",
            "1,2345",
            "about 5",
            "1e999",
            "7.",
            "12,5 km/h",
            "€1.000.000",
        ];
        insta::assert_snapshot!(all(FieldType::Number, &list), @r"
        42 -> 42
        1,234 -> 1234
        1,234.5 -> 1234.5
        1.234,5 -> 1234.5
        1 234 567 -> 1234567
        1,23 -> 1.23
        -5 % -> -5 %
        (300) -> -300
        $5.20 -> 5.2 $
        US$ 3.2 million -> 3200000 US$
        12 kg -> 12 kg
        5 metres -> 5 metres
        3.5亿元 -> 350000000 元
        １２３ -> 123
        1.5e3 -> 1500
        12/23/19 -> -
        NCT0282 -> -
        5-10 -> -
        1,2345 -> 1.2345
        about 5 -> -
        1e999 -> -
        7. -> 7
        12,5 km/h -> 12.5 km/h
        €1.000.000 -> 1000000 €
        ");
    }

    #[test]
    fn truth_values() {
        insta::assert_snapshot!(all(FieldType::Bool, &["TRUE", "no", "是", "0", "maybe"]), @r"
        TRUE -> true
        no -> false
        是 -> true
        0 -> false
        maybe -> -
        ");
    }

    proptest! {
        #[test]
        fn no_cell_panics(raw in "\\PC{0,40}", like in "[0-9./,年月 -]{0,14}") {
            for kind in [FieldType::Text, FieldType::Number, FieldType::Date, FieldType::Bool] {
                shown(kind, &raw);
                shown(kind, &like);
            }
        }
    }
}
