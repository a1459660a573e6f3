//! Answers from one search over chunks and the summaries above them, the collapsed tree, with one
//! call (RAPTOR: Sarthi et al., 2024).
//!
//! Differs from RAPTOR: a summary brings the chunk below it that fits the question best, so that
//! its statements can be cited.

use std::collections::BTreeMap;

use pikerag_knowledge::{
    Answer, Child, ChunkId, Consulted, Context, Derived, Event, NodeKind, Question, Role,
    Structure, Summary, SummaryId, Vector, VectorSet, Via, nearest_chunks,
};
use pikerag_language::estimate_tokens;
use pikerag_methods::context::Rules;
use pikerag_prompt::one_line;
use pikerag_retrieve::Hit;
use tracing::instrument;

use super::graphrag::plainly;
use pikerag_methods::candidates::chunk_candidates;
use pikerag_methods::conclude::conclude_with;
use pikerag_methods::organizing::gathered;
use pikerag_methods::spec::{Cost, MethodParams, MethodSpec, Variant, WithoutModel};
use pikerag_methods::{Ports, Run, SolveError};

/// The part of the collapsed tree from which the answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// The most tokens of all nodes together, estimated; the best node is taken at any length.
    pub tokens: u64,
    /// Nodes that are examined in each layer.
    pub nodes: usize,
}

impl Default for Params {
    /// 2000 tokens, about 20 nodes (RAPTOR §3).
    fn default() -> Self {
        Self { tokens: 2000, nodes: 50 }
    }
}

impl MethodParams for Params {
    const SPEC: MethodSpec<Self> = MethodSpec {
        variants: &[Variant::new(
            "raptor",
            "one search over chunks and summaries, one answer",
            "RAPTOR §3",
            |_| {},
        )],
        parameters: &[],
        roles: &[Role::Answer],
        without_model: WithoutModel::Quotes,
        needs: Some(Structure::Tree),
        cost: |params| Cost {
            chunks: 16.0,
            most_chunks: params.nodes as u64,
            fixed: 330,
            reply: 100,
            ..Cost::of_one_call(
                "one call on the collapsed tree; its summaries are made once, while indexing",
            )
        },
    };
}

/// Characters of a summary that the trace shows.
const SHOWN: usize = 120;

/// A node of the collapsed tree.
enum Node {
    Chunk(ChunkId),
    Summary(Summary),
}

/// Answers `question` from the nodes closest to it, on any level: one chat call.
///
/// # Errors
/// See [`SolveError`].
#[instrument(name = "raptor", skip_all, fields(question = %question.id))]
pub async fn solve(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Params,
) -> Result<Answer, SolveError> {
    let asked = [question.query().to_owned()];
    let vectors = ports.finder().vectors(&asked).await.map_err(SolveError::from_model)?;
    let Some(vector) = vectors.and_then(|vectors| vectors.into_iter().next()) else {
        return plainly(ports, question, Structure::Tree, run).await;
    };
    let nodes = collapsed(ports, &vector, params).await?;
    if !nodes.iter().any(|(node, _)| matches!(node, Node::Summary(_)))
        && !ports.base.has(Derived::Summaries).await?
    {
        return Err(SolveError::NotBuilt { structure: Structure::Tree });
    }
    let (mut hits, mut summaries) = (Vec::new(), Vec::new());
    for (node, score) in nodes {
        match node {
            Node::Chunk(chunk) => hits.push(hit(chunk, score, "cosine")),
            Node::Summary(summary) => summaries.push((summary, score)),
        }
    }
    for (summary, score) in &summaries {
        let best = best_below(ports, &vector, summary).await?;
        if let Some(chunk) = best.filter(|best| !hits.iter().any(|held| held.chunk == *best)) {
            hits.push(hit(chunk, *score, "summary"));
        }
    }
    let mut lines = Vec::new();
    let mut seen = Vec::new();
    for (summary, score) in summaries {
        lines.push(format!("- {}", one_line(&summary.text)));
        seen.push(Consulted {
            kind: NodeKind::Summary,
            id: summary.id.to_string(),
            title: one_line(&summary.text).chars().take(SHOWN).collect(),
            score: f64::from(score),
        });
    }
    if !seen.is_empty() {
        run.push(Event::Consulted { nodes: seen });
    }
    let candidates = chunk_candidates(ports, &hits, Via::Tree, question.query()).await?;
    let (candidates, chunks) = gathered(ports, run, candidates, Rules::all()).await?;
    let context = Context::of(1, chunks);
    run.push(Event::Gathered { candidates });
    conclude_with(ports, question, context, &lines.join("\n"), run).await
}

fn hit(chunk: ChunkId, score: f32, part: &str) -> Hit {
    Hit { chunk, score, parts: BTreeMap::from([(part.to_owned(), score)]) }
}

/// The nodes closest to a vector, best first, up to the first that does not fit; at least one.
async fn collapsed(
    ports: &Ports,
    vector: &Vector,
    params: Params,
) -> Result<Vec<(Node, f32)>, SolveError> {
    let query = std::slice::from_ref(vector);
    let mut ranked: Vec<(f32, Child)> = Vec::new();
    for hit in
        nearest_chunks(ports.base.as_ref(), query, params.nodes, -1.0).await?.into_iter().flatten()
    {
        ranked.push((hit.score, Child::Chunk(hit.item)));
    }
    let found = ports.base.nearest(VectorSet::Summaries, query, params.nodes, -1.0, &[]).await?;
    for hit in found.into_iter().flatten() {
        ranked.push((hit.score, Child::Summary(SummaryId(hit.item.0))));
    }
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let (mut nodes, mut left) = (Vec::new(), params.tokens);
    for (score, child) in ranked {
        let (node, tokens) = match child {
            Child::Chunk(id) => {
                let Some(chunk) = ports.base.chunks(&[id]).await?.pop() else { continue };
                (Node::Chunk(id), estimate_tokens(&chunk.reading_text()))
            }
            Child::Summary(id) => {
                let Some(summary) = ports.base.summaries(&[id]).await?.pop() else { continue };
                let tokens = estimate_tokens(&summary.text);
                (Node::Summary(summary), tokens)
            }
        };
        if left < tokens && !nodes.is_empty() {
            break;
        }
        left = left.saturating_sub(tokens);
        nodes.push((node, score));
    }
    Ok(nodes)
}

/// The chunk below a summary that is closest to the question.
async fn best_below(
    ports: &Ports,
    vector: &Vector,
    summary: &Summary,
) -> Result<Option<ChunkId>, SolveError> {
    let (mut chunks, mut below) = (Vec::new(), summary.children.clone());
    while let Some(child) = below.pop() {
        match child {
            Child::Chunk(chunk) => chunks.push(chunk),
            Child::Summary(id) => {
                let held = ports.base.summaries(&[id]).await?;
                below.extend(held.into_iter().flat_map(|summary| summary.children));
            }
        }
    }
    chunks.sort_unstable();
    chunks.dedup();
    let scores = ports.base.similarities(vector, &chunks).await?;
    let mut best: Option<(f32, ChunkId)> = None;
    for (chunk, score) in chunks.into_iter().zip(scores) {
        if best.is_none_or(|(most, _)| most < score) {
            best = Some((score, chunk));
        }
    }
    Ok(best.map(|(_, chunk)| chunk))
}
