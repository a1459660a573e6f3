//! What will a method's calls and tokens come to, before anything is asked? Known by the method's
//! name; every basis is documented, and a method without one is said to have none.

mod judges;

use serde::Serialize;

pub use self::judges::{examining, judging};

/// What a forecast is made from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setting {
    /// Questions to be asked.
    pub questions: u64,
    /// The most rounds (N), where it is set for the method; else the paper's.
    pub n: Option<u64>,
    /// Candidates or passages per retrieval (k), where it is set; else the paper's.
    pub k: Option<u64>,
    /// Tokens of a chunk, on the average.
    pub chunk_tokens: u64,
    /// Tokens that a chunk has at most.
    pub most_chunk_tokens: u64,
}

/// Calls and tokens of all questions together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Bill {
    /// Model calls.
    pub calls: u64,
    /// Tokens sent.
    pub prompt_tokens: u64,
    /// Tokens received.
    pub completion_tokens: u64,
}

/// A method's forecast.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Expected {
    /// As questions usually go.
    pub typical: Bill,
    /// What is not exceeded while every call is answered: every loop goes to its end, every reply has
    /// to be asked for twice, and is as long as it may be.
    pub most: Bill,
    /// Where the numbers come from.
    pub basis: &'static str,
}

/// How a method calls its model, for one question.
struct Basis {
    /// The name, or how the names of a family begin.
    name: &'static str,
    /// Default of N, and of k.
    n: u64,
    k: u64,
    /// Calls with N = n and k = k: as it usually goes, and at most.
    typical: fn(n: u64, k: u64) -> f64,
    most: fn(n: u64, k: u64) -> u64,
    /// Chunks in the prompt of one call: on the average, and at most.
    chunks: fn(n: u64, k: u64) -> f64,
    most_chunks: fn(n: u64, k: u64) -> u64,
    /// Tokens of instructions, demonstrations and question in a prompt.
    fixed: u64,
    /// Tokens of a reply, on the average.
    reply: u64,
    source: &'static str,
}

/// The most tokens that a reply may have: the largest `max_tokens` of our prompts.
const MOST_REPLY: u64 = 2048;
/// A reply that cannot be read is asked for once more.
const ASKED_AGAIN: u64 = 2;

