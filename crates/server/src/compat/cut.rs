//! Cuts an answer to a number of tokens, so that a citation stays whole or goes.

use pikerag_engine::estimate_tokens;

/// An answer as a chat shows it: the text, and for each citation the positions of its number in
/// the text, in characters.
pub(super) type Shown<C> = (String, Vec<(C, usize, usize)>);

/// The beginning of an answer that has at most `most` tokens by our estimate, and the citations
/// whose numbers it contains; `None` if the whole answer fits. It ends after a word or a number of
/// a citation.
pub(super) fn cut<C: Clone>((text, places): &Shown<C>, most: u64) -> Option<Shown<C>> {
    if estimate_tokens(text) <= most {
        return None;
    }
    let ends: Vec<usize> = text.char_indices().map(|(at, c)| at + c.len_utf8()).collect();
    let fits = |end: &usize| estimate_tokens(text.get(..*end).unwrap_or_default()) <= most;
    let fitting = ends.partition_point(fits);
    let chars: Vec<char> = text.chars().collect();
    let is_whole =
        |kept: &usize| !places.iter().any(|(_, begins, ends)| begins < kept && kept < ends);
    let is_good = |kept: &usize| is_whole(kept) && is_between_words(&chars, *kept);
    let last = (1..=fitting).rev().find(is_good);
    let kept = last.or_else(|| (0..=fitting).rev().find(is_whole)).unwrap_or_default();
    let text: String = chars.iter().take(kept).collect();
    let places = places.iter().filter(|(.., ends)| *ends <= kept).cloned().collect();
    Some((text.trim_end().to_owned(), places))
}

/// Whether no word goes on after the first `kept` characters. Chinese has no blanks between words.
fn is_between_words(chars: &[char], kept: usize) -> bool {
    let is_of_word = |c: &char| c.is_alphanumeric() && *c < '\u{2e80}';
    let before = kept.checked_sub(1).and_then(|at| chars.get(at)).is_some_and(is_of_word);
    !(before && chars.get(kept).is_some_and(is_of_word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Shown<usize> {
        let places = text.match_indices('[').enumerate().map(|(number, (at, _))| {
            let begins = text[..at].chars().count();
            let mark = text[at..].split_inclusive(']').next().unwrap();
            (number + 1, begins, begins + mark.chars().count())
        });
        (text.to_owned(), places.collect())
    }

    #[test]
    fn an_answer_that_fits_is_not_cut() {
        assert_eq!(cut(&shown("The crane lifts forty tons. [1]"), 100), None);
    }

    #[test]
    fn each_cut_is_a_beginning_with_whole_words_and_whole_citations() {
        let whole =
            shown("Forty tons [1][2]\n\nThe crane of Hamburg lifts them. 起重机提升四十吨。[13]");
        // One token ends within the first word.
        for most in 2..30 {
            let Some((text, places)) = cut(&whole, most) else { continue };
            assert!(whole.0.starts_with(&text), "{most}: {text}");
            assert!(estimate_tokens(&text) <= most, "{most}: {text}");
            assert_eq!(places, shown(&text).1, "{most}: {text}");
            let rest = whole.0[text.len()..].chars().next().unwrap();
            let last = text.chars().last().unwrap();
            let is_latin = |c: char| c.is_ascii_alphanumeric();
            assert!(!(is_latin(last) && is_latin(rest)), "{most}: {text}");
        }
    }

    #[test]
    fn a_cut_keeps_only_the_citations_before_it() {
        let (text, places) =
            cut(&shown("Forty tons [1][2]\n\nThe crane lifts them. [3]"), 8).unwrap();
        assert_eq!((text.as_str(), places.len()), ("Forty tons [1][2]\n\nThe crane", 2));
    }

    #[test]
    fn a_word_longer_than_the_limit_is_cut() {
        let (text, places) = cut(&shown("Donaudampfschifffahrt"), 1).unwrap();
        assert_eq!((text.as_str(), places.len()), ("Dona", 0));
    }
}
