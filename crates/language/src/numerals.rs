//! Reads numbers in Chinese numerals or digits.

/// Whether a character can be part of a number.
pub fn is_numeral(c: char) -> bool {
    digit(c).is_some() || unit(c).is_some()
}

/// The number that a whole text writes: `二百六十四`, `贰佰陆拾肆`, `264`, `２６４`, `二六四`; else `None`.
pub fn number(text: &str) -> Option<u32> {
    if text.is_empty() {
        return None;
    }
    if !text.chars().all(|c| digit(c).is_some()) {
        return u32::try_from(numeral(text)?).ok();
    }
    let mut value: u32 = 0;
    for c in text.chars() {
        value = value.checked_mul(10)?.checked_add(digit(c)?)?;
    }
    Some(value)
}

/// Like [`number`], but only for Chinese numerals: `None` for digits of any width.
pub fn chinese_number(numeral: &str) -> Option<u32> {
    if numeral.chars().all(is_chinese_numeral) { number(numeral) } else { None }
}

/// The number in digits or numerals that a text begins with, at most `longest` characters, and the
/// rest of the text.
pub(crate) fn leading_number(text: &str, longest: usize) -> Option<(u32, &str)> {
    let signs: String = text.chars().take(longest).take_while(|c| is_numeral(*c)).collect();
    Some((number(&signs)?, text.get(signs.len()..)?))
}

/// The number that a whole text writes with units: `一亿二千万`, `壹佰零伍`, `三万五` (35,000). `None` if the
/// order of units or digits is not that of one number.
pub(crate) fn numeral(text: &str) -> Option<u64> {
    let (mut total, mut section) = (0_u64, 0_u64);
    // `pending`: a digit before its unit. `last`: the previous unit, unset after 零, so that a digit
    // after it counts once.
    let (mut pending, mut last): (Option<u64>, Option<u64>) = (None, None);
    let (mut smallest, mut bigs) = (10_000_u64, Vec::new());
    for c in text.chars() {
        match (digit(c).map(u64::from), unit(c)) {
            (Some(_), _) if pending.is_some() => return None,
            (Some(0), _) => last = None,
            (Some(digit), _) => pending = Some(digit),
            // 一万二千: the part before 万 is a number of its own; 亿 multiplies all that was read.
            (_, Some(big @ (10_000 | 100_000_000))) => {
                section = section.checked_add(pending.take().unwrap_or(0))?;
                let counted = if big == 10_000 { section } else { total.checked_add(section)? };
                // 三万亿 has the smaller unit first; 三万二万 is not a number.
                if counted == 0
                    || bigs.last() == Some(&big)
                    || (big != 10_000 && bigs.contains(&big))
                {
                    return None;
                }
                total = match big {
                    10_000 => total.checked_add(counted.checked_mul(big)?)?,
                    _ => counted.checked_mul(big)?,
                };
                (section, smallest, last) = (0, 10_000, Some(big));
                bigs.push(big);
            }
            // 十五 is 15: a unit without a digit counts once, and only at the beginning of a number.
            (_, Some(unit)) => {
                let begins = total == 0 && section == 0;
                if smallest <= unit || (pending.is_none() && unit != 10 && !begins) {
                    return None;
                }
                section = section.checked_add(pending.take().unwrap_or(1).checked_mul(unit)?)?;
                (smallest, last) = (unit, Some(unit));
            }
            _ => return None,
        }
    }
    // 三万五 is 35,000, 三万零五 is 30,005.
    let below = last.map_or(1, |unit| unit / 10);
    total.checked_add(section)?.checked_add(pending.unwrap_or(0).checked_mul(below)?)
}

/// The digit that a Chinese character writes.
pub fn chinese_digit(c: char) -> Option<u32> {
    const DIGITS: [char; 10] = ['〇', '一', '二', '三', '四', '五', '六', '七', '八', '九'];
    match c {
        '零' => Some(0),
        '两' => Some(2),
        _ => DIGITS.iter().position(|known| *known == c).map(|at| at as u32),
    }
}

