//! Ends an answer at a number of tokens or before a stop sequence, so that a citation stays whole or
//! goes.

use pikerag_engine::estimate_tokens;

/// An answer as a chat shows it: the text, and for each citation the positions of its number in
/// the text, in characters.
pub(super) type Shown<C> = (String, Vec<(C, usize, usize)>);

/// Where a request wants an answer to end, if it does not end earlier.
#[derive(Clone, Debug, Default)]
pub(super) struct Ends {
    /// The largest number of tokens.
    pub(super) most_tokens: Option<u64>,
    /// The sequences that must not be in the text; none is empty.
    pub(super) stops: Vec<String>,
}

/// Why an answer ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// It is shown as a whole.
    Whole,
    /// A stop sequence would follow.
    Stop,
    /// It has as many tokens as the request allows.
    Limit,
}

impl End {
    /// The word of OpenAI and Ollama for it.
    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::Whole | Self::Stop => "stop",
            Self::Limit => "length",
        }
    }
}

impl Ends {
    /// The answer up to the first of these ends.
    pub(super) fn shown<C: Clone>(&self, whole: Shown<C>) -> (Shown<C>, End) {
        let (whole, end) = match before_stop(&whole, &self.stops) {
            Some(stopped) => (stopped, End::Stop),
            None => (whole, End::Whole),
        };
        match self.most_tokens.and_then(|most| cut(&whole, most)) {
            Some(cut) => (cut, End::Limit),
            None => (whole, end),
        }
    }
}

/// The part of an answer before the first of these sequences, and the citations whose numbers it
/// contains; `None` if no sequence occurs. A number that a sequence would cut goes as a whole.
pub(super) fn before_stop<C: Clone>(
    (text, places): &Shown<C>,
    stops: &[String],
) -> Option<Shown<C>> {
    let first = stops.iter().filter_map(|stop| text.find(stop.as_str())).min()?;
    let before = text.get(..first).unwrap_or_default().chars().count();
    let is_cut = |(_, begins, ends): &&(C, usize, usize)| *begins < before && before < *ends;
    let kept = places.iter().find(is_cut).map_or(before, |(_, begins, _)| *begins);
    let text = text.chars().take(kept).collect();
    let places = places.iter().filter(|(.., ends)| *ends <= kept).cloned().collect();
    Some((text, places))
}

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

    fn stopped(text: &str, stops: &[&str]) -> Option<(String, usize)> {
        let stops: Vec<String> = stops.iter().map(|stop| (*stop).to_owned()).collect();
        before_stop(&shown(text), &stops).map(|(text, places)| (text, places.len()))
    }

    #[test]
    fn an_answer_ends_before_the_first_stop_sequence() {
        let text = "Forty tons [1][2]\n\nThe crane lifts them. 起重机。[3]";
        let ended = |text: &str, citations| Some((text.to_owned(), citations));
        assert_eq!(stopped(text, &[]), None);
        assert_eq!(stopped(text, &["END", "forty"]), None);
        assert_eq!(stopped(text, &["\n\n"]), ended("Forty tons [1][2]", 2));
        assert_eq!(stopped(text, &["重机", "crane"]), ended("Forty tons [1][2]\n\nThe ", 2));
        let chinese = "Forty tons [1][2]\n\nThe crane lifts them. 起";
        assert_eq!(stopped(text, &["重机"]), ended(chinese, 2));
        assert_eq!(stopped(text, &["Forty"]), ended("", 0));
    }

    #[test]
    fn a_stop_sequence_leaves_no_part_of_a_citation() {
        assert_eq!(stopped("Forty tons [1][2]", &["2]"]), Some(("Forty tons [1]".to_owned(), 1)));
        assert_eq!(stopped("Forty tons [1][2]", &["]"]), Some(("Forty tons ".to_owned(), 0)));
        assert_eq!(stopped("Forty tons [1][2]", &[" ["]), Some(("Forty tons".to_owned(), 0)));
    }

    #[test]
    fn the_earlier_end_holds() {
        let whole = || shown("Forty tons [1][2]\n\nThe crane lifts them. [3]");
        let ends = |most_tokens, stop: &str| {
            let ends = Ends { most_tokens, stops: vec![stop.to_owned()] };
            let ((text, places), end) = ends.shown(whole());
            (text, places.len(), end, end.reason())
        };
        let first = "Forty tons [1][2]".to_owned();
        assert_eq!(ends(None, "END").2, End::Whole);
        assert_eq!(ends(Some(100), "\n"), (first.clone(), 2, End::Stop, "stop"));
        assert_eq!(ends(None, "\n"), (first, 2, End::Stop, "stop"));
        let (text, citations, end, reason) = ends(Some(8), "them");
        assert_eq!((text.as_str(), citations), ("Forty tons [1][2]\n\nThe crane", 2));
        assert_eq!((end, reason), (End::Limit, "length"));
    }
}
