//! Defines functions for statements over typed tables, besides those of SQLite.

use std::collections::BinaryHeap;

use pikerag_knowledge::PlanRow;
use rusqlite::functions::{Aggregate, Context, FunctionFlags};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error};

/// The most numbers that a median is computed from: eight bytes each.
const MOST_MEDIAN: usize = 20_000_000;

/// Adds to a connection `contains(text, words)`, `is_date(text)`, `median(number)` and
/// `first_rows(row)`. The last gives the numbers of a group's first rows, by which their places are
/// found.
pub(in crate::sqlite) fn add(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_INNOCUOUS;
    connection.create_scalar_function("contains", 2, flags, |context| {
        let (ValueRef::Text(text), ValueRef::Text(words)) =
            (context.get_raw(0), context.get_raw(1))
        else {
            return Ok(false);
        };
        Ok(contains(&String::from_utf8_lossy(text), &String::from_utf8_lossy(words)))
    })?;
    connection.create_scalar_function("is_date", 1, flags, |context| {
        Ok(context.get_raw(0).as_str().is_ok_and(is_date))
    })?;
    connection.create_aggregate_function("median", 1, flags, Median)?;
    connection.create_aggregate_function("first_rows", 1, flags, FirstRows)
}

/// Whether a text contains words, in any case.
pub(super) fn contains(text: &str, words: &str) -> bool {
    match text.is_ascii() && words.is_ascii() {
        true => {
            let (text, words) = (text.as_bytes(), words.as_bytes());
            words.is_empty()
                || text.windows(words.len()).any(|part| part.eq_ignore_ascii_case(words))
        }
        false => text.to_lowercase().contains(&words.to_lowercase()),
    }
}

/// Whether a text is a stored date or period: `2013`, `2013-Q3`, `2013-07`, `2013-07-05`,
/// `2013-07-05 14:30:00`.
pub(super) fn is_date(text: &str) -> bool {
    const FORM: &[u8] = b"0000-00-00 00:00:00";
    if let Some((year, quarter)) = text.split_once("-Q") {
        let is_year = year.len() == 4 && year.bytes().all(|byte| byte.is_ascii_digit());
        return is_year && matches!(quarter, "1" | "2" | "3" | "4");
    }
    let fits = text.bytes().zip(FORM).all(|(byte, form)| match form {
        b'0' => byte.is_ascii_digit(),
        form => byte == *form,
    });
    fits && matches!(text.len(), 4 | 7 | 10 | 16 | 19)
}

struct Median;

impl Aggregate<Vec<f64>, Option<f64>> for Median {
    fn init(&self, _: &mut Context<'_>) -> rusqlite::Result<Vec<f64>> {
        Ok(Vec::new())
    }

    fn step(&self, context: &mut Context<'_>, numbers: &mut Vec<f64>) -> rusqlite::Result<()> {
        let number = match context.get_raw(0) {
            ValueRef::Integer(number) => number as f64,
            ValueRef::Real(number) => number,
            _ => return Ok(()),
        };
        if MOST_MEDIAN <= numbers.len() {
            return Err(Error::UserFunctionError("too many numbers for a median".into()));
        }
        numbers.push(number);
        Ok(())
    }

    fn finalize(
        &self,
        _: &mut Context<'_>,
        numbers: Option<Vec<f64>>,
    ) -> rusqlite::Result<Option<f64>> {
        Ok(numbers.and_then(|mut numbers| median(&mut numbers)))
    }
}

fn median(numbers: &mut [f64]) -> Option<f64> {
    let (middle, is_even) = (numbers.len() / 2, numbers.len().is_multiple_of(2));
    if numbers.is_empty() {
        return None;
    }
    let (below, upper, _) = numbers.select_nth_unstable_by(middle, f64::total_cmp);
    let lower = below.iter().copied().max_by(f64::total_cmp).filter(|_| is_even);
    Some(lower.map_or(*upper, |lower| f64::midpoint(lower, *upper)))
}

/// Collects the least numbers of rows, in order, as eight bytes each.
struct FirstRows;

impl Aggregate<BinaryHeap<i64>, Vec<u8>> for FirstRows {
    fn init(&self, _: &mut Context<'_>) -> rusqlite::Result<BinaryHeap<i64>> {
        Ok(BinaryHeap::new())
    }

    fn step(&self, context: &mut Context<'_>, rows: &mut BinaryHeap<i64>) -> rusqlite::Result<()> {
        let row = context.get(0)?;
        if rows.len() < PlanRow::MOST_ORIGINS {
            rows.push(row);
        } else if let Some(mut last) = rows.peek_mut()
            && row < *last
        {
            *last = row;
        }
        Ok(())
    }

    fn finalize(
        &self,
        _: &mut Context<'_>,
        rows: Option<BinaryHeap<i64>>,
    ) -> rusqlite::Result<Vec<u8>> {
        let rows = rows.unwrap_or_default().into_sorted_vec();
        Ok(rows.into_iter().flat_map(i64::to_le_bytes).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_any_case() {
        assert!(contains("The Big Crane", "big c"));
        assert!(contains("ÄPFEL und Birnen", "äpfel"));
        assert!(contains("数控车床", "车床"));
        assert!(contains("x", ""));
        assert!(!contains("crane", "cranes"));
    }

    #[test]
    fn dates_are_recognized_by_their_form() {
        for date in
            ["2013", "2013-Q3", "2013-07", "2013-07-05", "2013-07-05 14:30", "2013-07-05 14:30:00"]
        {
            assert!(is_date(date), "{date}");
        }
        for other in [
            "",
            "201",
            "2013-Q5",
            "2013-7",
            "2013-07-05 14",
            "unknown",
            "2013 or so",
            "2013-07-05T14:30",
        ] {
            assert!(!is_date(other), "{other}");
        }
    }

    #[test]
    fn a_median_of_an_even_number_is_the_mean_of_the_middle_two() {
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&mut [4.0, 1.0, 2.0, 9.0]), Some(3.0));
        assert_eq!(median(&mut []), None);
    }
}
