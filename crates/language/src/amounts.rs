//! Reads amounts and shares as terms: `126万`, `壹佰贰拾陆万` and `1,260,000` are one term; so are `3.5%`
//! and `百分之三点五`.

use crate::decimal::Decimal;
use crate::language::is_chinese;
use crate::numerals::{digit, is_chinese_numeral, narrow, numeral, unit};

/// Longer runs of numerals, in characters, are not read as amounts.
const LONGEST: usize = 32;
pub(crate) const SCALES: [(&str, u32); 4] =
    [("thousand", 3), ("million", 6), ("billion", 9), ("trillion", 12)];
/// Characters that make a unit of measure with 千: 千克 is a kilogram, not a thousand of something.
const MEASURES: [char; 9] = ['克', '米', '瓦', '卡', '赫', '伏', '帕', '焦', '安'];

/// The amount that a text begins with, as terms, and the rest of the text. A number of plain digits
/// alone is no amount: it is already a word.
pub(crate) fn amount(text: &str) -> Option<(Vec<String>, &str)> {
    if let Some((percent, rest)) = share(text) {
        let mut terms = vec![format!("{percent}%")];
        // The number without its sign, because others write it before a word such as "percent".
        terms.extend(percent.is_whole().then(|| percent.to_string()));
        terms.push("percent".to_owned());
        return Some((terms, rest));
    }
    let (amount, rest) = chinese(text).or_else(|| with_units(text)).or_else(|| in_digits(text))?;
    let mut terms = vec![amount.to_string()];
    // 壹仟元整 is 1000元.
    let yuan = rest.strip_prefix(['元', '圆']).and_then(|rest| rest.strip_prefix(['整', '正']));
    terms.extend(yuan.map(|_| "元".to_owned()));
    Some((terms, yuan.unwrap_or(rest)))
}

/// A share in percent: `10%`, `3‰`, `10 per cent`, `千分之三`.
fn share(text: &str) -> Option<(Decimal, &str)> {
    for (of, places) in [("百分之", 0), ("千分之", 1), ("万分之", 2)] {
        if let Some(rest) = text.strip_prefix(of) {
            let (number, rest) = plain(rest)?;
            return Some((number.shifted_down(places)?, rest));
        }
    }
    let (number, rest) = digits(text)?;
    let sign = rest.trim_start_matches(' ');
    for (sign_of, places) in [('%', 0), ('‰', 1), ('‱', 2)] {
        if sign.chars().next().map(narrow) == Some(sign_of) {
            let first = sign.chars().next()?.len_utf8();
            return Some((number.shifted_down(places)?, sign.get(first..)?));
        }
    }
    let rest = english_word(rest, "percent").or_else(|| english_word(rest, "per cent"))?;
    Some((number, rest))
}

/// A number without a scale or unit, in digits or numerals: `3.5`, `三点五`, `二十`, `百`.
fn plain(text: &str) -> Option<(Decimal, &str)> {
    if text.chars().next().map(narrow).is_some_and(|c| c.is_ascii_digit()) {
        return digits(text);
    }
    let (signs, rest) = numerals(text)?;
    match point(rest) {
        Some((fraction, after)) => Some((small(signs)?.with_fraction(&fraction)?, after)),
        None => Some((small(signs)?, rest)),
    }
}

/// Numerals that begin with a digit or 十 and contain a unit: `壹佰贰拾陆万`, `三点五亿`.
fn chinese(text: &str) -> Option<(Decimal, &str)> {
    let (mut signs, mut rest) = numerals(text)?;
    if let Some((fraction, after)) = point(rest) {
        let (zeros, rest) = units(after)?;
        return Some((small(signs)?.with_fraction(&fraction)?.shifted_up(zeros)?, rest));
    }
    if signs.ends_with('千') && rest.starts_with(MEASURES) {
        signs = signs.strip_suffix('千')?;
        rest = text.get(signs.len()..)?;
    }
    let first = signs.chars().next()?;
    let opens = digit(first).is_some_and(|digit| digit != 0) || unit(first) == Some(10);
    if !opens || signs.chars().count() < 2 || !signs.chars().any(|c| unit(c).is_some()) {
        return None;
    }
    Some((Decimal::whole(numeral(signs)?), rest))
}

/// Digits with Chinese units: `126万`, `3.5亿`, `1亿2000万`, `126万5000元`.
fn with_units(text: &str) -> Option<(Decimal, &str)> {
    let (number, rest) = digits(text)?;
    let rest = rest.trim_start_matches(' ');
    let Some((mut zeros, mut rest)) = units(rest) else { return scaled(number, rest) };
    let mut sum = number.shifted_up(zeros)?;
    while let Some((next, after)) = digits(rest) {
        let (smaller, after) = match units(after) {
            Some(found) => found,
            // A number of something else may follow, except in amounts of money.
            None if after.starts_with(['元', '圆']) => (0, after),
            None => break,
        };
        let Some(next) = next.shifted_up(smaller).filter(|next| next.is_below(zeros)) else {
            break;
        };
        if smaller < zeros {
            (sum, zeros, rest) = (sum.plus(next)?, smaller, after);
        } else {
            break;
        }
    }
    Some((sum, rest))
}

