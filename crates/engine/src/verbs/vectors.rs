//! The models behind searches, for programs that would use them by themselves: vectors of texts, and their order for a query.

use pikerag_retrieve::RetrieveError;
use serde::Serialize;

use super::ask::has_word;
use crate::engine::Session;
use crate::error::{EngineError, Needed, Result, Wordless};

/// Texts of one request, at most.
const TEXTS: usize = 2048;

/// Vectors of texts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EmbedResponse {
    /// The embedder, as the base knows it.
    pub model: String,
    /// A vector for each text, in order; all as long as each other.
    pub vectors: Vec<Vec<f32>>,
    /// Tokens of the texts, where they were counted.
    pub prompt_tokens: Option<u64>,
}

/// Texts in the order in which they fit a query.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RerankResponse {
    /// The reranker.
    pub model: String,
    /// How well each text fits, in the order given, from 0 to 1.
    pub scores: Vec<f64>,
}

/// Vectors of texts, as documents get theirs.
///
/// # Errors
/// [`EngineError::Needs`], [`EngineError::TooMany`], or the call failed.
pub async fn embed(session: &Session, texts: &[String]) -> Result<EmbedResponse> {
    few(texts)?;
    let base = session.base_in_part().await?;
    let embedder = session.embedder_on(&base).await?.ok_or(EngineError::Needs(Needed::Embedder))?;
    let made = embedder.embed_counted(texts);
    let made =
        session.unless_cancelled(async { Ok(made.await.map_err(RetrieveError::Model)?) }).await?;
    Ok(EmbedResponse {
        model: embedder.name().to_owned(),
        vectors: made.vectors,
        prompt_tokens: made.prompt_tokens,
    })
}

/// How well texts fit a query, by the reranker that is set.
///
/// # Errors
/// [`EngineError::Needs`], [`EngineError::TooMany`], or the call failed.
pub async fn rerank(session: &Session, query: &str, texts: &[String]) -> Result<RerankResponse> {
    few(texts)?;
    if !has_word(query) {
        return Err(EngineError::Wordless(Wordless::Query));
    }
    let base = session.base_in_part().await?;
    let reranker = session.recorded_reranker(&base)?.ok_or(EngineError::Needs(Needed::Reranker))?;
    let told = reranker.rerank(query, texts);
    let told =
        session.unless_cancelled(async { Ok(told.await.map_err(RetrieveError::Model)?) }).await?;
    // Some models give probabilities, some logits: both keep their order.
    let is_share = told.scores.iter().all(|score| (0.0..=1.0).contains(score));
    let share = |score: &f32| match is_share {
        true => f64::from(*score),
        false => 1.0 / (1.0 + (-f64::from(*score)).exp()),
    };
    Ok(RerankResponse {
        model: reranker.name().to_owned(),
        scores: told.scores.iter().map(share).collect(),
    })
}

fn few(texts: &[String]) -> Result<()> {
    if TEXTS < texts.len() {
        return Err(EngineError::TooMany { given: texts.len(), most: TEXTS });
    }
    Ok(())
}
