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

/// Whether the end of a reply repeats itself; a higher limit would only give more of it.
pub(super) fn repeats_itself(reply: &str) -> bool {
    const TAIL: usize = 60;
    const TIMES: usize = 4;
    let reversed: Vec<char> = reply.chars().rev().take(TAIL).collect();
    let tail: String = reversed.into_iter().rev().collect();
    tail.chars().count() == TAIL && TIMES <= reply.matches(&tail).count()
}

/// The number of tokens of a truncated reply.
pub(super) fn cut_at(reply: &ChatReply, limit: u32) -> u32 {
    if is_cut_at(reply, limit) {
        return limit;
    }
    u32::try_from(reply.usage.completion_tokens).unwrap_or(u32::MAX)
}
