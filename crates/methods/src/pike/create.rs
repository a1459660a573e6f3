//! Finds ideas for creative questions. Several agents, each with its own perspective, retrieval, questions and budget,
//! think at the same time and judge each other's ideas; a coordinator merges the ideas (PIKE-RAG §4.2, §5.5).

mod agent;
mod critique;
mod findings;
mod merge;
mod perspectives;
mod revise;
mod rounds;
mod think;

use std::sync::Arc;

use futures::future::join_all;
use pikerag_knowledge::worked::Idea;
use pikerag_knowledge::{
    Answer, ChatModels, Citation, Context, Event, ModelError, Note, Question, Reason, Role,
    TaskClass, Worked, WrittenBy, error_chain,
};
use pikerag_prompt::text;
use pikerag_reason::{Claim, cite};
use serde_json::Value;

use self::agent::{Agent, Finding, Material, Thought};
use self::merge::{Merged, merge};
use self::perspectives::choose;
use self::rounds::judge_in_rounds;
use self::think::think;
use super::compare::number_of;
use super::{Outcome, Params, nothing};
use crate::ports::{Models, Perspective, Ports, SolveError};
use crate::run::Run;

/// Words of our own formats, which weak models return in place of their own.
const ECHOED: [&str; 12] = [
    "a few words",
    "one sentence",
    "one sentence, or empty",
    "two or three sentences",
    "a few sentences",
    "what is not known",
    "how to come to know it",
    "how the ranking came about",
    "one sentence why",
    "change, drop, defend or keep",
    "none",
    "empty",
];

/// The text of a reply under a key; `None` where it is empty, or an echo of the format.
fn own_words(reply: &Value, key: &str) -> Option<String> {
    let words = text(reply, key).ok()?;
    let bare = words.trim().trim_end_matches(['.', '。', '…']).to_lowercase();
    (!bare.is_empty() && !ECHOED.contains(&bare.as_str())).then_some(words)
}

/// Answers a question with ideas; without a model it says that ideas need one.
///
/// # Errors
/// All agents failed: the first one's error. The run was cancelled.
pub(super) async fn answer(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Params,
    offers: &str,
) -> Result<Outcome, SolveError> {
    if ports.models.of(Role::Reason).is_none() {
        return Ok(Outcome::Nothing(Some(Reason::IdeasNeedModel), None));
    }
    let perspectives = choose(ports, run, question, params, offers).await?;
    let mut count = perspectives.len();
    let (agents, (materials, mut thoughts)) = loop {
        let agents = agents(ports, perspectives.get(..count).unwrap_or_default())?;
        match thoughts(ports, run, question, params, &agents).await {
            Ok(thoughts) => break (agents, thoughts),
            // No share was enough for the ideas of its agent: fewer agents have larger shares.
            Err(error) if 1 < count && is_over_budget(&error) => {
                count /= 2;
                run.push(Event::Noted { note: Note::FewerAgents { agents: count }.into() });
            }
            Err(error) => return Err(error),
        }
    };
    let judged = judge_in_rounds(run, question, params, &agents, &materials, &mut thoughts).await?;
    let merged = merge(ports, run, question, &perspectives, &thoughts, &judged).await?;
    written(ports, run, &perspectives, (&materials, &thoughts), merged).await
}

fn is_over_budget(error: &SolveError) -> bool {
    matches!(error.model(), Some(ModelError::OverBudget { .. }))
}

/// An agent for each perspective, with its models and its share of the remaining budget; the coordinator has
/// a share, too. Half of a share is left for thinking, whatever the agent's questions cost.
fn agents<'a>(
    ports: &Ports,
    perspectives: &'a [Perspective],
) -> Result<Vec<Agent<'a>>, SolveError> {
    let shared_by = perspectives.len() + 1;
    let agent = |(at, perspective): (usize, &'a Perspective)| {
        let models = &ports.models;
        let chat = match &perspective.model {
            Some(own) => ChatModels::one(Arc::clone(own)),
            None => models.chat.clone(),
        };
        let portion = |parts| models.shares.as_ref().map(|shares| shares.part(parts));
        let (whole, half) = (portion(shared_by), portion(2 * shared_by));
        let chat = match &whole {
            Some(whole) => chat.wrapped(whole),
            None => chat,
        };
        let thinks = chat.shared(Role::Reason).cloned();
        let thinks = thinks.ok_or(SolveError::NoModel { role: Role::Reason })?;
        let judges = chat.shared(Role::Grade).cloned();
        let chat = match &half {
            Some(half) => chat.wrapped(half),
            None => chat,
        };
        let asks = Ports { models: Models { chat, ..models.clone() }, ..ports.clone() };
        Ok(Agent { at, perspective, thinks, judges, asks })
    };
    perspectives.iter().enumerate().map(agent).collect()
}

