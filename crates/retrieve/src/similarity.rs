//! Compares found chunks with a query on a scale that is the same for every query of a base. The
//! scores of searches compare only within one list.

use pikerag_knowledge::ChunkId;
use pikerag_language::query_terms;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::finder::{Finder, RetrieveError};
use crate::rarity::Rarity;
use crate::synonyms::in_documents_words;

/// The least weight of a word: one that every chunk has still counts a little.
const LEAST: f32 = 0.05;

/// What a similarity measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum SimilarityBy {
    /// The cosine of the vectors of query and passage, by the embedder of the base.
    Meaning,
    /// The share of the query's words that the passage has, each weighed by its rarity in the base.
    Words,
}

/// How similar chunks are to a query.
#[derive(Clone, Debug, PartialEq)]
pub struct Similarities {
    /// The measure of all of them.
    pub by: SimilarityBy,
    /// One for each chunk, in order. By meaning from −1 to 1, to within 0.01; by words from 0 to 1.
    /// 0 for a chunk that does not exist, or that has no vector.
    pub values: Vec<f32>,
}

/// How similar chunks are to a query: by meaning, or by words without an embedder or if it does not
/// know the language of the query. Values of one measure compare between queries of one base;
/// values of two measures do not.
///
/// # Errors
/// See [`RetrieveError`].
pub async fn similarities(
    finder: Finder<'_>,
    query: &str,
    chunks: &[ChunkId],
) -> Result<Similarities, RetrieveError> {
    let query = in_documents_words(finder, query).await?;
    let vectors = finder.vectors(&[query.to_string()]).await?;
    match vectors.and_then(|vectors| vectors.into_iter().next()) {
        Some(vector) => {
            let values = finder.base.similarities(&vector, chunks).await?;
            Ok(Similarities { by: SimilarityBy::Meaning, values })
        }
        None => {
            let values = shares(finder, &query, chunks).await?;
            Ok(Similarities { by: SimilarityBy::Words, values })
        }
    }
}

/// The share of the query's words that each chunk has.
async fn shares(
    finder: Finder<'_>,
    query: &str,
    chunks: &[ChunkId],
) -> Result<Vec<f32>, RetrieveError> {
    let terms = query_terms(query);
    if terms.is_empty() || chunks.is_empty() {
        return Ok(vec![0.0; chunks.len()]);
    }
    let rarity = Rarity::new(finder.base.state().await?.chunks);
    let counts = finder.base.term_counts(&terms).await?;
    let weights: Vec<f32> = counts.iter().map(|count| rarity.of(*count).max(LEAST)).collect();
    let all: f32 = weights.iter().sum();
    let scores = finder.base.term_scores(&terms, chunks).await?;
    let share = |scores: &Vec<f32>| {
        let held = scores.iter().zip(&weights).filter(|(score, _)| 0.0 < **score);
        (held.map(|(_, weight)| weight).sum::<f32>() / all).clamp(0.0, 1.0)
    };
    Ok(scores.iter().map(share).collect())
}
