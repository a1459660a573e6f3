//! Lists formal English words for everyday ones, as documents of companies, law, medicine, travel and insurance have them.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Everyday words, each with its formal words. The file explains its form.
const LIST: &str = include_str!("everyday.txt");

/// The formal words and phrases for a folded English word, the nearest in meaning first. Empty for words that are not
/// listed, such as those that have several common meanings. A plural finds the words of its singular.
pub fn formal_words(word: &str) -> &'static [&'static str] {
    static WORDS: LazyLock<HashMap<&str, Vec<&str>>> =
        LazyLock::new(|| lines().flat_map(|(keys, formal)| of_line(keys, formal)).collect());
    let forms = [Some(word), word.strip_suffix('s'), word.strip_suffix("es")];
    let found = forms.into_iter().flatten().find_map(|form| WORDS.get(form));
    found.map(Vec::as_slice).unwrap_or_default()
}

/// The lines of the list: everyday words, and formal ones.
fn lines() -> impl Iterator<Item = (&'static str, &'static str)> {
    LIST.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(": "))
}

fn of_line(
    keys: &'static str,
    formal: &'static str,
) -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
    keys.split(", ").map(move |key| {
        // A line of several everyday words may have one of them as the formal word of the others.
        (key, formal.split(", ").filter(|formal| *formal != key).collect())
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::fold::tokens;
    use crate::stop::is_stop_word;
    use crate::words::{content_words, stem};

    #[test]
    fn everyday_words_lead_to_formal_ones() {
        for (word, first) in [
            ("bike", "bicycle"),
            ("bikes", "bicycle"),
            ("unpaid", "outstanding"),
            ("crashes", "collision"),
            ("babies", "infant"),
            ("glasses", "eyewear"),
            ("flu", "influenza"),
        ] {
            assert_eq!(formal_words(word).first(), Some(&first), "{word}");
        }
        assert!(formal_words("umbrella").contains(&"personal belongings"));
    }

    /// Each of these words means two things about as often.
    #[test]
    fn false_friends_are_not_listed() {
        for word in [
            "actual",
            "bank",
            "boot",
            "deal",
            "guard",
            "rider",
            "shot",
            "shrink",
            // A smoke alarm, a train of staff, a tip of a tool, a crack of a code, a memory dump.
            "smoke",
            "train",
            "trains",
            "tip",
            "crack",
            "dump",
            "charge",
            "consideration",
            "eventual",
            "fine",
            "flat",
            "interest",
            "leave",
            "notice",
            "party",
            "policy",
            "premium",
            "pass",
            "park",
            "lift",
            "spring",
            "plant",
            "change",
            "right",
            "good",
            "goods",
            "custom",
            "customs",
            "news",
            "works",
            "means",
            "arms",
            "gas",
            "fire",
            "fires",
            "s",
            "es",
            "",
        ] {
            assert_eq!(formal_words(word), [""; 0], "{word}");
        }
    }

    #[test]
    fn the_list_is_in_order() {
        let mut seen = HashSet::new();
        let text = LIST.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        assert_eq!(text.count(), lines().count(), "each line has one colon");
        for (keys, formal) in lines() {
            for (key, formal) in of_line(keys, formal) {
                assert!(seen.insert(key), "{key} is listed twice");
                let folded: Vec<String> =
                    tokens(key).into_iter().map(|token| token.folded).collect();
                assert_eq!(folded, [key], "keys are single folded words");
                assert!(!is_stop_word(key), "{key} is grammar");
                assert!(!formal.is_empty(), "{key} has formal words");
                for phrase in formal {
                    let words = content_words(phrase);
                    assert!(!words.is_empty() && words.len() < 5, "{phrase}");
                    let stems: Vec<String> = words.iter().map(|word| stem(word)).collect();
                    assert!(!stems.contains(&stem(key)), "a text with {phrase} has {key}");
                }
            }
        }
        assert!(300 < seen.len(), "{}", seen.len());
    }
}
