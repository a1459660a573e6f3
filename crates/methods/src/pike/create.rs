//! What could be done? Several agents, each with its own perspective, retrieval and room, think at once; they judge each
//! other's ideas, and a coordinator puts together what they came to (PIKE-RAG §5.5).

mod agent;
mod merge;
mod perspectives;

use std::sync::Arc;

use futures::future::join_all;
use pikerag_knowledge::worked::Idea;
use pikerag_knowledge::{
    Answer, Context, Event, ModelError, Note, Question, Reason, Role, TaskClass, Worked, WrittenBy,
    error_chain,
};
use pikerag_prompt::text;
use pikerag_reason::{Claim, cite};
use serde_json::Value;

use self::agent::{Agent, Judgement, Thought, judge, think};
use self::merge::{Merged, merge};
use self::perspectives::choose;
use super::compare::number_of;
use super::{Outcome, Params, nothing};
use crate::ports::{Perspective, Ports, SolveError};
use crate::run::Run;

/// Words of our own formats: weak models give them back in place of words of theirs.
const ECHOED: [&str; 10] = [
    "a few words",
    "one sentence",
    "one sentence, or empty",
    "two or three sentences",
    "a few sentences",
    "what is not known",
    "how to come to know it",
    "how the ranking came about",
    "none",
    "empty",
];

/// What a reply says under a key; `None` where that is nothing, or an echo of the format.
fn said(reply: &Value, key: &str) -> Option<String> {
    let said = text(reply, key).ok()?;
    let bare = said.trim().trim_end_matches(['.', '。', '…']).to_lowercase();
    (!bare.is_empty() && !ECHOED.contains(&bare.as_str())).then_some(said)
}

/// Thinks about a question; without a model it says what that takes.
///
/// # Errors
/// No agent came to anything: the first one's error. The run was cancelled.
pub(super) async fn answer(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Params,
) -> Result<Outcome, SolveError> {
    if ports.models.of(Role::Reason).is_none() {
        return Ok(Outcome::Nothing(Some(Reason::IdeasNeedModel), None));
    }
    let perspectives = choose(ports, run, question, params).await?;
    let mut count = perspectives.len();
    let (agents, thoughts) = loop {
        let agents = agents(ports, perspectives.get(..count).unwrap_or_default())?;
        match thoughts(ports, run, question, params, &agents).await {
            Ok(thoughts) => break (agents, thoughts),
            // No share held a single call, and so none was made: fewer have larger ones.
            Err(error) if 1 < count && is_over_budget(&error) => {
                count /= 2;
                run.push(Event::Noted { note: Note::FewerAgents { agents: count }.into() });
            }
            Err(error) => return Err(error),
        }
    };
    let mut judged = Vec::new();
    for _ in 0..params.critiques {
        judged = judgements(run, question, params, &agents, &thoughts).await?;
    }
    let merged = merge(ports, run, question, &perspectives, &thoughts, &judged).await?;
    written(ports, run, &perspectives, &thoughts, merged).await
}

fn is_over_budget(error: &SolveError) -> bool {
    matches!(error.model(), Some(ModelError::OverBudget { .. }))
}

/// An agent of each perspective, with its model and its share of what may still be spent; the coordinator has one too.
fn agents<'a>(
    ports: &Ports,
    perspectives: &'a [Perspective],
) -> Result<Vec<Agent<'a>>, SolveError> {
    let shared_by = perspectives.len() + 1;
    let agent = |(at, perspective): (usize, &'a Perspective)| {
        let models = &ports.models;
        let own = |role| perspective.model.as_ref().or_else(|| models.shared(role)).cloned();
        let portion = models.shares.as_ref().map(|shares| shares.part(shared_by));
        let within = |model| {
            portion
                .as_ref()
                .map_or_else(|| Arc::clone(&model), |portion| portion(Arc::clone(&model)))
        };
        let thinks = own(Role::Reason).ok_or(SolveError::NoModel { role: Role::Reason })?;
        Ok(Agent { at, perspective, thinks: within(thinks), judges: own(Role::Grade).map(within) })
    };
    perspectives.iter().enumerate().map(agent).collect()
}

