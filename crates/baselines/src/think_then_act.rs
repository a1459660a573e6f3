//! Judges first whether the question is clear and needs a search, then acts (Think-then-Act: Shen
//! et al., 2024; CRP-RAG §4.2).

use std::num::NonZeroUsize;

use pikerag_knowledge::{Answer, Context, Criterion, Question, Role, Schema};
use pikerag_prompt::{Prompt, Reply, Unreadable, object, quiet_headings, shape, text};
use serde_json::{Value, json};
use tracing::instrument;

use pikerag_methods::conclude::conclude;
use pikerag_methods::retrieval::{RetrievalParams, look_up};
use pikerag_methods::spec::{Cost, MethodParams, MethodSpec, Range, Variant, WithoutModel, field};
use pikerag_methods::unaided::{conclude_recalled, recall};
use pikerag_methods::{Ports, Run, SolveError};

const JUDGE: Prompt = Prompt::new(Role::Know, include_str!("prompts/think_then_act.md"), 1024)
    .with_earlier(
        "baselines/think_then_act",
        &[include_str!("prompts/earlier/think_then_act.1.md")],
    );
const REWRITE: Prompt =
    Prompt::new(Role::Rewrite, include_str!("prompts/think_then_act_rewrite.md"), 1024)
        .with_earlier(
            "baselines/think_then_act_rewrite",
            &[include_str!("prompts/earlier/think_then_act_rewrite.1.md")],
        );

/// The retrieval, if the model cannot answer by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// The most chunks that are retrieved, with any score.
    pub k: NonZeroUsize,
}

impl Default for Params {
    /// The top 5 (CRP-RAG §4.3).
    fn default() -> Self {
        Self { k: const { NonZeroUsize::new(5).unwrap() } }
    }
}

impl MethodParams for Params {
    const SPEC: MethodSpec<Self> = MethodSpec {
        variants: &[Variant::new(
            "think-then-act",
            "clear, and known? else rewrites, and retrieves",
            "Shen et al. 2024; CRP-RAG §4.2",
            |_| {},
        )],
        parameters: &[field!(k, "chunks, if the model cannot answer by itself (k)", Range::COUNT)],
        roles: &[Role::Know, Role::Rewrite, Role::Answer],
        without_model: WithoutModel::Fails,
        needs: None,
        cost: |params| Cost {
            calls: 2.5,
            most_calls: 4,
            chunks: params.k.get() as f64 * 0.4,
            most_chunks: params.k.get() as u64,
            most_chunk_tokens: None,
            rounds: 1,
            fixed: 350,
            reply: 80,
            basis: "judge clarity and ability, rewrite, answer",
        },
    };
}

/// Answers `question`, rewritten if it is unclear, with retrieval only if the model cannot answer
/// by itself: two or three chat calls, each repeated at most once.
///
/// # Errors
/// See [`SolveError`].
#[instrument(name = "think_then_act", skip_all, fields(question = %question.id))]
pub async fn solve(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Params,
) -> Result<Answer, SolveError> {
    ports.models.need(Role::Know)?;
    ports.models.need(Role::Answer)?;
    let judged = judge(ports, run, question).await?;
    let question = match judged.is_clear {
        true => question.clone(),
        false => rewrite(ports, run, question).await?,
    };
    if judged.can_answer {
        let recalled = recall(ports, run, &question, "").await?;
        return conclude_recalled(ports, recalled, run).await;
    }
    let mut context = Context::default();
    for chunk in
        look_up(ports, run, 1, question.query(), RetrievalParams::top(params.k.get())).await?
    {
        context.add(1, chunk);
    }
    conclude(ports, &question, context, run).await
}

/// The two judgements. If they stay unreadable, the question is not rewritten, and passages are
/// retrieved.
async fn judge(ports: &Ports, run: &mut Run, question: &Question) -> Result<Judged, SolveError> {
    let asked = quiet_headings(&question.text);
    let reply = run.ask::<Judged>(ports, &JUDGE, &[("question", asked.as_str())]).await?;
    let Some(judged) = reply else { return Ok(Judged { is_clear: true, can_answer: false }) };
    Ok(Judged {
        is_clear: run.judged(Criterion::Clear, &question.text, judged.is_clear)?,
        can_answer: run.judged(Criterion::Known, &question.text, judged.can_answer)?,
    })
}

/// The clearer question; the original one if the reply stayed unreadable.
async fn rewrite(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
) -> Result<Question, SolveError> {
    let asked = quiet_headings(question.query());
    let reply = run.ask::<Rewritten>(ports, &REWRITE, &[("question", asked.as_str())]).await?;
    let Some(Rewritten(text)) = reply else { return Ok(question.clone()) };
    let text = run.asked(0, text)?;
    Ok(question.with_query(text))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Judged {
    is_clear: bool,
    can_answer: bool,
}

impl Reply for Judged {
    fn schema() -> Option<Schema> {
        Some(shape(
            "judgement",
            json!({"clear": {"type": "boolean"}, "can_answer": {"type": "boolean"}}),
        ))
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        let object = object(reply, &["clear", "can_answer"])?;
        Ok(Self { is_clear: holds(&object, "clear")?, can_answer: holds(&object, "can_answer")? })
    }
}

/// `true`, `false`, or words that begin with yes or no.
fn holds(object: &Value, key: &str) -> Result<bool, Unreadable> {
    let verdict = text(object, key).unwrap_or_default().to_lowercase();
    match verdict.split(|c: char| !c.is_alphabetic()).next() {
        Some("yes" | "true") => Ok(true),
        Some("no" | "false") => Ok(false),
        _ => Err(Unreadable::key(key, "true or false")),
    }
}

struct Rewritten(String);

impl Reply for Rewritten {
    fn schema() -> Option<Schema> {
        Some(shape("question", json!({"question": {"type": "string"}})))
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        let rewritten = text(&object(reply, &["question"])?, "question")?;
        if rewritten.is_empty() { Err(Unreadable::Empty) } else { Ok(Self(rewritten)) }
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_judged: Judged, reply_rewritten: Rewritten }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_in_words() {
        let read =
            |reply| Judged::read(reply).map(|judged| (judged.is_clear, judged.can_answer)).ok();
        assert_eq!(read(r#"{"clear": true, "can_answer": false}"#), Some((true, false)));
        assert_eq!(read(r#"{"clear": "Yes.", "can_answer": "no, never"}"#), Some((true, false)));
        assert_eq!(read(r#"{"clear": "mostly", "can_answer": true}"#), None);
        assert_eq!(read(r#"{"clear": true}"#), None);
    }
}
