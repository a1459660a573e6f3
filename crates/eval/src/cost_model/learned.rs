//! What do questions that were asked before say of those to come? The cost model foretells the first; each that was asked
//! since counts for more.

use super::{Bill, Expected};

/// As many questions the foreknowledge counts for: one, so that after twenty it hardly counts.
const FOREKNOWLEDGE: f64 = 1.0;

/// What questions have cost that were asked by a method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// Questions.
    pub questions: u64,
    /// Calls and tokens of all of them.
    pub bill: Bill,
}

impl Asked {
    /// Adds what one question cost.
    pub fn add(&mut self, calls: u64, prompt_tokens: u64, completion_tokens: u64) {
        self.questions += 1;
        self.bill.calls += calls;
        self.bill.prompt_tokens += prompt_tokens;
        self.bill.completion_tokens += completion_tokens;
    }

    /// The same means, as if told by no more than so many questions.
    #[must_use]
    pub fn at_most(self, questions: u64) -> Self {
        if self.questions <= questions {
            return self;
        }
        let share = questions as f64 / self.questions as f64;
        let scaled = |sum: u64| (sum as f64 * share).round() as u64;
        let Bill { calls, prompt_tokens, completion_tokens } = self.bill;
        let bill = Bill {
            calls: scaled(calls),
            prompt_tokens: scaled(prompt_tokens),
            completion_tokens: scaled(completion_tokens),
        };
        Self { questions, bill }
    }

    /// Adds others.
    pub fn merge(&mut self, other: Self) {
        let Bill { calls, prompt_tokens, completion_tokens } = other.bill;
        self.questions += other.questions;
        self.bill.calls += calls;
        self.bill.prompt_tokens += prompt_tokens;
        self.bill.completion_tokens += completion_tokens;
    }
}

impl Expected {
    /// The same where questions were asked before: `typical` becomes the mean of these and of what was foretold, which
    /// counts as one more of them. The bound stays, unless what was seen is above it. `questions` says for how many the forecast is.
    #[must_use]
    pub fn learned(self, questions: u64, asked: Asked) -> Self {
        if asked.questions == 0 || questions == 0 {
            return self;
        }
        let blend = |foretold: u64, seen: u64| {
            let each = foretold as f64 / questions as f64;
            let mean =
                (FOREKNOWLEDGE * each + seen as f64) / (FOREKNOWLEDGE + asked.questions as f64);
            (mean * questions as f64).round() as u64
        };
        let (old, seen) = (self.typical, asked.bill);
        let typical = Bill {
            calls: blend(old.calls, seen.calls),
            prompt_tokens: blend(old.prompt_tokens, seen.prompt_tokens),
            completion_tokens: blend(old.completion_tokens, seen.completion_tokens),
        };
        let most = Bill {
            calls: self.most.calls.max(typical.calls),
            prompt_tokens: self.most.prompt_tokens.max(typical.prompt_tokens),
            completion_tokens: self.most.completion_tokens.max(typical.completion_tokens),
        };
        Self { typical, most, learned_from: self.learned_from + asked.questions, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expected(calls: u64, tokens: u64) -> Expected {
        let bill = |times: u64| Bill {
            calls: calls * times,
            prompt_tokens: tokens * times,
            completion_tokens: tokens * times / 10,
        };
        Expected { typical: bill(1), most: bill(9), learned_from: 0, basis: "a guess" }
    }

    /// However wrong the guess was, by a factor of two say, twenty questions put it right.
    #[test]
    fn twenty_questions_put_a_guess_right() {
        for (truth, guess) in [(3400, 8000), (8000, 3400), (2500, 2500)] {
            let mut asked = Asked::default();
            for n in 0..20 {
                asked.add(7, truth + 10 * (n % 3), truth / 10);
            }
            let learned = expected(700, guess * 100).learned(100, asked);
            let ratio = learned.typical.prompt_tokens as f64 / (100 * truth) as f64;
            assert!((0.8..=1.2).contains(&ratio), "{truth} {guess}: {ratio}");
            assert_eq!((learned.typical.calls, learned.learned_from), (700, 20));
        }
    }

    #[test]
    fn nothing_seen_changes_nothing_and_bounds_are_never_below() {
        let plain = expected(10, 1000);
        assert_eq!(plain.learned(10, Asked::default()), plain);
        let mut dear = Asked::default();
        dear.add(100, 100_000, 10);
        let learned = plain.learned(10, dear);
        assert!(learned.typical.prompt_tokens <= learned.most.prompt_tokens);
        assert_eq!(learned.most.completion_tokens, plain.most.completion_tokens);
    }
}
