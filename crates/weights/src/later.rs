//! Loads weights when the first text comes, because most commands embed no text.

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use pikerag_knowledge::{Embedder, ModelError, Parted, PartedVectors, Vector};

use super::tensors::Safetensors;
use super::{LocalEmbedder, Source, Weights, WeightsError, reads_parts};

/// A model in memory, loaded on first use.
#[derive(Clone)]
pub(super) struct Later<T> {
    weights: Weights,
    open: fn(&Weights) -> Result<T, WeightsError>,
    opened: Arc<OnceLock<Result<T, Arc<WeightsError>>>>,
}

impl<T: Clone + Send + Sync + 'static> Later<T> {
    pub(super) fn new(weights: Weights, open: fn(&Weights) -> Result<T, WeightsError>) -> Self {
        Self { weights, open, opened: Arc::default() }
    }

    pub(super) fn name(&self) -> &str {
        &self.weights.name
    }

    /// Loads the model unless it is loaded.
    ///
    /// # Errors
    /// [`ModelError::Broken`], also for every later call.
    pub(super) async fn opened(&self) -> Result<T, ModelError> {
        let broken = |source| ModelError::Broken { model: self.weights.name.clone(), source };
        let opened = match self.opened.get() {
            Some(opened) => opened.clone(),
            None => {
                let this = self.clone();
                let open = move || {
                    let load = || (this.open)(&this.weights).map_err(Arc::new);
                    this.opened.get_or_init(load).clone()
                };
                let opened = tokio::task::spawn_blocking(open).await;
                opened.map_err(|cause| broken(cause.into()))?
            }
        };
        opened.map_err(|cause| broken(Box::new(cause)))
    }
}

/// A sentence model that is loaded on first use, once.
#[derive(Clone)]
pub struct LaterEmbedder {
    model: Later<LocalEmbedder>,
    dimensions: usize,
    reads_parts: bool,
}

impl LaterEmbedder {
    /// Checks that there is a model that we can run, and that its file is complete; loads nothing.
    ///
    /// # Errors
    /// See [`WeightsError`]. Errors that only loading can find come with the first text, as
    /// [`ModelError::Broken`].
    pub fn new(weights: Weights) -> Result<Self, WeightsError> {
        let source = Source::inspect(&weights)?;
        match &source {
            Source::Files(_) => drop(Safetensors::open(&weights.folder.join("model.safetensors"))?),
            Source::Packed(_) => {} // Inspected already.
        }
        let dimensions = source.shape().hidden;
        let reads_parts = reads_parts(source.shape());
        let model = Later::new(weights, LocalEmbedder::open);
        Ok(Self { model, dimensions, reads_parts })
    }
}

#[async_trait]
impl Embedder for LaterEmbedder {
    fn name(&self) -> &str {
        self.model.name()
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vector>, ModelError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        self.model.opened().await?.embed(texts).await
    }

    async fn knows(&self, text: &str) -> Result<bool, ModelError> {
        self.model.opened().await?.knows(text).await
    }

    fn known_dimensions(&self) -> Option<usize> {
        Some(self.dimensions)
    }

    fn reads_parts(&self) -> bool {
        self.reads_parts
    }

    async fn embed_parted(&self, texts: &[Parted]) -> Result<Vec<PartedVectors>, ModelError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        self.model.opened().await?.embed_parted(texts).await
    }
}
