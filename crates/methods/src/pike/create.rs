//! Finds ideas for creative questions. Several agents, each with its own perspective, retrieval and budget,
//! think at the same time and judge each other's ideas; a coordinator merges the ideas (PIKE-RAG §5.5).

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

/// Words of our own formats, which weak models return in place of their own.
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
            // No share was enough for one call, and so none was made: fewer agents have larger shares.
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

/// An agent for each perspective, with its models and its share of the remaining budget; the coordinator has
/// a share, too.
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

/// The ideas of all agents, at the same time; a failed agent is noted in the trace, and the others go on.
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

/// The judgements of all agents on the others' ideas, at the same time.
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

/// Answers with the ideas, whose evidence is checked against the documents.
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
