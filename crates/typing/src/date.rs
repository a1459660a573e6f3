//! Reads the day, month, quarter, year or moment that a cell writes.

use std::fmt;

use jiff::civil;
use pikerag_language::{chinese_number, month_named};

/// The most bytes of a cell that can be a date.
const LONGEST: usize = 48;
/// The years that are read alone or in dates without separators. Other numbers are too often something else.
const PLAIN_YEARS: std::ops::RangeInclusive<i16> = 1000..=2100;
const COMPACT_YEARS: std::ops::RangeInclusive<i16> = 1900..=2100;

/// A day, month, quarter or year, with a time of day or without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Moment {
    year: i16,
    /// The month, or the first month of a quarter, from 1; 0 for a year.
    month: u8,
    /// The day, from 1; 0 for a month, quarter or year.
    day: u8,
    /// The seconds since midnight on the clock of the cell: time zones are not converted.
    pub second: Option<u32>,
    is_quarter: bool,
}

impl Moment {
    fn new(year: i16, month: u8, day: u8) -> Option<Self> {
        let (some_month, some_day) = (i8::try_from(month.max(1)), i8::try_from(day.max(1)));
        civil::Date::new(year, some_month.ok()?, some_day.ok()?).ok()?;
        Some(Self { year, month, day, second: None, is_quarter: false })
    }

    pub(super) fn of_year(year: i16) -> Self {
        Self { year, month: 0, day: 0, second: None, is_quarter: false }
    }

    pub(super) fn at(self, second: Option<u32>) -> Self {
        Self { second, ..self }
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}", self.year)?;
        if self.is_quarter {
            return write!(f, "-Q{}", self.month.div_ceil(3));
        }
        if 0 < self.month {
            write!(f, "-{:02}", self.month)?;
        }
        if 0 < self.day {
            write!(f, "-{:02}", self.day)?;
        }
        if let Some(second) = self.second {
            let (hour, minute) = (second / 3600, second / 60 % 60);
            write!(f, " {hour:02}:{minute:02}:{:02}", second % 60)?;
        }
        Ok(())
    }
}

/// A date as a cell writes it, before the order of days and months in its column is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WrittenDate {
    /// A date with one reading.
    Fixed(Moment),
    /// `2019`
    Year(i16),
    /// `2019年`
    MarkedYear(i16),
    /// `20190305`, `201903`: the same digits can be a number.
    Compact(Moment),
    /// `3/5/2019`, `3.5.2019`
    Slashed(SlashedDate),
}

/// A date whose reading depends on the order of day and month.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SlashedDate {
    pub first: u8,
    pub second: u8,
    year: i16,
    pub time: Option<u32>,
    /// Whether full stops separate its parts.
    pub is_dotted: bool,
}

/// The order of the day and the month.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum DateOrder {
    /// `31/12/2025`
    DayFirst,
    /// `12/31/2025`
    #[default]
    MonthFirst,
}

impl SlashedDate {
    /// The date in this order; `None` if the calendar has no such day.
    pub(super) fn moment(self, order: DateOrder) -> Option<Moment> {
        let (month, day) = match order {
            DateOrder::DayFirst => (self.second, self.first),
            DateOrder::MonthFirst => (self.first, self.second),
        };
        if month == 0 || day == 0 {
            return None;
        }
        Some(Moment::new(self.year, month, day)?.at(self.time))
    }
}

/// The date of a narrowed cell; `None` if the cell holds anything else.
pub(super) fn written_date(cell: &str) -> Option<WrittenDate> {
    let digits = cell.bytes().filter(u8::is_ascii_digit).count();
    if LONGEST < cell.len() || digits < 2 {
        return None;
    }
    if digits == cell.len() {
        return compact(cell);
    }
    if let Some(year) = cell.strip_suffix("年度").or_else(|| cell.strip_suffix('年')) {
        return plain_year(year.trim_end()).map(WrittenDate::MarkedYear);
    }
    if let Some(year) = cell.strip_suffix(".0") {
        return plain_year(year).map(WrittenDate::Year);
    }
    if let Some(quarter) = quarter(cell) {
        return Some(WrittenDate::Fixed(quarter));
    }
    let (date, time) = without_time(cell)?;
    day(date, time)
}

