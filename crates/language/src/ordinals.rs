//! Which numbered parts does a Chinese text name? `第三十九条` and `第39条` are one term, whose number
//! no dictionary cuts to pieces.

/// What parts of statutes, contracts and books are called.
const PARTS: [char; 8] = ['条', '款', '项', '章', '节', '编', '篇', '卷'];
/// Numerals longer than this, in characters, number nothing.
const LONGEST: usize = 12;

/// Takes the numbered parts out of a text: each as a term with its number in digits, and the text
/// with a space in place of each.
pub(crate) fn take_ordinals(text: &str) -> (Vec<String>, String) {
    let (mut found, mut rest) = (Vec::new(), String::with_capacity(text.len()));
    let mut left = text;
    while let Some((before, after)) = left.split_once('第') {
        rest.push_str(before);
        match part(after) {
            Some((term, behind)) => {
                found.push(term);
                rest.push(' ');
                left = behind;
            }
            None => {
                rest.push('第');
                left = after;
            }
        }
    }
    rest.push_str(left);
    (found, rest)
}

/// What follows `第`: numeral, name of the part, and `之一` where it was put in later.
fn part(text: &str) -> Option<(String, &str)> {
    let (number, rest) = numeral(text)?;
    let name = rest.chars().next().filter(|name| PARTS.contains(name))?;
    let rest = rest.get(name.len_utf8()..)?;
    match rest.strip_prefix('之').and_then(numeral) {
        Some((inserted, rest)) => Some((format!("第{number}{name}之{inserted}"), rest)),
        None => Some((format!("第{number}{name}"), rest)),
    }
}

/// The numeral that a text begins with, and what comes after it.
fn numeral(text: &str) -> Option<(u32, &str)> {
    let (mut sum, mut digit, mut end) = (0_u32, None, 0);
    for (at, c) in text.char_indices().take(LONGEST) {
        match value(c) {
            Some(Sign::Digit(value)) => {
                digit = Some(digit.unwrap_or(0_u32).checked_mul(10)?.checked_add(value)?);
            }
            Some(Sign::Unit(unit)) => {
                sum = sum.checked_add(digit.take().unwrap_or(1).checked_mul(unit)?)?;
            }
            None => break,
        }
        end = at + c.len_utf8();
    }
    let rest = text.get(end..)?;
    (0 < end).then_some((sum.checked_add(digit.unwrap_or(0))?, rest))
}

enum Sign {
    Digit(u32),
    Unit(u32),
}

fn value(c: char) -> Option<Sign> {
    let han = ['零', '一', '二', '三', '四', '五', '六', '七', '八', '九'];
    if let Some(value) = han.iter().position(|digit| *digit == c) {
        return u32::try_from(value).ok().map(Sign::Digit);
    }
    match c {
        '〇' => Some(Sign::Digit(0)),
        '两' => Some(Sign::Digit(2)),
        '十' => Some(Sign::Unit(10)),
        '百' => Some(Sign::Unit(100)),
        '千' => Some(Sign::Unit(1000)),
        '０'..='９' => Some(Sign::Digit(u32::from(c) - u32::from('０'))),
        _ => c.to_digit(10).map(Sign::Digit),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numerals_and_digits_are_one_term() {
        let terms = |text: &str| take_ordinals(text).0.join(" ");
        assert_eq!(terms("票据法第三十九条和第39条、第３９条"), "第39条 第39条 第39条");
        assert_eq!(terms("第一百二十条之一第二款"), "第120条之1 第2款");
        assert_eq!(terms("第一千零一十二条，第十条，第二百零五条"), "第1012条 第10条 第205条");
        assert_eq!(terms("第三人、第三方、第条、第"), "");
        let (_, rest) = take_ordinals("依照第三十九条处理第三人");
        assert_eq!(rest, "依照 处理第三人");
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in "[第条款之一二十百千零9９a ]{0,40}") {
            let (found, rest) = take_ordinals(&text);
            prop_assert!(rest.len() <= text.len() + found.len());
        }
    }
}
