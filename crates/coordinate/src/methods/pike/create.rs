//! What could be done? Several agents, each with its own perspective, retrieval and room, think at once; they judge each
//! other's ideas, and a coordinator puts together what they came to (PIKE-RAG §5.5).

mod agent;
mod merge;
mod perspectives;

use futures::future::join_all;
use pikerag_knowledge::worked::Idea;
use pikerag_knowledge::{Answer, Context, Event, Question, Role, TaskClass, Worked, WrittenBy};
use pikerag_prompt::text;
use pikerag_reason::{Claim, cite};
use serde_json::Value;

use self::agent::{Judgement, Thought, judge, think};
use self::merge::{Merged, merge};
pub(super) use self::perspectives::Perspective;
use self::perspectives::choose;
use super::compare::number_of;
use super::wording::Tongue;
use super::{Outcome, Params};
use crate::ports::{Ports, SolveError};
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
        let lacks = Tongue::of(question.query()).say(
            "Ideas take a language model (`reason`), and none is set: `[models.reason]` or `[models.default]` in \
             pikerag.toml. Without one, ask for the facts, figures and forecasts that ideas would rest on.",
            "提出创意需要语言模型（`reason`），目前未设置：请在 pikerag.toml 中设置 `[models.reason]` 或 `[models.default]`。\
             没有模型时，可以先询问创意所依据的事实、数字和预测。",
        );
        return Ok(Outcome::Nothing(lacks.to_owned(), None));
    }
    let perspectives = choose(ports, run, question, params).await?;
    let thoughts = thoughts(ports, run, question, params, &perspectives).await?;
    let mut judged = Vec::new();
    for _ in 0..params.critiques {
        judged = judgements(ports, run, question, params, &perspectives, &thoughts).await?;
    }
    let merged = merge(ports, run, question, &perspectives, &thoughts, &judged).await?;
    written(ports, run, &perspectives, &thoughts, merged).await
}

/// What the agents think, all at once; one that fails is told, and the others go on.
async fn thoughts(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Params,
    perspectives: &[Perspective],
) -> Result<Vec<Thought>, SolveError> {
    let at_work = perspectives.iter().enumerate().map(|(at, perspective)| {
        let mut part = run.part();
        async move {
            let thought = think(ports, &mut part, question, params, at, perspective).await;
            (part, thought)
        }
    });
    let (mut thoughts, mut first) = (Vec::new(), None);
    for ((part, thought), perspective) in join_all(at_work).await.into_iter().zip(perspectives) {
        run.absorb(part);
        match thought {
            Ok(own) => thoughts.extend(own),
            Err(SolveError::Cancelled) => return Err(SolveError::Cancelled),
            Err(error) => {
                failed(run, perspective, &error);
                first.get_or_insert(error);
            }
        }
    }
    match (thoughts.is_empty(), first) {
        (true, Some(error)) => Err(error),
        _ => Ok(thoughts),
    }
}

fn failed(run: &mut Run, perspective: &Perspective, error: &SolveError) {
    let note = format!("The agent “{}” came to nothing: {error}.", perspective.name);
    run.push(Event::Noted { note });
}

/// What each agent says of the others' ideas, all at once.
async fn judgements(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Params,
    perspectives: &[Perspective],
    thoughts: &[Thought],
) -> Result<Vec<Judgement>, SolveError> {
    if thoughts.is_empty() {
        return Ok(Vec::new());
    }
    let at_work = perspectives.iter().enumerate().map(|(at, perspective)| {
        let mut part = run.part();
        async move {
            let judged = judge(ports, &mut part, question, params, at, perspective, thoughts).await;
            (part, judged)
        }
    });
    let mut all = Vec::new();
    for ((part, judged), perspective) in join_all(at_work).await.into_iter().zip(perspectives) {
        run.absorb(part);
        match judged {
            Ok(judged) => all.extend(judged),
            Err(SolveError::Cancelled) => return Err(SolveError::Cancelled),
            Err(error) => failed(run, perspective, &error),
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
        return Ok(Outcome::Nothing(
            "no agent came to an idea".to_owned(),
            Some(TaskClass::Bridging),
        ));
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
