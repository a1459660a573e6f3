//! How are 32 weights kept in 18 bytes, and how does a table of words stay that small? A block is a
//! scale of 16 bits and 32 numbers of 4 bits (`Q4_0` of ggml).

use super::halves::from_f16;

/// Weights per block.
pub(super) const WEIGHTS: usize = 32;
/// Bytes per block: the scale, then 16 bytes, the `j`-th of which holds the weights `j` and `j + 16`.
pub(super) const BYTES: usize = 18;

/// Appends the weights of whole blocks; bytes after the last whole one are left out.
pub(super) fn expand(blocks: &[u8], into: &mut Vec<f32>) {
    for block in blocks.as_chunks::<BYTES>().0 {
        let [low, high, pairs @ ..] = block;
        let scale = from_f16([*low, *high]);
        into.extend(pairs.iter().map(|pair| (f32::from(pair & 0x0f) - 8.0) * scale));
        into.extend(pairs.iter().map(|pair| (f32::from(pair >> 4) - 8.0) * scale));
    }
}

/// The vectors of a vocabulary, a row for each token.
pub(super) enum Words {
    Floats(Vec<f32>),
    /// Rows of whole blocks, expanded as they are asked for: 250,000 rows of 384 numbers take
    /// 54 MB, not 384.
    Blocks(Vec<u8>),
}

impl Words {
    /// Appends the row of a token, which is `hidden` numbers long; `None` if there is no such row.
    pub(super) fn append(&self, token: u32, hidden: usize, into: &mut Vec<f32>) -> Option<()> {
        match self {
            Self::Floats(rows) => into.extend_from_slice(row(rows, token, hidden)?),
            Self::Blocks(rows) => expand(row(rows, token, hidden / WEIGHTS * BYTES)?, into),
        }
        Some(())
    }
}

fn row<T>(rows: &[T], token: u32, length: usize) -> Option<&[T]> {
    let start = (token as usize).checked_mul(length)?;
    rows.get(start..start.checked_add(length)?)
}

#[cfg(test)]
mod tests {
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
    fn a_row_is_what_the_whole_table_has_there() {
        let mut all = Vec::new();
        expand(&rows(), &mut all);
        for words in [Words::Blocks(rows()), Words::Floats(all.clone())] {
            for token in 0..2_u32 {
                let mut row = vec![9.0];
                words.append(token, 32, &mut row).unwrap();
                assert_eq!(row[1..], all[token as usize * 32..][..32], "row {token}");
            }
            for token in [2, u32::MAX] {
                assert!(words.append(token, 32, &mut Vec::new()).is_none(), "row {token}");
            }
        }
    }
}
