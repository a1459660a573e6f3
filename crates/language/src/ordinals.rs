//! Which numbered parts does a Chinese text name? `第三十九条` and `第39条` are one term, whose number
//! no dictionary cuts to pieces.

use crate::numerals::{is_numeral, number};

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

/// The numeral that a text begins with, in Chinese or in digits of either width, and what comes after it.
fn numeral(text: &str) -> Option<(u32, &str)> {
    let signs: String = text.chars().take(LONGEST).take_while(|c| is_numeral(*c)).collect();
    Some((number(&signs)?, text.get(signs.len()..)?))
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
