//! Alternates reasoning and retrieval: each sentence of the rationale retrieves passages for the
//! next (`IRCoT`: Trivedi et al., 2023; parameters of KAR³ §A.2 and §A.3).

use std::num::NonZeroUsize;

use pikerag_knowledge::{Answer, Context, Event, Question, Role, Schema, StopReason};
use pikerag_prompt::{Prompt, Reply, Unreadable, object, quiet_headings, shape, text};
use serde_json::json;
use tracing::instrument;

use crate::self_ask::Shots;
use pikerag_methods::conclude::conclude_with;
use pikerag_methods::decompose::shown_context;
use pikerag_methods::fitting::fitted;
use pikerag_methods::retrieval::{RetrievalParams, look_up};
use pikerag_methods::spec::{Cost, MethodParams, MethodSpec, Range, Variant, WithoutModel, field};
use pikerag_methods::{Ports, Run, SolveError};

const PROMPT: Prompt = Prompt::new(Role::Reason, include_str!("prompts/ircot.md"), 1024)
    .with_earlier("baselines/ircot", &[include_str!("prompts/earlier/ircot.1.md")]);
const DEMONSTRATIONS: &str = include_str!("prompts/ircot_demonstrations.md");

/// The condition under which the model may stop without a sentence, for earlier texts of the prompt, which replays send.
const WITH_AN_ANSWER: &str =
    "Where no fact is left to state, \"next_rationale\" is null, with the answer.";
const IN_THE_LAST_ROUND: &str = "This is the last round. Null rationale allowed: where nothing more can be said, give null twice.";

/// The parameters of the alternation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// The most sentences (N).
    pub n: NonZeroUsize,
    /// The retrieval for the question and for each sentence.
    pub retrieval: RetrievalParams,
    /// Whether prompts contain demonstrations (KAR³ Table 14).
    pub shots: Shots,
}

impl Default for Params {
    /// N = 5 (KAR³ §4.1), 4 chunks each, score ≥ 0.2 (§A.3), few-shot (Table 5).
    fn default() -> Self {
        Self {
            n: const { NonZeroUsize::new(5).unwrap() },
            retrieval: RetrievalParams::step(),
            shots: Shots::Few,
        }
    }
}

impl MethodParams for Params {
    const SPEC: MethodSpec<Self> = MethodSpec {
        variants: &[
            Variant::new(
                "ircot",
                "a rationale sentence by sentence, each of which retrieves",
                "Trivedi et al. 2023; KAR³ §A.2",
                |_| {},
            ),
            Variant::new(
                "ircot-zero-shot",
                "the same without demonstrations",
                "KAR³ Table 14",
                |params| params.shots = Shots::Zero,
            ),
        ],
        parameters: &[
            field!(n, "the most sentences (N)", Range::COUNT),
            field!(retrieval.chunks as "chunks", "chunks that a sentence retrieves, at most", Range::COUNT),
        ],
        roles: &[Role::Reason, Role::Answer],
        without_model: WithoutModel::Fails,
        needs: None,
        cost: |params| Cost {
            calls: 0.56 * params.n.get() as f64 + 1.0,
            most_calls: params.n.get() as u64 + 1,
            chunks: 0.35 * (params.n.get() * params.retrieval.chunks) as f64,
            most_chunks: (params.n.get() as u64 + 1) * params.retrieval.chunks as u64,
            most_chunk_tokens: None,
            rounds: params.n.get() as u64,
            fixed: 900,
            reply: 30,
            basis: "KAR³ Table 10: 9703 + 86 tokens; a call per sentence of rationale, at most N, and one to read",
        },
    };
}

