//! Gathers chunks with a trained proposer, whose one call replaces lines 3 to 5 of Algorithm 1 (PIKE-RAG §5.3.3).
//! The chunk that fits its sub-question best is fetched, and a call answers the sub-question from it, because the
//! proposer sees sub-questions with their answers (Algorithm 3).

use pikerag_knowledge::{Candidate, Context, Event, Question, Role, StopReason};

use super::{Params, candidates};
use crate::candidates::fetch;
use crate::decompose::{Answered, Next, propose_next};
use crate::ports::{Ports, SolveError};
use crate::retrieval::{answer_step, sub_question};
use crate::run::Run;

/// The chunks of at most `n` sub-questions, in their order.
pub(super) async fn gather(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Params,
) -> Result<Context, SolveError> {
    let model = ports.models.need(Role::Propose)?;
    let (mut context, mut answered) = (Context::default(), Vec::new());
    for hop in 1..=params.n.get() {
        let proposals = match propose_next(model, question, &answered, run).await? {
            Some(Next::Ask(next)) => run.proposed(hop, String::new(), vec![next])?,
            Some(Next::Done) => run.proposed(hop, String::new(), Vec::new())?,
            None => {
                run.push(Event::Stopped { hop, reason: StopReason::Unreadable });
                break;
            }
        };
        let Some(next) = proposals.into_iter().next() else {
            run.push(Event::Stopped { hop, reason: StopReason::NothingProposed });
            break;
        };
        let asked = sub_question(&next);
        let found = find(ports, &asked, &context, params).await?;
        if found.is_empty() {
            run.push(Event::Stopped { hop, reason: StopReason::NothingFound });
            break;
        }
        run.push(Event::Retrieved { hop, candidates: found.clone() });
        let selected = |index: usize| {
            let Candidate { chunk, title, .. } = found.get(index)?;
            let (thinking, chunk, title) = (String::new(), *chunk, title.clone());
            Some(Event::Selected { hop, thinking, index, chunk, title })
        };
        let Some(index) = run.chosen(hop, Ok(0), found.len(), selected)? else { break };
        let chunks = fetch(ports, found.get(index..=index).unwrap_or_default()).await?;
        let passages = Context::of(hop, chunks.clone());
        context.extend(hop, chunks);
        if hop == params.n.get() {
            run.push(Event::Stopped { hop, reason: StopReason::HopLimit });
            break;
        }
        let reading = answer_step(ports, run, &asked, &passages, "").await?.unwrap_or_default();
        let answer = run.resolved(1, &next, reading.answer)?;
        answered.push(Answered { question: next, answer });
    }
    Ok(context)
}

/// The best atoms or chunks for a sub-question, best first, without chunks of the context.
async fn find(
    ports: &Ports,
    asked: &Question,
    context: &Context,
    params: Params,
) -> Result<Vec<Candidate>, SolveError> {
    let proposals = [asked.text.clone()];
    let mut found = candidates::by_proposals(ports, context, &proposals, params).await?;
    if found.is_empty() {
        found = candidates::backup(ports, asked, context, params).await?;
    }
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    Ok(found)
}
