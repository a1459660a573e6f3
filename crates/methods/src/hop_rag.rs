//! Answers from hop retrieval, which needs no model call, in one answering call (`hop-rag`, ours).

use std::num::NonZeroU32;

use crate::context::Rules;
use pikerag_knowledge::{Answer, Context, Event, Question, Role, Via};
use pikerag_retrieve::{HopParams, hops};
use tracing::instrument;

use crate::candidates::chunk_candidates;
use crate::conclude::conclude;
use crate::organizing::gathered;
use crate::ports::{Ports, SolveError};
use crate::retrieval::CONTEXT_TOKENS;
use crate::run::Run;
use crate::spec::{Cost, MethodParams, MethodSpec, Range, Variant, Weights, WithoutModel, field};
use crate::tagging::trace_declared;

/// How many chunks hops gather, and the weights of hops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// The most chunks that the answer is written from.
    pub k: usize,
    /// Their tokens, at most.
    pub tokens: Option<NonZeroU32>,
    /// The weights of hops.
    pub hops: HopParams,
}

impl Default for Params {
    fn default() -> Self {
        Self { k: 16, tokens: CONTEXT_TOKENS, hops: HopParams::default() }
    }
}

impl MethodParams for Params {
    const SPEC: MethodSpec<Self> = MethodSpec {
        variants: &[Variant::new("hop-rag", "hop retrieval, then one answer", "ours", |_| {})],
        parameters: &[
            field!(k as "hop_chunks", "chunks to gather, at most", Range::COUNT),
            field!(tokens as "context_tokens", "tokens of the chunks that are read, at most", Range::TOKENS),
        ],
        roles: &[Role::Answer],
        without_model: WithoutModel::Quotes,
        needs: None,
        cost: |params| Cost {
            chunks: params.k as f64,
            most_chunks: params.k as u64,
            most_chunk_tokens: params.tokens,
            fixed: 330,
            reply: 100,
            ..Cost::of_one_call("one call on the chunks gathered")
        },
    };

    fn weigh(&mut self, weights: &Weights) {
        self.hops = weights.hops;
    }

    fn weights(&self) -> Weights {
        Weights { hops: self.hops, ..Weights::default() }
    }
}

/// Answers `question` from the chunks that hop retrieval gathers: one chat call.
///
/// # Errors
/// See [`SolveError`].
#[instrument(name = "hop_rag", skip_all, fields(question = %question.id))]
pub async fn solve(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Params,
) -> Result<Answer, SolveError> {
    trace_declared(ports, run, question.query()).await?;
    let search = |k| hops(ports.finder(), question.query(), k, params.hops);
    let hits = ports.best(question.query(), params.k, search).await?;
    let found = chunk_candidates(ports, &hits, Via::Hops, question.query()).await?;
    let (candidates, chunks) = gathered(ports, run, found, Rules::within(params.tokens)).await?;
    let context = Context::of(1, chunks);
    run.push(Event::Gathered { candidates });
    conclude(ports, question, context, run).await
}
