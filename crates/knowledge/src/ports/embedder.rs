//! The port to embedding models, which turn texts into vectors.

use std::ops::Range;

use async_trait::async_trait;

use super::models::ModelError;

/// A vector of length 1. All vectors of an embedder have the same number of components, its
/// dimension. The dot product of two is their cosine, from −1 to 1; vectors of two embedders do not
/// compare.
pub type Vector = Vec<f32>;

/// The cosine of two vectors, from −1 to 1: their inner product in full precision. 0 if their
/// lengths differ, as those of two embedders do.
pub fn cosine(one: &[f32], other: &[f32]) -> f32 {
    if one.len() != other.len() {
        return 0.0;
    }
    one.iter().zip(other).map(|(x, y)| x * y).sum()
}

/// An embedding model behind any protocol.
#[async_trait]
pub trait Embedder: Send + Sync {
    /// The configured name; stored with every vector it makes.
    fn name(&self) -> &str;

    /// One unit vector per text, in order. No `embed_one`: a default body would hide slow loops.
    ///
    /// # Errors
    /// See [`ModelError`]. Never fewer vectors than texts.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the call; it may be billed nevertheless.
    async fn embed(&self, texts: &[String]) -> Result<Vec<Vector>, ModelError>;

    /// The same for queries: questions, sub-questions, searches. Many models are trained on pairs
    /// of a query and a document, and need to know which one a text is; for others there is no
    /// difference.
    ///
    /// # Errors
    /// As [`Embedder::embed`].
    async fn embed_queries(&self, texts: &[String]) -> Result<Vec<Vector>, ModelError> {
        self.embed(texts).await
    }

    /// Whether the model supports the language of a text, as far as this can be detected: vectors
    /// of other languages hardly discriminate. True for an embedder that detects nothing.
    ///
    /// # Errors
    /// As [`Embedder::embed`].
    async fn knows(&self, _text: &str) -> Result<bool, ModelError> {
        Ok(true)
    }

    /// The number of values of each vector, if the embedder knows it before it embeds a text.
    fn known_dimensions(&self) -> Option<usize> {
        None
    }

    /// Whether [`Embedder::embed_parted`] reads a text once for all its parts. Otherwise a part
    /// costs as much as a text, and is better embedded separately.
    fn reads_parts(&self) -> bool {
        false
    }

    /// One vector per text, and one for each of its parts; in order. A part's vector may reflect
    /// its context, so that it differs a little from the result of [`Embedder::embed`].
    ///
    /// # Errors
    /// As [`Embedder::embed`].
    async fn embed_parted(&self, texts: &[Parted]) -> Result<Vec<PartedVectors>, ModelError> {
        let mut all = Vec::new();
        for Parted { text, parts } in texts {
            all.push(text.clone());
            let part = |part: &Range<usize>| text.get(part.clone()).unwrap_or_default().to_owned();
            all.extend(parts.iter().map(part));
        }
        let mut vectors = self.embed(&all).await?.into_iter();
        let of_text = |text: &Parted| PartedVectors {
            whole: vectors.next().unwrap_or_default(),
            parts: vectors.by_ref().take(text.parts.len()).collect(),
        };
        Ok(texts.iter().map(of_text).collect())
    }

    /// Like [`Embedder::embed`], with the endpoint's token count, if it reports one; metering uses
    /// it.
    ///
    /// # Errors
    /// As [`Embedder::embed`].
    async fn embed_counted(&self, texts: &[String]) -> Result<CountedVectors, ModelError> {
        let vectors = self.embed(texts).await?;
        Ok(CountedVectors { vectors, prompt_tokens: None })
    }
}

/// A text, and parts of it that get vectors of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parted {
    /// The whole.
    pub text: String,
    /// Byte ranges at character boundaries; any number, in any order.
    pub parts: Vec<Range<usize>>,
}

/// The result of [`Embedder::embed_parted`] for one text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PartedVectors {
    /// The vector of the whole text.
    pub whole: Vector,
    /// One unit vector per part, in order.
    pub parts: Vec<Vector>,
}

/// Vectors with their cost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CountedVectors {
    /// One unit vector per text, in order.
    pub vectors: Vec<Vector>,
    /// The tokens of the texts as the endpoint counts them; `None` if it does not report them.
    pub prompt_tokens: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_of_two_embedders_do_not_compare() {
        for (other, expected) in [(vec![0.6, 0.8], 0.8), (vec![0.0, -1.0], -1.0), (vec![1.0], 0.0)]
        {
            assert!((cosine(&[0.0, 1.0], &other) - expected).abs() < 1e-6, "{other:?}");
        }
    }
}
