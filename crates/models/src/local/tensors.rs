//! Named tensors of a `model.safetensors`, as `f32` in row order.

use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use pikerag_knowledge::ports::Cause;
use safetensors::{Dtype, SafeTensors};

use super::WeightsError;
use super::blocks::Words;
use super::halves::{from_bf16, from_f16};

/// Names end like this in every BERT; what comes before (`bert.`, `roberta.`, nothing) is dropped.
const FIRST: &str = "embeddings.word_embeddings.weight";

/// Where a model's numbers come from, under the names that BERT's checkpoints have for them.
pub(super) trait Tensors {
    /// The numbers of a tensor, which must have this shape.
    fn get(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, WeightsError>;

    /// The number of rows of a matrix; 0 if there is none of the name.
    fn rows(&self, name: &str) -> usize;

    /// The vectors of the vocabulary, in the form in which they are kept.
    fn words(&self, hidden: usize) -> Result<Words, WeightsError>;
}

/// The tensors of a `model.safetensors`.
pub(super) struct Safetensors<'a> {
    path: PathBuf,
    prefix: String,
    file: SafeTensors<'a>,
}

impl<'a> Safetensors<'a> {
    /// Reads the header; `path` is for messages.
    pub(super) fn open(path: &Path, bytes: &'a [u8]) -> Result<Self, WeightsError> {
        let file = SafeTensors::deserialize(bytes).map_err(|cause| WeightsError::Malformed {
            path: path.to_owned(),
            source: cause.into(),
        })?;
        let prefix = file.names().into_iter().find_map(|name| name.strip_suffix(FIRST));
        let prefix = prefix.unwrap_or_default().to_owned();
        Ok(Self { path: path.to_owned(), prefix, file })
    }

    /// The same file by the whole names of its tensors: a head stands beside the body of a model.
    pub(super) fn without_prefix(self) -> Self {
        Self { prefix: String::new(), ..self }
    }

    /// Old checkpoints call a norm's weight and bias gamma and beta.
    fn find(&self, name: &str) -> Option<safetensors::tensor::TensorView<'a>> {
        let name = format!("{}{name}", self.prefix);
        let old = name
            .replace("LayerNorm.weight", "LayerNorm.gamma")
            .replace("LayerNorm.bias", "LayerNorm.beta");
        self.file.tensor(&name).or_else(|_| self.file.tensor(&old)).ok()
    }
}

impl Tensors for Safetensors<'_> {
    fn get(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, WeightsError> {
        let wrong = |what: String| WeightsError::Tensor {
            path: self.path.clone(),
            tensor: name.to_owned(),
            what,
        };
        let tensor = self.find(name).ok_or_else(|| wrong("is missing".to_owned()))?;
        if tensor.shape() != shape {
            let what = format!("has shape {:?}, config.json says {shape:?}", tensor.shape());
            return Err(wrong(what));
        }
        let data = tensor.data();
        match tensor.dtype() {
            Dtype::F32 => Ok(data.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect()),
            Dtype::F16 => Ok(data.as_chunks().0.iter().map(|b| from_f16(*b)).collect()),
            Dtype::BF16 => Ok(data.as_chunks().0.iter().map(|b| from_bf16(*b)).collect()),
            other => Err(wrong(format!("has numbers of type {other:?}, not F32, F16 or BF16"))),
        }
    }

    fn rows(&self, name: &str) -> usize {
        self.find(name).and_then(|tensor| tensor.shape().first().copied()).unwrap_or(0)
    }

    fn words(&self, hidden: usize) -> Result<Words, WeightsError> {
        Ok(Words::Floats(self.get(FIRST, &[self.rows(FIRST), hidden])?))
    }
}

/// Whether a file is as long as its header says: a download that broke off is not.
pub(super) fn check_length(path: &Path) -> Result<(), WeightsError> {
    let unreadable = |source| WeightsError::Unreadable { path: path.to_owned(), source };
    let malformed = |source: Cause| WeightsError::Malformed { path: path.to_owned(), source };
    let mut file = std::fs::File::open(path).map_err(unreadable)?;
    let length = file.metadata().map_err(unreadable)?.len();
    let mut head = [0; 8];
    file.read_exact(&mut head).map_err(|error| malformed(error.into()))?;
    let head = u64::from_le_bytes(head);
    if length < head.saturating_add(8) {
        return Err(malformed("it ends within its header".into()));
    }
    let mut header = Vec::new();
    file.take(head).read_to_end(&mut header).map_err(unreadable)?;
    let tensors: HashMap<String, Entry> =
        serde_json::from_slice(&header).map_err(|error| malformed(error.into()))?;
    let ends = tensors.values().filter_map(|entry| entry.data_offsets.map(|offsets| offsets[1]));
    let wanted = ends.max().unwrap_or(0).saturating_add(head).saturating_add(8);
    match length == wanted {
        true => Ok(()),
        false => Err(malformed(format!("it has {length} bytes, not {wanted}").into())),
    }
}

/// What the header says of a tensor; its `__metadata__` has no place in the file.
#[derive(serde::Deserialize)]
struct Entry {
    data_offsets: Option<[u64; 2]>,
}
