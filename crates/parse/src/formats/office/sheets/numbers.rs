//! Formats cell numbers: dates as in ISO 8601, percentages as percentages.
//!
//! Other numbers keep their stored value, because a rounding format would lose precision.

/// The effect of a number format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Shown {
    #[default]
    Number,
    /// A percentage with this number of decimals.
    Percent(usize),
    Date,
    Time,
    DateTime,
    /// A duration, whose hours may exceed a day.
    Elapsed,
}

/// The effect of a built-in format, by its number (ECMA-376 part 1, §18.8.30).
pub(super) fn built_in(number: u32) -> Shown {
    match number {
        9 => Shown::Percent(0),
        10 => Shown::Percent(2),
        14..=17 | 27..=31 | 34..=36 | 50..=54 | 57 | 58 => Shown::Date,
        18..=21 | 32 | 33 | 45 | 47 | 55 | 56 => Shown::Time,
        22 => Shown::DateTime,
        46 => Shown::Elapsed,
        _ => Shown::Number,
    }
}

/// The effect of a format code such as `yyyy\-mm\-dd`.
pub(super) fn of_code(code: &str) -> Shown {
    let code = code.split(';').next().unwrap_or_default();
    let mut letters = String::new();
    let mut chars = code.chars();
    let mut elapsed = false;
    while let Some(c) = chars.next() {
        match c {
            '"' => drop(chars.by_ref().find(|c| *c == '"')),
            '\\' | '_' | '*' => drop(chars.next()),
            '[' => {
                let inner: String = chars.by_ref().take_while(|c| *c != ']').collect();
                // `[h]` is a duration; `[Red]`, `[$-409]` and conditions show no value.
                elapsed |= inner.chars().all(|c| "hmsHMS".contains(c)) && !inner.is_empty();
            }
            c => letters.extend(c.to_lowercase()),
        }
    }
    let letters = letters.replace("general", "").replace("am/pm", "h").replace("a/p", "h");
    let has = |any: &str| letters.contains(|c| any.contains(c));
    match (has("yd"), has("hs")) {
        _ if elapsed => Shown::Elapsed,
        (true, true) => Shown::DateTime,
        (true, false) => Shown::Date,
        (false, true) => Shown::Time,
        (false, false) if letters.contains('%') => {
            let decimals = letters.split_once('.').map_or("", |(_, decimals)| decimals);
            Shown::Percent(decimals.chars().take_while(|c| "0#?".contains(*c)).count())
        }
        (false, false) if has("m") => Shown::Date,
        (false, false) => Shown::Number,
    }
}

/// A stored number as text; some workbooks count days from 1904 instead of 1900.
pub(super) fn show(value: f64, shown: Shown, from_1904: bool) -> String {
    let days = if from_1904 { value + 1462.0 } else { value };
    let is_date = (0.0..2_958_466.0).contains(&days); // Up to the year 9999.
    let seconds = (value.fract() * 86_400.0).round() as u64;
    match shown {
        Shown::Percent(decimals) => format!("{:.*}%", decimals.min(15), value * 100.0),
        Shown::Elapsed if (0.0..1e9).contains(&value) => clock((value * 86_400.0).round() as u64),
        Shown::Time if is_date && value < 1.0 => clock(seconds),
        Shown::Date if is_date && seconds == 0 => date(days as i64),
        Shown::Date | Shown::Time | Shown::DateTime if is_date => {
            let whole = days as i64 + i64::from(seconds == 86_400);
            format!("{} {}", date(whole), clock(seconds % 86_400))
        }
        _ => plain(value),
    }
}

/// At most fifteen digits, as in Excel.
pub(super) fn plain(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value.is_finite() { "0".to_owned() } else { value.to_string() };
    }
    let rounded: f64 = format!("{value:.14e}").parse().unwrap_or(value);
    let rounded = if rounded.is_finite() { rounded } else { value };
    let size = rounded.abs();
    if (1e-9..1e21).contains(&size) { rounded.to_string() } else { format!("{rounded:e}") }
}

fn clock(seconds: u64) -> String {
    format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// Day 1 is 1900-01-01; 1900 counts as a leap year, as in Lotus 1-2-3.
fn date(day: i64) -> String {
    let since_1970 = if day < 61 { day - 25_568 } else { day - 25_569 };
    // Civil from days (Hinnant): eras of 400 years that begin in March.
    let shifted = since_1970 + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_formatted_by_their_format() {
        let seen = [
            show(45_292.0, of_code("dd/mm/yyyy"), false),
            show(45_292.75, of_code("yyyy-mm-dd hh:mm"), false),
            show(43_830.0, of_code("d. mmmm"), true),
            show(0.5, of_code("h:mm AM/PM"), false),
            show(1.25, of_code("[h]:mm"), false),
            show(0.1234, of_code("0.0%"), false),
            show(60.0, of_code("#,##0.00 \"days\""), false),
            show(0.1 + 0.2, of_code("General"), false),
            show(1.0, built_in(14), false),
            show(61.0, built_in(14), false),
            show(-1.0, built_in(14), false),
            show(1e300, built_in(14), false),
            show(f64::MAX, Shown::Elapsed, false),
            show(0.999_999, built_in(22), false),
        ];
        insta::assert_snapshot!(seen.join("\n"), @"
        2024-01-01
        2024-01-01 18:00:00
        2024-01-01
        12:00:00
        30:00:00
        12.3%
        60
        0.3
        1900-01-01
        1900-03-01
        -1
        1e300
        1.7976931348623157e308
        1900-01-01 00:00:00
        ");
    }
}
