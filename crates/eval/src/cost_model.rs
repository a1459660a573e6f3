//! Forecasts a method's calls and tokens before any question is asked: multiplies the method's cost
//! of one question.

mod judges;
mod learned;
mod reranking;

use pikerag_baselines::Method;
use serde::Serialize;
use utoipa::ToSchema;

pub use self::judges::{examining, judging};
pub use self::learned::Asked;
pub use self::reranking::reranking;

/// The inputs of a forecast.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setting {
    /// The number of questions.
    pub questions: u64,
    /// Tokens of a chunk, on the average.
    pub chunk_tokens: u64,
    /// Tokens of the longest chunk.
    pub most_chunk_tokens: u64,
    /// Calls that find a question's tags and rewrite it, before a method with a search begins.
    pub tag_calls: u64,
}

/// Calls and tokens of all questions together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, ToSchema)]
#[schema(as = ExpectedBill)]
pub struct Bill {
    /// Calls to models, without repeated ones.
    pub calls: u64,
    /// Tokens of all prompts.
    pub prompt_tokens: u64,
    /// Tokens of all replies.
    pub completion_tokens: u64,
}

/// The cost of a method on a data set: usual and maximal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct Expected {
    /// The usual cost.
    pub typical: Bill,
    /// The upper bound if every call is answered: every loop runs to its end, and every reply is
    /// requested twice and has the maximal length.
    pub most: Bill,
    /// Earlier questions that `typical` was learnt from; 0 if it comes from the cost model alone.
    pub learned_from: u64,
    /// The source of the cost model's numbers.
    pub basis: &'static str,
}

impl Expected {
    /// The sum of both.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let sum = |a: Bill, b: Bill| Bill {
            calls: a.calls.saturating_add(b.calls),
            prompt_tokens: a.prompt_tokens.saturating_add(b.prompt_tokens),
            completion_tokens: a.completion_tokens.saturating_add(b.completion_tokens),
        };
        let (typical, most) = (sum(self.typical, other.typical), sum(self.most, other.most));
        Self {
            typical,
            most,
            learned_from: self.learned_from + other.learned_from,
            basis: self.basis,
        }
    }
}

/// Tokens of a call that finds a question's tags or rewrites it, and of its reply.
const TAGGING: (u64, u64) = (350, 60);
/// The most tokens that a reply may have: the largest `max_tokens` of our prompts.
const MOST_REPLY: u64 = 2048;
/// A reply that cannot be read is requested once more.
const ASKED_AGAIN: u64 = 2;

/// The forecast for asking by `method`.
pub fn expected(method: &Method, setting: &Setting) -> Expected {
    let cost = method.cost();
    let budget = cost.most_chunk_tokens.map_or(u64::MAX, |tokens| tokens.get().into());
    let passages = (cost.chunks * setting.chunk_tokens as f64).min(budget as f64);
    let tags = if 0 < cost.most_chunks { setting.tag_calls } else { 0 };
    let times = |each: f64| (setting.questions as f64 * each).ceil() as u64;
    let typical = Bill {
        calls: times(cost.calls + tags as f64),
        prompt_tokens: times(
            cost.calls * (cost.fixed as f64 + passages) + (tags * TAGGING.0) as f64,
        ),
        completion_tokens: times(cost.calls * cost.reply as f64 + (tags * TAGGING.1) as f64),
    };
    let most_calls = cost.most_calls.saturating_add(tags);
    let calls = most_calls.saturating_mul(ASKED_AGAIN).saturating_mul(setting.questions);
    // The first chunk is read, whatever its length.
    let budget = budget.max(setting.most_chunk_tokens);
    let most_passages = cost.most_chunks.saturating_mul(setting.most_chunk_tokens).min(budget);
    // Instructions may be longer than usual, and the next prompt may repeat the reply of each
    // round.
    let most_prompt = most_passages + 2 * cost.fixed + (cost.rounds + 1) * MOST_REPLY;
    let most = Bill {
        calls,
        prompt_tokens: calls.saturating_mul(most_prompt),
        completion_tokens: calls.saturating_mul(MOST_REPLY),
    };
    Expected { typical, most, learned_from: 0, basis: cost.basis }
}

#[cfg(test)]
mod tests {
    use pikerag_baselines::Overrides;

    use super::*;

    const ONE: Setting =
        Setting { questions: 1, chunk_tokens: 110, most_chunk_tokens: 512, tag_calls: 0 };

    fn of(label: &str, setting: &Setting) -> Expected {
        let named = crate::methods::named(label).unwrap();
        let own: Overrides = named.overrides.try_into().unwrap();
        expected(&named.method.parse::<Method>().unwrap().with(&own), setting)
    }

    /// No bound is below the usual cost.
    #[test]
    fn every_method_has_its_price() {
        let presets = crate::presets::presets().unwrap();
        let named = presets.iter().flat_map(|preset| preset.methods.iter().map(String::as_str));
        for method in named.chain(Method::names()) {
            let expected = of(method, &ONE);
            let (typical, most) = (expected.typical, expected.most);
            assert!(0 < typical.calls && typical.calls <= most.calls, "{method}: {expected:?}");
            assert!(typical.prompt_tokens <= most.prompt_tokens, "{method}: {expected:?}");
            assert!(typical.completion_tokens <= most.completion_tokens, "{method}: {expected:?}");
        }
    }

    /// Within a factor of two of the paper's costs.
    #[test]
    fn is_near_the_papers_costs() {
        let mut compared = 0;
        for figure in crate::papers::figures().unwrap() {
            let is_whole = figure.table == "10" && figure.component.is_none();
            if figure.paper != "kar3" || !is_whole || !figure.metric.ends_with("_tokens") {
                continue;
            }
            let typical = of(&figure.method, &ONE).typical;
            let ours = match figure.metric.as_str() {
                "prompt_tokens" => typical.prompt_tokens,
                _ => typical.completion_tokens,
            } as f64;
            let ratio = ours / figure.value;
            println!("{} {}: {ours} for {}", figure.method, figure.metric, figure.value);
            assert!((0.5..=2.0).contains(&ratio), "{figure:?}: {ours}");
            compared += 1;
        }
        assert!(0 < compared, "no figure of the paper was compared");
    }

    /// Tags cost the same before every method that searches, and nothing before the others.
    #[test]
    fn tags_cost_only_methods_that_search() {
        let tagged = Setting { tag_calls: 2, ..ONE };
        let more = |method| of(method, &tagged).most.calls - of(method, &ONE).most.calls;
        assert_eq!(["naive-rag", "adaptive", "ircot", "direct"].map(more), [4, 4, 4, 0]);
    }

    #[test]
    fn rounds_and_questions_multiply() {
        let most = |label, questions| of(label, &Setting { questions, ..ONE }).most.calls;
        assert_eq!((most("kar3:n=1", 1), most("kar3", 1), most("kar3", 100)), (8, 24, 2400));
    }
}
