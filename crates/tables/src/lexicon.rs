//! Groups English and Chinese words by their shared meanings, in names of columns and in questions.

use std::collections::HashMap;
use std::sync::LazyLock;

use pikerag_language::{is_chinese, stem};

/// A meaning that words share.
pub(crate) type Meaning = u16;

/// The longest Chinese word of both lists, in characters.
const LONGEST: usize = 8;

static BY_WORD: LazyLock<HashMap<String, Vec<Meaning>>> = LazyLock::new(|| {
    let mut by_word: HashMap<String, Vec<Meaning>> = HashMap::new();
    for (line, meaning) in entries(include_str!("lexicon.txt")).zip(0..) {
        for word in line.split_whitespace().filter(|word| *word != "|") {
            by_word.entry(stem(word)).or_default().push(meaning);
        }
    }
    by_word
});

/// The English names of things, by their Chinese names.
static NAMES: LazyLock<HashMap<&'static str, Vec<String>>> = LazyLock::new(|| {
    let mut names: HashMap<&str, Vec<String>> = HashMap::new();
    for line in entries(include_str!("names.txt")) {
        let mut words = line.split_whitespace();
        let Some(english) = words.next() else { continue };
        for chinese in words {
            names.entry(chinese).or_default().push(english.replace('_', " "));
        }
    }
    names
});

/// The Chinese names of things, by their English names.
static CHINESE: LazyLock<HashMap<String, Vec<&'static str>>> = LazyLock::new(|| {
    let mut chinese: HashMap<String, Vec<&str>> = HashMap::new();
    for (name, english) in NAMES.iter() {
        for english in english {
            chinese.entry(english.clone()).or_default().push(name);
            let plural = format!("{english}s");
            chinese.entry(plural).or_default().push(name);
        }
    }
    for names in chinese.values_mut() {
        names.sort_unstable();
    }
    chinese
});

/// The meanings of a stem or of a Chinese word; empty if the lexicon does not list it.
pub(crate) fn meanings(stem: &str) -> &'static [Meaning] {
    BY_WORD.get(stem).map(Vec::as_slice).unwrap_or_default()
}

/// The English names for a Chinese name.
pub(crate) fn english_names(chinese: &str) -> &'static [String] {
    NAMES.get(chinese).map(Vec::as_slice).unwrap_or_default()
}

/// The Chinese names for an English name, also in the plural.
pub(crate) fn chinese_names(english: &str) -> &'static [&'static str] {
    CHINESE.get(english).map(Vec::as_slice).unwrap_or_default()
}

/// The length of the longest known Chinese word that a text begins with, in characters; 0 where no known word begins it.
pub(crate) fn known_length(text: &[char]) -> usize {
    (1..=LONGEST.min(text.len()))
        .rev()
        .find(|length| {
            let word: String = text.iter().take(*length).collect();
            word.chars().all(is_chinese)
                && (BY_WORD.contains_key(&word) || NAMES.contains_key(word.as_str()))
        })
        .unwrap_or(0)
}

/// The lines of a list, without comments.
fn entries(list: &str) -> impl Iterator<Item = &str> {
    list.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn lists_hold_each_word_once_a_line() {
        for list in [include_str!("lexicon.txt"), include_str!("names.txt")] {
            assert!(list.starts_with('#'));
            for line in entries(list) {
                let words: Vec<&str> = line.split_whitespace().collect();
                let different: HashSet<&&str> = words.iter().collect();
                assert_eq!(different.len(), words.len(), "{line}");
                assert!(
                    words.iter().all(|word| word.chars().count() <= LONGEST || word.is_ascii()),
                    "{line}"
                );
            }
        }
        let names: HashSet<&str> =
            entries(include_str!("names.txt")).filter_map(|line| line.split(' ').next()).collect();
        assert_eq!(names.len(), entries(include_str!("names.txt")).count());
    }

    #[test]
    fn words_of_both_languages_share_meanings() {
        assert_eq!(meanings(&stem("repairs")), meanings("维修"));
        assert_eq!(english_names("法国"), ["france", "french"]);
        assert_eq!(known_length(&['维', '修', '费']), 2);
        assert!(meanings("zyzzyva").is_empty());
    }
}
