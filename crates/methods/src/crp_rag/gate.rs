//! Sets the perplexity below which knowledge suffices for reasoning (CRP-RAG eq. 9 and 10): as configured, or
//! calibrated on how the model reasons with and without the needed knowledge.

use pikerag_knowledge::{Event, Note, Role};
use pikerag_language::fold::tokens;
use pikerag_prompt::Prompt;

use crate::certainty::ask_surely;
use crate::ports::{Ports, SolveError};
use crate::run::Run;

pub(super) const EVALUATE: Prompt =
    Prompt::new(Role::Answer, include_str!("../prompts/crp_evaluate.md"), 1024)
        .with_earlier(
            "methods/crp_evaluate",
            &[include_str!("../prompts/earlier/crp_evaluate.1.md")],
        )
        .at(super::TEMPERATURE);

/// The threshold where the model cannot be calibrated: a mean token probability of one half.
const USUAL: f64 = 2.0;
/// The factor on the worst perplexity with sufficient knowledge, where only that is known.
const MARGIN: f64 = 1.5;

/// A step, knowledge that suffices for it, and knowledge that does not.
struct Example {
    step: &'static str,
    sufficient: &'static str,
    insufficient: &'static str,
}

const EXAMPLES: [Example; 4] = [
    Example {
        step: "Find out in which year the lighthouse of Cape Orlen was built.",
        sufficient: "The lighthouse of Cape Orlen was built in 1846 by the harbour board of Tessmouth.",
        insufficient: "Cape Orlen is known for its seals. The wind blows there on three hundred days of the year.",
    },
    Example {
        step: "Name the manager of the Brindle Bakery.",
        sufficient: "The Brindle Bakery has eleven employees. Its manager is Oona Haverstock.",
        insufficient: "The Brindle Bakery delivers rye bread to four villages every morning.",
    },
    Example {
        step: "查明青岚桥的长度。",
        sufficient: "青岚桥建于1972年，全长318米，连接南岸与北岸。",
        insufficient: "青岚桥附近每逢周末有集市，游客很多。",
    },
    Example {
        step: "确定负责三号仓库的部门。",
        sufficient: "三号仓库由物流部负责，一号仓库由采购部负责。",
        insufficient: "三号仓库的屋顶去年翻修过，现在不再漏水。",
    },
];

/// The threshold: as set, else calibrated on the model by eight short calls, which are recorded like any
/// others and paid once for a base.
pub(super) async fn threshold(
    ports: &Ports,
    run: &mut Run,
    set: Option<f64>,
) -> Result<f64, SolveError> {
    if let Some(set) = set {
        return Ok(set);
    }
    let (mut with_knowledge, mut without_knowledge) = (Vec::new(), Vec::new());
    for Example { step, sufficient, insufficient } in EXAMPLES {
        for (knowledge, logs) in
            [(sufficient, &mut with_knowledge), (insufficient, &mut without_knowledge)]
        {
            let inputs = [("step", step), ("knowledge", knowledge)];
            let Some(sure) = ask_surely(ports, run, &EVALUATE, &inputs).await? else { continue };
            // A reply that says in words that knowledge is missing needs no threshold.
            if !says_nothing(&sure.text) {
                logs.push(sure.perplexity().ln());
            }
        }
    }
    let threshold = between(&with_knowledge, &without_knowledge);
    let note = Note::SufficiencyThreshold { perplexity: threshold };
    run.push(Event::Noted { note: note.into() });
    Ok(threshold)
}

/// The perplexity between those with and without sufficient knowledge, which are given as logarithms.
fn between(with_knowledge: &[f64], without_knowledge: &[f64]) -> f64 {
    let mean = |logs: &[f64]| {
        let finite: Vec<f64> = logs.iter().copied().filter(|log| log.is_finite()).collect();
        (!finite.is_empty()).then(|| finite.iter().sum::<f64>() / finite.len() as f64)
    };
    match (mean(with_knowledge), mean(without_knowledge)) {
        (Some(with_knowledge), Some(without_knowledge)) if with_knowledge < without_knowledge => {
            f64::midpoint(with_knowledge, without_knowledge).exp()
        }
        (Some(_), None) => {
            let worst =
                with_knowledge.iter().copied().filter(|log| log.is_finite()).fold(0.0, f64::max);
            worst.exp() * MARGIN
        }
        _ => USUAL,
    }
}

/// Whether a reply says that the knowledge holds no answer: then it is no knowledge, however sure the model is.
pub(super) fn says_nothing(reply: &str) -> bool {
    const ENGLISH: [&str; 8] = [
        "it does not say",
        "the knowledge does not",
        "the context does not",
        "the passage does not",
        "the passages do not",
        "there is no information",
        "no information",
        "not mentioned",
    ];
    const CHINESE: [&str; 6] = ["没有说明", "没有提到", "未提及", "未说明", "没有提供", "无法确定"];
    let words: Vec<String> = tokens(reply).into_iter().map(|token| token.folded).collect();
    let bare = words.join(" ");
    ENGLISH.iter().any(|start| bare.starts_with(start))
        || CHINESE.iter().any(|words| reply.contains(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threshold_lies_between_sufficient_and_insufficient() {
        let logs = |perplexities: &[f64]| perplexities.iter().map(|p| p.ln()).collect::<Vec<_>>();
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
        near(between(&logs(&[1.0, 1.0]), &logs(&[4.0, 4.0])), 2.0);
        near(between(&logs(&[1.1, 1.1]), &logs(&[1.1 * 1.44])), 1.1 * 1.2);
        // The model says in words that knowledge is missing.
        near(between(&logs(&[1.0, 1.2]), &[]), 1.8);
        // The two cannot be separated, or there are no perplexities.
        near(between(&logs(&[3.0]), &logs(&[2.0])), USUAL);
        near(between(&[], &[]), USUAL);
        near(between(&[f64::INFINITY], &[f64::INFINITY]), USUAL);
    }

    #[test]
    fn replies_without_an_answer_are_no_knowledge() {
        for reply in
            ["It does not say.", "The context does not mention the manager.", "文中没有提到长度。"]
        {
            assert!(says_nothing(reply), "{reply}");
        }
        for reply in ["The bridge is 318 metres long.", "It does say 1846.", "全长318米。"] {
            assert!(!says_nothing(reply), "{reply}");
        }
    }
}
