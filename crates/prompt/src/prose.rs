//! What does a reply in plain words say?

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
}

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
