//! Reads the amount that a whole text writes: `1.234,5`, `(300)`, `US$ 3.2 million`, `3.5亿元`, `12 km/h`.

use crate::amounts::{SCALES, english_word, units};

/// Longer units, in characters, are treated as remarks.
const LONGEST_UNIT: usize = 24;
const CURRENCIES: [&str; 15] = [
    "US$",
    "HK$",
    "A$",
    "C$",
    "$",
    "€",
    "£",
    "¥",
    "USD",
    "EUR",
    "GBP",
    "CNY",
    "RMB",
    "JPY",
    "人民币",
];
const ABBREVIATIONS: [(&str, u32); 2] = [("mn", 6), ("bn", 9)];

/// The amount, and its currency or unit; `None` if the text contains anything else.
pub fn quantity(text: &str) -> Option<(f64, Option<String>)> {
    let mut rest = text.trim();
    let bracketed = rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let mut is_negative = bracketed.is_some();
    rest = bracketed.unwrap_or(rest).trim();
    let mut unit = None;
    for _ in 0..2 {
        if let Some(after) = rest.strip_prefix('-') {
            is_negative = !is_negative;
            rest = after.trim_start();
        }
        rest = rest.strip_prefix('+').unwrap_or(rest).trim_start();
        if let Some(currency) = CURRENCIES.into_iter().find(|currency| rest.starts_with(*currency))
        {
            unit = Some(currency.to_owned());
            rest = rest.get(currency.len()..)?.trim_start();
        }
    }
    let in_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | ' ' | '\'' | '’');
    let end = rest.find(|c| !in_number(c)).unwrap_or(rest.len());
    let (digits, mut behind) = rest.split_at(end);
    // A full stop after the number ends a sentence.
    let digits = digits.trim_end().trim_end_matches(['.', ',']);
    let mut amount: f64 = plain_digits(digits)?.parse().ok()?;
    if let Some((power, after)) = power(behind) {
        amount *= 10f64.powi(power);
        behind = after;
    }
    behind = behind.trim().trim_end_matches('.');
    if let Some((zeros, after)) = scale(behind) {
        amount *= 10f64.powi(i32::try_from(zeros).ok()?);
        behind = after.trim();
    }
    if !behind.is_empty() {
        let is_unit = behind.chars().count() <= LONGEST_UNIT
            && !behind.chars().any(|c| c.is_ascii_digit())
            && !behind.starts_with(['-', '/', '–', '~', ':', ';']);
        if !is_unit {
            return None;
        }
        unit.get_or_insert_with(|| behind.to_owned());
    }
    let amount = if is_negative { -amount } else { amount };
    amount.is_finite().then_some((amount, unit))
}

/// The exponent of `1.5e3`; `5 eggs` has none.
fn power(text: &str) -> Option<(i32, &str)> {
    let power = text.strip_prefix(['e', 'E'])?;
    let end = power.find(|c: char| !c.is_ascii_digit() && c != '-' && c != '+');
    let (power, after) = power.split_at(end.unwrap_or(power.len()));
    Some((power.parse().ok().filter(|power: &i32| power.abs() < 100)?, after))
}

/// The scale that a text begins with, as a number of zeros: `million`, `bn`, `万`.
fn scale(text: &str) -> Option<(u32, &str)> {
    let mut words = SCALES.iter().chain(&ABBREVIATIONS);
    let word = words.find_map(|(word, zeros)| Some((*zeros, english_word(text, word)?)));
    word.or_else(|| units(text))
}

/// Digits in the form that Rust parses: no thousands separators, a point before decimals.
fn plain_digits(digits: &str) -> Option<String> {
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    let separators: Vec<char> = digits.chars().filter(|c| !c.is_ascii_digit()).collect();
    let groups: Vec<&str> = digits.split(|c: char| !c.is_ascii_digit()).collect();
    let last = separators.last().copied();
    let is_decimal = match (separators.as_slice(), last) {
        ([], _) => false,
        ([.., before, last], _) => before != last && matches!(last, '.' | ','),
        (_, Some('.')) => true,
        // In `1,234` the comma separates thousands, in `1,23` decimals.
        (_, Some(',')) => groups.last().is_some_and(|group| group.len() != 3),
        _ => false,
    };
    let thousands = if is_decimal { groups.get(..groups.len() - 1)? } else { &groups };
    let grouped = thousands.iter().skip(1).all(|group| group.len() == 3);
    if !grouped || groups.iter().skip(1).any(|group| group.is_empty()) {
        return None;
    }
    let mut plain = thousands.concat();
    if plain.is_empty() {
        plain.push('0');
    }
    if is_decimal {
        plain.push('.');
        plain.push_str(groups.last()?);
    }
    Some(plain)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::quantity;

    #[test]
    fn scales_are_multiplied_and_units_stay() {
        for (text, amount, unit) in [
            ("3万亿元", 3e12, "元"),
            ("5千克", 5.0, "千克"),
            ("20 千瓦时", 20.0, "千瓦时"),
            ("2 bn EUR", 2e9, "EUR"),
            ("5 metres", 5.0, "metres"),
            ("-$1.5 million", -1.5e6, "$"),
        ] {
            assert_eq!(quantity(text), Some((amount, Some(unit.to_owned()))), "{text}");
        }
        for text in ["", "5-10", "about 5", "1e999", "12/23/19", "一百"] {
            assert_eq!(quantity(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn grouped_digits_read_back(value in 0_u32.., fraction in 0_u32..100) {
            let plain = value.to_string();
            let mut grouped = String::new();
            for (at, digit) in plain.chars().enumerate() {
                if 0 < at && (plain.len() - at) % 3 == 0 {
                    grouped.push(',');
                }
                grouped.push(digit);
            }
            let expected = format!("{plain}.{fraction:02}").parse().unwrap();
            let english = format!("{grouped}.{fraction:02}");
            let german: String =
                english.chars().map(|c| match c { ',' => '.', '.' => ',', c => c }).collect();
            prop_assert_eq!(quantity(&english), Some((expected, None)));
            prop_assert_eq!(quantity(&german), Some((expected, None)));
        }

        #[test]
        fn handles_any_text(text in "\\PC{0,40}|[0-9.,e+ $%万千m-]{0,20}") {
            let _ = quantity(&text);
        }
    }
}
