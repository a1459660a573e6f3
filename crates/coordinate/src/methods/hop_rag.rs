//! Hop RAG (ours): hop retrieval without a model call, then one answering call.

use pikerag_knowledge::{Answer, Context, Event, Question, Role, Via};
use pikerag_retrieve::{HopParams, hops};
use serde_json::json;
use tracing::instrument;

use crate::candidates::{chunk_candidates, fetch};
use crate::conclude::conclude;
use crate::methods::spec::{
    Cost, MethodParams, MethodSpec, Parameter, Range, Variant, Weights, WithoutModel, put,
};
use crate::ports::{Ports, SolveError};
use crate::run::Run;

/// How many chunks are gathered by hops, and how hops are weighed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// The most chunks that the answer is written from.
    pub k: usize,
    /// How hops are weighed.
    pub hops: HopParams,
}

impl Default for Params {
    fn default() -> Self {
        Self { k: 8, hops: HopParams::default() }
    }
}

impl MethodParams for Params {
    const SPEC: MethodSpec<Self> = MethodSpec {
        variants: &[Variant {
            name: "hop-rag",
            summary: "hop retrieval, then one answer",
            source: "ours",
            set: |_| {},
        }],
        parameters: &[Parameter {
            name: "hop_chunks",
            meaning: "chunks to gather",
            range: Range::COUNT,
            get: |params| json!(params.k),
            set: |params, value| put(&mut params.k, value),
        }],
        roles: &[Role::Answer],
        without_model: WithoutModel::Quotes,
        needs: None,
        cost: |params| Cost {
            calls: 1.0,
            most_calls: 1,
            chunks: params.k as f64,
            most_chunks: params.k as u64,
            rounds: 1,
            fixed: 330,
            reply: 100,
            basis: "one call on the chunks gathered",
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
    let hits = hops(ports.finder(), &question.text, params.k, params.hops).await?;
    let candidates = chunk_candidates(ports, &hits, Via::Hops, &question.text).await?;
    let mut context = Context::default();
    for (place, chunk) in fetch(ports, &candidates).await?.into_iter().enumerate() {
        context.add(place + 1, chunk);
    }
    run.push(Event::Gathered { candidates });
    conclude(ports, question, context, run).await
}
