//! Embeds texts on this machine with a BERT-family sentence model such as all-MiniLM-L6-v2. The
//! model comes from a folder with `model.safetensors`, `tokenizer.json` and `config.json`, or from
//! one file of packed 4-bit weights. Cross-encoders also score texts for a query.

mod blocks;
mod config;
mod cross;
mod files;
mod gathered;
mod gemm;
mod halves;
mod later;
mod linear;
mod math;
mod model;
mod packed;
mod parted;
mod tensors;
mod tokenize;
mod unigram;
mod weights;
mod wheel;

#[cfg(test)]
mod tests;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use async_trait::async_trait;
use pikerag_knowledge::ports::Cause;
use pikerag_knowledge::{Embedder, ModelError, Parted, PartedVectors, Vector};
use rayon::prelude::*;
use tokio::sync::Semaphore;

pub use cross::{LaterReranker, LocalReranker};
pub use later::LaterEmbedder;
pub use weights::{Looked, NotFound, Places, Weights, find_multilingual, find_weights};

use config::{Pooling, Shape};
use gathered::Gathered;
use model::Model;
use packed::Packed;
use tensors::Safetensors;
use tokenize::{Tokens, cut_at, read_tokenizer};

/// A sentence model in memory.
///
/// The same text gets the same vector, bit for bit, in any batch and with any number of threads, on
/// one kind of processor; between kinds vectors differ by about 1e-7.
#[derive(Clone)]
pub struct LocalEmbedder {
    loaded: Arc<Loaded>,
    gathered: Gathered,
}

struct Loaded {
    name: String,
    tokens: Tokens,
    model: Model,
}

/// Why weights cannot be used; each variant calls for a different fix.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the variant's message explains each field")]
pub enum WeightsError {
    /// A file is missing or cannot be read.
    #[error("cannot read {path}")]
    Unreadable {
        /// The file in the folder of the weights.
        path: PathBuf,
        /// Usually: there is no such file.
        source: std::io::Error,
    },
    /// A file is damaged, or has the wrong content; fetch it again.
    #[error("{path} is malformed")]
    Malformed {
        /// The file in the folder of the weights.
        path: PathBuf,
        /// The error of its reader: JSON, tokenizer or tensors.
        source: Cause,
    },
    /// A model that we would run wrongly; choose another one.
    #[error("{path} asks for {what}, which is not supported")]
    Unsupported {
        /// The file that requires it, usually `config.json`.
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
        /// The rest of the message: missing, of another shape, of an unsupported number type.
        what: String,
    },
}

impl LocalEmbedder {
    /// Loads a model; texts are cut at the limit in its `sentence_bert_config.json`, else at 256
    /// tokens. A packed model reads the whole text, in windows as long as its positions.
    ///
    /// Takes about 0.1 s for all-MiniLM-L6-v2, mostly for reading and rounding. The file stays
    /// open: vectors of the vocabulary are read from it as needed.
    ///
    /// # Errors
    /// See [`WeightsError`].
    pub fn open(weights: &Weights) -> Result<Self, WeightsError> {
        let source = Source::inspect(weights)?;
        let shape = source.shape().clone();
        Self::load(weights, &source, shape)
    }

    /// Loads a model that cuts texts at `max_tokens`, special tokens included, or at the end of its
    /// positions; a packed model's windows have that length.
    ///
    /// # Errors
    /// See [`WeightsError`].
    pub fn open_with(weights: &Weights, max_tokens: NonZeroUsize) -> Result<Self, WeightsError> {
        let source = Source::inspect(weights)?;
        let shape = Shape { max_tokens, ..source.shape().clone() };
        Self::load(weights, &source, shape)
    }