/// Lets all agents work at the same time, each in a part of the run, and gives their results in order. A failed agent is
/// noted in the trace, and the others go on.
///
/// # Errors
/// The run was cancelled.
async fn at_once<'a, T, F>(
    run: &mut Run,
    agents: &'a [Agent<'a>],
    work: impl Fn(Run, &'a Agent<'a>) -> F,
) -> Result<Vec<Result<T, SolveError>>, SolveError>
where
    F: Future<Output = (Run, Result<T, SolveError>)>,
{
    let at_work: Vec<F> = agents.iter().map(|agent| work(run.part(), agent)).collect();
    let mut results = Vec::with_capacity(agents.len());
    for ((part, result), agent) in join_all(at_work).await.into_iter().zip(agents) {
        run.absorb(part);
        match &result {
            Err(SolveError::Cancelled) => return Err(SolveError::Cancelled),
            Err(error) => failed(run, agent, error),
            Ok(_) => {}
        }
        results.push(result);
    }
    Ok(results)
}

/// What the agents have read, by their places, and their ideas.
///
/// # Errors
/// All agents failed: the first one's error. The run was cancelled.
async fn thoughts(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Params,
    agents: &[Agent<'_>],
) -> Result<(Vec<Material>, Vec<Thought>), SolveError> {
    let all = at_once(run, agents, |mut part, agent| async move {
        let thought = think(ports, &mut part, question, params, agent).await;
        (part, thought)
    });
    let (mut materials, mut thoughts, mut first) = (Vec::new(), Vec::new(), None);
    for thought in all.await? {
        let (material, own) = thought.unwrap_or_else(|error| {
            first.get_or_insert(error);
            Default::default()
        });
        materials.push(material);
        thoughts.extend(own);
    }
    match (thoughts.is_empty(), first) {
        (true, Some(error)) => Err(error),
        _ => Ok((materials, thoughts)),
    }
}

fn failed(run: &mut Run, agent: &Agent<'_>, error: &SolveError) {
    let note =
        Note::AgentFailed { name: agent.perspective.name.clone(), error: error_chain(error) };
    run.push(Event::Noted { note: note.into() });
}

/// Answers with the ideas, whose evidence is checked against the documents.
async fn written(
    ports: &Ports,
    run: &mut Run,
    perspectives: &[Perspective],
    (materials, thoughts): (&[Material], &[Thought]),
    merged: Merged,
) -> Result<Outcome, SolveError> {
    if merged.ideas.is_empty() {
        return Ok(nothing(Reason::NoIdeas));
    }
    let mut context = Context::default();
    for material in materials {
        context.extend(1, material.passages.iter().cloned());
    }
    let of = |at: &usize| thoughts.get(*at);
    let claims: Vec<Claim> = merged
        .ideas
        .iter()
        .flat_map(|idea| idea.from.iter().filter_map(of))
        .flat_map(|thought| thought.evidence.iter().cloned())
        .collect();
    let mut citations = cite(ports.base.as_ref(), &context, "", &claims).await?;
    let mut ideas = Vec::new();
    for idea in merged.ideas {
        let mut own = Idea {
            title: idea.title,
            text: idea.text,
            scores: idea.scores,
            dissent: idea.dissent,
            ..Idea::default()
        };
        for thought in idea.from.iter().filter_map(of) {
            let name =
                perspectives.get(thought.perspective).map(|perspective| perspective.name.clone());
            own.perspectives.extend(name.filter(|name| !own.perspectives.contains(name)));
            own.citations.extend(
                thought.evidence.iter().filter_map(|claim| number_of(&citations, &claim.quote)),
            );
            let findings = materials.get(thought.perspective).map(|own| &own.findings);
            for finding in thought.findings.iter().filter_map(|at| findings?.get(*at)) {
                own.citations.extend(carried(finding, &mut citations, &mut context));
                let found = finding.shown();
                if !own.findings.contains(&found) {
                    own.findings.push(found);
                }
            }
            own.gaps.extend(thought.gap.clone());
        }
        own.citations.sort_unstable();
        own.citations.dedup();
        ideas.push(own);
    }
    let mut worked = Worked::of(TaskClass::Creative);
    worked.ideas = ideas;
    run.push(Event::Answered { answer: merged.answer.clone() });
    let model = ports.models.need(Role::Reason)?.name().to_owned();
    Ok(Outcome::Answered(Answer {
        text: merged.answer,
        rationale: merged.why,
        refused: false,
        missing: Vec::new(),
        written_by: WrittenBy::LanguageModel { model },
        citations,
        context,
        worked: Some(Box::new(worked)),
    }))
}

/// The numbers of a finding's citations among those of the answer, which gets those that it lacks, with their passages.
fn carried(finding: &Finding, citations: &mut Vec<Citation>, context: &mut Context) -> Vec<usize> {
    let mut numbers = Vec::new();
    for citation in &finding.answer.citations {
        let is_same = |held: &&Citation| {
            (held.chunk, held.span, &held.quote) == (citation.chunk, citation.span, &citation.quote)
        };
        if let Some(held) = citations.iter().find(is_same) {
            numbers.push(held.number);
            continue;
        }
        let chunks = finding.answer.context.chunks.iter().map(|held| &held.chunk);
        context.extend(1, chunks.filter(|chunk| chunk.id == citation.chunk).cloned());
        let number = citations.len() + 1;
        citations.push(Citation { number, ..citation.clone() });
        numbers.push(number);
    }
    numbers
}
