//! Completes dates that passages give without a year: `9 January` in *Incidents, January to March 2025*.

use std::collections::BTreeSet;

use jiff::civil::Date;
use pikerag_knowledge::records::{Field, FieldType};
use pikerag_knowledge::{Chunk, Value};
use pikerag_language::periods::stretches;
use pikerag_language::{chinese_number, is_numeral, month_named, narrow};

/// The years that a document can mean where it names none.
const YEARS: std::ops::Range<i16> = 1900..2100;

const YEAR_DIGITS: usize = 4;

/// The time that a chunk is about.
pub(super) struct About {
    year: i16,
    /// The last day of the period that its title names; it cannot tell of what came later.
    until: Option<String>,
}

impl About {
    /// By the title, with its headings; else by the text. `None` where these name no year, or several.
    pub(super) fn of(chunk: &Chunk) -> Option<Self> {
        let title = chunk.full_title();
        if let Some(year) = only_year(&title) {
            let (periods, _) = stretches(&title);
            let until = periods.iter().filter_map(|period| period.to.clone()).max();
            return Some(Self { year, until });
        }
        if !years(&title).is_empty() {
            return None;
        }
        // `2000 litres` is no year: in a text, a bare number does not count.
        let (periods, _) = stretches(&chunk.text);
        let dated: Vec<&str> = periods
            .iter()
            .map(|period| period.shown.as_str())
            .filter(|shown| YEAR_DIGITS < shown.len())
            .collect();
        let year = only_year(&dated.join(" "))?;
        let is_only = years(&chunk.text).iter().all(|other| *other == year);
        is_only.then_some(Self { year, until: None })
    }

    /// The date that a text without a year gives: in the year of the document, or the one before if the document could
    /// not tell of it yet.
    pub(super) fn date(&self, field: &Field, raw: &str) -> Option<Value> {
        if field.kind != FieldType::Date || !years(raw).is_empty() {
            return None;
        }
        let day = month_and_day(raw)?;
        let date = Self::in_year(self.year, day)?.to_string();
        let is_later = self.until.as_ref().is_some_and(|until| *until < date);
        let date = if is_later { Self::in_year(self.year - 1, day)?.to_string() } else { date };
        Some(Value::Date(date))
    }

    fn in_year(year: i16, (month, day): (i8, i8)) -> Option<Date> {
        Date::new(year, month, day).ok()
    }
}

/// Whether a chunk and its title have the year, the month and the day of a whole date, in different places: a model may write out
/// `the 24th` below *October 2025*.
pub(super) fn has_parts_of_date(chunk: &Chunk, raw: &str) -> bool {
    let Ok(date) = raw.trim().parse::<Date>() else { return false };
    let text = format!("{}\n{}", chunk.full_title(), chunk.text).to_lowercase();
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).collect();
    let (month, day) = (date.month(), date.day());
    let has_month =
        words.iter().any(|word| 3 <= word.len() && month_named(word) == u32::try_from(month).ok())
            || numbers_before(&text, &['月']).contains(&month);
    let has_day = words.iter().any(|word| day_of_month(word) == Some(day))
        || numbers_before(&text, &['日', '号']).contains(&day);
    years(&text).contains(&date.year()) && has_month && has_day
}

/// The numbers, in digits or numerals, that stand directly before one of these characters.
fn numbers_before(text: &str, ends: &[char]) -> BTreeSet<i8> {
    let parts = text.split_inclusive(ends).filter_map(|part| part.strip_suffix(ends));
    parts.filter_map(last_number).collect()
}

/// The month and the day that a text gives somewhere: `the night of 5 April`, `the second of May`, 三月中旬的12日, 元月六日凌晨.
fn month_and_day(text: &str) -> Option<(i8, i8)> {
    if text.contains('月') {
        return chinese(text);
    }
    let lower = text.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let at = words.iter().position(|word| 3 <= word.len() && month_named(word).is_some())?;
    let month = words.get(at).and_then(|word| month_named(word))?;
    // `5 April`, `second of May`, `April 5th`; a number farther away counts something else.
    let before =
        [at.checked_sub(1), at.checked_sub(2).filter(|_| words.get(at - 1) == Some(&"of"))];
    let places = before.into_iter().flatten().chain([at + 1]);
    let day = places.filter_map(|at| words.get(at)).find_map(|word| day_of_month(word))?;
    Some((i8::try_from(month).ok()?, day))
}

/// `5`, `5th`, `fifth`.
fn day_of_month(word: &str) -> Option<i8> {
    const ORDINALS: [&str; 19] = [
        "first",
        "second",
        "third",
        "fourth",
        "fifth",
        "sixth",
        "seventh",
        "eighth",
        "ninth",
        "tenth",
        "eleventh",
        "twelfth",
        "thirteenth",
        "fourteenth",
        "fifteenth",
        "sixteenth",
        "seventeenth",
        "eighteenth",
        "nineteenth",
    ];
    let digits =
        ["st", "nd", "rd", "th"].iter().find_map(|end| word.strip_suffix(end)).unwrap_or(word);
    let day: Option<usize> = match digits.parse::<usize>() {
        Ok(day) => Some(day),
        Err(_) if word == "twentieth" => Some(20),
        Err(_) if word == "thirtieth" => Some(30),
        Err(_) => ORDINALS.iter().position(|known| *known == word).map(|at| at + 1),
    };
    day.filter(|day| (1..=31).contains(day)).and_then(|day| i8::try_from(day).ok())
}

