//! Which number does a Chinese numeral say? `二百六十四` is 264.

/// The digit of a numeral's character.
pub fn chinese_digit(c: char) -> Option<u32> {
    "〇一二三四五六七八九".chars().position(|digit| digit == c).map(|digit| digit as u32).or(
        match c {
            '零' => Some(0),
            '两' => Some(2),
            _ => None,
        },
    )
}

/// A whole numeral up to 99 999 999, or digits one by one (`二〇一〇`); `None` where a character is none.
pub fn chinese_number(numeral: &str) -> Option<u32> {
    if numeral.is_empty() || 16 < numeral.chars().count() {
        return None;
    }
    if numeral.chars().all(|c| chinese_digit(c).is_some()) {
        return numeral
            .chars()
            .filter_map(chinese_digit)
            .try_fold(0u32, |sum, digit| sum.checked_mul(10)?.checked_add(digit));
    }
    let (mut total, mut section, mut digit): (u32, u32, u32) = (0, 0, 0);
    for c in numeral.chars() {
        let unit = match c {
            '十' => 10,
            '百' => 100,
            '千' => 1000,
            '万' => {
                total = total.checked_add(section.checked_add(digit)?.checked_mul(10_000)?)?;
                (section, digit) = (0, 0);
                continue;
            }
            c => {
                digit = chinese_digit(c)?;
                continue;
            }
        };
        // `十五` begins with its unit.
        section = section.checked_add(digit.max(u32::from(unit == 10)).checked_mul(unit)?)?;
        digit = 0;
    }
    total.checked_add(section)?.checked_add(digit)
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
