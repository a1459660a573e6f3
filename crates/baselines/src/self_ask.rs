//! Asks follow-up questions one at a time, each answered before the next (Self-Ask: Press et al.,
//! 2023; with retrieval: KAR³ §A.2, PIKE-RAG §6.1.3).

use std::num::NonZeroUsize;

use pikerag_knowledge::{Answer, Context, Event, Question, Role, Schema, StopReason};
use pikerag_prompt::{Prompt, Reply, Unreadable, one_line, without_thinking};
use pikerag_reason::{combine, short_answer, transcript};
use serde_json::{Value, json};
use tracing::field::Empty;
use tracing::{Span, instrument};

use pikerag_methods::conclude::{conclude_as, conclude_with};
use pikerag_methods::retrieval::{RULE, RetrievalParams, Rule, answer_step, look_up, sub_question};
use pikerag_methods::spec::{
    Cost, MethodParams, MethodSpec, Parameter, Range, Variant, WithoutModel, field, put, read,
};
use pikerag_methods::unaided::recall;
use pikerag_methods::verdict::UNKNOWN;
use pikerag_methods::{Ports, Run, SolveError};

const PROMPT: Prompt = Prompt::new(Role::Decompose, include_str!("prompts/self_ask.md"), 1024)
    .with_earlier("baselines/self_ask", &[include_str!("prompts/earlier/self_ask.1.md")]);
const DEMONSTRATIONS: &str = include_str!("prompts/self_ask_demonstrations.md");

/// Whether prompts contain demonstrations (KAR³ Table 14).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shots {
    /// Demonstrations come first, as in the papers' comparison.
    #[default]
    Few,
    /// Instructions alone.
    Zero,
}

/// The parameters of follow-up questions and their answers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// The most follow-up questions (N).
    pub n: NonZeroUsize,
    /// The retrieval for each of them; `None`: the model answers from its knowledge.
    pub retrieval: Option<RetrievalParams>,
    /// Whether there are demonstrations.
    pub shots: Shots,
}

impl Default for Params {
    /// N = 5 (KAR³ §4.1), few-shot, without retrieval as in Press et al.
    fn default() -> Self {
        Self { n: const { NonZeroUsize::new(5).unwrap() }, retrieval: None, shots: Shots::Few }
    }
}

impl MethodParams for Params {
    const SPEC: MethodSpec<Self> = MethodSpec {
        variants: &[
            Variant::new(
                "self-ask",
                "follow-up questions one at a time, answered by the model",
                "Press et al. 2023; KAR³ §A.2",
                |_| {},
            ),
            Variant::new(
                "self-ask-r",
                "the same, each answered from 4 chunks",
                "KAR³ §A.2",
                |params| params.retrieval = Some(RetrievalParams::step()),
            ),
            Variant::new(
                "self-ask-hr",
                "the same, each answered from chunks and atoms",
                "KAR³ §A.2",
                |params| params.retrieval = Some(RetrievalParams::hierarchical()),
            ),
            Variant::new(
                "self-ask-zero-shot",
                "as `self-ask-r`, without demonstrations",
                "KAR³ Table 14",
                |params| {
                    params.retrieval = Some(RetrievalParams::step());
                    params.shots = Shots::Zero;
                },
            ),
        ],
        parameters: &[
            field!(n, "the most follow-up questions (N)", Range::COUNT),
            Parameter {
                name: "chunks",
                meaning: "chunks for each follow-up question, at most",
                range: Range::COUNT,
                get: |params| json!(params.retrieval.map(|retrieval| retrieval.chunks)),
                set: |params, value| put(&mut params.retrieval.as_mut()?.chunks, value),
            },
            Parameter {
                name: "k",
                meaning: "atoms for each follow-up question, if atoms are searched (k)",
                range: Range::COUNT,
                get: |params| match params.retrieval {
                    Some(retrieval) if 0 < retrieval.atoms => json!(retrieval.atoms),
                    _ => Value::Null,
                },
                set: |params, value| put(&mut atoms_of(params)?.atoms, value),
            },
            Parameter {
                name: "delta",
                meaning: "the least similarity of an atom, if atoms are searched (δ); if it is not set, the base's own value may lower it",
                range: Range::Number((-1.0, 1.0)),
                get: |params| match params.retrieval {
                    Some(retrieval) if 0 < retrieval.atoms => json!(retrieval.atom_min_score),
                    _ => Value::Null,
                },
                set: |params, value| {
                    let retrieval = atoms_of(params)?;
                    retrieval.calibrates = false;
                    put(&mut retrieval.atom_min_score, value)
                },
            },
            Parameter {
                name: "rule",
                meaning: RULE,
                range: Range::of::<Rule>(),
                get: |params| json!(params.retrieval.and_then(|retrieval| retrieval.rule())),
                set: |params, value| {
                    let rule = read(value)?;
                    atoms_of(params).map(|retrieval| *retrieval = retrieval.by(rule))
                },
            },
        ],
        roles: &[Role::Decompose, Role::Answer],
        without_model: WithoutModel::Fails,
        needs: None,
        cost: |params| Cost {
            calls: 1.2 * params.n.get() as f64 + 1.0,
            most_calls: 2 * params.n.get() as u64 + 2,
            chunks: 2.0_f64.max(0.5 * (chunks_of(params) as f64 - 4.0)),
            // Those of all follow-up questions, with four by atoms.
            most_chunks: (params.n.get() * (chunks_of(params).max(8) + 4)) as u64,
            most_chunk_tokens: None,
            rounds: params.n.get() as u64,
            fixed: 380,
            reply: 80,
            basis: "KAR³ Table 10: 5894 + 619 tokens; a call per follow-up and one per answer, at most N of each",
        },
    };
}

