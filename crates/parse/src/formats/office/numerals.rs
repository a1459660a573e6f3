//! Formats list numbers as digits, letters, Roman or Chinese numerals.

/// Formats a list number; `format` is a name of Word (`lowerRoman`). Unknown formats, and numbers
/// that a format cannot show, give decimal digits.
pub(crate) fn format_number(number: i64, format: &str) -> String {
    let letter = |first: u8| {
        let at = u8::try_from((number - 1).rem_euclid(26)).unwrap_or(0);
        let times = usize::try_from((number - 1) / 26 + 1).unwrap_or(1).min(9);
        char::from(first + at).to_string().repeat(times)
    };
    match format {
        "lowerLetter" if 0 < number => letter(b'a'),
        "upperLetter" if 0 < number => letter(b'A'),
        "lowerRoman" => roman(number).to_lowercase(),
        "upperRoman" => roman(number),
        "decimalZero" => format!("{number:02}"),
        "chineseCounting"
        | "chineseCountingThousand"
        | "ideographDigital"
        | "japaneseCounting"
        | "taiwaneseCountingThousand" => chinese(number),
        _ => number.to_string(),
    }
}

fn roman(number: i64) -> String {
    const PARTS: [(i64, &str); 13] = [
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ];
    if !(1..4000).contains(&number) {
        return number.to_string();
    }
    let mut rest = number;
    let mut roman = String::new();
    for (value, letters) in PARTS {
        while value <= rest {
            roman.push_str(letters);
            rest -= value;
        }
    }
    roman
}

/// 一, 十二, 二十; digits above 99.
fn chinese(number: i64) -> String {
    const DIGITS: [&str; 10] = ["", "一", "二", "三", "四", "五", "六", "七", "八", "九"];
    let digit = |digit: i64| {
        usize::try_from(digit).ok().and_then(|at| DIGITS.get(at)).copied().unwrap_or_default()
    };
    match number {
        1..=9 => digit(number).to_owned(),
        10..=19 => format!("十{}", digit(number - 10)),
        20..=99 => format!("{}十{}", digit(number / 10), digit(number % 10)),
        _ => number.to_string(),
    }
}