    fn load(weights: &Weights, source: &Source, shape: Shape) -> Result<Self, WeightsError> {
        // Side by side; if both fail, the error of the model is reported.
        let (model, tokens) = match source {
            Source::Files(_) => {
                let open = || Safetensors::open(&weights.folder.join("model.safetensors"));
                let model = || Model::read(&open()?, shape);
                let path = weights.folder.join("tokenizer.json");
                let (model, tokenizer) = rayon::join(model, || read_tokenizer(&path));
                let model = model?;
                let tokens = Tokens::of_file(cut_at(tokenizer?, &path, model.max_tokens())?);
                (model, tokens)
            }
            Source::Packed(packed) => {
                let (model, unigram) =
                    rayon::join(|| Model::read(packed, shape), || packed.unigram());
                let model = model?;
                let tokens = Tokens::windows(unigram?, packed.marks, model.max_tokens());
                (model, tokens)
            }
        };
        let name = weights.name.clone();
        Ok(Self { loaded: Arc::new(Loaded { name, tokens, model }), gathered: Gathered::new() })
    }

    /// Numbers per vector: 384 for all-MiniLM-L6-v2.
    pub fn dimensions(&self) -> usize {
        self.loaded.model.shape.hidden
    }

    /// [`Embedder::embed`] on rayon's threads, for callers without an async runtime: one vector of
    /// length 1 per text, in order.
    ///
    /// # Errors
    /// As [`LocalEmbedder::embed`].
    pub fn embed_now(&self, texts: &[String]) -> Result<Vec<Vector>, ModelError> {
        self.loaded.embed(texts, &AtomicBool::new(false))
    }

    /// Runs work beside the async runtime; it stops within about a second if its future is dropped.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Loaded, &AtomicBool) -> Result<T, ModelError> + Send + 'static,
    ) -> Result<T, ModelError> {
        let loaded = Arc::clone(&self.loaded);
        let dropped = SetOnDrop(Arc::new(AtomicBool::new(false)));
        let is_cancelled = Arc::clone(&dropped.0);
        let worked = beside(move || work(&loaded, &is_cancelled)).await;
        worked.map_err(|cause| self.loaded.broken(cause))?
    }
}

/// The number of requests that local models process at a time, for each processor; the others wait
/// without a thread.
pub const REQUESTS_PER_PROCESSOR: usize = 2;
static PLACES: LazyLock<Semaphore> = LazyLock::new(|| {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    Semaphore::new(REQUESTS_PER_PROCESSOR * processors)
});

/// Runs the work of a local model beside the async runtime.
async fn beside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Cause> {
    let place = PLACES.acquire().await?;
    let done = tokio::task::spawn_blocking(move || {
        let _place = place;
        work()
    });
    Ok(done.await?)
}

#[async_trait]
impl Embedder for LocalEmbedder {
    fn name(&self) -> &str {
        &self.loaded.name
    }

    /// # Errors
    /// [`ModelError::Broken`] if tokenizer and weights belong to different models.
    ///
    /// # Cancel safety
    /// Dropping the future stops the work within about a second. A few texts are embedded together
    /// with those of other callers, whose work goes on.
    async fn embed(&self, texts: &[String]) -> Result<Vec<Vector>, ModelError> {
        if Gathered::takes(texts) {
            let loaded = Arc::clone(&self.loaded);
            let embed = move |all: &[String]| loaded.embed(all, &AtomicBool::new(false));
            if let Some(vectors) = self.gathered.embed(texts, embed).await {
                return Ok(vectors);
            }
        }
        let texts = texts.to_vec();
        self.blocking(move |loaded, is_cancelled| loaded.embed(&texts, is_cancelled)).await
    }

    /// Whether at most a fifth of the text's tokens are unknown to the vocabulary.
    ///
    /// # Errors
    /// As [`LocalEmbedder::embed`].
    async fn knows(&self, text: &str) -> Result<bool, ModelError> {
        let unknown = self.loaded.tokens.unknown_share(text);
        Ok(unknown.map_err(|cause| self.loaded.broken(cause))? <= UNKNOWN)
    }

