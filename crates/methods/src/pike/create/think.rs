//! Lets an agent think: it searches for its perspective, asks for facts that it needs, and writes its ideas.

use std::num::NonZeroU32;

use pikerag_knowledge::worked::Gap;
use pikerag_knowledge::{Event, Question, Role, Schema};
use pikerag_language::estimate_tokens;
use pikerag_prompt::{
    Prompt, Reply, Unreadable, ask_sample, at_most, closed, object, quiet_headings, shape, text,
};
use pikerag_tables::outline;
use serde_json::{Value as Json, json};

use super::agent::{Agent, Material, Thought, finding_lines};
use super::findings::find;
use super::{Params, own_words};
use crate::context::Rules;
use crate::organizing::{gathered, in_order};
use crate::ports::{Ports, SolveError};
use crate::retrieval::{RetrievalParams, retrieve};
use crate::run::Run;

const THINK: Prompt = Prompt::new(Role::Reason, include_str!("../../prompts/ideas.md"), 1200)
    .with_earlier("methods/ideas", &[include_str!("../../prompts/earlier/ideas.1.md")])
    .at(0.7);
/// Chunks that an agent finds, at most.
const FOUND: usize = 8;
/// Ideas of one agent, at most.
const IDEAS: usize = 3;

/// Searches for passages, asks for facts, and thinks.
///
/// # Errors
/// See [`SolveError`].
pub(super) async fn think(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Params,
    agent: &Agent<'_>,
) -> Result<(Material, Vec<Thought>), SolveError> {
    let material = gather(ports, run, question, params, agent).await?;
    let asked = quiet_headings(&question.text);
    let (name, about) = agent.shown();
    let (context, tables) = (material.context(), material.shown_tables());
    let findings = finding_lines(&material.findings);
    let inputs = [
        ("name", name.as_str()),
        ("about", about.as_str()),
        ("findings", findings.as_str()),
        ("tables", tables.as_str()),
        ("context", context.as_str()),
        ("question", asked.as_str()),
    ];
    let (model, sample) = (agent.thinks.as_ref(), agent.sample(params));
    let reply = ask_sample::<Ideas>(model, &THINK, &inputs, sample, &mut run.account).await;
    let reply = run.readable(Role::Reason, reply)?;
    let mut thoughts = Vec::new();
    for idea in reply.map(|reply| reply.0).unwrap_or_default() {
        run.push(Event::Thought {
            step: thoughts.len() + 1,
            text: format!("{}: {}", agent.perspective.name, idea.title),
        });
        thoughts.push(Thought {
            perspective: agent.at,
            title: idea.title,
            text: idea.text,
            evidence: material.claims(idea.evidence),
            findings: material.found(&idea.findings),
            gap: idea.gap,
            defence: String::new(),
        });
    }
    Ok((material, thoughts))
}

/// The passages of an agent's own search, the tables and the answers to its questions, within its tokens.
async fn gather(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Params,
    agent: &Agent<'_>,
) -> Result<Material, SolveError> {
    let perspective = agent.perspective;
    let query = format!("{} {} {}", question.query(), perspective.name, perspective.about);
    run.push(Event::Asked { depth: 1, question: query.trim().to_owned() });
    let limit = params.agent_tokens.get();
    let catalog = ports.tables.catalogs.of(ports.base.as_ref()).await?;
    // As many characters as tokens: about a quarter of the tokens.
    let tables = outline(question.query(), &catalog, limit as usize);
    let limit = without(limit, &tables);
    let params_of = RetrievalParams { chunks: FOUND, ..RetrievalParams::auto() };
    let found = retrieve(ports, &query, params_of).await?;
    let (candidates, passages) = gathered(ports, run, found, Rules::within(Some(limit))).await?;
    run.push(Event::Gathered { candidates });
    let mut material = Material { passages, findings: Vec::new(), tables };
    material.findings = find(run, question, params, agent, &material).await?;
    if !material.findings.is_empty() {
        let limit = without(limit.get(), &finding_lines(&material.findings));
        let passages = std::mem::take(&mut material.passages);
        material.passages = in_order(run, passages, Rules::within(Some(limit))).kept;
    }
    Ok(material)
}

/// The tokens that a text leaves, 1 at least: the first passage is read whatever its length.
fn without(limit: u32, text: &str) -> NonZeroU32 {
    let used = u32::try_from(estimate_tokens(text)).unwrap_or(u32::MAX);
    NonZeroU32::new(limit.saturating_sub(used)).unwrap_or(NonZeroU32::MIN)
}

struct Ideas(Vec<IdeaReply>);

/// An idea as a model writes it.
pub(super) struct IdeaReply {
    pub(super) title: String,
    pub(super) text: String,
    /// Numbers of passages from 1, with quotes.
    pub(super) evidence: Vec<(usize, String)>,
    /// Numbers of findings from 1.
    pub(super) findings: Vec<usize>,
    pub(super) gap: Option<Gap>,
}

impl IdeaReply {
    /// The schema of passages with quotes.
    pub(super) fn evidence_schema() -> Json {
        let quote = closed(json!({"passage": {"type": "integer"}, "quote": at_most(300)}));
        json!({"type": "array", "items": quote, "maxItems": 3})
    }

    /// The schema of the numbers of findings.
    pub(super) fn findings_schema() -> Json {
        json!({"type": "array", "items": {"type": "integer"}, "maxItems": 4})
    }

    /// Reads an idea whose sentences are under one of the keys `of`; `None` where it has none.
    pub(super) fn read(one: &Json, of: &[&str]) -> Option<Self> {
        let words = |key: &str| own_words(one, key);
        let body = of.iter().find_map(|key| words(key))?;
        let gap = words("missing")
            .map(|missing| Gap { missing, next_step: words("next_step").unwrap_or_default() });
        let list = |key: &str| one.get(key).and_then(Json::as_array).cloned().unwrap_or_default();
        let quote = |quote: &Json| {
            let words = text(quote, "quote").ok().filter(|words| !words.is_empty())?;
            Some((quote.get("passage").and_then(number).unwrap_or(0), words))
        };
        Some(Self {
            title: words("title").unwrap_or_else(|| body.chars().take(60).collect()),
            text: body,
            evidence: list("evidence").iter().filter_map(quote).collect(),
            findings: list("findings").iter().filter_map(number).collect(),
            gap,
        })
    }
}

/// A number from 0, also one that is written as words.
pub(super) fn number(value: &Json) -> Option<usize> {
    let written = || value.as_str()?.trim().parse().ok();
    value.as_u64().or_else(written).and_then(|number| usize::try_from(number).ok())
}

impl Reply for Ideas {
    fn schema() -> Option<Schema> {
        let idea = closed(json!({
            "title": at_most(100),
            "idea": at_most(600),
            "evidence": IdeaReply::evidence_schema(),
            "findings": IdeaReply::findings_schema(),
            "missing": at_most(200),
            "next_step": at_most(200)
        }));
        Some(shape("ideas", json!({"ideas": {"type": "array", "items": idea, "maxItems": IDEAS}})))
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        let object = object(reply, &["ideas"])?;
        let list = object.get("ideas").and_then(Json::as_array).cloned().unwrap_or_default();
        let idea = |one: &Json| IdeaReply::read(one, &["idea", "text"]);
        Ok(Self(list.iter().filter_map(idea).take(IDEAS).collect()))
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_ideas: Ideas }