fn chinese(text: &str) -> Option<(i8, i8)> {
    let (before, behind) = text.split_once('月')?;
    let end = behind.find(['日', '号'])?;
    let month = if before.ends_with('元') { 1 } else { last_number(before)? };
    Some((month, last_number(behind.get(..end)?)?))
}

/// The number, in digits or numerals, that a text ends with.
fn last_number(text: &str) -> Option<i8> {
    let signs: Vec<char> = text.chars().rev().take_while(|c| is_numeral(*c)).map(narrow).collect();
    let signs: String = signs.into_iter().rev().collect();
    signs.parse().ok().or_else(|| i8::try_from(chinese_number(&signs)?).ok())
}

/// The year of a text that names one only.
fn only_year(text: &str) -> Option<i16> {
    let years = years(text);
    years.first().copied().filter(|_| years.len() == 1)
}

fn years(text: &str) -> BTreeSet<i16> {
    let numbers =
        text.split(|c: char| !c.is_ascii_digit()).filter(|digits| digits.len() == YEAR_DIGITS);
    numbers.filter_map(|digits| digits.parse().ok()).filter(|year| YEARS.contains(year)).collect()
}

#[cfg(test)]
mod tests {
    use pikerag_knowledge::records::DayOrder;

    use super::*;
    use crate::read::tests::chunk_below;

    /// The day that a passage below this title gives.
    fn day(title: &str, text: &str, raw: &str) -> String {
        let (kind, order) = (FieldType::Date, DayOrder::Dmy);
        let (columns, same) = (Vec::new(), Vec::new());
        let field = Field { name: "day".to_owned(), kind, columns, order, same };
        let about = About::of(&chunk_below(title, text));
        let date = about.and_then(|about| about.date(&field, raw));
        date.map_or_else(|| "-".to_owned(), |date| date.to_string())
    }

    #[test]
    fn a_date_without_a_year_is_in_the_year_of_its_document() {
        let title = "Incidents, January to March 2025";
        assert_eq!(day(title, "", "9 January"), "2025-01-09");
        assert_eq!(day(title, "", "March 3rd"), "2025-03-03");
        assert_eq!(day(title, "", "the second of March"), "2025-03-02");
        assert_eq!(day(title, "", "the night of 5 January"), "2025-01-05");
        assert_eq!(day(title, "", "midwinter, 21 January"), "2025-01-21");
        assert_eq!(day("2025年一季度抢修通报", "", "1月14日"), "2025-01-14");
        assert_eq!(day("2025年一季度抢修通报", "", "元月六日凌晨"), "2025-01-06");
        assert_eq!(day("2025年一季度抢修通报", "", "三月中旬的12日"), "2025-03-12");
        assert_eq!(day("2025年全年抢修通报", "", "十一月十六日"), "2025-11-16");
        assert_eq!(day("2025年全年抢修通报", "", "白露这天（9月7日）"), "2025-09-07");
        assert_eq!(day("2025年第二季度抢修通报", "", "5月15日（星期四）"), "2025-05-15");
        assert_eq!(day("Report", "Written on 31 October 2025.", "3 September"), "2025-09-03");
    }

    #[test]
    fn a_document_does_not_tell_of_what_comes_later() {
        assert_eq!(day("Newsletter, January 2026", "", "18 December"), "2025-12-18");
        assert_eq!(day("Minutes of 10 December 2025", "", "9 December"), "2025-12-09");
    }

    #[test]
    fn the_parts_of_a_date_may_be_apart() {
        let has = |title: &str, text: &str, raw| has_parts_of_date(&chunk_below(title, text), raw);
        let text = "On 10 October Birch lost a pump; on the 24th it was Elm's turn.";
        assert!(has("Incidents 2025", text, "2025-10-24"));
        assert!(has("2025年十月抢修通报", "24日又爆一处。", "2025-10-24"));
        assert!(!has("Incidents 2025", text, "2025-10-25"), "no such day");
        assert!(!has("Incidents 2025", text, "2025-11-24"), "no such month");
        assert!(!has("Incidents 2025", text, "2024-10-24"), "no such year");
        assert!(!has("Incidents 2025", text, "the 24th"));
    }

    #[test]
    fn no_year_is_guessed() {
        assert_eq!(day("Incidents", "It failed on 9 January.", "9 January"), "-");
        assert_eq!(day("Incidents 2024 and 2025", "", "9 January"), "-");
        assert_eq!(day("Incidents", "In 2024 and in 2025.", "9 January"), "-");
        assert_eq!(day("Incidents", "It lost 2000 litres on 9 January.", "9 January"), "-");
        assert_eq!(day("Incidents 2025", "", "the 9th"), "-");
        assert_eq!(day("Incidents 2025", "", "January"), "-");
        assert_eq!(day("Incidents 2025", "", "31 February"), "-");
        assert_eq!(day("Incidents 2025", "", "three pumps in May"), "-");
        assert_eq!(day("2025年通报", "", "1月中旬"), "-");
        assert_eq!(day("2025年通报", "", "三天前"), "-");
        assert_eq!(day("Incidents 2025", "", "9 January 2024"), "-", "it has a year");
    }
}
