//! Forecasts the cost of judging answers.

use super::{ASKED_AGAIN, Bill, Expected, MOST_REPLY, Setting};

/// The forecast for judging every answer: one call each, with the judge's prompt and the answer.
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

/// The forecast for comparing every answer with its context: one call each. Contexts have about
/// five chunks, at most forty.
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
