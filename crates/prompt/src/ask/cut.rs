//! Recognizes replies that were cut off at their limit.

use pikerag_knowledge::{ChatReply, FinishReason};

/// A reply counts as cut at its limit within this share of it (1/8): servers count differently.
const NEAR_LIMIT: u32 = 8;

/// Whether a reply was cut off at its own limit; assumed if the endpoint did not count tokens.
pub(super) fn is_cut_at(reply: &ChatReply, limit: u32) -> bool {
    let counted = reply.usage.completion_tokens;
    let is_near = counted.abs_diff(u64::from(limit)) <= u64::from(limit.div_ceil(NEAR_LIMIT));
    reply.finish == Some(FinishReason::Length) && (counted == 0 || is_near)
}

/// Whether the end of a reply repeats itself, perhaps with other numbers, or counts upward; a higher
/// limit would only give more of it. Rows that differ in their numbers alone may be right, but not
/// in a reply that is twice as long as the prompt with its passages.
pub(super) fn repeats_itself(reply: &str, prompt: &str) -> bool {
    const TAIL: usize = 60;
    const TIMES: usize = 4;
    const TIMES_WITHOUT_NUMBERS: usize = 8;
    let ends_alike = |reply: &str, times: usize| {
        let reversed: Vec<char> = reply.chars().rev().take(TAIL).collect();
        let tail: String = reversed.into_iter().rev().collect();
        tail.chars().count() == TAIL && times <= reply.matches(&tail).count()
    };
    ends_alike(reply, TIMES)
        || counts_upward(reply)
        || (2 * prompt.len() <= reply.len()
            && ends_alike(&without_numbers(reply), TIMES_WITHOUT_NUMBERS))
}

/// Whether a reply ends in a long list of bare numbers, each one more than the one before: a model
/// that was asked for the numbers of some passages, and does not stop.
fn counts_upward(reply: &str) -> bool {
    const TIMES: usize = 40;
    // The last number may be cut.
    let whole = reply.trim_end_matches(|c: char| c.is_ascii_digit());
    let bare = whole.rsplit(char::is_alphabetic).next().unwrap_or_default();
    let parts = bare.split(|c: char| !c.is_ascii_digit());
    let numbers: Vec<u64> = parts.filter_map(|part| part.parse().ok()).collect();
    let tail = numbers.rchunks(TIMES).next().unwrap_or_default();
    tail.len() == TIMES
        && tail.windows(2).all(|pair| matches!(pair, [a, b] if a.checked_add(1) == Some(*b)))
}

/// A text with one sign for each number.
fn without_numbers(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match c.is_ascii_digit() {
            true if plain.ends_with('#') => {}
            true => plain.push('#'),
            false => plain.push(c),
        }
    }
    plain
}

/// The number of tokens of a truncated reply.
pub(super) fn cut_at(reply: &ChatReply, limit: u32) -> u32 {
    if is_cut_at(reply, limit) {
        return limit;
    }
    u32::try_from(reply.usage.completion_tokens).unwrap_or(u32::MAX)
}
