//! Reads the numbered parts, dates and amounts of a text as terms.
//!
//! Each gives the same term in every notation, so a query for `126万` finds `壹佰贰拾陆万元`.

use crate::amounts::amount;
use crate::dates::date;
use crate::numerals::{is_chinese_numeral, is_numeral, narrow};
use crate::ordinals::ordinal;

/// Returns the terms of a text, with the parts that queries use alone, in order; and the text with
/// a space in place of each.
pub(crate) fn take_written(text: &str) -> (Vec<String>, String) {
    let (mut found, mut rest) = (Vec::new(), String::with_capacity(text.len()));
    let mut left = text;
    while let Some(c) = left.chars().next() {
        let before = text.get(..text.len() - left.len()).unwrap_or_default();
        match read(before, left, c) {
            Some((terms, behind)) => {
                found.extend(terms);
                rest.push(' ');
                left = behind;
            }
            None => {
                rest.push(c);
                left = left.get(c.len_utf8()..).unwrap_or_default();
            }
        }
    }
    (found, rest)
}

/// The terms that begin at this character, and the rest of the text.
fn read<'a>(before: &str, text: &'a str, first: char) -> Option<(Vec<String>, &'a str)> {
    if first == '第' {
        return ordinal(text);
    }
    if is_chinese_numeral(first) && !before.ends_with(is_numeral) {
        return date(text).or_else(|| amount(text));
    }
    if !narrow(first).is_ascii_alphanumeric() {
        return None;
    }
    if begins(before) {
        return date(text).or_else(|| amount(text));
    }
    // 3-5万: the second number of a range.
    let range = before.strip_suffix(['-', '－']).is_some_and(|before| before.ends_with(is_numeral));
    if range && narrow(first).is_ascii_digit() { amount(text) } else { None }
}

