//! Hop RAG (ours): hop retrieval without a model call, then one answering call.

use pikerag_knowledge::{Answer, Context, Event, Question, Via};
use pikerag_retrieve::{HopParams, hops};
use tracing::instrument;

use crate::conclude::conclude;
use crate::methods::kar3::{chunk_candidates, fetch};
use crate::ports::{Ports, Run, SolveError};

/// What is retrieved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// Chunks to gather.
    pub k: usize,
    /// How hops are weighed.
    pub hops: HopParams,
}

impl Default for Params {
    fn default() -> Self {
        Self { k: 8, hops: HopParams::default() }
    }
}

/// Answers `question` from the chunks that hop retrieval gathers: one chat call.
///
/// # Errors
/// See [`SolveError`].
#[instrument(name = "hop_rag", skip_all, fields(question = %question.id))]
pub async fn solve(
    ports: &Ports,
    question: &Question,
    params: Params,
) -> Result<Answer, SolveError> {
    let mut run = Run::begin("hop-rag", question);
    let hits = hops(ports.finder(), &question.text, params.k, params.hops).await?;
    let candidates = chunk_candidates(ports, &hits, Via::Hops, &question.text).await?;
    let mut context = Context::default();
    for (place, chunk) in fetch(ports, &candidates).await?.into_iter().enumerate() {
        context.add(place + 1, chunk);
    }
    run.trace.push(Event::Gathered { candidates });
    conclude(ports, question, context, run).await
}
