//! Improves a forecast with the costs of earlier questions, which outweigh the cost model as they
//! add up.

use super::{Bill, Expected};

/// The weight of the cost model, in questions: one, so that after twenty it hardly counts.
const PRIOR: f64 = 1.0;

/// The costs of earlier questions by a method.
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

    /// The same means, with the weight of at most this number of questions.
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
    /// The forecast with earlier questions: `typical` becomes their mean, in which the old forecast
    /// counts as one question more. The bound stays, unless the new mean exceeds it. `questions` is
    /// the number of questions in the forecast.
    #[must_use]
    pub fn learned(self, questions: u64, asked: Asked) -> Self {
        if asked.questions == 0 || questions == 0 {
            return self;
        }
        let blend = |forecast: u64, seen: u64| {
            let each = forecast as f64 / questions as f64;
            let mean = (PRIOR * each + seen as f64) / (PRIOR + asked.questions as f64);
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

    /// If the guess is wrong by a factor of two, twenty questions correct it.
    #[test]
    fn twenty_questions_correct_a_wrong_guess() {
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
    fn forecasts_without_questions_stay_and_bounds_are_never_below() {
        let before = expected(10, 1000);
        assert_eq!(before.learned(10, Asked::default()), before);
        let mut expensive = Asked::default();
        expensive.add(100, 100_000, 10);
        let learned = before.learned(10, expensive);
        assert!(learned.typical.prompt_tokens <= learned.most.prompt_tokens);
        assert_eq!(learned.most.completion_tokens, before.most.completion_tokens);
    }
}
