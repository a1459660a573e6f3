//! Adds chunks of the question to the chosen ones, and reads a second time after a search for what the first
//! answer lacks (ours).

use crate::context::Rules;
use pikerag_knowledge::{Answer, Context, Event, Question, StopReason};

use super::{Fallback, Params, candidates, offline};
use crate::conclude::{answer_whole, conclude_read, conclude_read_or_quote, conclude_unread};
use crate::organizing::gathered;
use crate::ports::{Ports, SolveError};
use crate::run::Run;
use crate::verdict::is_unknown;

/// Fills the context up with chunks of the question itself, so that a weak model still reads what naive RAG
/// would. Where hop retrieval is the loop, only an empty context is filled.
pub(super) async fn fill_up(
    ports: &Ports,
    question: &Question,
    context: &mut Context,
    params: Params,
    run: &mut Run,
) -> Result<(), SolveError> {
    if params.fallback == Fallback::Off || (offline(ports) && !context.chunks.is_empty()) {
        return Ok(());
    }
    let found = match context.chunks.is_empty() || was_cut_short(run) {
        true => candidates::fallback(ports, question, context, params).await?,
        false => candidates::beside(ports, question, context, params).await?,
    };
    if !found.is_empty() {
        let (candidates, chunks) = gathered(ports, run, found, Rules::all()).await?;
        context.extend(0, chunks);
        run.push(Event::Gathered { candidates });
    }
    Ok(())
}

/// Whether the loop broke off: by an unreadable reply, or because it found nothing or nothing that helps.
fn was_cut_short(run: &Run) -> bool {
    let reason = run.events().rev().find_map(|event| match event {
        Event::Stopped { reason, .. } => Some(*reason),
        _ => None,
    });
    matches!(
        reason,
        Some(StopReason::Unreadable | StopReason::NothingFound | StopReason::NoneHelps)
    )
}

/// Line 14, and a second reading where the answer says what the context lacks (ours). The missing facts are
/// searched like the proposals of a round, and the second reading includes all that is found.
pub(super) async fn read_twice(
    ports: &Ports,
    question: &Question,
    mut context: Context,
    params: Params,
    run: &mut Run,
) -> Result<Answer, SolveError> {
    let first = answer_whole(ports, run, question, &context, "").await?;
    let Some(first) = first else { return conclude_unread(ports, question, context, run).await };
    if first.missing.is_empty() {
        return conclude_read_or_quote(ports, question, context, first, run).await;
    }
    let hop = context.chunks.iter().map(|held| held.hop).max().unwrap_or(0) + 1;
    let needs = run.proposed(hop, first.rationale.clone(), first.missing.clone())?;
    let found = candidates::by_needs(ports, &context, &needs, params).await?;
    if found.is_empty() {
        return conclude_read(ports, context, first, run).await;
    }
    let (candidates, chunks) = gathered(ports, run, found, Rules::all()).await?;
    context.extend(hop, chunks);
    run.push(Event::Gathered { candidates });
    match answer_whole(ports, run, question, &context, "").await? {
        Some(second) if !is_unknown(&second.answer) => {
            conclude_read(ports, context, second, run).await
        }
        // The first answer is kept.
        _ => conclude_read(ports, context, first, run).await,
    }
}
