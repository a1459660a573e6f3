//! Answers from one retrieval (`naive-rag`: Lewis et al., 2020; parameters of KAR³ §A.3 and §A.4).

use crate::context::Rules;
use pikerag_knowledge::{Answer, Context, Event, Question, Role};
use pikerag_retrieve::SearchParams;
use tracing::instrument;

use crate::conclude::conclude;
use crate::organizing::gathered;
use crate::ports::{Ports, SolveError};
use crate::retrieval::{Path, RULE_OF_RETRIEVAL, RetrievalParams};
use crate::run::Run;
use crate::spec::{
    Cost, MethodParams, MethodSpec, Parameter, Range, Variant, Weights, WithoutModel, field,
};
use crate::tagging::retrieve_tagged;

const CHUNKS: Parameter<RetrievalParams> =
    field!(chunks, "chunks that are retrieved, at most", Range::COUNT);
const CONTEXT: Parameter<RetrievalParams> = field!(tokens as "context_tokens", "tokens of the chunks that are read, at most", Range::TOKENS);

impl MethodParams for RetrievalParams {
    const SPEC: MethodSpec<Self> = MethodSpec {
        variants: &[
            Variant::new("naive-rag", "one retrieval, one answer", "KAR³ §A.3", |_| {}),
            Variant::new("naive-rag-hr", "the same on chunks and atoms", "KAR³ §A.3", |params| {
                *params = Self::hierarchical();
            }),
            Variant::new("hybrid-rag", "the same by words and meaning", "ours", |params| {
                *params = Self::hybrid();
            }),
            Variant::new(
                "layers-rag",
                "the same over sources, sections, chunks and atoms at once, scores spread along edges",
                "PIKE-RAG §5.2.3",
                |params| *params = Self::layers(),
            ),
            Variant::new(
                "auto-rag",
                "the same by the search `auto`: hops, layers and words, fused",
                "ours",
                |params| *params = Self::auto(),
            ),
        ],
        parameters: &[CHUNKS, CONTEXT, RULE_OF_RETRIEVAL],
        roles: &[Role::Tag, Role::Rewrite, Role::Answer],
        without_model: WithoutModel::Quotes,
        needs: None,
        cost: |params| Cost {
            chunks: (params.chunks + params.atoms) as f64
                * if 0 < params.atoms { 0.6 } else { 1.0 },
            most_chunks: (params.chunks + params.atoms) as u64,
            most_chunk_tokens: params.tokens,
            fixed: 330,
            reply: 103,
            ..Cost::of_one_call("KAR³ Table 10: 1765 + 103 tokens")
        },
    };

    fn weigh(&mut self, weights: &Weights) {
        *self = Self { tags: weights.tags, ..self.weighed(weights.searches()) };
    }

    fn weights(&self) -> Weights {
        let SearchParams { auto, hops, layers } = match self.path {
            Path::Auto(weights) => weights,
            Path::Layers(layers) => SearchParams { layers, ..SearchParams::default() },
            Path::Meaning | Path::Hybrid => SearchParams::default(),
        };
        Weights { auto, hops, layers, tags: self.tags, ..Weights::default() }
    }
}

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
    let found = retrieve_tagged(ports, run, question.query(), params).await?;
    let (candidates, chunks) = gathered(ports, run, found, Rules::within(params.tokens)).await?;
    let context = Context::of(1, chunks);
    run.push(Event::Gathered { candidates });
    conclude(ports, question, context, run).await
}
