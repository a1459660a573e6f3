//! Which words does a text have? Lower-cased words of any script; Chinese cut by jieba, whose
//! dictionary is loaded only when the first Chinese text comes along.

use std::sync::LazyLock;

use jieba_rs::Jieba;
use unicode_segmentation::UnicodeSegmentation;

use crate::language::is_chinese;
use crate::stop::is_stop_word;

static JIEBA: LazyLock<Jieba> = LazyLock::new(Jieba::new);

/// The words of a text, lower-cased: those of other scripts in order, then the Chinese ones. Long
/// Chinese words are listed with the shorter words inside them, as a search engine does.
pub fn words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for piece in text.unicode_words() {
        if !piece.chars().any(is_chinese) {
            found.push(piece.to_lowercase());
        }
    }
    // UAX #29 splits Chinese into single characters: cut whole runs instead.
    for run in text.split(|c| !is_chinese(c)).filter(|run| !run.is_empty()) {
        found.extend(JIEBA.cut_for_search(run, true).into_iter().map(|word| word.word.to_owned()));
    }
    found
}

/// The words of a text that carry meaning, each once, in order of first use.
pub fn content_words(text: &str) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    let mut kept = words(text);
    kept.retain(|word| !is_stop_word(word) && seen.insert(word.clone()));
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_languages_in_one_text() {
        assert_eq!(words("The KX-40 crane's load"), ["the", "kx", "40", "crane's", "load"]);
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
}
