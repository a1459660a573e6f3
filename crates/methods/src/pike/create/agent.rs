//! Runs one agent: it searches for its perspective, thinks, and later judges the ideas of the others.

use std::sync::Arc;

use crate::context::Rules;
use pikerag_knowledge::worked::Gap;
use pikerag_knowledge::{ChatModel, Chunk, Event, Question, Role, Schema};
use pikerag_prompt::{
    Prompt, Reply, Unreadable, ask_sample, at_most, closed, object, one_line, passages,
    quiet_headings, shape, text,
};
use pikerag_reason::Claim;
use serde_json::{Value as Json, json};

use super::{Params, own_words};
use crate::organizing::gathered;
use crate::ports::{Perspective, Ports, SolveError};
use crate::retrieval::{RetrievalParams, retrieve};
use crate::run::Run;

const THINK: Prompt =
    Prompt::new(Role::Reason, include_str!("../../prompts/ideas.md"), 1200).at(0.7);
const JUDGE: Prompt = Prompt::new(Role::Grade, include_str!("../../prompts/critique.md"), 900);
/// Chunks that an agent finds, at most.
const FOUND: usize = 8;
/// Ideas of one agent, at most.
const IDEAS: usize = 3;

/// An agent with its perspective and its models.
pub(super) struct Agent<'a> {
    /// Its place.
    pub(super) at: usize,
    pub(super) perspective: &'a Perspective,
    pub(super) thinks: Arc<dyn ChatModel>,
    /// None where no model judges.
    pub(super) judges: Option<Arc<dyn ChatModel>>,
}

/// An idea of one agent.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Thought {
    /// The perspective, by its place.
    pub(super) perspective: usize,
    pub(super) title: String,
    pub(super) text: String,
    pub(super) evidence: Vec<Claim>,
    pub(super) gap: Option<Gap>,
    /// The chunks that the agent has read.
    pub(super) chunks: Vec<Chunk>,
}

/// An agent's judgement on another agent's idea.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Judgement {
    /// The idea, by its place.
    pub(super) thought: usize,
    /// From 1 to 5.
    pub(super) score: f64,
    /// The objection to it; may be empty.
    pub(super) against: String,
    /// The perspective of the judging agent, by its place.
    pub(super) perspective: usize,
}

/// The sample of an agent: another seed draws other ideas, and no two of 16 agents share a sample.
fn sample(params: Params, at: usize) -> u32 {
    params.seed.wrapping_mul(16).wrapping_add(at as u32)
}

/// Searches for passages, and thinks.
///
/// # Errors
/// See [`SolveError`].
pub(super) async fn think(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Params,
    agent: &Agent<'_>,
) -> Result<Vec<Thought>, SolveError> {
    let (at, perspective, model) = (agent.at, agent.perspective, agent.thinks.as_ref());
    let query = format!("{} {} {}", question.query(), perspective.name, perspective.about);
    run.push(Event::Asked { depth: 1, question: query.trim().to_owned() });
    let params_of = RetrievalParams { chunks: FOUND, ..RetrievalParams::auto() };
    let found = retrieve(ports, &query, params_of).await?;
    let rules = Rules::within(Some(params.agent_tokens));
    let (candidates, kept) = gathered(ports, run, found, rules).await?;
    run.push(Event::Gathered { candidates });
    let shown = match passages(&kept) {
        empty if empty.is_empty() => "(no passages were found)".to_owned(),
        shown => shown,
    };
    let asked = quiet_headings(&question.text);
    let (name, about) = (
        quiet_headings(&one_line(&perspective.name)),
        quiet_headings(&one_line(&perspective.about)),
    );
    let inputs = [
        ("name", name.as_str()),
        ("about", about.as_str()),
        ("context", shown.as_str()),
        ("question", asked.as_str()),
    ];
    let reply =
        ask_sample::<Ideas>(model, &THINK, &inputs, sample(params, at), &mut run.account).await;
    let reply = run.readable(Role::Reason, reply)?;
    let mut thoughts = Vec::new();
    for idea in reply.map(|reply| reply.0).unwrap_or_default() {
        let evidence = idea.evidence.into_iter().filter_map(|(passage, quote)| {
            let chunk = passage.checked_sub(1).and_then(|at| kept.get(at));
            let chunk = chunk.or_else(|| kept.first())?;
            Some(Claim { chunk: chunk.id, quote })
        });
        let evidence = evidence.collect();
        run.push(Event::Thought {
            step: thoughts.len() + 1,
            text: format!("{}: {}", perspective.name, idea.title),
        });
        let (title, text, gap) = (idea.title, idea.text, idea.gap);
        thoughts.push(Thought {
            perspective: at,
            title,
            text,
            evidence,
            gap,
            chunks: kept.clone(),
        });
    }
    Ok(thoughts)
}

