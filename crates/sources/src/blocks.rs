//! Cuts the rows of a table into blocks whose ends depend on the rows alone, so that a change of one
//! row changes the chunks of its block and no others.

use crate::layout::Cells;
use crate::rows::hash_of;

/// The mean number of rows of a block.
const MEAN: u8 = 32;

/// The rows of each block, in order. A block ends after each row whose key has a certain hash: one
/// in [`MEAN`]. Without a key, the whole row counts.
pub(crate) fn blocks(rows: &[Cells], key: usize) -> Vec<&[Cells]> {
    let ends = |row: &Cells| {
        let identity = if key == 0 { row.as_slice() } else { row.get(..key).unwrap_or_default() };
        hash_of(identity).first().is_some_and(|byte| byte.is_multiple_of(MEAN))
    };
    rows.split_inclusive(ends).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(ids: impl Iterator<Item = usize>) -> Vec<Cells> {
        ids.map(|id| vec![id.to_string(), format!("name {id}")]).collect()
    }

    #[test]
    fn a_change_of_one_row_leaves_other_blocks_alone() {
        let all = rows(0..3_000);
        let before = blocks(&all, 1);
        assert!((60..140).contains(&before.len()), "{}", before.len());
        assert_eq!(before.concat(), all);
        let changes_by = |other: &[Cells]| {
            let after = blocks(other, 1);
            after.iter().filter(|block| !before.contains(block)).count()
        };
        let mut edited = all.clone();
        edited[1_500][1] = "another name".to_owned();
        assert_eq!(changes_by(&edited), 1);
        for removed in [0, 7, 1_500, 2_999] {
            let mut fewer = all.clone();
            fewer.remove(removed);
            assert!(changes_by(&fewer) <= 1, "{removed}");
        }
        assert!(changes_by(&rows(0..3_001)) <= 1);
    }

    #[test]
    fn no_rows_are_no_blocks() {
        assert!(blocks(&[], 1).is_empty());
    }
}
