//! Reads the day, month or year at the beginning of a text.

use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Names of metadata with the document's date, the most reliable first.
pub const DATE_NAMES: [&str; 14] = [
    "date",
    "published",
    "published_at",
    "publication_date",
    "issued",
    "日期",
    "发布日期",
    "公布日期",
    "revdate",
    "created",
    "created_at",
    "modified",
    "updated",
    "year",
];

/// The date of a document: the first of [`DATE_NAMES`] that contains one.
pub fn document_date(metadata: &BTreeMap<String, String>) -> Option<String> {
    DATE_NAMES.iter().find_map(|name| date_in(metadata.get(*name)?))
}

/// The date at the beginning of a text, by ISO 8601 and as precise as the text: `2020-01-05`,
/// `2020/1/5`, `20200105`, `2020-01`, `2020年1月5日`, `2020`. `None` if there is none.
pub fn date_in(text: &str) -> Option<String> {
    let text = text.trim();
    let digits = text.chars().take_while(char::is_ascii_digit).count();
    if digits == 8 && text.len() == 8 {
        let (year, rest) = text.split_at_checked(4)?;
        let (month, day) = rest.split_at_checked(2)?;
        return Some(written(year, part(month, 12), part(day, 31)));
    }
    if digits != 4 {
        return None;
    }
    let (year, rest) = text.split_at_checked(4)?;
    let Some(rest) = rest.strip_prefix(['-', '/', '.', '年']) else {
        return rest.is_empty().then(|| year.to_owned());
    };
    let (month, rest) = leading(rest);
    let day = rest.strip_prefix(['-', '/', '.', '月']).map(leading).map(|(day, _)| day);
    Some(written(year, part(month, 12), day.and_then(|day| part(day, 31))))
}

/// The leading digits of a text, and the rest.
fn leading(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

fn part(digits: &str, most: u8) -> Option<u8> {
    digits.parse::<u8>().ok().filter(|part| (1..=most).contains(part))
}

fn written(year: &str, month: Option<u8>, day: Option<u8>) -> String {
    match (month, day) {
        (Some(month), Some(day)) => format!("{year}-{month:02}-{day:02}"),
        (Some(month), None) => format!("{year}-{month:02}"),
        (None, _) => year.to_owned(),
    }
}

/// Compares two ISO 8601 dates at the precision of the less precise one.
pub(super) fn compare(one: &str, other: &str) -> Ordering {
    let length = one.len().min(other.len());
    one.get(..length).cmp(&other.get(..length))
}
