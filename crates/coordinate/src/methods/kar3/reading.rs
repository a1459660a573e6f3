//! What if the context does not settle the question? The answer says what it lacks, and that is looked up (ours).

use pikerag_knowledge::{Answer, Context, Event, Question};

use super::{Params, candidates};
use crate::candidates::fetch;
use crate::conclude::{conclude_read, conclude_unread};
use crate::ports::{Ports, SolveError};
use crate::retrieval::answer_step;
use crate::run::Run;
use crate::verdict::is_unknown;

/// Line 14, and once more where the answer says what the context lacks (ours): what it lacks is looked up as the
/// proposals of a round are, and all that is found is read.
pub(super) async fn read_twice(
    ports: &Ports,
    question: &Question,
    mut context: Context,
    params: Params,
    run: &mut Run,
) -> Result<Answer, SolveError> {
    let first = answer_step(ports, run, question, &context, "").await?;
    let Some(first) = first else { return conclude_unread(ports, question, context, run).await };
    if first.missing.is_empty() {
        return conclude_read(ports, context, first, run).await;
    }
    let hop = context.chunks.iter().map(|held| held.hop).max().unwrap_or(0) + 1;
    let lacking = run.proposed(hop, first.rationale.clone(), first.missing.clone())?;
    let found = candidates::lacking(ports, &context, &lacking, params).await?;
    if found.is_empty() {
        return conclude_read(ports, context, first, run).await;
    }
    for chunk in fetch(ports, &found).await? {
        context.add(hop, chunk);
    }
    run.push(Event::Gathered { candidates: found });
    match answer_step(ports, run, question, &context, "").await? {
        Some(second) if !is_unknown(&second.answer) => {
            conclude_read(ports, context, second, run).await
        }
        // What the first passages answered is not thrown away.
        _ => conclude_read(ports, context, first, run).await,
    }
}
