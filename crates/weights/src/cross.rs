//! Scores how well a text answers a query with weights on this machine. A BERT-family
//! cross-encoder, such as ms-marco-MiniLM-L-6-v2 or bge-reranker-base, reads both as one pair, and
//! a head on the first token gives one number (Nogueira and Cho, 2019).

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use pikerag_knowledge::ports::Cause;
use pikerag_knowledge::{ModelError, Relevance, Reranker};
use rayon::prelude::*;
use serde::Deserialize;
use tokenizers::{PostProcessor, Tokenizer};

use super::config::{self, Shape};
use super::later::Later;
use super::linear::Linear;
use super::model::{ForwardError, Model, Scratch};
use super::tensors::Safetensors;
use super::tokenize::{cut_at, read_tokenizer};
use super::{SetOnDrop, Weights, WeightsError, batches, beside};

/// Pairs are cut at this length, the training length of cross-encoders, or at the end of the
/// positions.
const MAX_TOKENS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(511);

/// A cross-encoder in memory. Its scores are logits: any finite number, 0 if the model is
/// undecided.
///
/// The same pair gets the same score, bit for bit, in any batch, on one kind of processor.
#[derive(Clone)]
pub struct LocalReranker {
    loaded: Arc<Loaded>,
}

struct Loaded {
    name: String,
    tokenizer: Tokenizer,
    model: Model,
    head: Head,
}

/// score = tanh(x·W₁ + b₁)·W₂ + b₂, of the first token's row.
struct Head {
    dense: Linear,
    score: Linear,
}

/// The entries of `config.json` about the head.
#[derive(Deserialize)]
struct HeadFile {
    #[serde(default)]
    architectures: Vec<String>,
    #[serde(default)]
    num_labels: Option<usize>,
    #[serde(default)]
    id2label: Option<BTreeMap<String, serde_json::Value>>,
}

impl LocalReranker {
    /// Loads a model with a head for one label; pairs are cut at 512 tokens, or at the end of its
    /// positions. The longer of query and text loses its end first.
    ///
    /// # Errors
    /// See [`WeightsError`].
    pub fn open(weights: &Weights) -> Result<Self, WeightsError> {
        let (shape, names) = read_shape(&weights.folder)?;
        let path = weights.folder.join("model.safetensors");
        let tensors = Safetensors::open(&path)?;
        let path = weights.folder.join("tokenizer.json");
        let read_model = || Model::read(&tensors, shape);
        let (model, tokenizer) = rayon::join(read_model, || read_tokenizer(&path));
        let model = model?;
        let head = Head::read(tensors, names, model.shape.hidden)?;
        let tokenizer = cut_at(tokenizer?, &path, model.max_tokens())?;
        let n_special = tokenizer.get_post_processor().map_or(0, |step| step.added_tokens(true));
        if model.max_tokens() <= n_special {
            let what = format!("pairs of at most {} tokens", model.max_tokens());
            return Err(WeightsError::Unsupported { path, what });
        }
        let name = weights.name.clone();
        Ok(Self { loaded: Arc::new(Loaded { name, tokenizer, model, head }) })
    }

    /// [`Reranker::rerank`] on rayon's threads, for callers without an async runtime: one logit per
    /// text, in order.
    ///
    /// # Errors
    /// [`ModelError::Broken`].
    pub fn rerank_now(&self, query: &str, texts: &[String]) -> Result<Vec<f32>, ModelError> {
        self.loaded.scores(query, texts, &AtomicBool::new(false))
    }
}

#[async_trait]
impl Reranker for LocalReranker {
    fn name(&self) -> &str {
        &self.loaded.name
    }

    /// # Errors
    /// [`ModelError::Broken`] if tokenizer and weights belong to different models, or a score is
    /// not a finite number.
    ///
    /// # Cancel safety
    /// Dropping the future stops the work within about a second.
    async fn rerank(&self, query: &str, texts: &[String]) -> Result<Relevance, ModelError> {
        let loaded = Arc::clone(&self.loaded);
        let (query, texts) = (query.to_owned(), texts.to_vec());
        let dropped = SetOnDrop(Arc::new(AtomicBool::new(false)));
        let is_cancelled = Arc::clone(&dropped.0);
        let scores = beside(move || loaded.scores(&query, &texts, &is_cancelled)).await;
        let scores = scores.map_err(|cause| self.loaded.broken(cause))??;
        Ok(Relevance { scores, ..Relevance::default() })
    }
}

/// The names of a head's layers.
#[derive(Clone, Copy)]
struct HeadNames {
    dense: &'static str,
    /// Whether `dense` belongs to the body of the model, under the prefix of its names.
    dense_is_in_body: bool,
    score: &'static str,
}

const BERT: HeadNames =
    HeadNames { dense: "pooler.dense", dense_is_in_body: true, score: "classifier" };
const ROBERTA: HeadNames =
    HeadNames { dense: "classifier.dense", dense_is_in_body: false, score: "classifier.out_proj" };

