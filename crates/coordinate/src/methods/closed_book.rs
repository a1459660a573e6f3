//! What does a model answer without retrieval? At once (`direct`: RA-ISF §4.4), or after reasoning
//! in words (`zero-shot-cot`: Kojima et al., 2022; KAR³ §A.2).

use pikerag_knowledge::{Answer, Context, Question, Role, Schema};
use pikerag_narrate::{InWords, Language, Sentence};
use pikerag_prompt::{Prompt, Reply, Unreadable, object, quiet_headings, text};
use pikerag_reason::how_to_answer_alone;
use serde_json::json;
use tracing::instrument;

use crate::conclude::{conclude_as, refuse};
use crate::methods::spec::{Cost, MethodParams, MethodSpec, Variant, WithoutModel};
use crate::ports::{Ports, SolveError};
use crate::run::Run;
use crate::verdict::only;

const DIRECT: Prompt = Prompt::new(Role::Answer, include_str!("prompts/direct.md"), 1024);
const STEP_BY_STEP: Prompt =
    Prompt { template: include_str!("prompts/zero_shot_cot.md"), max_tokens: 2048, ..DIRECT };

/// Whether the model reasons before it answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reasoning {
    /// It answers at once.
    #[default]
    None,
    /// It works the answer out in words first.
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

/// Answers `question` from what the model knows: one chat call. Nothing is retrieved, so nothing can
/// be cited.
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

/// What a model says from what it knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Recalled {
    pub(crate) answer: String,
    /// Why; may be empty.
    pub(crate) rationale: String,
}

/// Answers a question or sub-question step by step, from what the model knows and from notes of what
/// was worked out before; `None` where the reply stayed unreadable.
pub(crate) async fn recall(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    notes: &str,
) -> Result<Option<Recalled>, SolveError> {
    let (asked, notes) = (quiet_headings(&question.text), quiet_headings(notes));
    let form = how_to_answer_alone(question);
    let inputs = [("form", form.as_ref()), ("question", asked.as_str()), ("notes", notes.as_str())];
    Ok(run.ask::<StepByStep>(ports, &STEP_BY_STEP, &inputs).await?.map(|reply| reply.0))
}

/// Ends with what was recalled. There is no evidence that could be quoted in its place.
pub(crate) async fn conclude_recalled(
    ports: &Ports,
    recalled: Option<Recalled>,
    run: &mut Run,
) -> Result<Answer, SolveError> {
    match recalled {
        Some(Recalled { answer, rationale }) => {
            conclude_as(ports, Context::default(), answer, rationale, run).await
        }
        None => {
            let why = Sentence::ReplyUnreadable.in_words(Language::English);
            refuse(ports, Context::default(), why, run).await
        }
    }
}

struct AtOnce(Recalled);
struct StepByStep(Recalled);

impl Reply for AtOnce {
    fn schema() -> Option<Schema> {
        Some(only("answer", &json!({"type": "string"})))
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        recalled(reply).map(Self)
    }
}

impl Reply for StepByStep {
    fn schema() -> Option<Schema> {
        let schema = json!({
            "type": "object",
            "properties": {"rationale": {"type": "string"}, "answer": {"type": "string"}},
            "required": ["rationale", "answer"],
            "additionalProperties": false
        });
        Some(Schema { name: "reasoned_answer".to_owned(), schema })
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        recalled(reply).map(Self)
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_at_once: AtOnce, reply_step_by_step: StepByStep }

fn recalled(reply: &str) -> Result<Recalled, Unreadable> {
    let object = object(reply, &["answer"])?;
    let rationale = text(&object, "rationale").unwrap_or_default();
    Ok(Recalled { answer: text(&object, "answer")?, rationale })
}
