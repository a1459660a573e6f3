//! Reads how long a busy endpoint asks us to wait.

use std::time::{Duration, SystemTime};

use jiff::fmt::rfc2822::DateTimeParser;
use reqwest::header::{HeaderMap, RETRY_AFTER};

/// The wait by header or message; the most exact one counts.
pub(super) fn retry_after(headers: &HeaderMap, message: &str) -> Option<Duration> {
    milliseconds(headers).or_else(|| header(headers)).or_else(|| in_words(message))
}

/// OpenAI and Azure: `retry-after-ms: 1250`.
fn milliseconds(headers: &HeaderMap) -> Option<Duration> {
    let value: f64 = headers.get("retry-after-ms")?.to_str().ok()?.trim().parse().ok()?;
    seconds(value / 1000.0)
}

/// `Retry-After`, in seconds or as a date. A date counts from the reply's own `Date`, because the
/// two clocks may differ.
fn header(headers: &HeaderMap) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(value) = value.parse() {
        return seconds(value);
    }
    let then: SystemTime = DateTimeParser::new().parse_timestamp(value).ok()?.into();
    let date = headers.get(reqwest::header::DATE).and_then(|date| date.to_str().ok());
    let now = date.and_then(|date| DateTimeParser::new().parse_timestamp(date).ok());
    let now = now.map_or_else(SystemTime::now, Into::into);
    Some(then.duration_since(now).unwrap_or_default())
}

/// `Please try again in 1m2.5s`, `retry after 7 seconds`, `retry in 350 ms`.
fn in_words(message: &str) -> Option<Duration> {
    let message = message.to_lowercase();
    for phrase in ["try again in ", "retry after ", "retry in "] {
        if let Some((_, rest)) = message.split_once(phrase) {
            return duration(rest);
        }
    }
    None
}

/// Numbers, each followed by its unit, up to the first word that is neither.
fn duration(mut text: &str) -> Option<Duration> {
    let mut total = None;
    loop {
        text = text.trim_start();
        let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, rest) = text.split_at(digits);
        let Ok(number) = number.trim_end_matches('.').parse::<f64>() else { break };
        let rest = rest.trim_start();
        let letters = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let (unit, rest) = rest.split_at(letters);
        let scale = match unit {
            "ms" | "milliseconds" | "millisecond" => 0.001,
            "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
            "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
            "h" | "hour" | "hours" => 3600.0,
            _ => break,
        };
        total = Some(total.unwrap_or(0.0) + number * scale);
        text = rest;
    }
    seconds(total?)
}

fn seconds(value: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(headers: &[(&'static str, &'static str)], message: &str) -> Option<f64> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().unwrap());
        }
        retry_after(&map, message).map(|wait| wait.as_secs_f64())
    }

    #[test]
    fn reads_headers() {
        assert_eq!(check(&[("retry-after", "2")], ""), Some(2.0));
        assert_eq!(check(&[("retry-after", "2"), ("retry-after-ms", "1250")], ""), Some(1.25));
        assert_eq!(check(&[("retry-after", "-2")], ""), None);
        assert_eq!(check(&[("retry-after", "nan")], ""), None);
        assert_eq!(check(&[("retry-after", "soon")], "try again in 3s"), Some(3.0));
        let (date, later) = ("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:50:07 GMT");
        assert_eq!(check(&[("retry-after", later), ("date", date)], ""), Some(30.0));
        assert_eq!(check(&[("retry-after", date), ("date", later)], ""), Some(0.0));
        assert_eq!(check(&[("retry-after", date)], ""), Some(0.0));
    }

    #[test]
    fn reads_words() {
        assert_eq!(check(&[], "Rate limit. Please try again in 20s. Visit"), Some(20.0));
        assert_eq!(check(&[], "Please try again in 1m2.5s."), Some(62.5));
        assert_eq!(check(&[], "Try again in 350ms."), Some(0.35));
        assert_eq!(check(&[], "please retry after 7 seconds"), Some(7.0));
        assert_eq!(check(&[], "try again in a while"), None);
        assert_eq!(check(&[], "try again in 5 moons"), None);
        assert_eq!(check(&[], "slow down"), None);
    }
}
