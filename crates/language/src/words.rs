//! Which words does a text have? Folded words of any script; Chinese cut by jieba, whose dictionary
//! is loaded only when the first Chinese text comes along.

use std::collections::HashSet;
use std::sync::LazyLock;

use jieba_rs::Jieba;
use rust_stemmers::{Algorithm, Stemmer};

use crate::fold::tokens;
use crate::language::is_chinese;
use crate::ordinals::take_ordinals;
use crate::stop::is_stop_word;

static JIEBA: LazyLock<Jieba> = LazyLock::new(Jieba::new);
static STEMMER: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::English));

/// The words of a text, folded: those of other scripts in order, then the Chinese ones, then its
/// numbered parts (`第39条`). Long Chinese words are listed with the shorter words inside them, as a
/// search engine does.
pub fn words(text: &str) -> Vec<String> {
    let (numbered, text) = take_ordinals(text);
    let mut found: Vec<String> = tokens(&text)
        .into_iter()
        .filter(|token| !token.raw.chars().any(is_chinese))
        .map(|token| token.folded)
        .collect();
    found.extend(chinese_words(&text));
    found.extend(numbered);
    found
}

/// The Chinese words of a text, in order; of a long word its parts too, for search.
pub(crate) fn chinese_words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for run in text.split(|c| !is_chinese(c)).filter(|run| !run.is_empty()) {
        found.extend(JIEBA.cut_for_search(run, true).into_iter().map(|word| word.word.to_owned()));
    }
    found
}

/// The words that carry meaning, each once, in order of first use.
pub fn content_words(text: &str) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut kept = words(text);
    kept.retain(|word| !is_stop_word(word) && seen.insert(word.clone()));
    kept
}

/// The terms that full text indexes: stems of all words, and the pairs of neighbouring Chinese
/// characters that are no word of the text, grammar left out. Two texts may cut the same characters into different
/// words; the pairs are the same.
pub fn terms(text: &str) -> Vec<String> {
    let words = words(text);
    let mut terms: Vec<String> = words.iter().map(|word| stem(word)).collect();
    terms.extend(pairs(text, &words));
    terms
}

/// Neighbouring Chinese characters that are none of these words, in order. Numbered parts, which are
/// terms of their own, end a run of characters.
fn pairs(text: &str, words: &[String]) -> Vec<String> {
    let known: HashSet<&str> = words.iter().map(String::as_str).collect();
    let (_, text) = take_ordinals(text);
    let mut found = Vec::new();
    for run in text.split(|c| !is_chinese(c)) {
        for (first, second) in run.chars().zip(run.chars().skip(1)) {
            let pair: String = [first, second].into_iter().collect();
            let grammar = [first, second].iter().any(|c| is_stop_word(c.encode_utf8(&mut [0; 4])));
            if !grammar && !known.contains(pair.as_str()) {
                found.push(pair);
            }
        }
    }
    found
}

/// The terms of a query, each once, in order: stems of the words that carry meaning, then pairs of
/// characters as in [`terms`]. A query of nothing but grammar keeps all its words.
pub fn query_terms(text: &str) -> Vec<String> {
    let (all, mut chosen) = (words(text), content_words(text));
    if chosen.is_empty() {
        chosen.clone_from(&all);
    }
    let mut seen = HashSet::new();
    let mut terms: Vec<String> = chosen.iter().map(|word| stem(word)).collect();
    terms.extend(pairs(text, &all));
    terms.retain(|term| seen.insert(term.clone()));
    terms
}

/// A folded word without its ending (Snowball, English); other scripts stay as they are.
pub fn stem(word: &str) -> String {
    if word.is_ascii() { STEMMER.stem(word).into_owned() } else { word.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_languages_in_one_text() {
        assert_eq!(words("The KX-40 crane's load"), ["the", "kx", "40", "crane", "load"]);
        let mixed = words("港口起重机 KX-40 的维护");
        assert!(mixed.contains(&"起重机".to_owned()), "{mixed:?}");
        assert!(mixed.contains(&"kx".to_owned()), "{mixed:?}");
    }

    #[test]
    fn content_words_leave_the_grammar_out() {
        assert_eq!(
            content_words("Who is the mayor of the city of Oslo?"),
            ["mayor", "city", "oslo"]
        );
        assert_eq!(content_words("谁是奥斯陆的市长？"), ["奥斯陆", "市长"]);
    }

    #[test]
    fn terms_are_stems() {
        assert_eq!(query_terms("Which cranes were lifting cranes?"), ["crane", "lift"]);
        assert_eq!(query_terms("Who was it?"), ["who", "was", "it"]);
    }

    #[test]
    fn pairs_meet_where_words_are_cut_otherwise() {
        assert_eq!(terms("矿山事故 A 港"), ["a", "矿山", "事故", "港", "山事"]);
        assert_eq!(query_terms("第三十九条的港口"), ["港口", "第39条"]);
    }
}
