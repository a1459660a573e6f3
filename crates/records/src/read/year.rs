//! Completes dates that passages give without a year: `9 January` in *Incidents, January to March 2025*.

use std::collections::BTreeSet;

use jiff::civil::Date;
use pikerag_knowledge::records::{Field, FieldType};
use pikerag_knowledge::{Chunk, Value};
use pikerag_language::periods::stretches;

use super::values;

/// The years that a document can mean where it names none.
const YEARS: std::ops::Range<i16> = 1900..2100;

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
        let year = only_year(&chunk.text).filter(|_| years(&title).is_empty())?;
        Some(Self { year, until: None })
    }

    /// The date that a text without a year gives: in the year of the document, or the one before if the document could
    /// not tell of it yet.
    pub(super) fn date(&self, field: &Field, raw: &str) -> Option<Value> {
        if field.kind != FieldType::Date || !years(raw).is_empty() {
            return None;
        }
        let date = self.in_year(field, raw, self.year)?;
        match (&date, &self.until) {
            (Value::Date(day), Some(until)) if until < day => {
                self.in_year(field, raw, self.year - 1)
            }
            _ => Some(date),
        }
    }

    fn in_year(&self, field: &Field, raw: &str, year: i16) -> Option<Value> {
        // Without a remark: 5月15日（星期四）.
        let day = raw.split(['(', '（']).next().unwrap_or(raw).trim();
        let whole = match (day.contains('月'), day.chars().any(|c| c.is_ascii_digit())) {
            (true, true) => format!("{year}年{day}"),
            (true, false) => format!("{}年{}", in_numerals(year), day.replace("元月", "一月")),
            (false, _) => format!("{day} {year}"),
        };
        let date = values::read(field, &whole)?;
        // A month and a day: `3` alone would become another date.
        matches!(&date, Value::Date(day) if day.parse::<Date>().is_ok_and(|day| day.year() == year))
            .then_some(date)
    }
}

/// The digits of a year as Chinese numerals: 二〇二五.
fn in_numerals(year: i16) -> String {
    const NUMERALS: [char; 10] = ['〇', '一', '二', '三', '四', '五', '六', '七', '八', '九'];
    let digits = year.to_string();
    let numeral = |c: char| NUMERALS.get(c.to_digit(10)? as usize).copied();
    digits.chars().filter_map(numeral).collect()
}

/// The year of a text that names one only.
fn only_year(text: &str) -> Option<i16> {
    let years = years(text);
    years.first().copied().filter(|_| years.len() == 1)
}

fn years(text: &str) -> BTreeSet<i16> {
    let numbers = text.split(|c: char| !c.is_ascii_digit()).filter(|digits| digits.len() == 4);
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
        assert_eq!(day("2025年一季度抢修通报", "", "1月14日"), "2025-01-14");
        assert_eq!(day("2025年一季度抢修通报", "", "元月六日"), "2025-01-06");
        assert_eq!(day("2025年第二季度抢修通报", "", "5月15日（星期四）"), "2025-05-15");
        assert_eq!(day("Report", "Written on 31 October 2025.", "3 September"), "2025-09-03");
    }

    #[test]
    fn a_document_does_not_tell_of_what_comes_later() {
        assert_eq!(day("Newsletter, January 2026", "", "18 December"), "2025-12-18");
        assert_eq!(day("Minutes of 10 December 2025", "", "9 December"), "2025-12-09");
    }

    #[test]
    fn no_year_is_guessed() {
        assert_eq!(day("Incidents", "It failed on 9 January.", "9 January"), "-");
        assert_eq!(day("Incidents 2024 and 2025", "", "9 January"), "-");
        assert_eq!(day("Incidents", "In 2024 and in 2025.", "9 January"), "-");
        assert_eq!(day("Incidents 2025", "", "the 9th"), "-");
        assert_eq!(day("Incidents 2025", "", "January"), "-");
        assert_eq!(day("Incidents 2025", "", "9 January 2024"), "-", "it has a year");
    }
}