/// `1.26 million`.
fn scaled(number: Decimal, rest: &str) -> Option<(Decimal, &str)> {
    let (zeros, rest) =
        SCALES.iter().find_map(|(name, zeros)| Some((*zeros, english_word(rest, name)?)))?;
    Some((number.shifted_up(zeros)?, rest))
}

/// Digits with thousands separators or a trailing zero fraction: `1,260,000`, `1260.00`.
fn in_digits(text: &str) -> Option<(Decimal, &str)> {
    let (number, rest) = digits(text)?;
    let signs: String = text.get(..text.len() - rest.len())?.chars().map(narrow).collect();
    let rewritten = signs.contains(',') || signs.ends_with(".00");
    (rewritten && !rest.starts_with(|c: char| c.is_alphanumeric() && c.is_ascii()))
        .then_some((number, rest))
}

/// A number in half-width or full-width digits; digit groups of three and a fraction are optional.
fn digits(text: &str) -> Option<(Decimal, &str)> {
    let (mut whole, mut rest) = run_of_digits(text)?;
    let mut grouped = whole.len() <= 3 && !whole.starts_with('0');
    while grouped
        && let Some((group, after)) = behind(rest, ',').and_then(run_of_digits)
        && group.len() == 3
    {
        whole.push_str(&group);
        rest = after;
        grouped = whole.len() <= LONGEST;
    }
    // 100,200,3000 is a list.
    if 3 < whole.len() && grouped && behind(rest, ',').and_then(run_of_digits).is_some() {
        return None;
    }
    let number = Decimal::read(&whole)?;
    let Some((fraction, after)) = behind(rest, '.').and_then(run_of_digits) else {
        return Some((number, rest));
    };
    // 1.2.3 is a version or a section.
    if behind(after, '.').and_then(run_of_digits).is_some() {
        return None;
    }
    Some((number.with_fraction(&fraction)?, after))
}

fn run_of_digits(text: &str) -> Option<(String, &str)> {
    let (mut signs, mut length) = (String::new(), 0);
    for c in text.chars() {
        if !narrow(c).is_ascii_digit() {
            break;
        }
        signs.push(narrow(c));
        length += c.len_utf8();
    }
    if signs.is_empty() { None } else { Some((signs, text.get(length..)?)) }
}

fn behind(text: &str, sign: char) -> Option<&str> {
    let first = text.chars().next().filter(|c| narrow(*c) == sign)?;
    text.get(first.len_utf8()..)
}

/// The Chinese numerals that a text begins with.
fn numerals(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c| !is_chinese_numeral(c)).unwrap_or(text.len());
    let (signs, rest) = text.split_at_checked(end)?;
    (!signs.is_empty() && signs.chars().count() <= LONGEST).then_some((signs, rest))
}

/// 三, 二十, 百. Of numerals without a unit, only a single digit counts.
fn small(signs: &str) -> Option<Decimal> {
    let mut all = signs.chars();
    match (all.next().and_then(digit), all.next()) {
        (Some(digit), None) => Some(Decimal::whole(u64::from(digit))),
        _ => Some(Decimal::whole(numeral(signs)?)),
    }
}

/// The digits after 点.
fn point(text: &str) -> Option<(String, &str)> {
    let text = text.strip_prefix('点')?;
    let (mut fraction, mut length) = (String::new(), 0);
    for c in text.chars() {
        let Some(digit) = digit(c).and_then(|digit| char::from_digit(digit, 10)) else { break };
        fraction.push(digit);
        length += c.len_utf8();
    }
    if fraction.is_empty() { None } else { Some((fraction, text.get(length..)?)) }
}

/// The units that a text begins with, as a number of zeros: 千万 is 7.
pub(crate) fn units(text: &str) -> Option<(u32, &str)> {
    let (mut zeros, mut rest) = (0, text);
    for c in text.chars() {
        let after = rest.get(c.len_utf8()..)?;
        match unit(c) {
            Some(unit) if 10 < unit && !(unit == 1_000 && after.starts_with(MEASURES)) => {
                zeros += unit.ilog10();
            }
            _ => break,
        }
        rest = after;
    }
    // 3百分之… and 3万分之… are not amounts.
    if zeros == 0 || rest.starts_with("分之") { None } else { Some((zeros, rest)) }
}

/// The text after `word`, if `text` begins with it; a space or a hyphen may come before the word.
pub(crate) fn english_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let text = text.trim_start_matches([' ', '-', '\u{a0}']);
    let (found, rest) = text.split_at_checked(word.len())?;
    let ends = !rest.starts_with(|c: char| c.is_alphabetic() && !is_chinese(c));
    (found.eq_ignore_ascii_case(word) && ends).then_some(rest)
}
