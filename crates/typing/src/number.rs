//! Reads the number of a cell: marks of thousands and decimals, signs, currencies, scales and units.

use std::cmp::Ordering;

use pikerag_language::quantity;

use super::units::{is_cell_unit, leading_currency, unit_key};

/// The most bytes of a cell that can be a number.
const LONGEST: usize = 64;
/// The most digits that fit an `i64` in any case; longer strings of plain digits are codes.
const MOST_DIGITS: usize = 18;

/// The sign before the decimals of a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum DecimalMark {
    /// `1,234.5`
    #[default]
    Point,
    /// `1.234,5`
    Comma,
}

impl DecimalMark {
    fn sign(self) -> char {
        match self {
            Self::Point => '.',
            Self::Comma => ',',
        }
    }

    fn thousands(self) -> char {
        match self {
            Self::Point => ',',
            Self::Comma => '.',
        }
    }
}

/// A number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Amount {
    /// A number without decimals, or with the single decimal 0.
    Integer(i64),
    /// Any other number; finite.
    Real(f64),
}

impl Amount {
    pub(super) fn real(self) -> f64 {
        match self {
            Self::Integer(number) => number as f64,
            Self::Real(number) => number,
        }
    }

    pub(super) fn compare(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Integer(left), Self::Integer(right)) => left.cmp(&right),
            _ => self.real().total_cmp(&other.real()),
        }
    }
}

/// A number as a cell writes it, before the decimal mark of its column is known.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct WrittenNumber<'a> {
    /// The digits with their marks.
    pub digits: &'a str,
    is_negative: bool,
    /// The power of ten of a scale or of scientific notation.
    power: i32,
    is_scientific: bool,
    /// The currency or unit, as it is written.
    pub unit: Option<String>,
}

/// The number of a narrowed cell; `None` if the cell holds anything else.
pub(super) fn written_number(cell: &str) -> Option<WrittenNumber<'_>> {
    if LONGEST < cell.len() || !cell.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let mut rest = without_footnote(cell);
    let mut is_negative = false;
    if let Some(inner) = rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        (is_negative, rest) = (true, inner.trim());
    }
    let mut currency = None;
    let mut has_sign = is_negative;
    loop {
        if let Some(after) = rest.strip_prefix(['-', '–', '+'])
            && !has_sign
        {
            (has_sign, is_negative) = (true, !rest.starts_with('+'));
            rest = after.trim_start();
        } else if let Some((found, after)) = leading_currency(rest)
            && currency.is_none()
        {
            (currency, rest) = (Some(found), after);
        } else {
            break;
        }
    }
    let (digits, mut tail) = rest.split_at_checked(digits_end(rest))?;
    if !digits.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // A full stop after the number has no meaning.
    let digits = match digits.strip_suffix('.') {
        Some(digits) if tail.is_empty() => digits,
        _ => digits,
    };
    let mut number =
        WrittenNumber { digits, is_negative, power: 0, is_scientific: false, unit: None };
    if let Some((power, after)) = scientific(tail) {
        (number.power, number.is_scientific, tail) = (power, true, after);
    }
    let (power, unit) = scale_and_unit(tail.trim(), currency)?;
    number.power += power;
    number.unit = unit;
    Some(number)
}

/// A cell without `[1]` behind its number.
fn without_footnote(cell: &str) -> &str {
    let Some((before, note)) = cell.strip_suffix(']').and_then(|cell| cell.rsplit_once('[')) else {
        return cell;
    };
    let is_note = note.len() <= 3 && note.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if is_note { before.trim_end() } else { cell }
}

/// The end of digits with their marks. A space before another digit is one of the marks.
fn digits_end(text: &str) -> usize {
    let mut signs = text.char_indices().peekable();
    while let Some((at, sign)) = signs.next() {
        let goes_on = match sign {
            '0'..='9' | '.' | ',' => true,
            ' ' | '\'' | '’' => signs.peek().is_some_and(|(_, next)| next.is_ascii_digit()),
            _ => false,
        };
        if !goes_on {
            return at;
        }
    }
    text.len()
}

