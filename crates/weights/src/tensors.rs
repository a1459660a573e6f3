//! Reads named tensors of a `model.safetensors` one by one, on demand, as `f32` in row order.

use std::collections::HashMap;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pikerag_knowledge::ports::Cause;
use safetensors::Dtype;

use super::WeightsError;
use super::blocks::{Rows, Words};
use super::files::{read_at, read_range};
use super::halves::Kind;

/// Names end like this in every BERT; the prefix before it (`bert.`, `roberta.`, or none) is
/// dropped.
const FIRST: &str = "embeddings.word_embeddings.weight";

/// A source of a model's numbers, under the names of BERT's checkpoints.
pub(super) trait Tensors: Sync {
    /// The numbers of a tensor, which must have this shape.
    fn get(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, WeightsError>;

    /// The number of rows of a matrix; 0 if no matrix has the name.
    fn rows(&self, name: &str) -> usize;

    /// The vectors of the vocabulary, in their stored form.
    fn words(&self, hidden: usize) -> Result<Words, WeightsError>;
}

/// The tensors of a `model.safetensors`.
pub(super) struct Safetensors {
    path: PathBuf,
    prefix: String,
    file: Arc<File>,
    /// The position of the numbers, from which the header counts.
    start: u64,
    tensors: HashMap<String, Entry>,
}

/// The header's entry for a tensor.
#[derive(serde::Deserialize)]
struct Entry {
    dtype: Dtype,
    shape: Vec<usize>,
    data_offsets: [u64; 2],
}

/// A header's entry; `__metadata__` has no place in the file.
#[derive(serde::Deserialize)]
#[serde(untagged)]
enum HeaderEntry {
    Tensor(Entry),
    Other(serde::de::IgnoredAny),
}

impl Safetensors {
    /// Reads the header, and checks that the file has the length it gives: an interrupted download
    /// has not.
    pub(super) fn open(path: &Path) -> Result<Self, WeightsError> {
        let unreadable = |source| WeightsError::Unreadable { path: path.to_owned(), source };
        let malformed = |source: Cause| WeightsError::Malformed { path: path.to_owned(), source };
        let file = File::open(path).map_err(unreadable)?;
        let length = file.metadata().map_err(unreadable)?.len();
        let mut head = [0; 8];
        read_at(&file, &mut head, 0).map_err(|error| malformed(error.into()))?;
        let start = u64::from_le_bytes(head).saturating_add(8);
        if length < start {
            return Err(malformed("the file ends within its header".into()));
        }
        let header = read_range(&file, &(8..start)).map_err(unreadable)?;
        let entries: HashMap<String, HeaderEntry> =
            serde_json::from_slice(&header).map_err(|error| malformed(error.into()))?;
        let tensor = |(name, entry)| match entry {
            HeaderEntry::Tensor(entry) => Some((name, entry)),
            HeaderEntry::Other(_) => None,
        };
        let tensors: HashMap<String, Entry> = entries.into_iter().filter_map(tensor).collect();
        let ends = tensors.values().map(|entry| entry.data_offsets[1]);
        let wanted = ends.max().unwrap_or(0).saturating_add(start);
        if length != wanted {
            return Err(malformed(format!("it has {length} bytes, not {wanted}").into()));
        }
        let prefix = tensors.keys().filter_map(|name| name.strip_suffix(FIRST)).min();
        let prefix = prefix.unwrap_or_default().to_owned();
        Ok(Self { path: path.to_owned(), prefix, file: Arc::new(file), start, tensors })
    }

    /// The same file with the full names of its tensors: a head is stored beside the body of a
    /// model.
    pub(super) fn without_prefix(self) -> Self {
        Self { prefix: String::new(), ..self }
    }

    /// Old checkpoints call a norm's weight and bias gamma and beta.
    fn find(&self, name: &str) -> Option<&Entry> {
        let name = format!("{}{name}", self.prefix);
        let old = name
            .replace("LayerNorm.weight", "LayerNorm.gamma")
            .replace("LayerNorm.bias", "LayerNorm.beta");
        self.tensors.get(&name).or_else(|| self.tensors.get(&old))
    }

    /// The place of the numbers of a tensor of this shape, and their kind.
    fn place(&self, name: &str, shape: &[usize]) -> Result<(Range<u64>, Kind), WeightsError> {
        let wrong = |what: String| WeightsError::Tensor {
            path: self.path.clone(),
            tensor: name.to_owned(),
            what,
        };
        let tensor = self.find(name).ok_or_else(|| wrong("is missing".to_owned()))?;
        if tensor.shape != shape {
            let what = format!("has shape {:?}, but config.json gives {shape:?}", tensor.shape);
            return Err(wrong(what));
        }
        let kind = Kind::of(tensor.dtype).ok_or_else(|| {
            wrong(format!("has numbers of type {:?}, not F32, F16 or BF16", tensor.dtype))
        })?;
        let [start, end] = tensor.data_offsets.map(|offset| offset.saturating_add(self.start));
        let n_bytes = shape.iter().try_fold(kind.bytes(), |all, n| all.checked_mul(*n as u64));
        // The file ends with the last tensor.
        if n_bytes.is_none() || start.checked_add(n_bytes.unwrap_or(0)) != Some(end) {
            return Err(wrong(format!("has shape {shape:?} and lies from {start} to {end}")));
        }
        Ok((start..end, kind))
    }
}

impl Tensors for Safetensors {
    fn get(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, WeightsError> {
        let (range, kind) = self.place(name, shape)?;
        let unreadable = |source| WeightsError::Unreadable { path: self.path.clone(), source };
        let bytes = read_range(&self.file, &range).map_err(unreadable)?;
        let mut values = Vec::with_capacity(shape.iter().product());
        kind.append(&bytes, &mut values);
        Ok(values)
    }

    fn rows(&self, name: &str) -> usize {
        self.find(name).and_then(|tensor| tensor.shape.first().copied()).unwrap_or(0)
    }

    fn words(&self, hidden: usize) -> Result<Words, WeightsError> {
        let (range, kind) = self.place(FIRST, &[self.rows(FIRST), hidden])?;
        Ok(Words::File(Rows { file: Arc::clone(&self.file), range, kind }))
    }
}
