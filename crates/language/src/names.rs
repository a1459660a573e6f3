//! Finds the names of things: titles with their aliases, and proper names in a text, as lists of
//! folded words.

use std::collections::BTreeSet;

use crate::chinese::chinese_words;
use crate::fold::{Token, fold, tokens};
use crate::language::is_chinese;
use crate::numerals::is_numeral;
use crate::stop::is_stop_word;
use crate::words::stem;
use crate::written::take_written;

/// A name as its folded words, in order.
pub type Name = Vec<String>;

/// The limit, in words; longer titles are not searched for in texts.
pub const LONGEST: usize = 12;
/// The limit for Chinese titles; each character counts as a word here.
const LONGEST_CHINESE: usize = 32;
/// A prefix that full names of Chinese statutes and offices have and short names omit.
const STATE: &str = "中华人民共和国";
/// Words that join the parts of a name without being part of it.
const CONNECTIVES: [&str; 17] = [
    "of", "de", "la", "le", "du", "des", "von", "van", "der", "den", "di", "da", "del", "della",
    "dos", "al", "bin",
];

/// The largest number of words in a name that begins with this word.
pub fn longest(first: &str) -> usize {
    if first.chars().any(is_chinese) { LONGEST_CHINESE } else { LONGEST }
}

fn is_too_long(name: &[String]) -> bool {
    name.first().is_some_and(|first| longest(first) < name.len())
}

/// A name as one string, the input of its key.
pub fn joined(name: &[String]) -> String {
    name.join(" ")
}

/// A form that is equal for spellings of a tag that differ only in case, accents, punctuation or
/// English ending. Empty if the tag has no word.
pub fn tag_words(tag: &str) -> String {
    let words: Vec<String> = tokens(tag).into_iter().map(|token| stem(&token.folded)).collect();
    joined(&words)
}

/// The names that a title stands for, each with a weight in hundredths: the title itself, without a
/// bracketed remark, up to the first comma, without the article or the name of the state.
pub fn title_names(title: &str) -> Vec<(Name, u8)> {
    let title = title.trim();
    let plain = match title.strip_suffix([')', '）']).and_then(|rest| rest.rsplit_once(['(', '（']))
    {
        Some((before, _)) if !before.trim().is_empty() => before.trim(),
        _ => title,
    };
    let mut names: Vec<(Name, u8)> = Vec::new();
    let mut add = |words: Name, weight: u8| {
        let one_character = matches!(words.as_slice(), [only] if only.chars().count() < 2);
        let only_grammar = words.iter().all(|word| is_stop_word(word));
        if !words.is_empty() && !is_too_long(&words) && !only_grammar && !one_character {
            match names.iter_mut().find(|(held, _)| *held == words) {
                Some((_, held)) => *held = weight.max(*held),
                None => names.push((words, weight)),
            }
        }
    };
    add(folded(title), 100);
    add(folded(plain), 90);
    if let Some((before, _)) = plain.split_once([',', '，']) {
        add(folded(before), 70);
    }
    // Uses the title with its bracketed remark, because the year of an amendment distinguishes it.
    if let Some(rest) = title.strip_prefix(STATE) {
        add(folded(rest), 90);
    }
    let words = folded(plain);
    if let [first, rest @ ..] = words.as_slice()
        && ["the", "a", "an"].contains(&first.as_str())
        && !rest.is_empty()
    {
        add(rest.to_vec(), 80);
    }
    names
}

fn folded(text: &str) -> Name {
    tokens(text).into_iter().map(|token| token.folded).collect()
}

/// The proper names in a text, each once, sorted. They are found from the text alone.
///
/// English: runs of capitalised words and identifiers, their parts between connectives, and their
/// single words. Chinese: text in 《》 “” 「」 『』, and words of two or more characters.
pub fn names_in(text: &str) -> BTreeSet<Name> {
    let mut names = BTreeSet::new();
    let mut run: Vec<String> = Vec::new();
    let mut pending: Vec<String> = Vec::new();
    let mut previous: Option<Token<'_>> = None;
    for token in tokens(text) {
        if token.raw.chars().any(is_chinese) {
            flush(&mut run, &mut pending, &mut names);
            previous = None;
            continue;
        }
        let gap = previous.as_ref().and_then(|previous| text.get(previous.end()..token.start));
        if !gap.is_some_and(|gap| joins(gap, previous.as_ref())) {
            flush(&mut run, &mut pending, &mut names);
        }
        if is_capital(token.raw) {
            if !run.is_empty() || !is_stop_word(&token.folded) {
                run.append(&mut pending);
                run.push(token.folded.clone());
            }
        } else if token.raw.chars().all(|c| c.is_ascii_digit())
            && !run.is_empty()
            && pending.is_empty()
        {
            run.push(token.folded.clone());
        } else if CONNECTIVES.contains(&token.folded.as_str())
            && !run.is_empty()
            && pending.len() < 2
        {
            pending.push(token.folded.clone());
        } else {
            flush(&mut run, &mut pending, &mut names);
        }
        previous = Some(token);
    }
    flush(&mut run, &mut pending, &mut names);
    if text.chars().any(is_chinese) {
        chinese_names(text, &mut names);
    }
    names
}

