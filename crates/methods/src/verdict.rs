//! Reads yes-or-no verdicts, and brings answers into a form in which equal ones are equal.

use pikerag_language::fold::tokens;
use pikerag_prompt::{Unreadable, object, text};

/// The answer of a step that found none.
pub const UNKNOWN: &str = "unknown";

/// The yes or no under `key` of a reply, in any of the words that models use for it.
pub fn yes_or_no(reply: &str, key: &str) -> Result<bool, Unreadable> {
    let verdict = text(&object(reply, &[key])?, key).unwrap_or_default().to_lowercase();
    match verdict.trim().trim_end_matches('.') {
        "yes" | "true" => Ok(true),
        "no" | "false" => Ok(false),
        _ => Err(Unreadable::key(key, "true or false")),
    }
}

/// Characters of a model's reasoning, at most: prompts ask for a sentence or two.
pub const THINKING: usize = 500;

/// An answer as its folded words, without articles: the same for answers that differ only in spelling.
pub fn bare(answer: &str) -> String {
    let mut words: Vec<String> = tokens(answer).into_iter().map(|token| token.folded).collect();
    if 1 < words.len() {
        words.retain(|word| !matches!(word.as_str(), "a" | "an" | "the"));
    }
    words.join(" ")
}

/// Whether an answer says that there is none.
pub fn is_unknown(answer: &str) -> bool {
    const WORDS: [&str; 8] = [
        "",
        "unknown",
        "not known",
        "i dont know",
        "i do not know",
        "cannot be determined",
        "未 知",
        "不 知 道",
    ];
    WORDS.contains(&bare(answer).as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_verdicts_in_many_words() {
        for yes in [r#"{"a": true}"#, r#"{"a": "Yes."}"#, r#"{"a": "TRUE"}"#] {
            assert_eq!(yes_or_no(yes, "a"), Ok(true), "{yes}");
        }
        assert_eq!(yes_or_no(r#"{"a": false}"#, "a"), Ok(false));
        for bad in [r#"{"a": null}"#, r#"{"a": "perhaps"}"#, r#"{"b": true}"#, ""] {
            assert!(yes_or_no(bad, "a").is_err(), "{bad}");
        }
    }

    #[test]
    fn spelling_and_articles_do_not_matter() {
        assert_eq!(bare("The Øresund."), bare("oresund"));
        assert_ne!(bare("41000"), bare("42000"));
        assert_eq!(bare("A"), "a");
        assert!(is_unknown("Unknown.") && is_unknown("I don't know") && is_unknown("未知"));
        assert!(!is_unknown("Oslo") && !is_unknown("no"));
    }
}
