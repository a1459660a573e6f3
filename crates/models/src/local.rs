//! How does a text become a vector on this machine? A BERT-family sentence model, such as
//! all-MiniLM-L6-v2, from a folder with `model.safetensors`, `tokenizer.json` and `config.json`; and a text beside a
//! query a score.

mod config;
mod cross;
mod gemm;
mod later;
mod math;
mod model;
mod tensors;
mod weights;
mod wheel;

#[cfg(test)]
mod tests;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use pikerag_knowledge::ports::Cause;
use pikerag_knowledge::{Embedder, ModelError, Vector};
use rayon::prelude::*;
use tokenizers::{PostProcessor, Tokenizer, TruncationParams};

pub use cross::{LaterReranker, LocalReranker};
pub use later::LaterEmbedder;
pub use weights::{Looked, NotFound, Places, Weights, find_weights};

use model::{Model, Scratch};

/// A sentence model in memory.
///
/// The same text gets the same vector, bit for bit, whatever batch it comes in and however many
/// threads there are, on one kind of processor; between kinds vectors differ by about 1e-7.
#[derive(Clone)]
pub struct LocalEmbedder {
    loaded: Arc<Loaded>,
}

struct Loaded {
    name: String,
    tokenizer: Tokenizer,
    model: Model,
}

/// Why weights cannot be used: what to do with the folder that holds them.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "a field means what its variant's message says of it")]
pub enum WeightsError {
    /// A file is missing or cannot be read.
    #[error("cannot read {path}")]
    Unreadable {
        /// The file in the folder of the weights.
        path: PathBuf,
        /// Most often: there is no such file.
        source: std::io::Error,
    },
    /// A file is damaged, or not what its name says; fetch it again.
    #[error("{path} is malformed")]
    Malformed {
        /// The file in the folder of the weights.
        path: PathBuf,
        /// What its reader could not read: JSON, tokenizer or tensors.
        source: Cause,
    },
    /// A model that we would run wrongly; choose another one.
    #[error("{path} asks for {what}, which is not supported")]
    Unsupported {
        /// The file that asks for it, `config.json` mostly.
        path: PathBuf,
        /// A kind of model, an activation, a pooling.
        what: String,
    },
    /// The weights are not those that `config.json` describes.
    #[error("tensor `{tensor}` in {path} {what}")]
    Tensor {
        path: PathBuf,
        /// Its name, without the prefix that all names of the file share.
        tensor: String,
        /// How the message goes on: missing, of another shape, of numbers that we do not read.
        what: String,
    },
}

impl LocalEmbedder {
    /// Loads a model; texts are cut where its `sentence_bert_config.json` says, else at 256 tokens.
    ///
    /// Takes about 0.2 s for all-MiniLM-L6-v2, most of it reading.
    pub fn open(weights: &Weights) -> Result<Self, WeightsError> {
        Self::load(weights, config::read_shape(&weights.folder)?)
    }

    /// Loads a model that cuts texts at `max_tokens`, special tokens included, or where its
    /// positions end.
    pub fn open_with(weights: &Weights, max_tokens: NonZeroUsize) -> Result<Self, WeightsError> {
        let mut shape = config::read_shape(&weights.folder)?;
        shape.max_tokens = max_tokens;
        Self::load(weights, shape)
    }

    fn load(weights: &Weights, shape: config::Shape) -> Result<Self, WeightsError> {
        let model = Model::read(&weights.folder.join("model.safetensors"), shape)?;
        let max_tokens = model.max_tokens();
        let tokenizer = read_tokenizer(&weights.folder.join("tokenizer.json"), max_tokens)?;
        let name = weights.name.clone();
        Ok(Self { loaded: Arc::new(Loaded { name, tokenizer, model }) })
    }

    /// Numbers per vector: 384 for all-MiniLM-L6-v2.
    pub fn dimensions(&self) -> usize {
        self.loaded.model.shape.hidden
    }

    /// What [`Embedder::embed`] does, on rayon's threads: for callers without an async runtime.
    pub fn embed_now(&self, texts: &[String]) -> Result<Vec<Vector>, ModelError> {
        self.loaded.embed(texts, &AtomicBool::new(false))
    }
}

#[async_trait]
impl Embedder for LocalEmbedder {
    fn name(&self) -> &str {
        &self.loaded.name
    }