fn plain_year(text: &str) -> Option<i16> {
    let is_year = text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|year| is_year && PLAIN_YEARS.contains(year))
}

/// `2019`, `201903`, `20190305`
fn compact(digits: &str) -> Option<WrittenDate> {
    if digits.len() == 4 {
        return plain_year(digits).map(WrittenDate::Year);
    }
    if digits.len() != 6 && digits.len() != 8 {
        return None;
    }
    let year = digits.get(..4)?.parse().ok().filter(|year| COMPACT_YEARS.contains(year))?;
    let month: u8 = digits.get(4..6)?.parse().ok().filter(|month| *month != 0)?;
    let day: u8 = match digits.get(6..)? {
        "" => 0,
        day => day.parse().ok().filter(|day| *day != 0)?,
    };
    Moment::new(year, month, day).map(WrittenDate::Compact)
}

/// `2019Q3`, `Q3 2019`, `3Q19`, `2019年第三季度`
fn quarter(cell: &str) -> Option<Moment> {
    if !cell.contains(['Q', 'q', '季']) {
        return None;
    }
    let bare: String = cell.chars().filter(|c| !matches!(c, ' ' | '-' | '/' | '.')).collect();
    let (year, quarter) = if bare.contains('季') {
        let bare = bare.strip_suffix('度').unwrap_or(&bare).strip_suffix('季')?;
        let (year, quarter) = bare.split_at_checked(4)?;
        let quarter = quarter.strip_prefix('年').unwrap_or(quarter);
        let quarter = quarter.strip_prefix('第').unwrap_or(quarter);
        let number = chinese_number(quarter).and_then(|quarter| u8::try_from(quarter).ok());
        (year.to_owned(), number.or_else(|| quarter.parse().ok())?)
    } else {
        let bare = bare.to_ascii_uppercase().replace('年', "");
        let (before, behind) = bare.split_once('Q')?;
        match (before.len(), behind.len()) {
            (4, 1) => (before.to_owned(), behind.parse().ok()?),
            (0, 5) => (behind.get(1..)?.to_owned(), behind.get(..1)?.parse().ok()?),
            (1, 4) => (behind.to_owned(), before.parse().ok()?),
            (1, 2) => (format!("20{behind}"), before.parse().ok()?),
            _ => return None,
        }
    };
    let year = plain_year(&year)?;
    let is_quarter = (1..=4).contains(&quarter);
    let first = Moment::new(year, quarter.checked_mul(3)?.checked_sub(2)?, 0)?;
    is_quarter.then_some(Moment { is_quarter, ..first })
}

/// The date of a cell and the second of its day; `None` if the text after a colon is no time.
fn without_time(cell: &str) -> Option<(&str, Option<u32>)> {
    let Some((before, behind)) = cell.split_once(':') else { return Some((cell, None)) };
    let date = before.trim_end_matches(|c: char| c.is_ascii_digit());
    let hour: u32 = before.get(date.len()..)?.parse().ok()?;
    let end = behind.find(|c: char| !c.is_ascii_digit() && c != ':' && c != '.');
    let (clock, zone) = behind.split_at_checked(end.unwrap_or(behind.len()))?;
    let mut parts = clock.split(':');
    let minute: u32 = parts.next()?.parse().ok()?;
    let second: u32 = match parts.next() {
        Some(second) => second.split('.').next()?.parse().ok()?,
        None => 0,
    };
    let hour = match zone.trim().to_ascii_uppercase().as_str() {
        "AM" | "A.M." if (1..=12).contains(&hour) => hour % 12,
        "PM" | "P.M." if (1..=12).contains(&hour) => hour % 12 + 12,
        zone if is_zone(zone) => hour,
        _ => return None,
    };
    if 23 < hour || 59 < minute || 59 < second || parts.next().is_some() {
        return None;
    }
    let date = date.trim_end_matches(['T', 't', ' ', ',']);
    Some((date, Some(hour * 3600 + minute * 60 + second)))
}