/// Chunks for one follow-up question by their own meaning, at most; atoms add up to k more.
fn chunks_of(params: &Params) -> usize {
    params.retrieval.map_or(0, |retrieval| retrieval.chunks)
}

/// The retrieval of a variant that searches atoms.
fn atoms_of(params: &mut Params) -> Option<&mut RetrievalParams> {
    params.retrieval.as_mut().filter(|retrieval| 0 < retrieval.atoms)
}

/// Answers `question` by follow-up questions: at most `2n + 1` chat calls, each repeated at most
/// once.
///
/// Differs from Press et al.: if the model answers a follow-up question, it does so in a separate
/// call and not within the transcript, so that all variants take the same steps.
///
/// # Errors
/// See [`SolveError`].
#[instrument(name = "self_ask", skip_all, fields(question = %question.id, follow_ups = Empty))]
pub async fn solve(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Params,
) -> Result<Answer, SolveError> {
    let mut context = Context::default(); // The retrieved chunks, for citations only.
    let mut pairs: Vec<(String, String)> = Vec::new();
    for hop in 1..=params.n.get() {
        // "Are follow up questions needed here:"
        let follow_up = match next(ports, run, question, &pairs, params.shots).await? {
            Next::FollowUp(follow_up) => follow_up,
            Next::Answer(answer) => {
                Span::current().record("follow_ups", pairs.len());
                return conclude_as(ports, context, answer, transcript(&pairs), run).await;
            }
            Next::Nothing(reason) => {
                run.push(Event::Stopped { hop, reason });
                break;
            }
        };
        let follow_up = run.asked(1, follow_up)?;
        let answer = match params.retrieval {
            Some(retrieval) => {
                let found =
                    look_up_alone(ports, run, hop, &follow_up, retrieval, &mut context).await?;
                // From these chunks only (KAR³ Table 5).
                let reading =
                    answer_step(ports, run, &sub_question(&follow_up), &found, "").await?;
                reading.map(|reading| reading.answer)
            }
            None => recall(ports, run, &sub_question(&follow_up), "")
                .await?
                .map(|recalled| recalled.answer),
        };
        let answer = answer.unwrap_or_else(|| UNKNOWN.to_owned());
        let answer = run.resolved(1, &follow_up, answer)?;
        pairs.push((follow_up, answer));
        if hop == params.n.get() {
            run.push(Event::Stopped { hop, reason: StopReason::HopLimit });
        }
    }
    Span::current().record("follow_ups", pairs.len());
    combine_and_conclude(ports, question, context, &pairs, run).await // "So the final answer is:"
}

/// Ends with the answer that follows from (sub-question, answer) pairs. If the model's reply is
/// empty, the retrieved chunks are read once more.
pub(crate) async fn combine_and_conclude(
    ports: &Ports,
    question: &Question,
    context: Context,
    pairs: &[(String, String)],
    run: &mut Run,
) -> Result<Answer, SolveError> {
    let model = ports.models.need(Role::Answer)?;
    let asked = combine(model, question, pairs, &mut run.account).await;
    match run.readable(Role::Answer, asked)? {
        Some(answer) => conclude_as(ports, context, answer, transcript(pairs), run).await,
        None => conclude_with(ports, question, context, &transcript(pairs), run).await,
    }
}

/// The finds of one query, as a context of its own; they also join `context`.
pub(crate) async fn look_up_alone(
    ports: &Ports,
    run: &mut Run,
    hop: usize,
    query: &str,
    retrieval: RetrievalParams,
    context: &mut Context,
) -> Result<Context, SolveError> {
    let mut found = Context::default();
    for chunk in look_up(ports, run, hop, query, retrieval).await? {
        context.add(hop, chunk.clone());
        found.add(hop, chunk);
    }
    Ok(found)
}

/// The next step of a transcript.
enum Next {
    FollowUp(String),
    Answer(String),
    Nothing(StopReason),
}

