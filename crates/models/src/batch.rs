//! Splits the texts of one call into batches, one for each request.

use std::num::{NonZeroU64, NonZeroUsize};

use pikerag_language::estimate_tokens;

/// The size of one request; the first limit that is reached ends a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The most texts; OpenAI takes 2,048.
    pub texts: NonZeroUsize,
    /// Tokens, as estimated; OpenAI takes 300,000. A longer text gets a request of its own.
    pub tokens: NonZeroU64,
    /// Requests of one call that run side by side.
    pub at_once: NonZeroUsize,
}

impl Default for Batch {
    fn default() -> Self {
        let (texts, at_once) = (NonZeroUsize::MIN.saturating_add(63), NonZeroUsize::MIN);
        let tokens = NonZeroU64::MIN.saturating_add(99_999);
        Self { texts, tokens, at_once: at_once.saturating_add(3) }
    }
}

/// The texts, in order, in non-empty batches.
pub(crate) fn batches(mut texts: &[String], batch: Batch) -> Vec<&[String]> {
    let mut all = Vec::new();
    while !texts.is_empty() {
        let mut tokens = 0;
        let fits = texts.iter().take(batch.texts.get()).take_while(|text| {
            tokens += estimate_tokens(text);
            tokens <= batch.tokens.get()
        });
        let (head, rest) = texts.split_at(fits.count().max(1));
        all.push(head);
        texts = rest;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_at_either_limit() {
        let texts: Vec<String> = ["aaaa", "bbbb", "cccc", "ddddddddddddddd", "e", "f"]
            .iter()
            .map(ToString::to_string)
            .collect();
        let batch = Batch {
            texts: NonZeroUsize::new(2).unwrap(),
            tokens: NonZeroU64::new(3).unwrap(),
            ..Batch::default()
        };
        let cut: Vec<String> = batches(&texts, batch).iter().map(|batch| batch.join(" ")).collect();
        assert_eq!(cut, ["aaaa bbbb", "cccc", "ddddddddddddddd", "e f"]);
        assert!(batches(&[], batch).is_empty());
    }
}