    /// # Errors
    /// [`ModelError::Broken`] where tokenizer and weights are not of one model.
    ///
    /// # Cancel safety
    /// Dropping the future ends the work within about a second.
    async fn embed(&self, texts: &[String]) -> Result<Vec<Vector>, ModelError> {
        let loaded = Arc::clone(&self.loaded);
        let texts = texts.to_vec();
        let dropped = SetOnDrop(Arc::new(AtomicBool::new(false)));
        let is_cancelled = Arc::clone(&dropped.0);
        tokio::task::spawn_blocking(move || loaded.embed(&texts, &is_cancelled))
            .await
            .map_err(|cause| self.loaded.broken(cause.into()))?
    }
}

/// Tells the blocking task that nobody waits for it any more.
struct SetOnDrop(Arc<AtomicBool>);

impl Drop for SetOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// No padding, and truncation where we want it: the file's own settings are for fixed-size batches.
fn read_tokenizer(path: &Path, max_tokens: usize) -> Result<Tokenizer, WeightsError> {
    let malformed = |source| WeightsError::Malformed { path: path.to_owned(), source };
    let mut tokenizer = Tokenizer::from_bytes(read(path)?).map_err(malformed)?;
    tokenizer.with_padding(None);
    let n_special = tokenizer.get_post_processor().map_or(0, |step| step.added_tokens(false));
    let max_length = max_tokens.max(n_special + 1);
    let truncation = TruncationParams { max_length, ..TruncationParams::default() };
    tokenizer.with_truncation(Some(truncation)).map_err(malformed)?;
    Ok(tokenizer)
}

fn read(path: &Path) -> Result<Vec<u8>, WeightsError> {
    std::fs::read(path).map_err(|source| WeightsError::Unreadable { path: path.to_owned(), source })
}

impl Loaded {
    /// Splits texts evenly over rayon's threads; cancelled work returns early with what it has.
    fn embed(
        &self,
        texts: &[String],
        is_cancelled: &AtomicBool,
    ) -> Result<Vec<Vector>, ModelError> {
        let tokens: Vec<Vec<u32>> = texts
            .par_iter()
            .map(|text| self.tokenize(text))
            .collect::<Result<_, _>>()
            .map_err(|cause| self.broken(cause))?;
        let vectors: Vec<Vec<Vector>> = batches(&tokens, rayon::current_num_threads())
            .into_par_iter()
            .map_init(Scratch::default, |scratch, batch| {
                if is_cancelled.load(Ordering::Relaxed) {
                    return Ok(Vec::new());
                }
                self.model.embed(batch, scratch)
            })
            .collect::<Result<_, _>>()
            .map_err(|cause| self.broken(cause.into()))?;
        Ok(vectors.into_iter().flatten().collect())
    }

    fn tokenize(&self, text: &str) -> Result<Vec<u32>, Cause> {
        Ok(self.tokenizer.encode_fast(text, true)?.get_ids().to_vec())
    }

    fn broken(&self, source: Cause) -> ModelError {
        ModelError::Broken { model: self.name.clone(), source }
    }
}

/// Tokens per batch. Fewer: the weights, packed anew for each batch, cost more than the products.
/// More: the batch's numbers leave the processor's cache.
const BATCH: std::ops::RangeInclusive<usize> = 128..=512;

/// Cuts texts into batches of about equal numbers of tokens, as many for each thread.
fn batches(texts: &[Vec<u32>], n_threads: usize) -> Vec<&[Vec<u32>]> {
    let total: usize = texts.iter().map(Vec::len).sum();
    let rounds = total.div_ceil(n_threads * BATCH.end()).max(1);
    let target = total.div_ceil(n_threads * rounds).max(*BATCH.start());
    let mut rest = texts;
    let mut batches = Vec::new();
    while !rest.is_empty() {
        let mut n_tokens = 0;
        let fits = |text: &&Vec<u32>| {
            let was_empty = n_tokens == 0;
            n_tokens += text.len();
            was_empty || n_tokens <= target
        };
        let n_texts = rest.iter().take_while(fits).count().max(1);
        let (batch, others) = rest.split_at(n_texts);
        batches.push(batch);
        rest = others;
    }
    batches
}
