//! Follows the best few lines of thought, breadth first (tree of thoughts: Yao et al., 2023,
//! Algorithm 1; CRP-RAG §4.2).

use std::num::NonZeroUsize;

use pikerag_knowledge::{Answer, Criterion, Event, JudgedBy, Question, Role, Schema, StopReason};
use pikerag_prompt::{Prompt, Reply, Unreadable, numbered, object, quiet_headings, shape, texts};
use serde_json::{Value, json};
use tracing::instrument;

use pikerag_methods::spec::{Cost, MethodParams, MethodSpec, Variant, WithoutModel};
use pikerag_methods::unaided::{conclude_recalled, recall};
use pikerag_methods::{Ports, Run, SolveError};

// Yao et al. §4
const THINK: Prompt = Prompt::new(Role::Reason, include_str!("prompts/tree_of_thought.md"), 1024)
    .with_earlier(
        "baselines/tree_of_thought",
        &[include_str!("prompts/earlier/tree_of_thought.1.md")],
    )
    .at(0.7);
const VALUE: Prompt =
    Prompt::new(Role::Grade, include_str!("prompts/tree_of_thought_value.md"), 1024).with_earlier(
        "baselines/tree_of_thought_value",
        &[include_str!("prompts/earlier/tree_of_thought_value.1.md")],
    );

/// The depth and the breadth of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// The most steps of a chain of thoughts (T).
    pub depth: NonZeroUsize,
    /// Thoughts that each state proposes (k).
    pub thoughts: NonZeroUsize,
    /// States that are kept (b).
    pub breadth: NonZeroUsize,
}

impl Default for Params {
    /// T = 3, k = 3, b = 2. Ours: Yao et al. choose them for each task, and CRP-RAG prints none.
    fn default() -> Self {
        Self {
            depth: const { NonZeroUsize::new(3).unwrap() },
            thoughts: const { NonZeroUsize::new(3).unwrap() },
            breadth: const { NonZeroUsize::new(2).unwrap() },
        }
    }
}

impl MethodParams for Params {
    const SPEC: MethodSpec<Self> = MethodSpec {
        variants: &[Variant::new(
            "tree-of-thought",
            "breadth-first over graded thoughts, without retrieval",
            "Yao et al. 2023; CRP-RAG §4.2",
            |_| {},
        )],
        parameters: &[],
        roles: &[Role::Reason, Role::Grade, Role::Answer],
        without_model: WithoutModel::Fails,
        needs: None,
        cost: |params| Cost {
            calls: (params.depth.get() * 2 * params.thoughts.get()) as f64 + 1.0,
            most_calls: (params.depth.get() * 2 * params.thoughts.get().pow(2)) as u64 + 1,
            chunks: 0.0,
            most_chunks: 0,
            most_chunk_tokens: None,
            rounds: params.depth.get() as u64,
            fixed: 400,
            reply: 120,
            basis: "breadth-first: propose and score at each level",
        },
    };
}

/// A chain of thoughts.
#[derive(Clone, Debug, Default)]
struct State {
    /// Its nodes in the tree.
    nodes: Vec<usize>,
    /// The thoughts of the nodes, in their order.
    thoughts: Vec<String>,
    /// How promising it is, from 0 to 10.
    value: f64,
}

/// Answers `question` by the best of the thoughts, without retrieval: at most `(depth - 1) *
/// breadth * (thoughts + 1) + thoughts + 2` chat calls, each repeated at most once.
///
/// Differs from Yao et al.: the thoughts that may follow a state are not sampled one by one; one
/// call asks for several different ones, so that none occurs twice.
///
/// # Errors
/// See [`SolveError`].
#[instrument(name = "tree_of_thought", skip_all, fields(question = %question.id))]
pub async fn solve(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Params,
) -> Result<Answer, SolveError> {
    let mut kept = vec![State::default()]; // S₀ ← {x}
    let mut nodes = 0;
    for step in 1..=params.depth.get() {
        let mut grown = Vec::new();
        for state in &kept {
            for thought in think(ports, run, question, state, params.thoughts).await? {
                let mut next = state.clone(); // S'ₜ ← {[s, z] | s ∈ Sₜ₋₁, z ∈ G(s, k)}
                run.push(Event::Node {
                    node: nodes,
                    after: state.nodes.last().copied().into_iter().collect(),
                    text: thought.clone(),
                });
                next.nodes.push(nodes);
                next.thoughts.push(thought);
                nodes += 1;
                next.value = value(ports, run, question, &next).await?; // Vₜ ← V(S'ₜ)
                grown.push(next);
            }
        }
        if grown.is_empty() {
            run.push(Event::Stopped { hop: step, reason: StopReason::NothingProposed });
            break;
        }
        kept = best(grown, params.breadth, run); // Sₜ ← the b best of S'ₜ
    }
    let best = kept.into_iter().next().unwrap_or_default(); // arg max V: they come best first.
    let recalled = recall(ports, run, question, &best.thoughts.join("\n")).await?;
    if let (Some(recalled), false) = (&recalled, best.nodes.is_empty()) {
        run.push(Event::Path { nodes: best.nodes, answer: recalled.answer.clone() });
    }
    conclude_recalled(ports, recalled, run).await
}