/// Whether a number or word may begin after this text: not inside a word, nor after its dash or
/// point.
fn begins(before: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() && (c.is_ascii() || narrow(c) != c);
    let joint = |c: &char| matches!(narrow(*c), '-' | '.' | '/' | ',' | ':' | '_');
    let mut back = before.chars().rev();
    match back.next() {
        Some(c) if joint(&c) => !back.next().is_some_and(inside),
        Some(c) => !inside(c) && !is_numeral(c),
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::numerals::tests::chinese;

    fn terms(text: &str) -> String {
        take_written(text).0.join(" ")
    }

    fn check(expected: &str, notations: &[&str]) {
        for text in notations {
            for around in [("", ""), ("（", "）"), ("于", "，"), ("since ", " or so"), ("由", "起")]
            {
                let (found, rest) = take_written(&format!("{}{text}{}", around.0, around.1));
                assert_eq!(found.join(" "), expected, "{text} in {around:?}");
                assert_eq!(rest, format!("{} {}", around.0, around.1), "{text}");
            }
        }
    }

    #[test]
    fn a_day_is_one_term() {
        check(
            "2025-04-22 2025-04 2025 april 22",
            &[
                "2025年4月22日",
                "2025年04月22号",
                "2025 年 4 月 22 日",
                "２０２５年４月２２日",
                "二〇二五年四月二十二日",
                "二零二五年四月二十二日",
                "2025-04-22",
                "2025-4-22",
                "２０２５－０４－２２",
                "2025/4/22",
                "2025.4.22",
                "2025.04.22",
                "22 April 2025",
                "22nd of April, 2025",
                "22-Apr-2025",
                "April 22, 2025",
                "Apr. 22nd 2025",
                "april 22 2025",
            ],
        );
    }

    #[test]
    fn a_month_is_one_term() {
        check(
            "2025-04 2025 april",
            &[
                "2025年4月",
                "2025年04月份",
                "二〇二五年四月",
                "2025-04",
                "2025/4",
                "April 2025",
                "Apr. 2025",
                "April, 2025",
            ],
        );
        check("may", &["5月", "五月", "5月份"]);
        check("december 31", &["12月31日", "十二月三十一日"]);
        assert_eq!(terms("2011-12"), "2011-12 2011 december 12");
        assert_eq!(terms("二〇二五年度"), "2025");
    }

    #[test]
    fn an_amount_is_one_term() {
        check(
            "1260000",
            &[
                "126万",
                "126 万",
                "壹佰贰拾陆万",
                "一百二十六万",
                "１２６万",
                "1,260,000",
                "１，２６０，０００",
                "1,260,000.00",
                "1260000.00",
                "1.26 million",
                "1.26百万",
                "一点二六百万",
                "1百万26万",
            ],
        );
        check(
            "350000000",
            &["3.5亿", "三亿五千万", "三点五亿", "3亿5000万", "350 million", "叁亿伍仟万"],
        );
        check("1000 元", &["壹仟元整", "一千圆整", "1,000元整", "1千元正"]);
        check("1265000", &["126万5千", "一百二十六万五千", "126.5万"]);
        assert_eq!(take_written("126万5000元"), (vec!["1265000".to_owned()], " 元".to_owned()));
        assert_eq!(take_written("3-5万元"), (vec!["50000".to_owned()], "3- 元".to_owned()));
        assert_eq!(take_written("投126万2025年完工").0, ["1260000"]);
    }

    #[test]
    fn a_share_is_one_term() {
        check(
            "10% 10 percent",
            &["10%", "１０％", "10 %", "百分之十", "百分之10", "10 percent", "10 per cent"],
        );
        check("0.3% percent", &["3‰", "千分之三", "0.3%", "百分之零点三", "万分之三十"]);
        check("3.5% percent", &["3.5%", "百分之三点五", "35‰", "3.50 percent"]);
        check("100% 100 percent", &["百分之百", "100%", "百分之一百"]);
    }

    #[test]
    fn numbered_parts_are_one_term() {
        assert_eq!(terms("票据法第三十九条和第39条、第３９条"), "第39条 第39条 第39条");
        assert_eq!(terms("第一百二十条之一第二款"), "第120条之1 第2款");
        assert_eq!(terms("第一千零一十二条，第十条，第二百零五条"), "第1012条 第10条 第205条");
        assert_eq!(terms("第三人、第三方、第条、第"), "");
        let (_, rest) = take_written("依照第三十九条处理第三人");
        assert_eq!(rest, "依照 处理第三人");
    }

    #[test]
    fn other_numbers_stay_in_the_text() {
        for text in [
            "KX-2025-04-22",
            "2025-04-22-7",
            "2025-13-01",
            "2025年",
            "2025.4",
            "1.2.3",
            "31-4-2025",
            "99/2025",
            "April 1990s",
            "2024-25",
            "三个月",
            "千万不要",
            "百姓",
            "万一",
            "十分",
            "大陆",
            "队伍",
            "五四",
            "5千克",
            "五千克",
            "100,200,3000",
            "2025",
            "5 millions",
            "百分之几",
            "the march 20",
        ] {
            assert_eq!(take_written(text), (vec![], text.to_owned()), "{text}");
        }
    }

    proptest! {
        #[test]
        fn handles_any_text(
            text in "\\PC{0,40}|[第条款之一二十百千零9９a ]{0,40}|[0-9０-９年月日号.,/ 万亿%‰百分之点壹拾元整第十Apr-]{0,40}"
        ) {
            let (found, rest) = take_written(&text);
            prop_assert!(found.iter().all(|term| !term.is_empty()));
            prop_assert!(rest.len() <= text.len());
        }

        /// A number gives its digits as the term, in every notation.
        #[test]
        fn one_number_is_one_term(value in prop_oneof![1_u64..1_000_000, 1_u64..=1_000_000_000_000]) {
            let plain = value.to_string();
            let with = |zeros: usize, unit: &str| {
                let digits = format!("{plain:0>width$}", width = zeros + 1);
                let (whole, fraction) = digits.split_at(digits.len() - zeros);
                format!("{whole}.{fraction}{unit}")
            };
            let mut notations = vec![with(4, "万"), with(8, "亿"), with(6, " million"), format!("{plain}.00")];
            if (10..1_000_000_000_000).contains(&value) {
                notations.push(chinese(value, "零一二三四五六七八九", "十百千万亿"));
                notations.push(chinese(value, "零壹贰叁肆伍陆柒捌玖", "拾佰仟万亿"));
            }
            if 1_000 <= value {
                let mut grouped = String::new();
                for (at, digit) in plain.chars().enumerate() {
                    if 0 < at && (plain.len() - at) % 3 == 0 {
                        grouped.push(',');
                    }
                    grouped.push(digit);
                }
                notations.push(grouped);
            }
            for text in notations {
                prop_assert_eq!(take_written(&text).0, vec![plain.clone()], "{}", text);
            }
        }
    }
}