/// What the agents think, all at once; one that fails is told, and the others go on.
async fn thoughts(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Params,
    agents: &[Agent<'_>],
) -> Result<Vec<Thought>, SolveError> {
    let at_work = agents.iter().map(|agent| {
        let mut part = run.part();
        async move {
            let thought = think(ports, &mut part, question, params, agent).await;
            (part, thought)
        }
    });
    let (mut thoughts, mut first) = (Vec::new(), None);
    for ((part, thought), agent) in join_all(at_work).await.into_iter().zip(agents) {
        run.absorb(part);
        match thought {
            Ok(own) => thoughts.extend(own),
            Err(SolveError::Cancelled) => return Err(SolveError::Cancelled),
            Err(error) => {
                failed(run, agent, &error);
                first.get_or_insert(error);
            }
        }
    }
    match (thoughts.is_empty(), first) {
        (true, Some(error)) => Err(error),
        _ => Ok(thoughts),
    }
}

fn failed(run: &mut Run, agent: &Agent<'_>, error: &SolveError) {
    let note =
        Note::AgentFailed { name: agent.perspective.name.clone(), error: error_chain(error) };
    run.push(Event::Noted { note: note.into() });
}

/// What each agent says of the others' ideas, all at once.
async fn judgements(
    run: &mut Run,
    question: &Question,
    params: Params,
    agents: &[Agent<'_>],
    thoughts: &[Thought],
) -> Result<Vec<Judgement>, SolveError> {
    if thoughts.is_empty() {
        return Ok(Vec::new());
    }
    let at_work = agents.iter().map(|agent| {
        let mut part = run.part();
        async move {
            let judged = judge(&mut part, question, params, agent, thoughts).await;
            (part, judged)
        }
    });
    let mut all = Vec::new();
    for ((part, judged), agent) in join_all(at_work).await.into_iter().zip(agents) {
        run.absorb(part);
        match judged {
            Ok(judged) => all.extend(judged),
            Err(SolveError::Cancelled) => return Err(SolveError::Cancelled),
            Err(error) => failed(run, agent, &error),
        }
    }
    Ok(all)
}

/// The ideas with their evidence held against the documents.
async fn written(
    ports: &Ports,
    run: &mut Run,
    perspectives: &[Perspective],
    thoughts: &[Thought],
    merged: Merged,
) -> Result<Outcome, SolveError> {
    if merged.ideas.is_empty() {
        return Ok(nothing(Reason::NoIdeas));
    }
    let mut context = Context::default();
    for chunk in thoughts.iter().flat_map(|thought| &thought.chunks) {
        context.add(1, chunk.clone());
    }
    let of = |at: &usize| thoughts.get(*at);
    let claims: Vec<Claim> = merged
        .ideas
        .iter()
        .flat_map(|idea| idea.from.iter().filter_map(of))
        .flat_map(|thought| thought.evidence.iter().cloned())
        .collect();
    let citations = cite(ports.base.as_ref(), &context, "", &claims).await?;
    let ideas = merged.ideas.into_iter().map(|idea| {
        let sources: Vec<&Thought> = idea.from.iter().filter_map(of).collect();
        let mut own =
            Idea { title: idea.title, text: idea.text, dissent: idea.dissent, ..Idea::default() };
        for thought in sources {
            let name =
                perspectives.get(thought.perspective).map(|perspective| perspective.name.clone());
            own.perspectives.extend(name.filter(|name| !own.perspectives.contains(name)));
            own.citations.extend(
                thought.evidence.iter().filter_map(|claim| number_of(&citations, &claim.quote)),
            );
            own.gaps.extend(thought.gap.clone());
        }
        own.citations.sort_unstable();
        own.citations.dedup();
        own
    });
    let mut worked = Worked::of(TaskClass::Creative);
    worked.ideas = ideas.collect();
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
