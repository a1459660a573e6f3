//! What does a reply in plain words say, or in one word?

use pikerag_knowledge::Schema;

use crate::ask::Reply;
use crate::read::{Unreadable, without_thinking};

/// A reply in plain words: no thinking block, no code fence around it, not empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prose(pub String);

impl Reply for Prose {
    fn schema() -> Option<Schema> {
        None
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        let said = without_fence(without_thinking(reply));
        if said.is_empty() { Err(Unreadable::Empty) } else { Ok(Self(said.to_owned())) }
    }

    fn hides_a_cut() -> bool {
        true
    }
}

/// A verdict in a word, whatever stands around and behind it, in English or Chinese.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct YesNo(pub bool);

impl Reply for YesNo {
    fn schema() -> Option<Schema> {
        None
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        let said = without_thinking(reply).to_lowercase();
        let first: String = said
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

    fn bears_a_cut() -> bool {
        true
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_prose: Prose, reply_yes_no: YesNo }

/// What stands inside the code fence that encloses all of `text`, if one does.
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
    fn a_verdict_in_many_words() {
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
    fn words_without_their_wrapping() {
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