/// Judges the ideas of the others.
///
/// # Errors
/// See [`SolveError`].
pub(super) async fn judge(
    run: &mut Run,
    question: &Question,
    params: Params,
    agent: &Agent<'_>,
    thoughts: &[Thought],
) -> Result<Vec<Judgement>, SolveError> {
    let (at, perspective) = (agent.at, agent.perspective);
    let others: Vec<(usize, &Thought)> =
        thoughts.iter().enumerate().filter(|(_, thought)| thought.perspective != at).collect();
    let Some(model) = agent.judges.as_deref().filter(|_| !others.is_empty()) else {
        return Ok(Vec::new());
    };
    let lines: Vec<String> = others
        .iter()
        .enumerate()
        .map(|(place, (_, thought))| {
            format!("{}. {}: {}", place + 1, one_line(&thought.title), one_line(&thought.text))
        })
        .collect();
    let (ideas, asked) = (quiet_headings(&lines.join("\n")), quiet_headings(&question.text));
    let (name, about) = (
        quiet_headings(&one_line(&perspective.name)),
        quiet_headings(&one_line(&perspective.about)),
    );
    let inputs = [
        ("name", name.as_str()),
        ("about", about.as_str()),
        ("ideas", ideas.as_str()),
        ("question", asked.as_str()),
    ];
    let reply =
        ask_sample::<Critique>(model, &JUDGE, &inputs, sample(params, at), &mut run.account).await;
    let reply = run.readable(Role::Grade, reply)?;
    let judged = reply.map(|reply| reply.0).unwrap_or_default().into_iter().filter_map(
        |(idea, score, against)| {
            let (thought, _) = others.get(idea.checked_sub(1)?)?;
            Some(Judgement { thought: *thought, score, against, perspective: at })
        },
    );
    Ok(judged.collect())
}

struct Ideas(Vec<IdeaReply>);

struct IdeaReply {
    title: String,
    text: String,
    evidence: Vec<(usize, String)>,
    gap: Option<Gap>,
}

impl Reply for Ideas {
    fn schema() -> Option<Schema> {
        let quote = closed(json!({"passage": {"type": "integer"}, "quote": at_most(300)}));
        let idea = closed(json!({
            "title": at_most(100),
            "idea": at_most(600),
            "evidence": {"type": "array", "items": quote, "maxItems": 3},
            "missing": at_most(200),
            "next_step": at_most(200)
        }));
        Some(shape("ideas", json!({"ideas": {"type": "array", "items": idea, "maxItems": IDEAS}})))
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        let object = object(reply, &["ideas"])?;
        let list = object.get("ideas").and_then(Json::as_array).cloned().unwrap_or_default();
        let quote = |quote: &Json| {
            let passage = quote.get("passage").and_then(Json::as_u64).unwrap_or(0);
            let words = text(quote, "quote").ok().filter(|words| !words.is_empty())?;
            Some((usize::try_from(passage).unwrap_or(0), words))
        };
        let idea = |one: &Json| {
            let words = |key: &str| own_words(one, key);
            let body = words("idea").or_else(|| words("text"))?;
            let gap = words("missing")
                .map(|missing| Gap { missing, next_step: words("next_step").unwrap_or_default() });
            let evidence =
                one.get("evidence").and_then(Json::as_array).cloned().unwrap_or_default();
            Some(IdeaReply {
                title: words("title").unwrap_or_else(|| body.chars().take(60).collect()),
                text: body,
                evidence: evidence.iter().filter_map(quote).collect(),
                gap,
            })
        };
        Ok(Self(list.iter().filter_map(idea).take(IDEAS).collect()))
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_ideas: Ideas }

/// The number of an idea from 1, a score from 1 to 5, and an objection.
struct Critique(Vec<(usize, f64, String)>);

impl Reply for Critique {
    fn schema() -> Option<Schema> {
        let one = closed(json!({
            "idea": {"type": "integer"},
            "score": {"type": "integer", "minimum": 1, "maximum": 5},
            "against": {"type": "string", "maxLength": 240}
        }));
        Some(shape(
            "critique",
            json!({"judgements": {"type": "array", "items": one, "maxItems": 48}}),
        ))
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        let object = object(reply, &["judgements"])?;
        let list = object.get("judgements").and_then(Json::as_array).cloned().unwrap_or_default();
        let one = |one: &Json| {
            let idea = usize::try_from(one.get("idea")?.as_u64()?).ok()?;
            let score = one.get("score").and_then(Json::as_f64).unwrap_or(3.0).clamp(1.0, 5.0);
            Some((idea, score, own_words(one, "against").unwrap_or_default()))
        };
        Ok(Self(list.iter().filter_map(one).collect()))
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_critique: Critique }
