//! Stores 32 weights in 18 bytes, which keeps the table of words small. A block has a scale of 16
//! bits and 32 numbers of 4 bits (`Q4_0` of ggml).

use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use super::files::read_at;
use super::halves::{Kind, from_f16};

/// Weights per block.
pub(super) const WEIGHTS: usize = 32;
/// Bytes per block: the scale, then 16 bytes, where the `j`-th holds the weights `j` and `j + 16`.
pub(super) const BYTES: usize = 18;

/// Appends the weights of whole blocks; bytes after the last whole block are ignored.
pub(super) fn expand(blocks: &[u8], into: &mut Vec<f32>) {
    for block in blocks.as_chunks::<BYTES>().0 {
        let [low, high, pairs @ ..] = block;
        let scale = from_f16([*low, *high]);
        into.extend(pairs.iter().map(|pair| (f32::from(pair & 0x0f) - 8.0) * scale));
        into.extend(pairs.iter().map(|pair| (f32::from(pair >> 4) - 8.0) * scale));
    }
}

/// The vectors of a vocabulary, one row for each token.
pub(super) enum Words {
    Floats(Vec<f32>),
    /// Left in the file: a question needs a dozen rows, and a table has tens of megabytes.
    File(Rows),
    /// Rows of whole blocks, expanded on demand: 250,000 rows of 384 numbers take 54 MB, not 384.
    Blocks(Vec<u8>),
}

/// Rows of numbers in a file.
pub(super) struct Rows {
    pub(super) file: Arc<File>,
    /// Their place in the file, checked when it was opened.
    pub(super) range: Range<u64>,
    pub(super) kind: Kind,
}

impl Words {
    /// Appends the row of a token, `hidden` numbers long; `false` if there is no such row.
    ///
    /// # Errors
    /// The file can no longer be read.
    pub(super) fn append(
        &self,
        token: u32,
        hidden: usize,
        into: &mut Vec<f32>,
    ) -> io::Result<bool> {
        match self {
            Self::Floats(rows) => {
                let Some(row) = row(rows, token, hidden) else { return Ok(false) };
                into.extend_from_slice(row);
            }
            Self::Blocks(rows) => {
                let Some(row) = row(rows, token, hidden / WEIGHTS * BYTES) else {
                    return Ok(false);
                };
                expand(row, into);
            }
            Self::File(rows) => return rows.append(token, hidden, into),
        }
        Ok(true)
    }
}

impl Rows {
    fn append(&self, token: u32, hidden: usize, into: &mut Vec<f32>) -> io::Result<bool> {
        let length = self.kind.bytes().saturating_mul(hidden as u64);
        let start = u64::from(token).saturating_mul(length).saturating_add(self.range.start);
        if self.range.end < start.saturating_add(length) {
            return Ok(false);
        }
        let mut bytes = vec![0; usize::try_from(length).map_err(io::Error::other)?];
        read_at(&self.file, &mut bytes, start)?;
        self.kind.append(&bytes, into);
        Ok(true)
    }
}

fn row<T>(rows: &[T], token: u32, length: usize) -> Option<&[T]> {
    let start = (token as usize).checked_mul(length)?;
    rows.get(start..start.checked_add(length)?)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// Two rows of 32: all halves of one scale, then a ramp of another.
    fn rows() -> Vec<u8> {
        let mut rows = vec![0x00, 0x3c]; // 1.0
        rows.extend([0x08 | 0xf0; 16]); // 0 below, 7 above.
        rows.extend([0x00, 0xb8]); // -0.5
        rows.extend((0..16).map(|j| j | (15 - j) << 4));
        rows
    }

    #[test]
    fn a_block_is_a_scale_and_pairs() {
        let mut values = Vec::new();
        expand(&rows(), &mut values);
        let ramp = (0..16_i8).map(|j| f32::from(j - 8) * -0.5);
        let back = (0..16_i8).map(|j| f32::from(7 - j) * -0.5);
        let expected = [0.0; 16].into_iter().chain([7.0; 16]).chain(ramp).chain(back);
        assert!(values.iter().copied().eq(expected), "{values:?}");
    }

    #[test]
    fn a_row_equals_the_row_of_the_whole_table() {
        let mut all = Vec::new();
        expand(&rows(), &mut all);
        let mut file = tempfile::tempfile().unwrap();
        let bytes: Vec<u8> = all.iter().flat_map(|value| value.to_le_bytes()).collect();
        // Other bytes come before and after.
        file.write_all(&[&[7; 5], bytes.as_slice(), &[7; 900]].concat()).unwrap();
        let range = 5..5 + bytes.len() as u64;
        let in_file = Rows { file: Arc::new(file), range, kind: Kind::F32 };
        for words in [Words::Blocks(rows()), Words::Floats(all.clone()), Words::File(in_file)] {
            for token in 0..2_u32 {
                let mut row = vec![9.0];
                assert!(words.append(token, 32, &mut row).unwrap());
                assert_eq!(row[1..], all[token as usize * 32..][..32], "row {token}");
            }
            for token in [2, u32::MAX] {
                assert!(!words.append(token, 32, &mut Vec::new()).unwrap(), "row {token}");
            }
        }
    }
}
