//! Naive RAG: one retrieval, one answer (Lewis et al., 2020; parameters of KAR³ §A.3 and §A.4).

use pikerag_knowledge::{Answer, Context, Event, Question};
use tracing::instrument;

use crate::conclude::conclude;
use crate::candidates::fetch;
use crate::ports::{Ports, SolveError};
use crate::run::Run;
use crate::retrieval::RetrievalParams;
use crate::tagging::retrieve_tagged;

/// Answers `question` from one retrieval: one chat call, and up to two more where its tags are used.
///
/// # Errors
/// See [`SolveError`].
#[instrument(name = "naive_rag", skip_all, fields(question = %question.id))]
pub async fn solve(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: RetrievalParams,
) -> Result<Answer, SolveError> {
    let candidates = retrieve_tagged(ports, run, &question.text, params).await?;
    let mut context = Context::default();
    for chunk in fetch(ports, &candidates).await? {
        context.add(1, chunk);
    }
    run.push(Event::Gathered { candidates });
    conclude(ports, question, context, run).await
}
