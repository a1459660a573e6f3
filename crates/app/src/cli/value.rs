//! Parses values of arguments, and words their errors.

use std::fmt;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use pikerag_engine::keys::now;
use pikerag_engine::knowledge::Millis;
use pikerag_engine::narrate::{InWords, Words};

/// The reason why a value is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BadValue {
    Dollars,
    YesOrNo,
    Time,
    DayOrTime,
    Past,
}

impl InWords for BadValue {
    fn words(&self) -> Words {
        match self {
            Self::Dollars => {
                Words::new("give an amount in US dollars, at least 0", "请给出不小于 0 的美元金额")
            }
            Self::YesOrNo => Words::new("give yes or no", "请给出 yes 或 no"),
            Self::Time => Words::new(
                "give a number and m, h or d, such as 30m, 12h, 7d",
                "请给出数字加 m、h 或 d，例如 30m、12h、7d",
            ),
            Self::DayOrTime => Words::new(
                "give a day such as 2027-01-31, or a time such as 90d",
                "请给出日期（如 2027-01-31）或时长（如 90d）",
            ),
            Self::Past => Words::new("this time has passed", "该时间已过"),
        }
    }
}

impl fmt::Display for BadValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words().english)
    }
}

impl std::error::Error for BadValue {}

/// A finite amount: `nan` would exceed no cap.
pub(super) fn dollars(text: &str) -> Result<f64, BadValue> {
    match text.parse::<f64>() {
        Ok(dollars) if dollars.is_finite() && 0.0 <= dollars => Ok(dollars),
        _ => Err(BadValue::Dollars),
    }
}

pub(super) fn yes_or_no(word: &str) -> Result<bool, BadValue> {
    match word {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err(BadValue::YesOrNo),
    }
}

/// A time in milliseconds: `30m`, `12h`, `7d`.
pub(super) fn span(text: &str) -> Result<Millis, BadValue> {
    let units = [('m', 60_000), ('h', 3_600_000), ('d', 86_400_000)];
    let found = units.iter().find_map(|(unit, millis)| {
        text.strip_suffix(*unit)?.parse::<Millis>().ok()?.checked_mul(*millis)
    });
    found.ok_or(BadValue::Time)
}

/// The time at which a key expires.
pub(super) fn end(text: &str) -> Result<Millis, BadValue> {
    if let Ok(span) = span(text) {
        return Ok(now().saturating_add(span));
    }
    let day = text.parse::<Date>().and_then(|day| day.to_zoned(TimeZone::UTC));
    let day = day.map_err(|_| BadValue::DayOrTime)?;
    match Millis::try_from(day.timestamp().as_millisecond()) {
        Ok(end) if now() < end => Ok(end),
        _ => Err(BadValue::Past),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_ends_on_a_day_or_after_a_time() {
        assert_eq!(span("90m").unwrap(), 5_400_000);
        assert_eq!(end("2200-01-31").unwrap(), 7_260_710_400_000);
        assert!(now() + 86_399_000 < end("1d").unwrap());
        for wrong in ["", "d", "7", "-7d", "2001-01-01", "soon", "99999999999999999d"] {
            assert!(end(wrong).is_err(), "{wrong}");
        }
    }
}
