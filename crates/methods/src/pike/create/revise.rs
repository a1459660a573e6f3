//! Lets an agent revise its ideas after the objections of the others: it changes, drops, defends or keeps each.

use std::fmt::Write;

use pikerag_knowledge::{Event, Note, Question, Role, Schema};
use pikerag_narrate::{InWords, Language};
use pikerag_prompt::{
    Prompt, Reply, Unreadable, ask_sample, at_most, closed, object, one_line, quiet_headings, shape,
};
use serde_json::{Value as Json, json};

use super::agent::{Agent, Material, Thought, finding_lines};
use super::critique::{Judgement, scores_of};
use super::think::{IdeaReply, number};
use super::{Params, own_words};
use crate::ports::SolveError;
use crate::run::Run;

const REVISE: Prompt = Prompt::new(Role::Reason, include_str!("../../prompts/revise.md"), 1200)
    .with_earlier("methods/revise", &[include_str!("../../prompts/earlier/revise.1.md")]);

/// An agent's decision on one of its ideas.
pub(super) enum Revision {
    Changed(Box<IdeaReply>),
    Dropped,
    /// The reply to the objections.
    Defended(String),
}

/// Decides on the agent's own ideas, by their places; ideas that it keeps are left out. An agent without an objection to
/// its ideas is not asked.
///
/// # Errors
/// See [`SolveError`].
pub(super) async fn revise(
    run: &mut Run,
    question: &Question,
    params: Params,
    agent: &Agent<'_>,
    material: &Material,
    (thoughts, judged): (&[Thought], &[Judgement]),
) -> Result<Vec<(usize, Revision)>, SolveError> {
    let own = thoughts.iter().enumerate().filter(|(_, thought)| thought.perspective == agent.at);
    let own: Vec<(usize, &Thought)> = own.collect();
    let is_own = |one: &&Judgement| own.iter().any(|(at, _)| *at == one.thought);
    if judged.iter().filter(is_own).all(|one| one.against.trim().is_empty()) {
        return Ok(Vec::new());
    }
    let (ideas, (name, about)) = (quiet_headings(&shown(&own, judged)), agent.shown());
    let (findings, context) = (finding_lines(&material.findings), material.context());
    let asked = quiet_headings(&question.text);
    let inputs = [
        ("name", name.as_str()),
        ("about", about.as_str()),
        ("ideas", ideas.as_str()),
        ("findings", findings.as_str()),
        ("context", context.as_str()),
        ("question", asked.as_str()),
    ];
    let (model, sample) = (agent.thinks.as_ref(), agent.sample(params));
    let reply = ask_sample::<Revisions>(model, &REVISE, &inputs, sample, &mut run.account).await;
    let reply = run.readable(Role::Reason, reply)?;
    let mut revisions: Vec<(usize, Revision)> = Vec::new();
    for (idea, revision) in reply.map(|reply| reply.0).unwrap_or_default() {
        let Some((at, _)) = idea.checked_sub(1).and_then(|nth| own.get(nth)) else { continue };
        if !revisions.iter().any(|(held, _)| held == at) {
            revisions.push((*at, revision));
        }
    }
    revisions.sort_by_key(|(at, _)| *at);
    if !revisions.is_empty() {
        run.push(Event::Noted { note: noted(agent, &revisions, thoughts).into() });
    }
    Ok(revisions)
}

/// The agent's ideas with their scores and the objections to them.
fn shown(own: &[(usize, &Thought)], judged: &[Judgement]) -> String {
    let mut lines = String::new();
    for (nth, (at, thought)) in own.iter().enumerate() {
        let (title, text) = (one_line(&thought.title), one_line(&thought.text));
        let _ = write!(lines, "{}. {title}: {text}", nth + 1);
        if let Some(scores) = scores_of(judged, &[*at]) {
            let _ = write!(lines, " [{}]", scores.in_words(Language::English));
        }
        lines.push('\n');
        for one in judged.iter().filter(|one| one.thought == *at && !one.against.is_empty()) {
            let _ = writeln!(lines, "   - against it: {}", one_line(&one.against));
        }
    }
    lines
}

fn noted(agent: &Agent<'_>, revisions: &[(usize, Revision)], thoughts: &[Thought]) -> Note {
    let titles = |fits: fn(&Revision) -> bool| {
        let fitting = revisions.iter().filter(|(_, revision)| fits(revision));
        fitting.filter_map(|(at, _)| Some(thoughts.get(*at)?.title.clone())).collect()
    };
    Note::IdeasRevised {
        name: agent.perspective.name.clone(),
        changed: titles(|one| matches!(one, Revision::Changed(_))),
        defended: titles(|one| matches!(one, Revision::Defended(_))),
        dropped: titles(|one| matches!(one, Revision::Dropped)),
    }
}

/// The number of an idea from 1, and the decision; ideas that are kept are left out.
struct Revisions(Vec<(usize, Revision)>);

impl Reply for Revisions {
    fn schema() -> Option<Schema> {
        let one = closed(json!({
            "idea": {"type": "integer"},
            "action": {"type": "string", "enum": ["change", "drop", "defend", "keep"]},
            "title": at_most(100),
            "text": at_most(600),
            "evidence": IdeaReply::evidence_schema(),
            "findings": IdeaReply::findings_schema(),
            "defence": at_most(240)
        }));
        Some(shape(
            "revisions",
            json!({"revisions": {"type": "array", "items": one, "maxItems": 3}}),
        ))
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        let object = object(reply, &["revisions"])?;
        let list = object.get("revisions").and_then(Json::as_array).cloned().unwrap_or_default();
        let one = |one: &Json| {
            let action = own_words(one, "action").unwrap_or_default().to_lowercase();
            let written = || IdeaReply::read(one, &["text"]);
            let revision = match action.as_str() {
                "drop" | "dropped" => Revision::Dropped,
                "defend" | "defended" => Revision::Defended(own_words(one, "defence")?),
                "keep" | "kept" => return None,
                _ => Revision::Changed(Box::new(written()?)),
            };
            Some((one.get("idea").and_then(number)?, revision))
        };
        Ok(Self(list.iter().filter_map(one).collect()))
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_revisions: Revisions }
