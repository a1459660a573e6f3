//! Reads the numbers of questions, in digits and in words.

use pikerag_language::{chinese_number, number};

/// A count or rank: `three`, `second`, `两`, `12`. `None` for 0.
pub(super) fn small_number(text: &str) -> Option<usize> {
    let number = match text.to_ascii_lowercase().as_str() {
        "one" => 1,
        "two" | "second" | "2nd" | "两" => 2,
        "three" | "third" | "3rd" => 3,
        "four" | "fourth" | "4th" => 4,
        "five" | "fifth" | "5th" => 5,
        "six" => 6,
        "seven" => 7,
        "eight" => 8,
        "nine" => 9,
        "ten" => 10,
        other => {
            let read = number(other).or_else(|| chinese_number(other))?;
            usize::try_from(read).ok()?
        }
    };
    Some(number).filter(|number| 0 < *number)
}

/// An amount: `1,200.5`, `−3`, `five`, `三百`.
pub(super) fn amount(text: &str) -> Option<f64> {
    let plain = text.replace(',', "").replace('−', "-");
    plain
        .parse()
        .ok()
        .or_else(|| small_number(text).map(|number| number as f64))
        .or_else(|| chinese_number(text).map(f64::from))
}

/// The factor that a word behind a number multiplies it with.
pub(super) fn factor(word: &str) -> f64 {
    match word.to_ascii_lowercase().as_str() {
        "hundred" => 1e2,
        "thousand" | "千" => 1e3,
        "万" => 1e4,
        "million" | "百万" => 1e6,
        "千万" => 1e7,
        "亿" => 1e8,
        "billion" => 1e9,
        _ => 1.0,
    }
}