/// Reads the shape of a model, which must give a single number.
fn read_shape(folder: &Path) -> Result<(Shape, HeadNames), WeightsError> {
    let shape = Shape { max_tokens: MAX_TOKENS, ..config::read_shape(folder)? };
    let path = folder.join("config.json");
    let head: HeadFile = config::read_json(&path)?;
    let unsupported =
        |path: &Path, what: String| Err(WeightsError::Unsupported { path: path.to_owned(), what });
    let architecture =
        head.architectures.iter().find(|name| name.ends_with("ForSequenceClassification"));
    let Some(architecture) = architecture else {
        let what = match head.architectures.as_slice() {
            [] => "a model that is not a `…ForSequenceClassification`".to_owned(),
            others => format!("`{}`, not a `…ForSequenceClassification`", others.join("`, `")),
        };
        return unsupported(&path, what);
    };
    // Transformers takes two labels by default.
    let labels = head.num_labels.or(head.id2label.map(|labels| labels.len())).unwrap_or(2);
    if labels != 1 {
        return unsupported(&path, format!("{labels} labels (a reranker has one)"));
    }
    Ok((shape, if architecture.starts_with("Bert") { BERT } else { ROBERTA }))
}

impl Head {
    fn read(body: Safetensors, names: HeadNames, hidden: usize) -> Result<Self, WeightsError> {
        let dense = |tensors: &Safetensors| {
            Linear::read(tensors, &[names.dense.to_owned()], hidden, hidden)
        };
        let of_body = if names.dense_is_in_body { Some(dense(&body)?) } else { None };
        let bare = body.without_prefix();
        let dense = match of_body {
            Some(dense) => dense,
            None => dense(&bare)?,
        };
        Ok(Self { dense, score: Linear::read(&bare, &[names.score.to_owned()], hidden, 1)? })
    }
}

/// A query and a text as the model reads them.
struct Pair {
    tokens: Vec<u32>,
    /// The place of the first token of the second type; the end if there is none.
    second: usize,
}

impl Loaded {
    /// Splits pairs evenly over rayon's threads; cancelled work returns early with partial results.
    fn scores(
        &self,
        query: &str,
        texts: &[String],
        is_cancelled: &AtomicBool,
    ) -> Result<Vec<f32>, ModelError> {
        let pairs: Vec<Pair> = texts
            .par_iter()
            .map(|text| self.tokenize(query, text))
            .collect::<Result<_, _>>()
            .map_err(|cause| self.broken(cause))?;
        let (tokens, seconds): (Vec<Vec<u32>>, Vec<usize>) =
            pairs.into_iter().map(|pair| (pair.tokens, pair.second)).unzip();
        let mut rest = seconds.as_slice();
        let mut parts = Vec::new();
        let tokens: Vec<&[u32]> = tokens.iter().map(Vec::as_slice).collect();
        for batch in batches(&tokens, rayon::current_num_threads()) {
            let (own, others) = rest.split_at(batch.len());
            parts.push((batch, own));
            rest = others;
        }
        let scores: Vec<Vec<f32>> = parts
            .into_par_iter()
            .map_init(Scratch::default, |scratch, (tokens, seconds)| {
                if is_cancelled.load(Ordering::Relaxed) {
                    return Ok(Vec::new());
                }
                self.score(tokens, seconds, scratch)
            })
            .collect::<Result<_, _>>()
            .map_err(|cause| self.broken(cause.into()))?;
        let scores = scores.concat();
        match scores.iter().all(|score| score.is_finite()) {
            true => Ok(scores),
            false => {
                Err(self.broken("the weights give a score that is not a finite number".into()))
            }
        }
    }

    fn tokenize(&self, query: &str, text: &str) -> Result<Pair, Cause> {
        let encoded = self.tokenizer.encode_fast((query, text), true)?;
        let tokens = encoded.get_ids().to_vec();
        let second = encoded.get_type_ids().iter().position(|kind| *kind == 1);
        Ok(Pair { second: second.unwrap_or(tokens.len()), tokens })
    }

    /// One score per pair, in order.
    fn score(
        &self,
        pairs: &[&[u32]],
        seconds: &[usize],
        scratch: &mut Scratch,
    ) -> Result<Vec<f32>, ForwardError> {
        self.model.run(pairs, seconds, scratch)?;
        let mut firsts = self.model.first_rows(pairs, scratch);
        let (mut dense, mut scores) = (Vec::new(), Vec::new());
        self.head.dense.set(&firsts, &mut scratch.rounded, &mut dense);
        firsts.clear();
        firsts.extend(dense.iter().map(|x| x.tanh()));
        self.head.score.set(&firsts, &mut scratch.rounded, &mut scores);
        Ok(scores)
    }

    fn broken(&self, source: Cause) -> ModelError {
        ModelError::Broken { model: self.name.clone(), source }
    }
}

/// A cross-encoder that is loaded on first use, once.
#[derive(Clone)]
pub struct LaterReranker(Later<LocalReranker>);

impl LaterReranker {
    /// Checks that there is a model that we can run, and that its file is complete; loads nothing.
    ///
    /// # Errors
    /// See [`WeightsError`]. Errors that only loading can find come with the first texts, as
    /// [`ModelError::Broken`].
    pub fn new(weights: Weights) -> Result<Self, WeightsError> {
        read_shape(&weights.folder)?;
        drop(Safetensors::open(&weights.folder.join("model.safetensors"))?);
        Ok(Self(Later::new(weights, LocalReranker::open)))
    }
}

#[async_trait]
impl Reranker for LaterReranker {
    fn name(&self) -> &str {
        self.0.name()
    }

    async fn rerank(&self, query: &str, texts: &[String]) -> Result<Relevance, ModelError> {
        if texts.is_empty() {
            return Ok(Relevance::default());
        }
        self.0.opened().await?.rerank(query, texts).await
    }
}