/// Answers `question` by a rationale, sentence by sentence, each of which retrieves for the next:
/// at most `n + 1` chat calls, each repeated at most once.
///
/// # Errors
/// See [`SolveError`].
#[instrument(name = "ircot", skip_all, fields(question = %question.id))]
pub async fn solve(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Params,
) -> Result<Answer, SolveError> {
    ports.models.need(Role::Reason)?;
    ports.models.need(Role::Answer)?;
    let mut context = Context::default();
    let mut rationale: Vec<String> = Vec::new();
    // The finds for the question come first; each sentence after it starts a round of its own.
    gather_more(ports, run, 1, question.query(), params.retrieval, &mut context).await?;
    for step in 1..=params.n.get() {
        let is_last = step == params.n.get();
        let reasoned =
            reason(ports, run, question, &context, &rationale, params.shots, is_last).await?;
        let Some(Reasoned { sentence, answer }) = reasoned else {
            run.push(Event::Stopped { hop: step, reason: StopReason::Unreadable });
            break;
        };
        let goes_on = sentence.is_some() && answer.is_none();
        if let Some(sentence) = sentence {
            let sentence = run.thought(step, sentence)?;
            if goes_on {
                gather_more(ports, run, step + 1, &sentence, params.retrieval, &mut context)
                    .await?;
            }
            rationale.push(sentence);
        }
        if let Some(answer) = answer {
            let so = format!("So the answer is: {answer}.");
            rationale.push(run.thought(step, so)?);
        }
        if !goes_on {
            run.push(Event::Stopped { hop: step, reason: StopReason::NothingProposed });
            break;
        }
        if is_last {
            run.push(Event::Stopped { hop: step, reason: StopReason::HopLimit });
        }
    }
    // The final read, over rationale and chunks (KAR³ Table 5).
    conclude_with(ports, question, context, &rationale.join("\n"), run).await
}

/// Adds the finds of a query, each chunk once.
async fn gather_more(
    ports: &Ports,
    run: &mut Run,
    hop: usize,
    query: &str,
    retrieval: RetrievalParams,
    context: &mut Context,
) -> Result<(), SolveError> {
    context.extend(hop, look_up(ports, run, hop, query, retrieval).await?);
    Ok(())
}

/// Asks for the next sentence; `None` if the reply stayed unreadable.
async fn reason(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    context: &Context,
    rationale: &[String],
    shots: Shots,
    is_last: bool,
) -> Result<Option<Reasoned>, SolveError> {
    let demonstrations = match shots {
        Shots::Few => DEMONSTRATIONS.trim_end(),
        Shots::Zero => "",
    };
    let so_far = match rationale {
        [] => "(nothing yet)".to_owned(),
        sentences => quiet_headings(&sentences.join("\n")),
    };
    let beside = format!("{demonstrations}\n{so_far}");
    let read = fitted(ports, question, context, &beside, run).await?;
    let (shown, asked) = (shown_context(&read), quiet_headings(&question.text));
    let inputs = [
        ("when_null", if is_last { IN_THE_LAST_ROUND } else { WITH_AN_ANSWER }),
        ("last", if is_last { "yes" } else { "" }),
        ("demonstrations", demonstrations),
        ("context", shown.as_str()),
        ("rationale", so_far.as_str()),
        ("question", asked.as_str()),
    ];
    run.ask(ports, &PROMPT, &inputs).await
}

/// One step of the rationale. If both are empty, the rationale is complete.
#[derive(Debug, PartialEq, Eq)]
struct Reasoned {
    sentence: Option<String>,
    answer: Option<String>,
}

impl Reply for Reasoned {
    fn schema() -> Option<Schema> {
        Some(shape(
            "next_rationale",
            json!({
                "next_rationale": {"type": ["string", "null"]},
                "answer": {"type": ["string", "null"]}
            }),
        ))
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        let object = object(reply, &["next_rationale", "answer"])?;
        // Null, an empty text and the word "null" mean the same here.
        let value = |key| {
            let none = ["", "null", "none", "n/a"];
            text(&object, key).ok().filter(|value| !none.contains(&value.to_lowercase().as_str()))
        };
        Ok(Self { sentence: value("next_rationale"), answer: value("answer") })
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_reasoned: Reasoned }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_read_in_many_forms() {
        let read = |reply| {
            Reasoned::read(reply)
                .map(|step| (step.sentence.unwrap_or_default(), step.answer.unwrap_or_default()))
                .map_err(|error| error.to_string())
        };
        let step = |sentence: &str, answer: &str| Ok((sentence.to_owned(), answer.to_owned()));
        assert_eq!(read(r#"{"next_rationale": "A.", "answer": null}"#), step("A.", ""));
        assert_eq!(read(r#"{"next_rationale": "null", "answer": 7}"#), step("", "7"));
        assert_eq!(read(r#"{"answer": "Oslo"}"#), step("", "Oslo"));
        assert_eq!(read(r#"{"next_rationale": null, "answer": "None"}"#), step("", ""));
        assert!(read("The crane comes first.").is_err());
    }
}
