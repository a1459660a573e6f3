//! Finds the numbers of documents in text: standards, statutes, series of papers, such as `GB/T
//! 1234-2010`, `RFC 2616`, `DOC-123`, `《刑法》第二百六十四条`.
//!
//! The rules are the same for a document's own numbers and for mentions in text, so a mention
//! matches the document.

use std::collections::HashSet;

use pikerag_language::{chinese_number, is_chinese};

/// Words that do not form a document number with the number after them.
const NO_PREFIX: [&str; 36] = [
    "JAN",
    "FEB",
    "MAR",
    "APR",
    "MAY",
    "JUN",
    "JUL",
    "AUG",
    "SEP",
    "OCT",
    "NOV",
    "DEC",
    "JANUARY",
    "FEBRUARY",
    "MARCH",
    "APRIL",
    "JUNE",
    "JULY",
    "AUGUST",
    "SEPTEMBER",
    "OCTOBER",
    "NOVEMBER",
    "DECEMBER",
    "USD",
    "EUR",
    "GBP",
    "CNY",
    "RMB",
    "AD",
    "BC",
    "FY",
    "PAGE",
    "FIG",
    "TABLE",
    "CHAPTER",
    "SECTION",
];
/// Longest run of letters in a number, and the largest number of its parts.
const LETTERS: usize = 10;
const PARTS: usize = 8;
/// The name of a law has at most this many characters before `第…条`.
const LAW: usize = 20;
/// The endings of the names of laws.
const LAWS: [&str; 9] = ["法", "法典", "条例", "规定", "办法", "解释", "细则", "规则", "章程"];
/// The most article numbers of one list: `第一条、第二条和第三条`.
const LISTED: usize = 20;

/// The document numbers in a text, in order, each once, as lower-case letters and digits separated
/// by spaces. With `without_years`, a number that ends in a year also appears without it.
pub(crate) fn identifiers(text: &str, without_years: bool) -> Vec<String> {
    let (mut found, mut seen): (Vec<String>, HashSet<String>) = Default::default();
    let mut add = |name: String| {
        if seen.insert(name.clone()) {
            found.push(name);
        }
    };
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let word = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
        if word == 0 {
            at += rest.chars().next().map_or(1, char::len_utf8);
            continue;
        }
        match number(rest) {
            Some((parts, length)) => {
                if without_years && let Some(shorter) = without_year(&parts) {
                    add(shorter.join(" "));
                }
                add(parts.join(" "));
                at += length.max(word);
            }
            None => at += word,
        }
    }
    found
}

fn is_part(c: char) -> bool {
    c.is_ascii_alphanumeric()
}

/// The document number that a text begins with: its parts, and its length in bytes.
fn number(text: &str) -> Option<(Vec<String>, usize)> {
    if let Some(found) = doi(text) {
        return Some(found);
    }
    let letters = text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
    let prefix = text.get(..letters)?;
    let upper = 2 <= letters && prefix.chars().all(|c| c.is_ascii_uppercase());
    if !(2..=LETTERS).contains(&letters) || NO_PREFIX.contains(&prefix.to_uppercase().as_str()) {
        return None;
    }
    let mut parts = vec![prefix.to_lowercase()];
    let mut end = letters;
    let mut digits = 0;
    while parts.len() < PARTS {
        let rest = text.get(end..)?;
        let separator = rest.chars().next().filter(|c| !is_part(*c));
        let gap = match separator {
            // A space only before the first digits, and not after a common word.
            Some(' ') if digits == 0 && upper => 1,
            Some('-' | '/' | '_' | ':' | '.') => 1,
            Some('–') if 0 < digits => '–'.len_utf8(),
            Some(_) => break,
            None => 0,
        };
        let next = rest.get(gap..)?;
        let run = |test: fn(char) -> bool| next.find(|c| !test(c)).unwrap_or(next.len());
        let (numbers, words) = (run(|c| c.is_ascii_digit()), run(|c| c.is_ascii_uppercase()));
        let length = match (numbers, words) {
            (0, 0) => break,
            // `GB/T`, `ISO/IEC`, and letters after digits: `2010A`.
            (0, words)
                if words <= 4
                    && (matches!(separator, Some('/' | '-')) || (gap == 0 && 0 < digits)) =>
            {
                words
            }
            (0, _) => break,
            (numbers, _) => numbers,
        };
        // `KX-40 metres`: the letters belong to the next word.
        let after = next.get(length..)?;
        if numbers == 0 && after.starts_with(|c: char| c.is_ascii_lowercase()) {
            break;
        }
        digits += numbers;
        parts.push(next.get(..length)?.to_lowercase());
        end += gap + length;
    }
    let dashed = text.get(letters..)?.starts_with(['-', '_', '/']);
    let enough = 2 <= digits && (upper || dashed);
    (enough && !text.get(end..)?.starts_with(|c: char| c.is_ascii_alphanumeric()))
        .then_some((parts, end))
}

