//! Naive RAG: one retrieval, one answer (Lewis et al., 2020; parameters of KAR³ §A.3 and §A.4).

use pikerag_knowledge::{Answer, Context, Event, Question};
use tracing::instrument;

use crate::conclude::conclude;
use crate::methods::Method;
use crate::methods::kar3::fetch;
use crate::ports::{Ports, Run, SolveError};
use crate::retrieval::RetrievalParams;
use crate::tagging::retrieve_tagged;

/// Answers `question` from one retrieval: one chat call, and up to two more where its tags are used.
///
/// # Errors
/// See [`SolveError`].
#[instrument(name = "naive_rag", skip_all, fields(question = %question.id))]
pub async fn solve(
    ports: &Ports,
    question: &Question,
    params: RetrievalParams,
) -> Result<Answer, SolveError> {
    let mut run = Run::begin(&Method::NaiveRag(params).to_string(), question);
    let candidates = retrieve_tagged(ports, &mut run, &question.text, params).await?;
    let mut context = Context::default();
    for chunk in fetch(ports, &candidates).await? {
        context.add(1, chunk);
    }
    run.trace.push(Event::Gathered { candidates });
    conclude(ports, question, context, run).await
}
