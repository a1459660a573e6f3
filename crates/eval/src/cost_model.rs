//! What will a method's calls and tokens come to, before anything is asked? Each method says what one
//! question costs; here that is multiplied out.

mod judges;
mod learned;
mod reranking;

use pikerag_baselines::Method;
use serde::Serialize;
use utoipa::ToSchema;

pub use self::judges::{examining, judging};
pub use self::learned::Asked;
pub use self::reranking::reranking;

/// What a forecast is made from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setting {
    /// Questions to be asked.
    pub questions: u64,
    /// Tokens of a chunk, on the average.
    pub chunk_tokens: u64,
    /// Tokens that a chunk has at most.
    pub most_chunk_tokens: u64,
    /// Calls that find a question's tags and rewrite it, before a method that looks anything up begins.
    pub tag_calls: u64,
}

/// Calls and tokens of all questions together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, ToSchema)]
#[schema(as = ExpectedBill)]
pub struct Bill {
    /// Calls to models, those asked again not foreseen.
    pub calls: u64,
    /// Tokens of all prompts.
    pub prompt_tokens: u64,
    /// Tokens of all replies.
    pub completion_tokens: u64,
}

/// What a method would take on a data set: usually, and at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct Expected {
    /// As questions usually go.
    pub typical: Bill,
    /// What is not exceeded while every call is answered: every loop goes to its end, every reply has
    /// to be asked for twice, and is as long as it may be.
    pub most: Bill,
    /// Questions asked before that `typical` was learnt from; 0 where it is the cost model's alone.
    pub learned_from: u64,
    /// Where the numbers of the cost model come from.
    pub basis: &'static str,
}

impl Expected {
    /// Both together.
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
/// A reply that cannot be read is asked for once more.
const ASKED_AGAIN: u64 = 2;

/// What asking by `method` will come to.
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
    // The first chunk is read whatever its length.
    let budget = budget.max(setting.most_chunk_tokens);
    let most_passages = cost.most_chunks.saturating_mul(setting.most_chunk_tokens).min(budget);
    // Instructions may be longer than they usually are; and what was replied in each round may stand in
    // the next prompt.
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

    /// No bound lies below what is usual.
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

    /// Within a factor of two of what the paper paid.
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

    /// Tags cost what they cost before any method that looks something up, and nothing before the others.
    #[test]
    fn tags_are_paid_for_by_whoever_looks_things_up() {
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