/// A DOI as papers print it: `10.1000/xyz`.
fn doi(text: &str) -> Option<(Vec<String>, usize)> {
    let registrant = text.strip_prefix("10.")?;
    let digits = registrant.find(|c: char| !c.is_ascii_digit())?;
    let own = registrant.get(digits..)?.strip_prefix('/')?;
    let ends = |c: char| {
        c.is_whitespace() || is_chinese(c) || matches!(c, '"' | '<' | '>' | ')' | ']' | ',' | ';')
    };
    let own = own.get(..own.find(ends).unwrap_or(own.len()))?.trim_end_matches('.');
    if !(4..=9).contains(&digits) || own.is_empty() || 200 < own.len() {
        return None;
    }
    let whole = text.get(..3 + digits + 1 + own.len())?;
    Some((vec!["doi".to_owned(), whole.to_lowercase()], whole.len()))
}

fn without_year(parts: &[String]) -> Option<&[String]> {
    let (last, before) = parts.split_last()?;
    let is_year = last.len() == 4 && (last.starts_with("19") || last.starts_with("20"));
    let numbered = before.iter().any(|part| part.starts_with(|c: char| c.is_ascii_digit()));
    (is_year && numbered).then_some(before)
}

/// The articles of laws that a text names, such as `刑法 264`. `own` is the law that `本法` means.
pub(crate) fn articles(text: &str, own: Option<&str>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut listed: Option<(usize, Vec<String>)> = None;
    for (at, _) in text.match_indices('第') {
        let before = text.get(..at).unwrap_or_default();
        let Some((number, end)) = article(text, at) else { continue };
        // `第一条、第二条和第三条`: the text between two articles continues the list of one law.
        let goes_on = listed.take().filter(|(ended, _)| {
            text.get(*ended..at).is_some_and(|between| {
                ["、", "，", "和", "及", "至", "或", "以及", "或者"].contains(&between)
            })
        });
        let laws = match goes_on {
            Some((_, laws)) => laws,
            None => laws_before(before, own),
        };
        for law in &laws {
            let name = format!("{law} {number}");
            if !found.contains(&name) && found.len() < LISTED * LAW {
                found.push(name);
            }
        }
        listed = Some((end, laws));
    }
    found
}

/// The article that begins at `第`: its number and its end.
fn article(text: &str, at: usize) -> Option<(String, usize)> {
    let rest = text.get(at + '第'.len_utf8()..)?;
    let length =
        rest.char_indices().take(17).find(|(_, c)| *c == '条').map(|(length, _)| length)?;
    let numeral = rest.get(..length)?.trim();
    let number: u32 = match numeral.bytes().all(|byte| byte.is_ascii_digit()) {
        true => numeral.parse().ok()?,
        false => chinese_number(numeral)?,
    };
    let mut end = at + '第'.len_utf8() + length + '条'.len_utf8();
    // `第一百二十条之一`.
    let mut parts = text.get(end..)?.chars();
    if let (Some('之'), Some(part)) = (parts.next(), parts.next())
        && let Some(part) = chinese_number(&part.to_string())
    {
        end += '之'.len_utf8() + 3;
        return Some((format!("{number}.{part}"), end));
    }
    Some((number.to_string(), end))
}

/// Possible names of the law before an article: exact in brackets; else every tail of the words
/// before it, because the beginning of the name is unknown.
fn laws_before(before: &str, own: Option<&str>) -> Vec<String> {
    let before = before.trim_end();
    if let Some(inside) = before.strip_suffix('》') {
        let name = inside.rsplit('《').next().unwrap_or_default();
        return if name.chars().count() <= 2 * LAW { vec![law_name(name)] } else { Vec::new() };
    }
    let run: Vec<char> =
        before.chars().rev().take_while(|c| is_chinese(*c)).take(LAW).collect::<Vec<_>>();
    let run: String = run.into_iter().rev().collect();
    if ["本法", "本条例", "本规定", "本办法", "本解释"].iter().any(|it| run.ends_with(it))
    {
        return own.map(law_name).into_iter().collect();
    }
    if !LAWS.iter().any(|ending| run.ends_with(ending)) {
        return Vec::new();
    }
    let starts = run.char_indices().map(|(at, _)| at);
    let names = starts.filter_map(|at| run.get(at..)).filter(|name| 2 <= name.chars().count());
    let mut names: Vec<String> = names.map(law_name).collect();
    names.dedup();
    names
}

