//! What would indexing cost? Counted before anything is paid, from the very prompts that would be
//! sent.

use std::collections::HashSet;

use pikerag_extract::{atomize_prompt, document_graph};
use pikerag_knowledge::{AtomKind, ChunkId, KnowledgeWriter, Stage, StoreError, Usage};
use pikerag_language::{estimate_tokens, sentences};
use serde::{Deserialize, Serialize};

use crate::ingest::{FileReader, Params, recipe};

/// Questions that a model writes per sentence, and tokens per question with its quotes and comma.
/// From the paper's costs: KAR³ Tables 10–12 count about as many reply tokens as content tokens.
const QUESTIONS_PER_SENTENCE: f64 = 1.3;
const TOKENS_PER_QUESTION: u64 = 16;
/// Chunks looked at together.
const PAGE: usize = 512;

/// What indexing would take.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Files that would be read.
    pub files: usize,
    /// Files that are in the base already, unchanged.
    pub unchanged: usize,
    /// Files that cannot be read, with the reason.
    pub unreadable: Vec<(String, String)>,
    /// Chunks in the files that would be read, and those left to do from before.
    pub chunks: usize,
    /// Calls to the model for `atomize`.
    pub calls: usize,
    /// Tokens of those calls.
    pub usage: Usage,
    /// Tokens to embed.
    pub embedded_tokens: u64,
}

/// Estimates indexing of `files`, without storing anything and without any call. Chunks that the
/// base holds already, and atoms that it has, cost nothing again.
///
/// # Errors
/// The base cannot be read.
pub async fn estimate(
    base: Option<&dyn KnowledgeWriter>,
    reader: &dyn FileReader,
    files: &[String],
    params: &Params,
) -> Result<Estimate, StoreError> {
    let mut estimate = Estimate::default();
    let mut counted: HashSet<ChunkId> = HashSet::new();
    let questions = params.atoms.contains(&AtomKind::Question);
    if let Some(base) = base {
        estimate = waiting(base, params, &mut counted).await?;
    }
    for path in files {
        let hash = match reader.hash(path).await {
            Ok(hash) => hash,
            Err(error) => {
                estimate.unreadable.push((path.clone(), error.reason));
                continue;
            }
        };
        let known = match base {
            Some(base) => base.file(path).await?,
            None => None,
        };
        if known.as_ref().is_some_and(|known| known.hash == hash && known.recipe == recipe(params))
        {
            estimate.unchanged += 1;
            continue;
        }
        let parsed = match reader.parse(path).await {
            Ok(parsed) => parsed,
            Err(error) => {
                estimate.unreadable.push((path.clone(), error.reason));
                continue;
            }
        };
        estimate.files += 1;
        for document in parsed.documents {
            let graph = document_graph(path, document, params.chunks);
            estimate.chunks += graph.chunks.len();
            for chunk in &graph.chunks {
                let stored = match base {
                    Some(base) => base.chunks(&[chunk.id]).await.is_ok(),
                    None => false,
                };
                // What is stored is atomized, or waits and was counted above.
                if counted.insert(chunk.id) && !stored {
                    count(&mut estimate, chunk, questions);
                }
            }
        }
    }
    Ok(estimate)
}

/// Estimates what is left to do for the chunks that the base holds already.
///
/// # Errors
/// The base cannot be read.
pub async fn left_to_do(
    base: &dyn KnowledgeWriter,
    params: &Params,
) -> Result<Estimate, StoreError> {
    waiting(base, params, &mut HashSet::new()).await
}

/// As [`left_to_do`]; adds the chunks it counted to `counted`.
async fn waiting(
    base: &dyn KnowledgeWriter,
    params: &Params,
    counted: &mut HashSet<ChunkId>,
) -> Result<Estimate, StoreError> {
    let mut estimate = Estimate::default();
    if !params.atoms.contains(&AtomKind::Question) {
        return Ok(estimate);
    }
    let left = base.waiting(&Stage::atomize(AtomKind::Question), None, usize::MAX).await?;
    for page in left.chunks(PAGE) {
        for chunk in base.chunks(page).await? {
            count(&mut estimate, &chunk, true);
            counted.insert(chunk.id);
            estimate.chunks += 1;
        }
    }
    Ok(estimate)
}

fn count(estimate: &mut Estimate, chunk: &pikerag_knowledge::Chunk, questions: bool) {
    let text = estimate_tokens(&chunk.reading_text());
    estimate.embedded_tokens += text;
    if !questions {
        return;
    }
    let asked = (sentences(&chunk.text).len() as f64 * QUESTIONS_PER_SENTENCE).ceil() as u64;
    estimate.calls += 1;
    estimate.embedded_tokens += asked * (TOKENS_PER_QUESTION - 3);
    estimate.usage.prompt_tokens +=
        atomize_prompt(chunk).map_or(text, |prompt| estimate_tokens(&prompt));
    estimate.usage.completion_tokens += asked * TOKENS_PER_QUESTION + 6;
}
