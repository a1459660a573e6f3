//! Offers the models behind searches to other programs: vectors of texts, and their scores for a
//! query.

use pikerag_retrieve::RetrieveError;
use serde::Serialize;

use super::ask::has_word;
use crate::engine::Session;
use crate::error::{EngineError, Needed, NoWords, Result};
use crate::settings::Reranks;

/// The most texts of one request.
const TEXTS: usize = 2048;

/// Vectors of texts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EmbedResponse {
    /// The embedder, by its name in the base.
    pub model: String,
    /// A vector of length 1 for each text, in order; all have the same dimension.
    pub vectors: Vec<Vec<f32>>,
    /// Tokens of the texts, if they were counted.
    pub prompt_tokens: Option<u64>,
}

/// The scores of texts for a query.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RerankResponse {
    /// The reranker.
    pub model: String,
    /// The score of each text, in the given order, from 0 to 1.
    pub scores: Vec<f64>,
    /// Tokens that the endpoint counts; `None` if it does not report them.
    pub prompt_tokens: Option<u64>,
    /// Searches that the endpoint bills; `None` if it does not report them.
    pub searches: Option<u64>,
}

/// Vectors of texts, made like those of documents.
///
/// # Errors
/// [`EngineError::Needs`], [`EngineError::TooMany`], or the call failed.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// let texts = ["calibrate a sensor".to_owned(), "adjust an instrument".to_owned()];
/// let response = pikerag_engine::embed(session, &texts).await?;
/// if let [one, other] = response.vectors.as_slice() {
///     // Vectors have length 1, so this is their cosine.
///     let cosine: f32 = one.iter().zip(other).map(|(a, b)| a * b).sum();
///     println!("{cosine:.2} with {}", response.model);
/// }
/// # Ok(())
/// # }
/// ```
pub async fn embed(session: &Session, texts: &[String]) -> Result<EmbedResponse> {
    check_count(texts)?;
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

/// The number of values of the embedder's vectors, if it is known before a text is embedded: weights on this machine
/// define it, and the base may have vectors of an endpoint.
///
/// # Errors
/// [`EngineError::Needs`], or the base cannot be read.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// if let Some(dimensions) = pikerag_engine::dimensions(session).await? {
///     println!("{dimensions} values");
/// }
/// # Ok(())
/// # }
/// ```
pub async fn dimensions(session: &Session) -> Result<Option<usize>> {
    let base = session.base_in_part().await?;
    let embedder = session.embedder_on(&base).await?.ok_or(EngineError::Needs(Needed::Embedder))?;
    match embedder.known_dimensions() {
        Some(known) => Ok(Some(known)),
        None => Ok(base.dimensions(embedder.name()).await?),
    }
}

/// The scores of texts for a query, by the reranker that is set.
///
/// # Errors
/// [`EngineError::Needs`], [`EngineError::TooMany`], or the call failed.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// let texts = ["It is calibrated yearly.".to_owned(), "Oil is changed monthly.".to_owned()];
/// let response = pikerag_engine::rerank(session, "How often is it calibrated?", &texts).await?;
/// for (text, score) in texts.iter().zip(&response.scores) {
///     println!("{score:.2} {text}");
/// }
/// # Ok(())
/// # }
/// ```
pub async fn rerank(session: &Session, query: &str, texts: &[String]) -> Result<RerankResponse> {
    check_count(texts)?;
    if !has_word(query) {
        return Err(EngineError::NoWords(NoWords::Query));
    }
    let base = session.base_in_part().await?;
    let reranker = session.recorded_reranker(&base)?.ok_or(EngineError::Needs(Needed::Reranker))?;
    let reranking = reranker.rerank(query, texts);
    let ranking = session
        .unless_cancelled(async { Ok(reranking.await.map_err(RetrieveError::Model)?) })
        .await?;
    // Weights on this machine give logits, endpoints logits or probabilities; the mapping keeps the
    // order of both.
    let is_local = matches!(session.settings().rerank.by, Reranks::Local { .. });
    let is_share = !is_local && ranking.scores.iter().all(|score| (0.0..=1.0).contains(score));
    let share = |score: &f32| match is_share {
        true => f64::from(*score),
        false => 1.0 / (1.0 + (-f64::from(*score)).exp()),
    };
    Ok(RerankResponse {
        model: reranker.name().to_owned(),
        scores: ranking.scores.iter().map(share).collect(),
        prompt_tokens: ranking.prompt_tokens,
        searches: ranking.searches,
    })
}

fn check_count(texts: &[String]) -> Result<()> {
    if TEXTS < texts.len() {
        return Err(EngineError::TooMany { given: texts.len(), most: TEXTS });
    }
    Ok(())
}
