//! What will summaries of tables and documents cost, and descriptions of figures?

use std::collections::HashSet;

use pikerag_knowledge::{
    Chunk, ChunkId, ChunkKind, DocumentGraph, Image, KnowledgeWriter, Role, Stage, StoreError,
    Usage,
};
use pikerag_language::estimate_tokens;

use super::{Estimate, PAGE};
use crate::ingest::describe::{
    FIRST, figure_prompt, is_seen, source_prompt, table_prompt, visible_text,
};
use crate::ingest::{Params, Summarized};

/// Tokens of replies, about.
const TABLE: u64 = 70;
const FIGURE: u64 = 200;
const SOURCE: u64 = 90;
/// Tokens of a picture: one of ordinary size at high detail. What endpoints count lies between about 85
/// (at low detail) and 1,500; some small models count more.
const IMAGE: u64 = 1000;

/// Adds what a new chunk costs; whether anything will be said of it.
pub(super) fn count(
    estimate: &mut Estimate,
    params: &Params,
    text: &str,
    chunk: &Chunk,
    image: Option<&Image>,
) -> bool {
    if chunk.hidden {
        return false;
    }
    match chunk.kind {
        ChunkKind::Table if params.summarize.contains(&Summarized::Tables) => {
            let prompt = table_prompt(text, chunk).unwrap_or_default();
            add(estimate, Role::Summarize, estimate_tokens(&prompt), TABLE);
        }
        ChunkKind::Figure if params.describe && image.is_some_and(is_seen) => {
            let prompt = figure_prompt(text, chunk).unwrap_or_default();
            add(estimate, Role::Describe, estimate_tokens(&prompt) + IMAGE, FIGURE);
        }
        _ => return false,
    }
    true
}

/// Adds what a new document costs.
pub(super) fn count_source(estimate: &mut Estimate, params: &Params, graph: &DocumentGraph) {
    if params.summarize.contains(&Summarized::Sources) && !graph.chunks.is_empty() {
        let prompt = source_prompt(&graph.source.title, &graph.chunks).unwrap_or_default();
        add(estimate, Role::Summarize, estimate_tokens(&prompt), SOURCE);
    }
}

/// Adds what is left to do in the base.
pub(super) async fn pending(
    estimate: &mut Estimate,
    base: &dyn KnowledgeWriter,
    params: &Params,
    counted: &mut HashSet<ChunkId>,
) -> Result<(), StoreError> {
    let mut kinds = Vec::new();
    if params.summarize.contains(&Summarized::Tables) {
        kinds.push(ChunkKind::Table);
    }
    if params.describe {
        kinds.push(ChunkKind::Figure);
    }
    for kind in kinds {
        let left = base.pending_of(&Stage::describe(kind), kind, None, usize::MAX).await?;
        for page in left.chunks(PAGE) {
            let mut chunks = base.chunks(page).await?;
            chunks.sort_by_key(|chunk| (chunk.source, chunk.ordinal));
            let mut text = (None, String::new());
            for chunk in chunks {
                if text.0 != Some(chunk.source) {
                    text = (Some(chunk.source), visible_text(base, chunk.source).await?);
                }
                let image = base.figures(&[chunk.id]).await?.pop().flatten();
                count(estimate, params, &text.1, &chunk, image.as_ref());
                estimate.chunks += usize::from(counted.insert(chunk.id));
            }
        }
    }
    if params.summarize.contains(&Summarized::Sources) {
        for source in base.sources().await? {
            let chunks = base.first_chunks(source.id, FIRST).await?;
            if source.summary.is_none() && !chunks.is_empty() {
                let prompt = source_prompt(&source.title, &chunks).unwrap_or_default();
                add(estimate, Role::Summarize, estimate_tokens(&prompt), SOURCE);
            }
        }
    }
    Ok(())
}

fn add(estimate: &mut Estimate, role: Role, prompt_tokens: u64, completion_tokens: u64) {
    estimate.bill(role, 1, Usage { prompt_tokens, completion_tokens });
    estimate.embedded_tokens += completion_tokens;
}
