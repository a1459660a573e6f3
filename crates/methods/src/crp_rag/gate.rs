//! When does knowledge suffice? The perplexity below which a model's reasoning counts as borne out (CRP-RAG eq. 9 and 10):
//! set, or told from how the model itself reasons where knowledge tells what is asked, and where it does not.

use pikerag_knowledge::{Event, Note, Role};
use pikerag_language::fold::tokens;
use pikerag_prompt::Prompt;

use crate::certainty::ask_surely;
use crate::ports::{Ports, SolveError};
use crate::run::Run;

pub(super) const EVALUATE: Prompt =
    Prompt::new(Role::Answer, include_str!("../prompts/crp_evaluate.md"), 1024)
        .at(super::TEMPERATURE);

/// Where nothing can be told from the model: a mean token probability of one half.
const USUAL: f64 = 2.0;
/// How much less sure a model may be of a step than of the plainest examples, where these alone are known.
const MARGIN: f64 = 1.5;

/// A step, knowledge that tells it, and knowledge that does not.
struct Example {
    step: &'static str,
    tells: &'static str,
    is_silent: &'static str,
}

const EXAMPLES: [Example; 4] = [
    Example {
        step: "Find out in which year the lighthouse of Cape Orlen was built.",
        tells: "The lighthouse of Cape Orlen was built in 1846 by the harbour board of Tessmouth.",
        is_silent: "Cape Orlen is known for its seals. The wind blows there on three hundred days of the year.",
    },
    Example {
        step: "Name the manager of the Brindle Bakery.",
        tells: "The Brindle Bakery has eleven employees. Its manager is Oona Haverstock.",
        is_silent: "The Brindle Bakery delivers rye bread to four villages every morning.",
    },
    Example {
        step: "查明青岚桥的长度。",
        tells: "青岚桥建于1972年，全长318米，连接南岸与北岸。",
        is_silent: "青岚桥附近每逢周末有集市，游客很多。",
    },
    Example {
        step: "确定负责三号仓库的部门。",
        tells: "三号仓库由物流部负责，一号仓库由采购部负责。",
        is_silent: "三号仓库的屋顶去年翻修过，现在不再漏水。",
    },
];

/// The threshold: what is set, else told from the model by eight short calls, which are recorded as any other and paid once
/// for a base.
pub(super) async fn threshold(
    ports: &Ports,
    run: &mut Run,
    set: Option<f64>,
) -> Result<f64, SolveError> {
    if let Some(set) = set {
        return Ok(set);
    }
    let (mut telling, mut silent) = (Vec::new(), Vec::new());
    for Example { step, tells, is_silent } in EXAMPLES {
        for (knowledge, logs) in [(tells, &mut telling), (is_silent, &mut silent)] {
            let inputs = [("step", step), ("knowledge", knowledge)];
            let Some(sure) = ask_surely(ports, run, &EVALUATE, &inputs).await? else { continue };
            // A model that says it in words needs no threshold for that.
            if !says_nothing(&sure.text) {
                logs.push(sure.perplexity().ln());
            }
        }
    }
    let threshold = between(&telling, &silent);
    let note = Note::SufficiencyThreshold { perplexity: threshold };
    run.push(Event::Noted { note: note.into() });
    Ok(threshold)
}

/// Between the logarithms of perplexities of two kinds of reasoning.
fn between(telling: &[f64], silent: &[f64]) -> f64 {
    let mean = |logs: &[f64]| {
        let finite: Vec<f64> = logs.iter().copied().filter(|log| log.is_finite()).collect();
        (!finite.is_empty()).then(|| finite.iter().sum::<f64>() / finite.len() as f64)
    };
    match (mean(telling), mean(silent)) {
        (Some(telling), Some(silent)) if telling < silent => f64::midpoint(telling, silent).exp(),
        (Some(_), None) => {
            let worst = telling.iter().copied().filter(|log| log.is_finite()).fold(0.0, f64::max);
            worst.exp() * MARGIN
        }
        _ => USUAL,
    }
}

/// Whether a reply says that the knowledge does not tell: however sure the model is of that, it is no knowledge.
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
    fn the_threshold_lies_between_what_tells_and_what_does_not() {
        let logs = |perplexities: &[f64]| perplexities.iter().map(|p| p.ln()).collect::<Vec<_>>();
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
        near(between(&logs(&[1.0, 1.0]), &logs(&[4.0, 4.0])), 2.0);
        near(between(&logs(&[1.1, 1.1]), &logs(&[1.1 * 1.44])), 1.1 * 1.2);
        // A model that says in words what it is not told.
        near(between(&logs(&[1.0, 1.2]), &[]), 1.8);
        // Nothing tells the two apart, or nothing came.
        near(between(&logs(&[3.0]), &logs(&[2.0])), USUAL);
        near(between(&[], &[]), USUAL);
        near(between(&[f64::INFINITY], &[f64::INFINITY]), USUAL);
    }

    #[test]
    fn that_it_does_not_say_is_no_knowledge() {
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
