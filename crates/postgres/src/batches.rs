//! Splits rows into statements of a limited size.

use std::collections::HashSet;
use std::hash::Hash;

/// The most rows of one statement.
pub(crate) const ROWS: usize = 1_000;
/// A statement with more bytes than this has one row.
const BYTES: usize = 8 << 20;

/// Splits rows into slices, in order. A slice holds no key twice, because a statement cannot change
/// a row twice. `of` gives the key of a row, and its bytes.
pub(crate) fn batches<'a, T, K: Eq + Hash>(
    rows: &'a [T],
    of: impl Fn(&'a T) -> (K, usize),
) -> Vec<&'a [T]> {
    let mut batches = Vec::new();
    let (mut rest, mut keys, mut bytes) = (rows, HashSet::new(), 0);
    for row in rows {
        let (key, size) = of(row);
        let is_full = keys.len() == ROWS || BYTES < bytes + size;
        if !keys.is_empty() && (is_full || keys.contains(&key)) {
            let (batch, after) = rest.split_at(keys.len());
            batches.push(batch);
            (rest, bytes) = (after, 0);
            keys.clear();
        }
        keys.insert(key);
        bytes += size;
    }
    if !rest.is_empty() {
        batches.push(rest);
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_holds_no_key_twice() {
        let split = |rows: &[u8]| -> Vec<Vec<u8>> {
            batches(rows, |row| (*row, 1)).into_iter().map(<[u8]>::to_vec).collect()
        };
        assert_eq!(split(&[]), Vec::<Vec<u8>>::new());
        assert_eq!(split(&[1, 2, 3]), [vec![1, 2, 3]]);
        assert_eq!(split(&[1, 2, 1, 1, 2]), [vec![1, 2], vec![1], vec![1, 2]]);
    }

    #[test]
    fn a_batch_has_limits() {
        let sizes = |rows: &[usize], bytes: usize| -> Vec<usize> {
            batches(rows, |row| (*row, bytes)).into_iter().map(<[usize]>::len).collect()
        };
        let rows: Vec<usize> = (0..=2 * ROWS).collect();
        assert_eq!(sizes(&rows, 1), [ROWS, ROWS, 1]);
        assert_eq!(sizes(&rows[..3], BYTES / 2), [2, 1]);
        assert_eq!(sizes(&rows[..2], 2 * BYTES), [1, 1]);
    }
}