/// From the most special name to the most general: the first that begins a method's name counts.
const BASES: [Basis; 24] = [
    Basis {
        name: "hop-rag",
        n: 1,
        k: 8,
        typical: |_, _| 1.0,
        most: |_, _| 1,
        chunks: |_, k| k as f64,
        most_chunks: |_, k| k.max(8),
        fixed: 330,
        reply: 100,
        source: "one call on 8 chunks",
    },
    Basis {
        name: "hybrid-rag",
        n: 1,
        k: 16,
        typical: |_, _| 1.0,
        most: |_, _| 1,
        chunks: |_, k| k as f64,
        most_chunks: |_, k| k.max(16),
        fixed: 330,
        reply: 100,
        source: "one call on 16 chunks",
    },
    Basis {
        name: "layers-rag",
        n: 1,
        k: 16,
        typical: |_, _| 1.0,
        most: |_, _| 1,
        chunks: |_, k| k as f64,
        most_chunks: |_, k| k.max(16),
        fixed: 330,
        reply: 100,
        source: "one call on 16 chunks",
    },
    Basis {
        name: "naive-rag-hr",
        n: 1,
        k: 12,
        typical: |_, _| 1.0,
        most: |_, _| 1,
        chunks: |_, k| k as f64 * 0.6,
        most_chunks: |_, k| k.max(12),
        fixed: 330,
        reply: 100,
        source: "KAR³ §A.3: 8 chunks above 0.5 and 4 by atoms",
    },
    Basis {
        name: "naive-rag",
        n: 1,
        k: 16,
        typical: |_, _| 1.0,
        most: |_, _| 1,
        chunks: |_, k| k as f64,
        most_chunks: |_, k| k.max(16),
        fixed: 330,
        reply: 103,
        source: "KAR³ Table 10: 1765 + 103 tokens",
    },
    Basis {
        name: "kar3",
        n: 5,
        k: 4,
        typical: |n, _| 0.6 * (2 * n) as f64 + 1.0,
        most: |n, _| 2 * n + 1,
        chunks: |n, _| 0.3 * n as f64,
        most_chunks: |n, k| (n + 16).max(n + 4 * k),
        fixed: 650,
        reply: 330,
        source: "Algorithm 1: at most 2N + 1 calls; KAR³ Table 11: 6525 + 2295 tokens",
    },
    Basis {
        name: "direct",
        n: 1,
        k: 0,
        typical: |_, _| 1.0,
        most: |_, _| 1,
        chunks: |_, _| 0.0,
        most_chunks: |_, _| 0,
        fixed: 85,
        reply: 60,
        source: "one call without passages",
    },
    Basis {
        name: "zero-shot-cot",
        n: 1,
        k: 0,
        typical: |_, _| 1.0,
        most: |_, _| 1,
        chunks: |_, _| 0.0,
        most_chunks: |_, _| 0,
        fixed: 85,
        reply: 105,
        source: "KAR³ Table 10: 85 + 105 tokens",
    },
    Basis {
        name: "self-ask",
        n: 5,
        k: 4,
        typical: |n, _| 1.2 * n as f64 + 1.0,
        most: |n, _| 2 * n + 2,
        chunks: |_, k| k as f64 * 0.5,
        most_chunks: |n, k| n * (k + 8),
        fixed: 600,
        reply: 90,
        source: "KAR³ Table 10: 5894 + 619 tokens; a call per follow-up and one per answer, at most N of each",
    },
    Basis {
        name: "ircot",
        n: 5,
        k: 4,
        typical: |n, _| 0.7 * n as f64 + 1.0,
        most: |n, _| n + 1,
        chunks: |n, k| 0.5 * (n * k) as f64,
        most_chunks: |n, k| (n + 1) * k.max(4),
        fixed: 900,
        reply: 30,
        source: "KAR³ Table 10: 9703 + 86 tokens; a call per sentence of rationale, at most N, and one to read",
    },
    Basis {
        name: "iter-retgen",
        n: 5,
        k: 16,
        typical: |n, _| n as f64,
        most: |n, _| n,
        chunks: |_, k| k as f64,
        most_chunks: |_, k| k.max(16),
        fixed: 330,
        reply: 95,
        source: "KAR³ Table 10: 8140 + 473 tokens; N calls",
    },
    Basis {
        name: "searchain",
        n: 5,
        k: 4,
        typical: |n, _| n as f64 + 2.0,
        most: |n, _| 17 * (n + 1) + 2,
        chunks: |_, k| k as f64,
        most_chunks: |n, _| 4 * 8 * (n + 1),
        fixed: 900,
        reply: 150,
        source: "N + 1 plans of at most 8 nodes, each with an answer and a comparison (KAR³ §A.2)",
    },
    Basis {
        name: "probtree",
        n: 4,
        k: 16,
        typical: |n, _| 3.0 * n as f64 + 1.0,
        most: |_, _| 3 * 8 * 2 + 2,
        chunks: |_, k| k as f64 * 0.6,
        most_chunks: |_, _| 4 * 8,
        fixed: 900,
        reply: 50,
        source: "KAR³ Table 10: 25225 + 650 tokens; up to three answers for each of at most 8 nodes, each graded at most once",
    },
    Basis {
        name: "least-to-most",
        n: 5,
        k: 0,
        typical: |n, _| 0.6 * n as f64 + 2.0,
        most: |n, _| n + 3,
        chunks: |_, _| 0.0,
        most_chunks: |n, _| 4 * n,
        fixed: 700,
        reply: 80,
        source: "a call to divide, one per sub-question, one to answer (RA-ISF §4.4)",
    },
    Basis {
        name: "graphrag-local",
        n: 1,
        k: 16,
        typical: |_, _| 1.0,
        most: |_, _| 1,
        chunks: |_, k| 2.0 * k as f64,
        most_chunks: |_, k| 6 * k,
        fixed: 900,
        reply: 250,
        source: "one call on entities, relations, reports and text; indexing is not counted here",
    },
    Basis {
        name: "graphrag-global",
        n: 16,
        k: 8,
        typical: |n, _| n as f64 + 1.0,
        most: |n, _| 4 * n + 1,
        chunks: |_, k| 2.0 * k as f64,
        most_chunks: |_, k| 6 * k,
        fixed: 900,
        reply: 250,
        source: "a call per batch of reports, here at most 64 of them, and one to join them; indexing is not counted here",
    },
    Basis {
        name: "raptor",
        n: 1,
        k: 16,
        typical: |_, _| 1.0,
        most: |_, _| 1,
        chunks: |_, k| k as f64,
        most_chunks: |_, k| k,
        fixed: 330,
        reply: 100,
        source: "one call on the collapsed tree; its summaries are made once, before",
    },
    Basis {
        name: "self-rag",
        n: 3,
        k: 5,
        typical: |_, k| 2.0 + 2.0 * k as f64,
        most: |n, k| n * (2 + 3 * k),
        chunks: |_, _| 1.0,
        most_chunks: |_, _| 1,
        fixed: 350,
        reply: 60,
        source: "per segment: retrieve or not, and for each passage an answer and its judgements",
    },
    Basis {
        name: "skr",
        n: 1,
        k: 16,
        typical: |_, _| 1.0,
        most: |_, _| 1,
        chunks: |_, k| k as f64 * 0.5,
        most_chunks: |_, k| k.max(5),
        fixed: 330,
        reply: 100,
        source: "one call, with passages where the nearest labelled questions needed them",
    },
    Basis {
        name: "replug",
        n: 1,
        k: 10,
        typical: |_, k| k as f64,
        most: |_, k| 2 * k + 1,
        chunks: |_, _| 1.0,
        most_chunks: |_, k| k,
        fixed: 250,
        reply: 60,
        source: "one call per passage, graded at most once",
    },
    Basis {
        name: "think-then-act",
        n: 1,
        k: 5,
        typical: |_, _| 2.5,
        most: |_, _| 4,
        chunks: |_, k| k as f64 * 0.4,
        most_chunks: |_, k| k,
        fixed: 350,
        reply: 80,
        source: "judge clarity and ability, rewrite, answer",
    },
    Basis {
        name: "tree-of-thought",
        n: 3,
        k: 3,
        typical: |n, k| (n * 2 * k) as f64 + 1.0,
        most: |n, k| n * 2 * k * k + 1,
        chunks: |_, _| 0.0,
        most_chunks: |_, _| 0,
        fixed: 400,
        reply: 120,
        source: "breadth-first: propose and score at each of N levels",
    },
    Basis {
        name: "ra-isf",
        n: 3,
        k: 5,
        typical: |_, k| 2.0 + k as f64,
        most: |_, k| 41 * (k + 3),
        chunks: |_, _| 1.0,
        most_chunks: |_, k| k,
        fixed: 300,
        reply: 40,
        source: "Algorithm 1: know, each passage relevant or not, answer or divide; at most 40 sub-questions",
    },
    Basis {
        name: "crp-rag",
        n: 5,
        k: 5,
        typical: |n, _| 3.0 * n as f64 + 3.0,
        most: |_, _| 548,
        chunks: |_, k| k as f64 * 0.4,
        most_chunks: |_, k| 24 * k,
        fixed: 450,
        reply: 130,
        source: "four rounds of three samples, 92 nodes at most; per node merge, aggregate, evaluate (graded at most once); six paths of four steps",
    },
];

