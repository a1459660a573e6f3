//! Provides embedders for tests: one by a script, one by hashes of words.

use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use pikerag_knowledge::{Embedder, ModelError, Vector};

/// An embedder with scripted vectors. It records the texts of each request.
pub struct ScriptedEmbedder {
    reply: Box<EmbedScript>,
    requests: Mutex<Vec<Vec<String>>>,
}

type EmbedScript = dyn Fn(usize, &[String]) -> Result<Vec<Vector>, ModelError> + Send + Sync;

impl ScriptedEmbedder {
    /// Computes the vectors from the texts.
    pub fn by(
        reply: impl Fn(&[String]) -> Result<Vec<Vector>, ModelError> + Send + Sync + 'static,
    ) -> Self {
        Self::by_turn(move |_, texts| reply(texts))
    }

    /// Computes the vectors from the number of the call, from 0, and the texts.
    pub fn by_turn(
        reply: impl Fn(usize, &[String]) -> Result<Vec<Vector>, ModelError> + Send + Sync + 'static,
    ) -> Self {
        Self { reply: Box::new(reply), requests: Mutex::default() }
    }

    /// The texts so far, by request.
    pub fn requests(&self) -> Vec<Vec<String>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[async_trait]
impl Embedder for ScriptedEmbedder {
    fn name(&self) -> &'static str {
        "fake-embedder"
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vector>, ModelError> {
        let turn = {
            let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
            requests.push(texts.to_vec());
            requests.len() - 1
        };
        (self.reply)(turn, texts)
    }
}

/// A borrowed script, so that a test can inspect it while it is wrapped.
#[async_trait]
impl Embedder for &ScriptedEmbedder {
    fn name(&self) -> &'static str {
        "fake-embedder"
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vector>, ModelError> {
        (**self).embed(texts).await
    }
}

/// An embedder that sums hashed words: texts that share words are close. Deterministic.
#[derive(Clone, Debug)]
pub struct HashEmbedder {
    name: String,
    dimension: usize,
}

impl HashEmbedder {
    /// An embedder of vectors of `dimension` numbers, at least one.
    pub fn new(dimension: usize) -> Self {
        Self { name: format!("hash-{dimension}"), dimension: dimension.max(1) }
    }

    /// One unit vector per text. A text without words gets the first axis.
    pub fn vectors(&self, texts: &[String]) -> Vec<Vector> {
        texts.iter().map(|text| self.vector(text)).collect()
    }

    fn vector(&self, text: &str) -> Vector {
        let mut vector = vec![0.0_f32; self.dimension];
        for word in words(text) {
            let hash = blake3::hash(word.as_bytes());
            let (head, _) = hash.as_bytes().split_first_chunk::<8>().unwrap_or((&[0; 8], &[]));
            let number = u64::from_le_bytes(*head);
            let axis = (number >> 1) as usize % self.dimension;
            if let Some(x) = vector.get_mut(axis) {
                *x += if number & 1 == 0 { 1.0 } else { -1.0 };
            }
        }
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        if length == 0.0 {
            if let Some(first) = vector.first_mut() {
                *first = 1.0;
            }
            return vector;
        }
        vector.into_iter().map(|x| x / length).collect()
    }
}

#[async_trait]
impl Embedder for HashEmbedder {
    fn name(&self) -> &str {
        &self.name
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vector>, ModelError> {
        Ok(self.vectors(texts))
    }
}

/// Words in lower case; each character of a script without spaces is a word.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for run in text.to_lowercase().split(|c: char| !c.is_alphanumeric()) {
        let mut word = String::new();
        for character in run.chars() {
            if '\u{2e80}' <= character {
                words.extend([std::mem::take(&mut word), character.to_string()]);
            } else {
                word.push(character);
            }
        }
        words.push(word);
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::HashEmbedder;

    #[test]
    fn shared_words_are_close() {
        let texts = ["Ada Lovelace wrote it", "it: wrote, ADA lovelace!", "知识库", "知识", "?!"];
        let texts: Vec<String> = texts.iter().map(ToString::to_string).collect();
        let vectors = HashEmbedder::new(64).vectors(&texts);
        let cosine = |a: usize, b: usize| -> f32 {
            vectors[a].iter().zip(&vectors[b]).map(|(x, y)| x * y).sum()
        };
        assert!(vectors.iter().all(|v| (v.iter().map(|x| x * x).sum::<f32>() - 1.0).abs() < 1e-6));
        assert!(0.999 < cosine(0, 1) && 0.7 < cosine(2, 3) && cosine(0, 2) < 0.5);
    }
}