    fn known_dimensions(&self) -> Option<usize> {
        Some(self.dimensions())
    }

    fn reads_parts(&self) -> bool {
        reads_parts(&self.loaded.model.shape)
    }

    /// # Errors
    /// As [`LocalEmbedder::embed`].
    ///
    /// # Cancel safety
    /// As [`LocalEmbedder::embed`].
    async fn embed_parted(&self, texts: &[Parted]) -> Result<Vec<PartedVectors>, ModelError> {
        let texts = texts.to_vec();
        self.blocking(move |loaded, is_cancelled| loaded.embed_parted(&texts, is_cancelled)).await
    }
}

/// The share of unknown tokens up to which a model knows a text's language. English models know at
/// most a third of Chinese characters; texts in a model's own language contain an unknown name now
/// and then.
const UNKNOWN: f32 = 0.2;

/// Whether a part's vector can be computed from its own tokens: not if the first token represents
/// the whole text.
fn reads_parts(shape: &Shape) -> bool {
    shape.pooling == Pooling::Mean
}

/// Signals to the blocking task that its caller is gone.
struct SetOnDrop(Arc<AtomicBool>);

impl Drop for SetOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The content of a folder of weights, before it is loaded.
enum Source {
    Files(Shape),
    Packed(Packed),
}

impl Source {
    /// Checks that there is a model that we can run, and that a packed file is complete.
    fn inspect(weights: &Weights) -> Result<Self, WeightsError> {
        if weights.is_packed() {
            return Ok(Self::Packed(Packed::open(&weights.folder.join(packed::FILE))?));
        }
        let shape = config::read_shape(&weights.folder)?;
        Ok(Self::Files(shape))
    }

    fn shape(&self) -> &Shape {
        match self {
            Self::Files(shape) => shape,
            Self::Packed(packed) => &packed.shape,
        }
    }
}

fn read(path: &Path) -> Result<Vec<u8>, WeightsError> {
    std::fs::read(path).map_err(|source| WeightsError::Unreadable { path: path.to_owned(), source })
}

impl Loaded {
    /// Splits texts evenly over rayon's threads; cancelled work returns early with partial results.
    fn embed(
        &self,
        texts: &[String],
        is_cancelled: &AtomicBool,
    ) -> Result<Vec<Vector>, ModelError> {
        let texts: Vec<Vec<Vec<u32>>> = texts
            .par_iter()
            .map(|text| self.tokens.of(text))
            .collect::<Result<_, _>>()
            .map_err(|cause| self.broken(cause))?;
        let windows: Vec<&[u32]> = texts.iter().flatten().map(Vec::as_slice).collect();
        let no_parts = vec![Vec::new(); windows.len()];
        let vectors = self.of_windows(&windows, &no_parts, is_cancelled)?;
        let vectors = vectors.into_iter().map(|(whole, _)| whole).collect();
        Ok(tokenize::joined(texts.iter(), vectors))
    }

    fn broken(&self, source: Cause) -> ModelError {
        ModelError::Broken { model: self.name.clone(), source }
    }
}

/// Tokens per batch. With fewer, the weights are read from memory too often. With more, the numbers
/// of the batch leave the processor's cache.
const BATCH: std::ops::RangeInclusive<usize> = 64..=160;

/// Cuts texts into batches of about equal numbers of tokens, equally many for each thread.
fn batches<'a, 'b>(texts: &'a [&'b [u32]], n_threads: usize) -> Vec<&'a [&'b [u32]]> {
    let total: usize = texts.iter().map(|text| text.len()).sum();
    let rounds = total.div_ceil(n_threads * BATCH.end()).max(1);
    let target = total.div_ceil(n_threads * rounds).max(*BATCH.start());
    let mut rest = texts;
    let mut batches = Vec::new();
    while !rest.is_empty() {
        let mut n_tokens = 0;
        let fits = |text: &&&[u32]| {
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