/// What asking by `method` will come to; `None` for a method without a basis.
pub fn expected(method: &str, setting: &Setting) -> Option<Expected> {
    let name = method.split(':').next().unwrap_or(method);
    let basis = BASES.iter().find(|basis| {
        name.strip_prefix(basis.name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    })?;
    let (n, k) = (setting.n.unwrap_or(basis.n), setting.k.unwrap_or(basis.k));
    let per_question = (basis.typical)(n, k);
    let passages = (basis.chunks)(n, k) * setting.chunk_tokens as f64;
    let times = |each: f64| (setting.questions as f64 * each).ceil() as u64;
    let typical = Bill {
        calls: times(per_question),
        prompt_tokens: times(per_question * (basis.fixed as f64 + passages)),
        completion_tokens: times(per_question * basis.reply as f64),
    };
    let calls = (basis.most)(n, k).saturating_mul(ASKED_AGAIN).saturating_mul(setting.questions);
    let most_passages = (basis.most_chunks)(n, k).saturating_mul(setting.most_chunk_tokens);
    // Instructions may be longer than they usually are; and what was replied in each round may stand in
    // the next prompt.
    let most_prompt = most_passages + 2 * basis.fixed + (n + 1) * MOST_REPLY;
    let most = Bill {
        calls,
        prompt_tokens: calls.saturating_mul(most_prompt),
        completion_tokens: calls.saturating_mul(MOST_REPLY),
    };
    Some(Expected { typical, most, basis: basis.source })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Setting =
        Setting { questions: 1, n: None, k: None, chunk_tokens: 110, most_chunk_tokens: 512 };

    /// Every method that is named anywhere has a basis, and no bound lies below what is usual.
    #[test]
    fn every_method_has_a_basis() {
        let presets = crate::presets::presets().unwrap();
        let named = presets.iter().flat_map(|preset| preset.methods.iter().map(String::as_str));
        for method in named.chain(pikerag_coordinate::Method::names()) {
            let expected = expected(method, &ONE).unwrap_or_else(|| panic!("{method}"));
            let (typical, most) = (expected.typical, expected.most);
            assert!(0 < typical.calls && typical.calls <= most.calls, "{method}: {expected:?}");
            assert!(typical.prompt_tokens <= most.prompt_tokens, "{method}: {expected:?}");
            assert!(typical.completion_tokens <= most.completion_tokens, "{method}: {expected:?}");
        }
        assert_eq!(expected("guess", &ONE), None);
        assert_eq!(expected("direction", &ONE), None);
    }

    /// Within a factor of two of what the paper paid.
    #[test]
    fn is_near_the_papers_costs() {
        for figure in crate::papers::figures().unwrap() {
            let is_whole = figure.table == "10" && figure.component.is_none();
            if figure.paper != "kar3" || !is_whole || !figure.metric.ends_with("_tokens") {
                continue;
            }
            let typical = expected(&figure.method, &ONE).unwrap().typical;
            let ours = match figure.metric.as_str() {
                "prompt_tokens" => typical.prompt_tokens,
                _ => typical.completion_tokens,
            } as f64;
            let ratio = ours / figure.value;
            println!("{} {}: {ours} for {}", figure.method, figure.metric, figure.value);
            assert!((0.5..=2.0).contains(&ratio), "{figure:?}: {ours}");
        }
    }

    #[test]
    fn rounds_and_questions_multiply() {
        let most = |n, questions| {
            expected("kar3", &Setting { n: Some(n), questions, ..ONE }).unwrap().most.calls
        };
        assert_eq!((most(1, 1), most(5, 1), most(5, 100)), (6, 22, 2200));
    }
}