/// Whether the text is a time zone: empty, `Z`, `UTC` or `+02:00`.
fn is_zone(text: &str) -> bool {
    let is_offset = |text: &str| {
        let text = text.trim_start_matches(['+', '-']);
        (2..=5).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit() || b == b':')
    };
    matches!(text, "" | "Z" | "UTC" | "GMT") || is_offset(text)
}

fn day(text: &str, time: Option<u32>) -> Option<WrittenDate> {
    let mut numbers: Vec<&str> = Vec::with_capacity(3);
    let mut month = None;
    let mut separators = String::new();
    let mut is_chinese = false;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let alike = |c: char| {
            if first.is_ascii_digit() { c.is_ascii_digit() } else { c.is_alphabetic() }
        };
        let end = rest.find(|c| !alike(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at_checked(end.max(first.len_utf8()))?;
        rest = after;
        if first.is_ascii_digit() {
            numbers.push(word);
        } else if first.is_alphabetic() {
            match month_named(word).and_then(|month| u8::try_from(month).ok()) {
                Some(found) if month.is_none() => month = Some(found),
                _ if is_filler(word) => is_chinese |= word == "年",
                _ => return None,
            }
        } else if matches!(first, '-' | '/' | '.' | ',' | '\'') {
            separators.push(first);
        } else if first != ' ' {
            return None;
        }
    }
    let moment = match month {
        Some(month) => named_month(&numbers, month, separators.ends_with(['-', '\''])),
        None if is_chinese => year_first(&numbers),
        None => return in_digits(&numbers, &separators, time),
    };
    moment.map(|moment| WrittenDate::Fixed(moment.at(time)))
}

/// Words of a date that carry no part of it.
fn is_filler(word: &str) -> bool {
    const FILLERS: [&str; 16] = [
        "of", "the", "st", "nd", "rd", "th", "on", "mon", "tue", "wed", "thu", "fri", "sat", "sun",
        "年", "月",
    ];
    let after_day = word.trim_start_matches(['日', '号']);
    FILLERS.iter().any(|filler| filler.eq_ignore_ascii_case(word))
        || word.to_ascii_lowercase().ends_with("day")
        || after_day.is_empty()
        || after_day.starts_with("星期")
        || after_day.starts_with('周')
}

/// Dates with the name of a month. `is_joined`: a hyphen or apostrophe is between the parts, as in `Jan-19`.
fn named_month(numbers: &[&str], month: u8, is_joined: bool) -> Option<Moment> {
    let (year, day) = match numbers {
        [year] if year.len() == 4 || (year.len() == 2 && is_joined) => (year, "0"),
        [year, day] if year.len() == 4 && day.len() <= 2 => (year, *day),
        [day, year] if day.len() <= 2 => (year, *day),
        _ => return None,
    };
    let day_of_month: u8 = day.parse().ok()?;
    if numbers.len() == 2 && day_of_month == 0 {
        return None;
    }
    Moment::new(year_of(year)?, month, day_of_month)
}

/// `2019-03`, `2019/3/5`, `2019年3月5日`
fn year_first(numbers: &[&str]) -> Option<Moment> {
    let part = |text: &&str| {
        let number: Option<u8> = text.parse().ok();
        number.filter(|number| text.len() <= 2 && 0 < *number)
    };
    match numbers {
        [year, month] if year.len() == 4 => Moment::new(year_of(year)?, part(month)?, 0),
        [year, month, day] if year.len() == 4 => {
            Moment::new(year_of(year)?, part(month)?, part(day)?)
        }
        _ => None,
    }
}

fn in_digits(numbers: &[&str], separators: &str, time: Option<u32>) -> Option<WrittenDate> {
    let mut signs = separators.chars();
    let separator = signs.next().filter(|sign| matches!(sign, '-' | '/' | '.'))?;
    // Korean dates have a full stop after the day, too.
    let is_even = signs.all(|sign| sign == separator);
    let most = if separator == '.' { numbers.len() } else { numbers.len().saturating_sub(1) };
    if !is_even || most < separators.len() {
        return None;
    }
    let is_dotted = separator == '.';
    match numbers {
        // 2019.05 is a number.
        [year, _] if year.len() == 4 && is_dotted => None,
        [year, ..] if year.len() == 4 => {
            year_first(numbers).map(|moment| WrittenDate::Fixed(moment.at(time)))
        }
        [month, year] if year.len() == 4 && (!is_dotted || month.len() == 2) => {
            let parts = [*year, *month];
            let moment = year_first(&parts)?;
            // 05.2019 is a month, 05.5019 a number.
            let is_month = !is_dotted || COMPACT_YEARS.contains(&moment.year);
            is_month.then_some(WrittenDate::Fixed(moment.at(time)))
        }
        [first, second, year] if first.len() <= 2 && second.len() <= 2 => {
            let (first, second) = (first.parse().ok()?, second.parse().ok()?);
            let date = SlashedDate { first, second, year: year_of(year)?, time, is_dotted };
            let is_date = date.moment(DateOrder::DayFirst).is_some()
                || date.moment(DateOrder::MonthFirst).is_some();
            is_date.then_some(WrittenDate::Slashed(date))
        }
        _ => None,
    }
}

/// A year of four digits, or of two: 00 to 68 belong to this century, as in POSIX.
fn year_of(digits: &str) -> Option<i16> {
    let year: i16 = digits.parse().ok()?;
    match digits.len() {
        4 if 1000 <= year => Some(year),
        2 if year <= 68 => Some(2000 + year),
        2 => Some(1900 + year),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::narrow::narrowed;
    use super::*;

    fn read(cell: &str) -> String {
        let shown = |moment: Option<Moment>| {
            moment.map_or_else(|| "-".to_owned(), |moment| moment.to_string())
        };
        match written_date(&narrowed(cell)) {
            None => "-".to_owned(),
            Some(WrittenDate::Fixed(moment)) => shown(Some(moment)),
            Some(WrittenDate::Year(year)) => format!("year {year}"),
            Some(WrittenDate::MarkedYear(year)) => format!("year {year}, marked"),
            Some(WrittenDate::Compact(moment)) => format!("{moment}, compact"),
            Some(WrittenDate::Slashed(date)) => format!(
                "{} | {}",
                shown(date.moment(DateOrder::DayFirst)),
                shown(date.moment(DateOrder::MonthFirst))
            ),
        }
    }

    const CELLS: &str = "2019-03-05 | 2019/3/5 | 2019.3.5 | 2019. 3. 5. | 31.12.2025 | 31/12/2025 | 12/31/2025 | \
        3/4/2019 | 12/23/19 | 31/31/2019 | 2019-02-29 | 2020-02-29 | 2019-03 | 2019/03 | \
        03/2019 | 05.2019 | 2019.05 | 2019-20 | 2011-12 | Jan 2019 | January 2019 | Jan-19 | \
        Jan '19 | Jan 19 | May 1 | 23-Dec-19 | 31 December 2010 | Dec. 31, 2010 | \
        Friday, the 31st of December, 2010 | 2019年3月5日 | 2019年3月 | ２０１９年３月５日 | 2019年3月5日 星期二 | \
        2019年3月5日星期二 | 2019年 | 2019年度 | 3月5日 | 2019 | 2019.0 | 3000 | 20190305 | 20191305 | \
        201903 | 2019Q3 | 2019-Q3 | Q3 2019 | 3Q19 | 2019年第三季度 | 2019年3季度 | 2019Q5 | Q3 | \
        2013-07-05 14:30 | 2013-07-05T14:30:05Z | 2013-07-05T14:30:05.123+02:00 | \
        12/31/2025 2:30 PM | 2013-07-05 12:05 AM | 2013-07-05 25:00 | 14:30 | soon | \
        2010-12-31 or later | 1.2.3 | 192.168.1.1 | 555-1234 | 12-34-5678 | 1-2.2019 | \
        2019-2020 | 0/0/2019";

    #[test]
    fn dates_read_in_customary_spellings() {
        let lines: Vec<String> =
            CELLS.split(" | ").map(|cell| format!("{cell} -> {}", read(cell))).collect();
        insta::assert_snapshot!(lines.join("\n"), @r"
        2019-03-05 -> 2019-03-05
        2019/3/5 -> 2019-03-05
        2019.3.5 -> 2019-03-05
        2019. 3. 5. -> 2019-03-05
        31.12.2025 -> 2025-12-31 | -
        31/12/2025 -> 2025-12-31 | -
        12/31/2025 -> - | 2025-12-31
        3/4/2019 -> 2019-04-03 | 2019-03-04
        12/23/19 -> - | 2019-12-23
        31/31/2019 -> -
        2019-02-29 -> -
        2020-02-29 -> 2020-02-29
        2019-03 -> 2019-03
        2019/03 -> 2019-03
        03/2019 -> 2019-03
        05.2019 -> 2019-05
        2019.05 -> -
        2019-20 -> -
        2011-12 -> 2011-12
        Jan 2019 -> 2019-01
        January 2019 -> 2019-01
        Jan-19 -> 2019-01
        Jan '19 -> 2019-01
        Jan 19 -> -
        May 1 -> -
        23-Dec-19 -> 2019-12-23
        31 December 2010 -> 2010-12-31
        Dec. 31, 2010 -> 2010-12-31
        Friday, the 31st of December, 2010 -> 2010-12-31
        2019年3月5日 -> 2019-03-05
        2019年3月 -> 2019-03
        ２０１９年３月５日 -> 2019-03-05
        2019年3月5日 星期二 -> 2019-03-05
        2019年3月5日星期二 -> 2019-03-05
        2019年 -> year 2019, marked
        2019年度 -> year 2019, marked
        3月5日 -> -
        2019 -> year 2019
        2019.0 -> year 2019
        3000 -> -
        20190305 -> 2019-03-05, compact
        20191305 -> -
        201903 -> 2019-03, compact
        2019Q3 -> 2019-Q3
        2019-Q3 -> 2019-Q3
        Q3 2019 -> 2019-Q3
        3Q19 -> 2019-Q3
        2019年第三季度 -> 2019-Q3
        2019年3季度 -> 2019-Q3
        2019Q5 -> -
        Q3 -> -
        2013-07-05 14:30 -> 2013-07-05 14:30:00
        2013-07-05T14:30:05Z -> 2013-07-05 14:30:05
        2013-07-05T14:30:05.123+02:00 -> 2013-07-05 14:30:05
        12/31/2025 2:30 PM -> - | 2025-12-31 14:30:00
        2013-07-05 12:05 AM -> 2013-07-05 00:05:00
        2013-07-05 25:00 -> -
        14:30 -> -
        soon -> -
        2010-12-31 or later -> -
        1.2.3 -> -
        192.168.1.1 -> -
        555-1234 -> -
        12-34-5678 -> -
        1-2.2019 -> -
        2019-2020 -> -
        0/0/2019 -> -
        ");
    }

    proptest! {
        #[test]
        fn days_read_back(year in 1000_i16..2999, month in 1_u8..=12, day in 1_u8..=28) {
            let expected = format!("{year:04}-{month:02}-{day:02}");
            let name = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov",
                "dec"][usize::from(month - 1)];
            for cell in [
                expected.clone(),
                format!("{year}/{month}/{day}"),
                format!("{year}年{month}月{day}日"),
                format!("{day} {name} {year}"),
                format!("{name} {day}, {year}"),
            ] {
                prop_assert_eq!(read(&cell), &*expected, "{}", cell);
            }
            let Some(WrittenDate::Slashed(date)) = written_date(&format!("{day}.{month}.{year}"))
            else { panic!() };
            prop_assert_eq!(date.moment(DateOrder::DayFirst).unwrap().to_string(), expected);
        }

        #[test]
        fn later_moments_are_shown_later(
            left in "20[0-9]{2}-[01][0-9]-[0-3][0-9]( [0-2][0-9]:[0-5][0-9])?",
            right in "20[0-9]{2}-[01][0-9]-[0-3][0-9]( [0-2][0-9]:[0-5][0-9])?",
        ) {
            if let (Some(WrittenDate::Fixed(left)), Some(WrittenDate::Fixed(right))) =
                (written_date(&left), written_date(&right))
            {
                prop_assert_eq!(left.cmp(&right), left.to_string().cmp(&right.to_string()));
            }
        }

        #[test]
        fn any_cell_is_survived(
            cell in "\\PC{0,40}",
            like in "[0-9./,年月日Qq季:T -]{0,16}",
        ) {
            read(&cell);
            read(&like);
        }
    }
}