/// Asks the model to continue the transcript. An already answered follow-up question is skipped:
/// models like to repeat the transcript first.
async fn next(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    pairs: &[(String, String)],
    shots: Shots,
) -> Result<Next, SolveError> {
    let demonstrations = match shots {
        Shots::Few => DEMONSTRATIONS.trim_end(),
        Shots::Zero => "",
    };
    let (asked, follow_ups) = (one_line(&question.text), transcript(pairs));
    let inputs = [
        ("demonstrations", demonstrations),
        ("question", asked.as_str()),
        ("follow_ups", follow_ups.as_str()),
    ];
    let Some(reply) = run.ask::<Continuation>(ports, &PROMPT, &inputs).await? else {
        return Ok(Next::Nothing(StopReason::Unreadable));
    };
    let is_new =
        |follow_up: &String| !pairs.iter().any(|(known, _)| known.eq_ignore_ascii_case(follow_up));
    Ok(match (reply.follow_ups.into_iter().find(is_new), reply.answer) {
        (Some(follow_up), _) => Next::FollowUp(follow_up),
        (None, Some(answer)) => Next::Answer(answer),
        (None, None) => Next::Nothing(StopReason::NothingProposed),
    })
}

/// The model's text after "Are follow up questions needed here:".
#[derive(Debug, Default, PartialEq, Eq)]
struct Continuation {
    /// The follow-up questions before the final answer, in order.
    follow_ups: Vec<String>,
    /// The final answer, if there is one.
    answer: Option<String>,
}

impl Reply for Continuation {
    fn schema() -> Option<Schema> {
        None
    }

    /// Text after the final answer is ignored: models like to go on with a question of their own.
    fn read(reply: &str) -> Result<Self, Unreadable> {
        let reply = without_thinking(reply);
        if reply.is_empty() {
            return Err(Unreadable::Empty);
        }
        let mut continuation = Self::default();
        let mut lines = reply.lines().map(str::trim).filter(|line| !line.is_empty());
        while let Some(line) = lines.next() {
            if line.to_ascii_lowercase().contains("final answer is") {
                let here = short_answer(line);
                let answer = match here.is_empty() {
                    true => short_answer(lines.next().unwrap_or_default()),
                    false => here,
                };
                continuation.answer = Some(answer).filter(|answer| !answer.is_empty());
                break;
            }
            continuation.follow_ups.extend(follow_up(line));
        }
        if continuation == Self::default() {
            return Err(Unreadable::BadKey {
                key: "Follow up:".to_owned(),
                expected:
                    "there with a question, or else `So the final answer is:` with the answer"
                        .to_owned(),
            });
        }
        Ok(continuation)
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_continuation: Continuation }

/// The question after `Follow up:`, anywhere in a line.
fn follow_up(line: &str) -> Option<String> {
    let lower = line.to_ascii_lowercase();
    let marks = ["follow up", "follow-up", "followup"];
    let ends = marks.iter().filter_map(|mark| Some(lower.find(mark)? + mark.len())).min()?;
    let rest = line.get(ends..)?.trim_start();
    let rest = rest.strip_prefix("question").unwrap_or(rest);
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ' || c == '*');
    let question = rest.strip_prefix([':', '：'])?.trim_matches(['*', ' ']);
    (!question.is_empty()).then(|| question.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(reply: &str) -> String {
        match Continuation::read(reply) {
            Ok(continuation) => format!(
                "{:?} {:?}",
                continuation.follow_ups,
                continuation.answer.unwrap_or_default()
            ),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn continuations_are_read_in_many_forms() {
        assert_eq!(read("Yes.\nFollow up: Who?"), r#"["Who?"] """#);
        assert_eq!(read("Yes. Follow up: Who?"), r#"["Who?"] """#);
        assert_eq!(read("**Follow-up question 2:** Who?"), r#"["Who?"] """#);
        assert_eq!(read("Follow up：谁？"), r#"["谁？"] """#);
        assert_eq!(read("<think>Follow up: X?</think>Follow up: Who?"), r#"["Who?"] """#);
        assert_eq!(read("No.\nSo the final answer is: Oslo."), r#"[] "Oslo""#);
        assert_eq!(read("So the final answer is:\n\nOslo"), r#"[] "Oslo""#);
    }

    #[test]
    fn text_after_the_final_answer_is_cut() {
        let own = "Follow up: A?\nIntermediate answer: b\nFollow up: C?\nSo the final answer is: d\n\
                   \nQuestion: E?\nAre follow up questions needed here: Yes.\nFollow up: F?";
        assert_eq!(read(own), r#"["A?", "C?"] "d""#);
    }

    #[test]
    fn neither_question_nor_answer() {
        let neither = "`Follow up:` must be there with a question, or else `So the final answer is:` with \
                       the answer";
        assert_eq!(read("Yes."), neither);
        assert_eq!(read("Are follow up questions needed here: Yes."), neither);
        assert_eq!(read("Follow up:"), neither);
        assert_eq!(read("So the final answer is:"), neither);
        assert_eq!(read("<think>hm"), "it was empty");
    }
}
