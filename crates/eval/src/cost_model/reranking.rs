//! Forecasts the cost of reranking the hits of a method's searches.

use pikerag_baselines::Method;

use super::{ASKED_AGAIN, Bill, Expected, Setting};

/// Tokens of a query, about, and at most.
const QUERY: u64 = 20;
const LONGEST_QUERY: u64 = 200;

/// The forecast for reranking the first hits of each search: usually one search for a question, and
/// at most one before each call of the method. Zero for a method that reads no chunk.
pub fn reranking(method: &Method, setting: &Setting, first: u64) -> Expected {
    let cost = method.cost();
    let searches = if 0 < cost.most_chunks { cost.most_calls.max(1) } else { 0 };
    let bill = |searches: u64, each: u64| {
        let calls = searches.saturating_mul(setting.questions);
        let prompt_tokens = calls.saturating_mul(first).saturating_mul(each);
        Bill { calls, prompt_tokens, completion_tokens: 0 }
    };
    Expected {
        typical: bill(searches.min(1), QUERY + setting.chunk_tokens),
        most: bill(
            searches.saturating_mul(ASKED_AGAIN),
            LONGEST_QUERY + 2 * setting.most_chunk_tokens,
        ),
        learned_from: 0,
        basis: "one call per search",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: Setting =
        Setting { questions: 2, chunk_tokens: 110, most_chunk_tokens: 240, tag_calls: 0 };

    fn of(method: &str) -> Expected {
        reranking(&method.parse().unwrap(), &TWO, 50)
    }

    #[test]
    fn a_search_reads_the_query_with_each_hit() {
        let typical = of("naive-rag").typical;
        assert_eq!((typical.calls, typical.prompt_tokens), (2, 2 * 50 * 130));
        assert!(typical.calls < of("ircot").most.calls);
        assert_eq!(of("zero-shot-cot").most, Bill::default());
    }
}
