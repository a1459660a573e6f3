//! Which number do Chinese numerals or digits write?

/// Whether a character can stand in a number.
pub fn is_numeral(c: char) -> bool {
    digit(c).is_some() || unit(c).is_some()
}

/// The number that a whole text writes: `二百六十四`, `264`, `２６４`, `二六四`. None for anything else.
pub fn number(text: &str) -> Option<u32> {
    if text.is_empty() {
        return None;
    }
    if text.chars().all(|c| digit(c).is_some()) {
        let mut value: u32 = 0;
        for c in text.chars() {
            value = value.checked_mul(10)?.checked_add(digit(c)?)?;
        }
        return Some(value);
    }
    let (mut total, mut section, mut pending) = (0_u32, 0_u32, None);
    for c in text.chars() {
        match (digit(c), unit(c)) {
            (Some(0), _) => pending = None,
            (Some(digit), _) => pending = Some(digit),
            // 一万二千: what stands before 万 is a number of its own.
            (_, Some(10_000)) => {
                let before = section.checked_add(pending.take().unwrap_or(0))?;
                total = total.checked_add(before.checked_mul(10_000)?)?;
                section = 0;
            }
            // 十五 is 15: a unit without a digit counts once.
            (_, Some(unit)) => {
                section = section.checked_add(pending.take().unwrap_or(1).checked_mul(unit)?)?;
            }
            _ => return None,
        }
    }
    total.checked_add(section)?.checked_add(pending.unwrap_or(0))
}

/// As [`number`], for Chinese numerals alone: `None` for digits of any width.
pub fn chinese_number(numeral: &str) -> Option<u32> {
    let chinese = |c: char| chinese_digit(c).is_some() || unit(c).is_some();
    if numeral.chars().all(chinese) { number(numeral) } else { None }
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

fn digit(c: char) -> Option<u32> {
    match c {
        '0'..='9' => c.to_digit(10),
        '０'..='９' => Some(u32::from(c) - u32::from('０')),
        // Written in place of 〇.
        '○' => Some(0),
        _ => chinese_digit(c),
    }
}

fn unit(c: char) -> Option<u32> {
    match c {
        '十' => Some(10),
        '百' => Some(100),
        '千' => Some(1_000),
        '万' => Some(10_000),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{chinese_number, number};

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
        ] {
            assert_eq!(number(text), Some(value), "{text}");
        }
        assert_eq!((number(""), number("条"), number("99999999999")), (None, None, None));
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
            prop_assert_eq!(number(&chinese(value)), Some(value));
            prop_assert_eq!(number(&value.to_string()), Some(value));
        }

        #[test]
        fn survives_any_text(text in "[0-9一二三十百千万]{0,30}") {
            let _ = number(&text);
        }
    }

    /// As statutes write it.
    fn chinese(value: u32) -> String {
        let digits: Vec<char> = "零一二三四五六七八九".chars().collect();
        let (mut text, mut gap) = (String::new(), false);
        for (scale, unit) in [(1000, "千"), (100, "百"), (10, "十"), (1, "")] {
            let digit = value / scale % 10;
            if digit == 0 {
                gap = !text.is_empty();
                continue;
            }
            if gap {
                text.push('零');
                gap = false;
            }
            text.push(digits[digit as usize]);
            text.push_str(unit);
        }
        text
    }
}