/// A law's name without the name of the state.
pub(crate) fn law_name(name: &str) -> String {
    let name = name.trim();
    name.strip_prefix("中华人民共和国").filter(|rest| !rest.is_empty()).unwrap_or(name).to_owned()
}

/// The law and article that a title names: `中华人民共和国刑法 第一条` belongs to `刑法`.
pub(crate) fn law_of_title(title: &str) -> Option<(String, String)> {
    let at = title.rfind('第')?;
    let (number, end) = article(title, at)?;
    let before = title.get(..at)?.trim().trim_start_matches('《').trim_end_matches('》');
    let whole = !before.is_empty()
        && before.chars().all(is_chinese)
        && title.get(end..)?.chars().count() <= 40;
    whole.then(|| (law_name(before), number))
}

/// The file names in a text: words with a common file extension.
pub(crate) fn file_names(text: &str) -> Vec<&str> {
    const ENDINGS: [&str; 27] = [
        "pdf", "doc", "docx", "xls", "xlsx", "ppt", "pptx", "odt", "ods", "odp", "rtf", "txt",
        "md", "html", "htm", "csv", "tsv", "json", "jsonl", "epub", "eml", "xml", "png", "jpg",
        "jpeg", "tif", "tiff",
    ];
    let inside = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let words = text.split(|c: char| !inside(c)).map(|word| word.trim_matches(['.', '-']));
    let is_file = |word: &&str| {
        word.rsplit_once('.').is_some_and(|(stem, ending)| {
            stem.chars().any(char::is_alphanumeric)
                && word.len() <= 200
                && ENDINGS.contains(&ending.to_ascii_lowercase().as_str())
        })
    };
    words.filter(is_file).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_of_documents() {
        let text = "See GB/T 1234-2010, ISO/IEC 27001:2022 and RFC2616 (or RFC 2616), DOC-123, fda-0001, \
            CVE-2021-44228; doi 10.1000/Xyz.12. Not: May 2010, MAY 2010, USD 500, the 3rd, A 12, KX-4, page-top, x86.";
        insta::assert_snapshot!(identifiers(text, true).join("\n"), @r"
        gb t 1234
        gb t 1234 2010
        iso iec 27001
        iso iec 27001 2022
        rfc 2616
        doc 123
        fda 0001
        cve 2021 44228
        doi 10.1000/xyz.12
        ");
        assert_eq!(identifiers("ISO 9001:2015", false), ["iso 9001 2015"]);
    }

    #[test]
    fn articles_of_laws() {
        let text = "依照《中华人民共和国刑法》第二百六十四条、第265条和第一百二十条之一；民法典第八条另有规定。本法第三条，第五条。";
        insta::assert_snapshot!(articles(text, Some("中华人民共和国宪法")).join("\n"), @r"
        刑法 264
        刑法 265
        刑法 120.1
        民法典 8
        法典 8
        宪法 3
        宪法 5
        ");
        assert_eq!(articles("第三条", None), Vec::<String>::new());
        assert_eq!(
            law_of_title("中华人民共和国刑法 第一条"),
            Some(("刑法".to_owned(), "1".to_owned()))
        );
        assert_eq!(law_of_title("关于第一条的说明文件"), Some(("关于".to_owned(), "1".to_owned())));
        assert_eq!(law_of_title("Section 第一条"), None);
    }

    #[test]
    fn files() {
        assert_eq!(
            file_names("see report_2019.PDF, 手册.docx. or e.g. this.that"),
            ["report_2019.PDF", "手册.docx"]
        );
    }

    proptest! {
        #[test]
        fn handles_any_text(text in "\\PC{0,60}", like in "[A-Z第条法一二0-9./: -]{0,24}") {
            for text in [text, like] {
                identifiers(&text, true);
                articles(&text, Some("法"));
                file_names(&text);
                law_of_title(&text);
            }
        }
    }
}
