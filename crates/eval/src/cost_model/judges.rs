//! What will it cost to look at the answers?

use super::{ASKED_AGAIN, Bill, Expected, MOST_REPLY, Setting};

/// What judging every answer will come to: a call each, of the judge's prompt and the answer.
pub fn judging(questions: u64) -> Expected {
    let bill = |calls: u64, prompt: u64, reply: u64| Bill {
        calls,
        prompt_tokens: calls * prompt,
        completion_tokens: calls * reply,
    };
    Expected {
        typical: bill(questions, 330, 2),
        most: bill(questions * ASKED_AGAIN, 330 + 2 * MOST_REPLY, 1024),
        learned_from: 0,
        basis: "one call per answer",
    }
}

/// What looking once more at every answer beside its context will come to: a call each.
/// Contexts are of about five chunks, at most of forty.
pub fn examining(questions: u64, setting: &Setting) -> Expected {
    let bill = |calls: u64, prompt: u64, reply: u64| Bill {
        calls,
        prompt_tokens: calls * prompt,
        completion_tokens: calls * reply,
    };
    Expected {
        typical: bill(questions, 200 + 5 * setting.chunk_tokens, 20),
        most: bill(
            questions * ASKED_AGAIN,
            200 + 40 * setting.most_chunk_tokens + 2 * MOST_REPLY,
            1024,
        ),
        learned_from: 0,
        basis: "one call per answer, with its context",
    }
}
