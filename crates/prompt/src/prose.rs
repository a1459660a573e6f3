//! Reads replies in plain words, and verdicts of one word.

use pikerag_knowledge::Schema;

use crate::read::{Unreadable, without_thinking};
use crate::reply::Reply;

/// A reply in plain words: without a thinking block or an enclosing code fence, and not empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prose(pub String);

impl Reply for Prose {
    fn schema() -> Option<Schema> {
        None
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        let prose = without_fence(without_thinking(reply));
        if prose.is_empty() { Err(Unreadable::Empty) } else { Ok(Self(prose.to_owned())) }
    }

    fn hides_truncation() -> bool {
        true
    }
}

/// A verdict of one word, in English or Chinese; other text around it is ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct YesNo(pub bool);

impl Reply for YesNo {
    fn schema() -> Option<Schema> {
        None
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        let verdict = without_thinking(reply).to_lowercase();
        let first: String = verdict
            .trim_start_matches(|c: char| !c.is_alphanumeric())
            .chars()
            .take_while(|c| c.is_alphanumeric())
            .collect();
        match first.as_str() {
            "yes" | "true" | "know" => Ok(Self(true)),
            "no" | "false" | "unknown" => Ok(Self(false)),
            word if word.starts_with(['是', '能', '会']) => Ok(Self(true)),
            word if word.starts_with(['否', '不', '没']) => Ok(Self(false)),
            "" => Err(Unreadable::Empty),
            _ => Err(Unreadable::key("the reply", "\"Yes\" or \"No\"")),
        }
    }

    fn tolerates_truncation() -> bool {
        true
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_prose: Prose, reply_yes_no: YesNo }

/// The text inside a code fence that encloses all of `text`, if there is one.
fn without_fence(text: &str) -> &str {
    let inside = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    match inside.and_then(|inside| inside.split_once('\n')) {
        Some((_language, body)) if !body.contains("```") => body.trim(),
        _ => text.trim(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_read_in_many_forms() {
        for yes in ["Yes", "yes, I do", "\"Yes\"", "<think>no?</think> YES.", "是的"] {
            assert_eq!(YesNo::read(yes), Ok(YesNo(true)), "{yes}");
        }
        for no in ["No.", "**no**, it is not", "False", "不知道", "否"] {
            assert_eq!(YesNo::read(no), Ok(YesNo(false)), "{no}");
        }
        assert!(YesNo::read("Maybe").is_err());
        assert_eq!(YesNo::read(""), Err(Unreadable::Empty));
    }

    #[test]
    fn prose_is_unwrapped() {
        let read = |reply| Prose::read(reply).map(|prose| prose.0);
        assert_eq!(read(" It is Oslo. "), Ok("It is Oslo.".to_owned()));
        assert_eq!(read("<think>hm</think>Oslo"), Ok("Oslo".to_owned()));
        assert_eq!(read("```text\nOslo\n```"), Ok("Oslo".to_owned()));
        assert_eq!(
            read("```a\nx\n``` and ```\ny\n```"),
            Ok("```a\nx\n``` and ```\ny\n```".to_owned())
        );
        assert_eq!(read("<think>never ends"), Err(Unreadable::Empty));
        assert_eq!(read("```\n```"), Err(Unreadable::Empty));
    }
}
