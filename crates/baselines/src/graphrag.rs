//! Answers from the entity graph (GraphRAG: Edge et al., 2024): from the surroundings of the
//! question's entities (`local`), or from the reports on all communities (`global`).
//!
//! Differs from GraphRAG: citations lead to chunks, so the global answer, too, is written from
//! chunks that mention its communities' entities; reports are batched by rating, not shuffled.

mod global;
mod local;

use std::collections::BTreeMap;

use pikerag_knowledge::{
    Answer, Chunk, ChunkId, Community, Consulted, Context, Derived, Event, NodeKind, Note,
    Question, Structure,
};
use pikerag_language::estimate_tokens;
use pikerag_methods::context::Rules;
use pikerag_retrieve::Hit;

pub use self::global::{Global, global};
pub use self::local::{Local, local};
use pikerag_methods::conclude::conclude;
use pikerag_methods::organizing::gathered;
use pikerag_methods::retrieval::{Path, RetrievalParams, retrieve};
use pikerag_methods::{Ports, Run, SolveError};

/// Plain retrieval, if a structure has nothing about the question; an error if the structure does
/// not exist.
pub(super) async fn plainly(
    ports: &Ports,
    question: &Question,
    structure: Structure,
    run: &mut Run,
) -> Result<Answer, SolveError> {
    let built = match structure {
        Structure::Graph => Derived::Entities,
        Structure::Tree => Derived::Summaries,
        Structure::Tags => Derived::Tags,
    };
    if !ports.base.has(built).await? {
        return Err(SolveError::NotBuilt { structure });
    }
    run.push(Event::Noted { note: Note::StructureUnhelpful { structure }.into() });
    let candidates = retrieve(
        ports,
        question.query(),
        RetrievalParams { path: Path::Hybrid, ..RetrievalParams::chunks() },
    )
    .await?;
    let (candidates, chunks) = gathered(ports, run, candidates, Rules::all()).await?;
    let context = Context::of(0, chunks);
    run.push(Event::Gathered { candidates });
    conclude(ports, question, context, run).await
}

/// The first chunks that fit into a budget, with their texts; at least one.
async fn within(
    ports: &Ports,
    ranked: Vec<(ChunkId, f32)>,
    part: &str,
    budget: u64,
) -> Result<Vec<(Hit, Chunk)>, SolveError> {
    let (mut kept, mut left) = (Vec::new(), budget);
    for (id, score) in ranked {
        let Some(chunk) = ports.base.chunks(&[id]).await?.pop() else { continue };
        let tokens = estimate_tokens(&chunk.reading_text());
        if left < tokens && !kept.is_empty() {
            break;
        }
        left = left.saturating_sub(tokens);
        let hit = Hit { chunk: id, score, parts: BTreeMap::from([(part.to_owned(), score)]) };
        kept.push((hit, chunk));
    }
    Ok(kept)
}

/// Adds the first lines that fit; returns the rest of the budget.
fn fill(lines: &mut Vec<String>, more: impl Iterator<Item = String>, budget: u64) -> u64 {
    let mut left = budget;
    for line in more {
        let tokens = estimate_tokens(&line);
        if left < tokens {
            break;
        }
        left -= tokens;
        lines.push(line);
    }
    left
}

fn consulted(community: &Community, score: f64) -> Consulted {
    let title = community.report.as_ref().map(|report| report.title.clone()).unwrap_or_default();
    Consulted { kind: NodeKind::CommunityReport, id: community.id.to_string(), title, score }
}
