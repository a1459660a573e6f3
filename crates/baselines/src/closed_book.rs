//! Answers without retrieval: at once (`direct`: RA-ISF §4.4), or after reasoning in words (`zero-shot-cot`: Kojima et
//! al., 2022; KAR³ §A.2).

use pikerag_knowledge::{Answer, Question, Role, Schema};
use pikerag_prompt::{Prompt, Reply, Unreadable, quiet_headings, shape};
use pikerag_reason::how_to_answer_alone;
use serde_json::json;
use tracing::instrument;

use pikerag_methods::spec::{Cost, MethodParams, MethodSpec, Variant, WithoutModel};
use pikerag_methods::unaided::{Recalled, conclude_recalled, recall, recalled};
use pikerag_methods::{Ports, Run, SolveError};

const DIRECT: Prompt = Prompt::new(Role::Answer, include_str!("prompts/direct.md"), 1024)
    .with_earlier("baselines/direct", &[include_str!("prompts/earlier/direct.1.md")])
    .answering();

/// Whether the model reasons before it answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reasoning {
    /// It answers at once.
    #[default]
    None,
    /// It reasons in words first.
    StepByStep,
}

/// How the model answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Params {
    /// Whether it reasons first.
    pub reasoning: Reasoning,
}

impl MethodParams for Params {
    const SPEC: MethodSpec<Self> = MethodSpec {
        variants: &[
            Variant::new("direct", "the model answers by itself, at once", "KAR³ §A.2", |_| {}),
            Variant::new(
                "zero-shot-cot",
                "the model answers by itself, step by step",
                "KAR³ §A.2",
                |params| params.reasoning = Reasoning::StepByStep,
            ),
        ],
        parameters: &[],
        roles: &[Role::Answer],
        without_model: WithoutModel::Fails,
        needs: None,
        cost: |params| Cost {
            chunks: 0.0,
            most_chunks: 0,
            fixed: 85,
            reply: if params.reasoning == Reasoning::None { 60 } else { 105 },
            ..Cost::of_one_call("one call without passages; KAR³ Table 10: 85 + 105 tokens")
        },
    };
}

/// Answers `question` from the model's knowledge: one chat call. Nothing is retrieved, so there are
/// no citations.
///
/// # Errors
/// See [`SolveError`].
#[instrument(name = "closed_book", skip_all, fields(question = %question.id))]
pub async fn solve(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Params,
) -> Result<Answer, SolveError> {
    let recalled = match params.reasoning {
        Reasoning::None => {
            let asked = quiet_headings(&question.text);
            let form = how_to_answer_alone(question);
            let inputs = [("form", form.as_ref()), ("question", asked.as_str())];
            run.ask::<AtOnce>(ports, &DIRECT, &inputs).await?.map(|reply| reply.0)
        }
        Reasoning::StepByStep => recall(ports, run, question, "").await?,
    };
    conclude_recalled(ports, recalled, run).await
}

struct AtOnce(Recalled);

impl Reply for AtOnce {
    fn schema() -> Option<Schema> {
        Some(shape("answer", json!({"answer": {"type": "string"}})))
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        recalled(reply).map(Self)
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_at_once: AtOnce }