/// A numeral of the Chinese script, in its everyday or its formal form (contracts, cheques).
pub(crate) fn is_chinese_numeral(c: char) -> bool {
    is_numeral(c) && !narrow(c).is_ascii_digit()
}

/// The ASCII form of a full-width character.
pub fn narrow(c: char) -> char {
    match c {
        '！'..='～' => char::from_u32(u32::from(c) - 0xFEE0).unwrap_or(c),
        c => c,
    }
}

pub(crate) fn digit(c: char) -> Option<u32> {
    const FORMAL: [char; 9] = ['壹', '贰', '叁', '肆', '伍', '陆', '柒', '捌', '玖'];
    match narrow(c) {
        c @ '0'..='9' => c.to_digit(10),
        // Often written instead of 〇.
        '○' => Some(0),
        c => match FORMAL.iter().position(|known| *known == c) {
            Some(at) => Some(at as u32 + 1),
            None => chinese_digit(c),
        },
    }
}

pub(crate) fn unit(c: char) -> Option<u64> {
    match c {
        '十' | '拾' => Some(10),
        '百' | '佰' => Some(100),
        '千' | '仟' => Some(1_000),
        '万' | '萬' => Some(10_000),
        '亿' | '億' => Some(100_000_000),
        _ => None,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::{chinese_number, number, numeral};

    #[test]
    fn reads_both_ways_of_writing() {
        for (text, value) in [
            ("264", 264),
            ("２６４", 264),
            ("二百六十四", 264),
            ("二六四", 264),
            ("十", 10),
            ("十五", 15),
            ("二十", 20),
            ("一百零五", 105),
            ("一百一十", 110),
            ("一千二百六十", 1260),
            ("一万二千", 12_000),
            ("壹佰贰拾陆万", 1_260_000),
            ("一亿二千万", 120_000_000),
            ("三万五", 35_000),
            ("三万零五", 30_005),
        ] {
            assert_eq!(number(text), Some(value), "{text}");
        }
        assert_eq!((number(""), number("条"), number("99999999999")), (None, None, None));
        for scrap in ["三五十", "万", "一百二百", "一万二万", "十百", "一二千"] {
            assert_eq!(number(scrap), None, "{scrap}");
        }
        assert_eq!(numeral("三万亿"), Some(3_000_000_000_000));
    }

    #[test]
    fn numerals() {
        let read = |numeral| chinese_number(numeral).unwrap_or(u32::MAX);
        assert_eq!(
            ["十", "十五", "二十", "二百六十四", "一千零二", "一百一十", "三万五千"].map(read),
            [10, 15, 20, 264, 1002, 110, 35_000]
        );
        assert_eq!(read("二〇一〇"), 2010);
        assert_eq!(chinese_number("很多"), None);
        assert_eq!(chinese_number("九九九九九九九九九九九九"), None);
    }

    proptest! {
        #[test]
        fn reads_what_it_writes(value in 1_u32..9_999) {
            prop_assert_eq!(number(&chinese(value.into(), "零一二三四五六七八九", "十百千万亿")), Some(value));
            prop_assert_eq!(number(&value.to_string()), Some(value));
        }

        #[test]
        fn handles_any_text(text in "[0-9一二三十百千万]{0,30}") {
            let _ = number(&text);
        }
    }

    /// Writes a number as statutes or contracts do, with these digits from zero on and these units
    /// from ten on.
    pub(crate) fn chinese(value: u64, digits: &str, units: &str) -> String {
        let digits: Vec<char> = digits.chars().collect();
        let units: Vec<char> = units.chars().collect();
        let (mut text, mut gap) = (String::new(), false);
        for (section, big) in [(8, units.get(4)), (4, units.get(3)), (0, None)] {
            let of_section = value / 10_u64.pow(section) % 10_000;
            for place in (0..4).rev() {
                let digit = of_section / 10_u64.pow(place) % 10;
                if digit == 0 {
                    gap = !text.is_empty();
                    continue;
                }
                if gap {
                    text.push(digits[0]);
                    gap = false;
                }
                text.push(digits[digit as usize]);
                text.extend(place.checked_sub(1).map(|unit| units[unit as usize]));
            }
            if 0 < of_section {
                text.extend(big);
            }
        }
        text
    }
}
