//! Naive RAG: one retrieval, one answer (Lewis et al., 2020; parameters of KAR³ §A.3 and §A.4).

use pikerag_knowledge::{Answer, Context, Event, Question};
use tracing::instrument;

use crate::conclude::conclude;
use crate::gather::Gather;
use crate::kit::{Kit, Run, SolveError};
use crate::methods::Method;
use crate::methods::kar3::fetch;
use crate::tagging::gather_tagged;

/// Answers `question` from one retrieval: one chat call, and up to two more where its tags are used.
///
/// # Errors
/// See [`SolveError`].
#[instrument(name = "naive_rag", skip_all, fields(question = %question.id))]
pub async fn solve(kit: &Kit, question: &Question, params: Gather) -> Result<Answer, SolveError> {
    let mut run = Run::begin(&Method::NaiveRag(params).to_string(), question);
    let candidates = gather_tagged(kit, &mut run, &question.text, params).await?;
    let mut context = Context::default();
    for chunk in fetch(kit, &candidates).await? {
        context.add(1, chunk);
    }
    run.trace.push(Event::Gathered { candidates });
    conclude(kit, question, context, run).await
}