/// The power of `1.5e3`, and the text after it; `5 eggs` has none.
fn scientific(tail: &str) -> Option<(i32, &str)> {
    let power = tail.strip_prefix(['e', 'E'])?;
    let end = power.find(|c: char| !c.is_ascii_digit() && c != '-' && c != '+');
    let (power, after) = power.split_at_checked(end.unwrap_or(power.len()))?;
    let power = power.parse().ok().filter(|power: &i32| power.abs() < 100)?;
    (!after.starts_with(|c: char| c.is_alphabetic())).then_some((power, after))
}

/// The power of ten and the unit in the text after a number; `None` if it is neither.
fn scale_and_unit(tail: &str, currency: Option<&str>) -> Option<(i32, Option<String>)> {
    let written = currency.map(str::to_owned);
    if tail.is_empty() {
        return Some((0, written));
    }
    // `$5M` is money; `5 M` may be anything.
    if currency.is_some() {
        let power = match tail {
            "k" | "K" => Some(3),
            "m" | "M" | "mm" | "MM" => Some(6),
            "b" | "B" => Some(9),
            "t" | "T" => Some(12),
            _ => None,
        };
        if let Some(power) = power {
            return Some((power, written));
        }
    }
    // Dates and ranges continue like this, so they skip the slow search for units.
    let unit = tail.trim_end_matches(['2', '3']);
    if tail.starts_with(['-', '/', '–', '~', ':', ';', ',', '.'])
        || unit.bytes().any(|byte| byte.is_ascii_digit())
    {
        return None;
    }
    let (amount, unit) = quantity(&format!("1{}", with_raised_power(tail)))?;
    let power = amount.log10().round();
    if !(0.0..=24.0).contains(&power) {
        return None;
    }
    let power = power as i32;
    match (written, unit) {
        (written, None) => Some((power, written)),
        (None, Some(unit)) => is_cell_unit(&unit).then_some((power, Some(unit))),
        // `US$5 USD`
        (Some(written), Some(unit)) => {
            (unit_key(&written) == unit_key(&unit)).then_some((power, Some(written)))
        }
    }
}

/// `km2` as `km²`.
fn with_raised_power(unit: &str) -> String {
    for (plain, raised) in [("m2", "m²"), ("m3", "m³")] {
        if let Some(before) = unit.strip_suffix(plain) {
            return format!("{before}{raised}");
        }
    }
    unit.to_owned()
}

impl WrittenNumber<'_> {
    /// The number with this decimal mark; `None` if its marks do not fit.
    pub(super) fn amount(&self, mark: DecimalMark) -> Option<Amount> {
        let (whole, fraction) = match self.digits.split_once(mark.sign()) {
            Some((_, "")) => return None,
            Some((whole, fraction)) => (whole, fraction),
            None => (self.digits, ""),
        };
        if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let whole = without_thousands(whole, mark)?;
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let is_plain = self.power == 0 && !self.is_scientific;
        if is_plain && fraction.is_empty() && MOST_DIGITS < whole.len() {
            return None;
        }
        let amount = match self.whole_number(&whole, fraction) {
            Some(number) => Amount::Integer(if self.is_negative { -number } else { number }),
            None => {
                let number: f64 = format!("{whole}.{fraction}e{}", self.power).parse().ok()?;
                Amount::Real(if self.is_negative { -number } else { number })
            }
        };
        amount.real().is_finite().then_some(amount)
    }

    /// The number without its sign, if it is a whole number.
    fn whole_number(&self, whole: &str, fraction: &str) -> Option<i64> {
        if self.is_scientific {
            return None;
        }
        if self.power == 0 {
            return if fraction.is_empty() || fraction == "0" { whole.parse().ok() } else { None };
        }
        // 1.5 million is a whole number.
        let fraction = fraction.trim_end_matches('0');
        let zeros = usize::try_from(self.power).ok()?.checked_sub(fraction.len())?;
        format!("{whole}{fraction}{}", "0".repeat(zeros)).parse().ok()
    }

    /// Whether these are plain digits that begin with a zero, such as `007`.
    pub(super) fn has_leading_zero(&self) -> bool {
        self.is_plain_digits() && 1 < self.digits.len() && self.digits.starts_with('0')
    }

    /// Whether the cell holds ASCII digits and nothing else.
    pub(super) fn is_plain_digits(&self) -> bool {
        !self.is_negative
            && !self.is_scientific
            && self.power == 0
            && self.unit.is_none()
            && self.digits.bytes().all(|byte| byte.is_ascii_digit())
    }
}