/// Whether the text between two words allows them to belong to one name.
fn joins(gap: &str, previous: Option<&Token<'_>>) -> bool {
    match gap.trim() {
        // A heading is not part of a name in the text below it.
        _ if 1 < gap.matches('\n').count() => false,
        "" | "&" => true,
        "." => previous.is_some_and(|token| token.raw.chars().count() <= 2),
        _ => gap == "-" || gap == "–",
    }
}

/// A word that begins with a capital, or an identifier of letters and digits; not an ordinal
/// number.
fn is_capital(word: &str) -> bool {
    if word.chars().next().is_some_and(char::is_uppercase) {
        return true;
    }
    let digits = word.chars().take_while(char::is_ascii_digit).count();
    let ending = word.get(digits..).unwrap_or_default();
    let ordinal = 0 < digits && ["st", "nd", "rd", "th", "s"].contains(&ending);
    word.chars().any(|c| c.is_ascii_digit()) && word.chars().any(char::is_alphabetic) && !ordinal
}

fn flush(run: &mut Vec<String>, pending: &mut Vec<String>, names: &mut BTreeSet<Name>) {
    pending.clear();
    if 1 < run.len() {
        let joint = |word: &String| CONNECTIVES.contains(&word.as_str()) || is_stop_word(word);
        for part in run.split(joint).filter(|part| !part.is_empty()) {
            names.insert(part.to_vec());
            names.extend(
                part.iter().filter(|word| 2 <= word.chars().count()).map(|word| vec![word.clone()]),
            );
        }
    }
    if !run.is_empty() && run.iter().any(|word| 2 <= word.chars().count()) {
        names.insert(std::mem::take(run));
    }
    run.clear();
}

fn chinese_names(text: &str, names: &mut BTreeSet<Name>) {
    const QUOTES: [(char, char); 4] = [('《', '》'), ('“', '”'), ('「', '」'), ('『', '』')];
    for (open, close) in QUOTES {
        for part in text.split(open).skip(1) {
            let Some((inside, _)) = part.split_once(close) else { continue };
            let name = folded(inside);
            if 2 <= name.len() && !is_too_long(&name) {
                names.insert(name);
            }
        }
    }
    // A part of a date or an amount is not a name.
    for word in chinese_words(&take_written(text).1) {
        if 2 <= word.chars().count() && !is_stop_word(&word) && !is_count(&word) {
            names.insert(word.chars().map(|c| fold(c.encode_utf8(&mut [0; 4]))).collect());
        }
    }
}

/// `三个`, `十日`: a count, not a thing.
fn is_count(word: &str) -> bool {
    const MEASURES: [char; 14] =
        ['个', '年', '月', '日', '天', '次', '名', '项', '位', '种', '人', '条', '款', '元'];
    word.strip_suffix(MEASURES).is_some_and(|number| number.chars().all(is_numeral))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(names: impl IntoIterator<Item = Name>) -> Vec<String> {
        names.into_iter().map(|name| joined(&name)).collect()
    }

    #[test]
    fn titles_have_aliases() {
        let names = |title: &str| -> Vec<String> {
            title_names(title)
                .into_iter()
                .map(|(name, weight)| format!("{} {weight}", joined(&name)))
                .collect()
        };
        assert_eq!(names("The Wall (film)"), ["the wall film 100", "the wall 90", "wall 80"]);
        assert_eq!(names("Paris, Texas"), ["paris texas 100", "paris 70"]);
        assert_eq!(names("The Who"), ["the who 100"].map(str::to_owned)[..0]);
        assert_eq!(names("青砚手册"), ["青 砚 手 册 100"]);
        assert_eq!(
            names("中华人民共和国票据法（1995年） 第九条"),
            ["中 华 人 民 共 和 国 票 据 法 1995 年 第 九 条 100", "票 据 法 1995 年 第 九 条 90"]
        );
    }

    #[test]
    fn proper_names_and_their_parts() {
        let text = "In 1998 the University of Varnsund hired J. R. Hale, maker of the KX-40 and 3rd of his name.";
        assert_eq!(
            shown(names_in(text)),
            [
                "hale",
                "j r hale",
                "kx",
                "kx 40",
                "40",
                "university",
                "university of varnsund",
                "varnsund"
            ]
            .into_iter()
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect::<Vec<_>>()
        );
    }

    #[test]
    fn chinese_names_and_identifiers() {
        let found = shown(names_in("《供应合同》规定 CB-6 的备件存入恒温库。"));
        for name in ["供 应 合 同", "cb 6", "备 件"] {
            assert!(found.contains(&name.to_owned()), "{name} is not in {found:?}");
        }
    }

    #[test]
    fn chinese_questions_give_whole_names() {
        let named = |text: &str| shown(names_in(text)).join(", ");
        assert_eq!(named("1年的质保期是多久？"), "质 保, 质 保 期");
        assert_eq!(named("2025年4月22日付款126万元是否逾期三个月？"), "付 款, 逾 期");
        assert_eq!(named("验收在哪天，由谁负责？"), "负 责, 验 收");
    }
}