/// `G(s, k)`: thoughts that may come next, each once; none if the reply stayed unreadable.
async fn think(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    state: &State,
    most: NonZeroUsize,
) -> Result<Vec<String>, SolveError> {
    let (count, so_far) = (most.to_string(), shown(state));
    let asked = quiet_headings(&question.text);
    let inputs =
        [("count", count.as_str()), ("thoughts", so_far.as_str()), ("question", asked.as_str())];
    let mut thoughts: Vec<String> = Vec::new();
    if let Some(Thoughts(new)) = run.ask::<Thoughts>(ports, &THINK, &inputs).await? {
        for thought in new {
            if thoughts.len() < most.get() && !thoughts.contains(&thought) {
                thoughts.push(thought);
            }
        }
    }
    Ok(thoughts)
}

/// `V(s)`: how promising a chain is; 0 if the reply stayed unreadable.
async fn value(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    state: &State,
) -> Result<f64, SolveError> {
    let (so_far, asked) = (shown(state), quiet_headings(&question.text));
    let inputs = [("thoughts", so_far.as_str()), ("question", asked.as_str())];
    Ok(run.ask::<Worth>(ports, &VALUE, &inputs).await?.map_or(0.0, |reply| reply.0))
}

/// The most promising, best first; of equals the earlier one.
fn best(mut grown: Vec<State>, breadth: NonZeroUsize, run: &mut Run) -> Vec<State> {
    grown.sort_by(|a, b| b.value.total_cmp(&a.value)); // Stable: ties stay in order.
    for (place, state) in grown.iter().enumerate() {
        run.push(Event::Judged {
            criterion: Criterion::Promising,
            of: state.thoughts.last().cloned().unwrap_or_default(),
            holds: place < breadth.get(),
            score: Some(state.value),
            by: JudgedBy::Verdict,
        });
    }
    grown.truncate(breadth.get());
    grown
}

/// The thoughts as prompts show them.
fn shown(state: &State) -> String {
    match state.thoughts.as_slice() {
        [] => "(none yet)".to_owned(),
        thoughts => numbered(thoughts.iter().map(String::as_str)),
    }
}

struct Thoughts(Vec<String>);

impl Reply for Thoughts {
    fn schema() -> Option<Schema> {
        Some(shape("thoughts", json!({"thoughts": {"type": "array", "items": {"type": "string"}}})))
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        texts(&object(reply, &["thoughts"])?, "thoughts").map(Self)
    }
}

/// From 0 to 10.
struct Worth(f64);

impl Reply for Worth {
    fn schema() -> Option<Schema> {
        Some(shape("value", json!({"value": {"type": "number", "minimum": 0, "maximum": 10}})))
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        let object = object(reply, &["value"])?;
        let number = match object.get("value") {
            Some(Value::Number(number)) => number.as_f64(),
            Some(Value::String(text)) => {
                let value = text.split_once('/').map_or(text.as_str(), |(value, _of_ten)| value);
                value.trim().parse().ok()
            }
            _ => None,
        };
        number
            .filter(|number| (0.0..=10.0).contains(number))
            .map(Self)
            .ok_or_else(|| Unreadable::key("value", "a number from 0 to 10"))
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_thoughts: Thoughts, reply_worth: Worth }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_in_many_forms() {
        let read = |reply| Worth::read(reply).map(|worth| worth.0).ok();
        assert_eq!(read(r#"{"value": 7}"#), Some(7.0));
        assert_eq!(read(r#"{"value": "7.5 / 10"}"#), Some(7.5));
        assert_eq!(read(r#"{"value": 11}"#), None);
        assert_eq!(read(r#"{"value": "NaN"}"#), None);
        assert_eq!(read("good"), None);
    }
}