/// The digits without marks of thousands; `None` if a mark is not before a group of three digits.
fn without_thousands(whole: &str, mark: DecimalMark) -> Option<String> {
    let Some(separator) = whole.chars().find(|c| !c.is_ascii_digit()) else {
        return Some(whole.to_owned());
    };
    if separator != mark.thousands() && !matches!(separator, ' ' | '\'' | '’') {
        return None;
    }
    let groups: Vec<&str> = whole.split(separator).collect();
    let (first, later) = groups.split_first()?;
    let (last, middle) = later.split_last()?;
    let is_digits = groups.iter().all(|group| group.bytes().all(|byte| byte.is_ascii_digit()));
    let begins = (1..=3).contains(&first.len()) && !first.starts_with('0');
    let is_grouped = |size: usize| middle.iter().all(|group| group.len() == size);
    // Indian numbers are grouped as 12,34,567.
    let is_indian = separator == ',' && first.len() <= 2 && is_grouped(2);
    let is_number = is_digits && begins && last.len() == 3 && (is_grouped(3) || is_indian);
    is_number.then(|| groups.concat())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::narrow::narrowed;
    use super::*;

    fn read(cell: &str, mark: DecimalMark) -> String {
        let cell = narrowed(cell);
        let Some(number) = written_number(&cell) else { return "-".to_owned() };
        let amount = match number.amount(mark) {
            Some(Amount::Integer(amount)) => format!("{amount}"),
            Some(Amount::Real(amount)) => format!("{amount:?}"),
            None => return "-".to_owned(),
        };
        number.unit.map_or(amount.clone(), |unit| format!("{amount} {unit}"))
    }

    const CELLS: &str = "42 | 1,234 | 1.234 | 1,234,567 | 1.234.567 | 12,34,567 | 1 234 | 1\u{202f}234,5 | \
        1'234 | 1’234’567.5 | 0,123 | 0.123 | 1,23 | 1,234.5 | 1.234,5 | .5 | 7. | 5.0 | 5.00 | \
        -5 | −5 | +5 | (1,234) | (-5) | --5 | $1,234.50 | -$5 | $-5 | ($5) | € 5 | USD 5 | \
        5 USD | ￥5 | 5元 | 3.5万元 | 1.1亿 | US$ 3.2 million | $12M | 12M | 12 % | 12% | １２％ | \
        5 kg | 5kg | 5 km2 | 5 km/h | 5 °C | 1.5e3 | 1.5E-3 | 5 EUR | 1,234[3] | 007 | 1st | \
        5 pm | 3月 | 2019年 | 5-10 | 12:30 | 1/2 | about 5 | 5 (est.) | 5+ | \
        1234567890123456789 | 12 34 | 1,2345 | 1e999 | $ |  | 5 very long remark here | \
        CHF 1'000 | 1.2.3 | 0.1.2 | 5, | 5, 6";

    #[test]
    fn each_cell_reads_with_either_decimal_mark() {
        let lines: Vec<String> = CELLS
            .split(" | ")
            .map(|cell| {
                let point = read(cell, DecimalMark::Point);
                format!("{cell} -> {point} | {}", read(cell, DecimalMark::Comma))
            })
            .collect();
        insta::assert_snapshot!(lines.join("\n"), @r"
        42 -> 42 | 42
        1,234 -> 1234 | 1.234
        1.234 -> 1.234 | 1234
        1,234,567 -> 1234567 | -
        1.234.567 -> - | 1234567
        12,34,567 -> 1234567 | -
        1 234 -> 1234 | 1234
        1 234,5 -> - | 1234.5
        1'234 -> 1234 | 1234
        1’234’567.5 -> 1234567.5 | -
        0,123 -> - | 0.123
        0.123 -> 0.123 | -
        1,23 -> - | 1.23
        1,234.5 -> 1234.5 | -
        1.234,5 -> - | 1234.5
        .5 -> 0.5 | -
        7. -> 7 | 7
        5.0 -> 5 | -
        5.00 -> 5.0 | -
        -5 -> -5 | -5
        −5 -> -5 | -5
        +5 -> 5 | 5
        (1,234) -> -1234 | -1.234
        (-5) -> - | -
        --5 -> - | -
        $1,234.50 -> 1234.5 $ | -
        -$5 -> -5 $ | -5 $
        $-5 -> -5 $ | -5 $
        ($5) -> -5 $ | -5 $
        € 5 -> 5 € | 5 €
        USD 5 -> 5 USD | 5 USD
        5 USD -> 5 USD | 5 USD
        ￥5 -> 5 ¥ | 5 ¥
        5元 -> 5 元 | 5 元
        3.5万元 -> 35000 元 | -
        1.1亿 -> 110000000 | -
        US$ 3.2 million -> 3200000 US$ | -
        $12M -> 12000000 $ | 12000000 $
        12M -> 12 M | 12 M
        12 % -> 12 % | 12 %
        12% -> 12 % | 12 %
        １２％ -> 12 % | 12 %
        5 kg -> 5 kg | 5 kg
        5kg -> 5 kg | 5 kg
        5 km2 -> 5 km² | 5 km²
        5 km/h -> 5 km/h | 5 km/h
        5 °C -> 5 °C | 5 °C
        1.5e3 -> 1500.0 | -
        1.5E-3 -> 0.0015 | -
        5 EUR -> 5 EUR | 5 EUR
        1,234[3] -> 1234 | 1.234
        007 -> 7 | 7
        1st -> - | -
        5 pm -> - | -
        3月 -> - | -
        2019年 -> - | -
        5-10 -> - | -
        12:30 -> - | -
        1/2 -> - | -
        about 5 -> - | -
        5 (est.) -> - | -
        5+ -> - | -
        1234567890123456789 -> - | -
        12 34 -> - | -
        1,2345 -> - | 1.2345
        1e999 -> - | -
        $ -> - | -
         -> - | -
        5 very long remark here -> - | -
        CHF 1'000 -> 1000 CHF | 1000 CHF
        1.2.3 -> - | -
        0.1.2 -> - | -
        5, -> - | -
        5, 6 -> - | -
        ");
    }

    proptest! {
        #[test]
        fn grouped_numbers_read_back(
            value in 0_i64..1_000_000_000_000,
            mark in 0_usize..5,
            is_negative: bool,
        ) {
            let (thousands, decimal) =
                [(",", DecimalMark::Point), (" ", DecimalMark::Point), ("'", DecimalMark::Comma),
                 (".", DecimalMark::Comma), ("", DecimalMark::Comma)][mark];
            let plain = value.to_string();
            let mut grouped = if is_negative { "-".to_owned() } else { String::new() };
            for (at, digit) in plain.chars().enumerate() {
                if 0 < at && (plain.len() - at) % 3 == 0 {
                    grouped.push_str(thousands);
                }
                grouped.push(digit);
            }
            let expected = if is_negative { -value } else { value };
            let number = written_number(&grouped).unwrap();
            prop_assert_eq!(number.amount(decimal), Some(Amount::Integer(expected)));
            let fraction = format!("{grouped}{}25 kg", decimal.sign());
            let number = written_number(&fraction).unwrap();
            let expected: f64 = format!("{}{value}.25", if is_negative { "-" } else { "" }).parse().unwrap();
            prop_assert_eq!(number.amount(decimal), Some(Amount::Real(expected)));
            prop_assert_eq!(number.unit.as_deref(), Some("kg"));
        }

        #[test]
        fn any_cell_is_survived(cell in "\\PC{0,40}|[-+$€0-9.,e '()%万亿元mk\\[\\]]{0,20}") {
            for mark in [DecimalMark::Point, DecimalMark::Comma] {
                read(&cell, mark);
            }
        }
    }
}
