//! Splits a text into tokens, and into the windows that the model reads together.

use std::path::Path;

use pikerag_knowledge::Vector;
use pikerag_knowledge::ports::Cause;
use tokenizers::{PostProcessor, Tokenizer, TruncationParams};

use super::packed::Marks;
use super::unigram::Unigram;
use super::{WeightsError, math, read};

/// The names of the token for unknown words in vocabularies.
const UNKNOWN: [&str; 2] = ["[UNK]", "<unk>"];

/// The tokenizer of a model.
pub(super) enum Tokens {
    /// From a `tokenizer.json`: cuts a text at the end of the model's positions.
    File(Box<Tokenizer>),
    /// From a packed model: a longer text becomes windows of `n_pieces` pieces, side by side.
    Windows { unigram: Box<Unigram>, marks: Marks, n_pieces: usize },
}

impl Tokens {
    /// From a `tokenizer.json`.
    pub(super) fn of_file(tokenizer: Tokenizer) -> Self {
        Self::File(Box::new(tokenizer))
    }

    /// Windows of at most `max_tokens`, marks included.
    pub(super) fn windows(unigram: Unigram, marks: Marks, max_tokens: usize) -> Self {
        let n_pieces = max_tokens.saturating_sub(2).max(1);
        Self::Windows { unigram: Box::new(unigram), marks, n_pieces }
    }

    /// The share of a text's tokens that are unknown to the vocabulary, from 0 to 1.
    pub(super) fn unknown_share(&self, text: &str) -> Result<f32, Cause> {
        let unknown = match self {
            Self::File(tokenizer) => UNKNOWN.iter().find_map(|name| tokenizer.token_to_id(name)),
            Self::Windows { unigram, .. } => Some(unigram.unknown()),
        };
        let located = self.located(text)?;
        let tokens = located.windows.iter().flatten().zip(located.places.iter().flatten());
        let (mut all, mut unknowns) = (0_usize, 0_usize);
        for (token, _) in tokens.filter(|(_, place)| place.is_some()) {
            all += 1;
            unknowns += usize::from(Some(*token) == unknown);
        }
        Ok(unknowns as f32 / all.max(1) as f32)
    }

    /// The windows of a text, at least one, and the places of their tokens.
    pub(super) fn located(&self, text: &str) -> Result<Located, Cause> {
        let (unigram, marks, n_pieces) = match self {
            Self::File(tokenizer) => {
                let encoded = tokenizer.encode(text, true)?;
                let last = |&(start, end): &(usize, usize)| (start < end).then(|| end - 1);
                return Ok(Located {
                    windows: vec![encoded.get_ids().to_vec()],
                    places: vec![encoded.get_offsets().iter().map(last).collect()],
                    is_cut: !encoded.get_overflowing().is_empty(),
                });
            }
            Self::Windows { unigram, marks, n_pieces } => (unigram, marks, *n_pieces),
        };
        let pieces = unigram.located_tokens(text);
        let mut located = Located { windows: Vec::new(), places: Vec::new(), is_cut: false };
        let mut windows: Vec<&[(u32, usize)]> = pieces.chunks(n_pieces).collect();
        if windows.is_empty() {
            windows.push(&[]);
        }
        for window in windows {
            let tokens = window.iter().map(|(token, _)| *token);
            located
                .windows
                .push([marks.first].into_iter().chain(tokens).chain([marks.last]).collect());
            let places = window.iter().map(|(_, place)| Some(*place));
            located.places.push([None].into_iter().chain(places).chain([None]).collect());
        }
        Ok(located)
    }

    /// The windows of a text, at least one.
    pub(super) fn of(&self, text: &str) -> Result<Vec<Vec<u32>>, Cause> {
        let (unigram, marks, n_pieces) = match self {
            Self::File(tokenizer) => {
                return Ok(vec![tokenizer.encode_fast(text, true)?.get_ids().to_vec()]);
            }
            Self::Windows { unigram, marks, n_pieces } => (unigram, marks, *n_pieces),
        };
        let pieces = unigram.tokens(text);
        let mut windows: Vec<&[u32]> = pieces.chunks(n_pieces).collect();
        if windows.is_empty() {
            windows.push(&[]);
        }
        let marked = |window: &[u32]| [&[marks.first], window, &[marks.last]].concat();
        Ok(windows.into_iter().map(marked).collect())
    }
}

/// The tokens of a text, with their places in it.
pub(super) struct Located {
    /// As [`Tokens::of`] gives them.
    pub(super) windows: Vec<Vec<u32>>,
    /// For each token of each window, the byte of the text that it ends with; none for marks.
    pub(super) places: Vec<Vec<Option<usize>>>,
    is_cut: bool,
}

impl Located {
    /// Whether the text was cut before this place.
    pub(super) fn is_cut_before(&self, end: usize) -> bool {
        let last = || self.places.iter().flatten().rev().find_map(|place| *place);
        self.is_cut && last().is_none_or(|last| last + 1 < end)
    }
}

/// The tokenizer of a file.
pub(super) fn read_tokenizer(path: &Path) -> Result<Tokenizer, WeightsError> {
    let malformed = |source| WeightsError::Malformed { path: path.to_owned(), source };
    Tokenizer::from_bytes(read(path)?).map_err(malformed)
}

/// The tokenizer of this file without padding, and truncated at our limit: the file's own settings
/// are for fixed-size batches.
pub(super) fn cut_at(
    mut tokenizer: Tokenizer,
    path: &Path,
    max_tokens: usize,
) -> Result<Tokenizer, WeightsError> {
    let malformed = |source| WeightsError::Malformed { path: path.to_owned(), source };
    tokenizer.with_padding(None);
    let n_special = tokenizer.get_post_processor().map_or(0, |step| step.added_tokens(false));
    let max_length = max_tokens.max(n_special + 1);
    let truncation = TruncationParams { max_length, ..TruncationParams::default() };
    tokenizer.with_truncation(Some(truncation)).map_err(malformed)?;
    Ok(tokenizer)
}

/// One unit vector per text from those of its windows. Each window gives the sum over its tokens;
/// the means count by the number of pieces. Ends early if vectors are missing.
pub(super) fn joined<'a>(
    texts: impl Iterator<Item = &'a Vec<Vec<u32>>>,
    vectors: Vec<Vector>,
) -> Vec<Vector> {
    let mut vectors = vectors.into_iter();
    let mut joined = Vec::new();
    for windows in texts {
        let Some(mut sum) = vectors.next() else { return joined };
        if 1 < windows.len() {
            scale(&mut sum, windows.first());
            for window in windows.iter().skip(1) {
                let Some(mut vector) = vectors.next() else { return joined };
                scale(&mut vector, Some(window));
                math::add(&mut sum, &vector);
            }
        }
        math::normalize(&mut sum);
        joined.push(sum);
    }
    joined
}

/// Turns the sum over a window's tokens into their mean, times the number of its pieces.
fn scale(vector: &mut [f32], window: Option<&Vec<u32>>) {
    let n_tokens = window.map_or(0, Vec::len);
    let weight = n_tokens.saturating_sub(2) as f32 / n_tokens.max(1) as f32;
    for value in vector {
        *value *= weight;
    }
}
