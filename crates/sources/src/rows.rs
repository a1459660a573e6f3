//! Reads the rows of a table: whole rows, or only those that changed.

use std::collections::{HashMap, HashSet};

use pikerag_indexing::DatabaseFault;

use crate::connect::Connected;
use crate::layout::{Cells, Layout, cells};
use crate::limits::ReadLimits;

/// The number of rows that one statement reads by their keys.
const BY_KEY: usize = 10_000;
const MIB: u64 = 1 << 20;

/// The rows of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rows {
    pub(crate) rows: Vec<Cells>,
    /// The number of values of each column of bytes, in the order of the layout. Rows that were not
    /// read again are not counted.
    pub(crate) binary: Vec<usize>,
}

/// The digest of a table's rows, in whatever order the server gives them. With a column that changes
/// with its row, only keys and that column are read.
pub(crate) async fn digest(
    connected: &mut Connected,
    layout: &Layout,
    limits: ReadLimits,
) -> Result<blake3::Hash, DatabaseFault> {
    let mut hashes: Vec<[u8; 32]> = Vec::new();
    let mut budget = Budget::new(limits);
    match layout.marks() {
        Some(marks) => {
            let select = layout.select_marks(&marks, budget.asked());
            let take = |texts: Vec<Option<String>>| -> Result<(), DatabaseFault> {
                let row = cells(marks.iter().copied(), texts);
                budget.take(&row)?;
                hashes.push(hash_of(&row));
                Ok(())
            };
            connected.each(&select, &[], take).await?;
        }
        None => {
            let select = layout.select(budget.asked());
            let take = |texts: Vec<Option<String>>| -> Result<(), DatabaseFault> {
                let row = cells(layout.columns.iter(), texts);
                budget.take(&row)?;
                hashes.push(hash_of(&row));
                Ok(())
            };
            connected.each(&select, &[], take).await?;
        }
    }
    Ok(digest_of(hashes))
}

/// The digest of rows that were read, equal to that of [`digest`].
pub(crate) fn digest_of_rows(layout: &Layout, rows: &[Cells]) -> blake3::Hash {
    let hash = |row: &Cells| match layout.marks_of(row) {
        Some(marks) => hash_of(&marks),
        None => hash_of(row),
    };
    digest_of(rows.iter().map(hash).collect())
}

/// All rows of a table, sorted by their cells.
///
/// `stored` are rows that the base holds, by key. If the table has a column that changes with its
/// row, rows with the same key and the same value of this column are taken from there.
pub(crate) async fn read(
    connected: &mut Connected,
    layout: &Layout,
    stored: HashMap<Cells, Cells>,
    limits: ReadLimits,
) -> Result<Rows, DatabaseFault> {
    let mut rows = match layout.marks() {
        Some(_) if !stored.is_empty() => changed(connected, layout, stored, limits).await?,
        _ => whole(connected, layout, limits).await?,
    };
    check_keys(layout, &rows.rows)?;
    rows.rows.sort_by(|one, other| in_order(one, other));
    Ok(rows)
}

async fn whole(
    connected: &mut Connected,
    layout: &Layout,
    limits: ReadLimits,
) -> Result<Rows, DatabaseFault> {
    let mut rows = Rows { rows: Vec::new(), binary: vec![0; layout.binary.len()] };
    let mut budget = Budget::new(limits);
    let select = layout.select(budget.asked());
    let take = |texts| rows.take(layout, texts, &mut budget);
    connected.each(&select, &[], take).await?;
    Ok(rows)
}

/// Reads the keys of all rows, and the rows that are new or changed.
async fn changed(
    connected: &mut Connected,
    layout: &Layout,
    mut stored: HashMap<Cells, Cells>,
    limits: ReadLimits,
) -> Result<Rows, DatabaseFault> {
    let marks = layout.marks().unwrap_or_default();
    let mut budget = Budget::new(limits);
    let mut kept: Vec<Cells> = Vec::new();
    // The keys of rows to read, as the server wrote them.
    let mut keys: Vec<Vec<String>> = Vec::new();
    // The same keys, as the cells of a row.
    let mut wanted: HashSet<Cells> = HashSet::new();
    // A key that the settings name may be empty; such a row cannot be found by its key.
    let mut has_empty_key = false;
    let select = layout.select_marks(&marks, budget.asked());
    let take = |texts: Vec<Option<String>>| -> Result<(), DatabaseFault> {
        has_empty_key |= texts.iter().take(layout.key).any(Option::is_none);
        let key: Vec<String> =
            texts.iter().take(layout.key).map(|text| text.clone().unwrap_or_default()).collect();
        let row = cells(marks.iter().copied(), texts);
        let own = row.get(..layout.key).unwrap_or_default();
        let stored = stored.remove(own);
        match stored.filter(|stored| layout.marks_of(stored).as_ref() == Some(&row)) {
            Some(stored) => {
                budget.take(&stored)?;
                kept.push(stored);
            }
            None => {
                budget.take_row()?;
                keys.push(key);
                wanted.insert(own.to_vec());
            }
        }
        Ok(())
    };
    connected.each(&select, &[], take).await?;
    if has_empty_key || kept.len() < keys.len() {
        return whole(connected, layout, limits).await;
    }
    let already = kept.len();
    let mut rows = Rows { rows: kept, binary: vec![0; layout.binary.len()] };
    let statement = layout.select_by_key();
    // These rows were counted already.
    budget.rows = limits.rows;
    for keys in keys.chunks(BY_KEY) {
        let value = |key: &Vec<String>, place: usize| key.get(place).cloned().unwrap_or_default();
        let lists: Vec<Vec<String>> = (0..layout.key)
            .map(|place| keys.iter().map(|key| value(key, place)).collect())
            .collect();
        let take = |texts| rows.take(layout, texts, &mut budget);
        connected.each(&statement, &lists, take).await?;
    }
    // The text of some types is not read back as the same value.
    match have_keys(rows.rows.get(already..).unwrap_or_default(), layout.key, wanted) {
        true => Ok(rows),
        false => whole(connected, layout, limits).await,
    }
}

/// Whether these rows have these keys, each key one row.
fn have_keys(rows: &[Cells], key: usize, mut wanted: HashSet<Cells>) -> bool {
    rows.iter().all(|row| wanted.remove(row.get(..key).unwrap_or_default())) && wanted.is_empty()
}

impl Rows {
    fn take(
        &mut self,
        layout: &Layout,
        mut texts: Vec<Option<String>>,
        budget: &mut Budget,
    ) -> Result<(), DatabaseFault> {
        let bytes = texts.split_off(layout.columns.len().min(texts.len()));
        for (count, value) in self.binary.iter_mut().zip(bytes) {
            *count += usize::from(value.is_some());
        }
        let row = cells(layout.columns.iter(), texts);
        budget.take(&row)?;
        self.rows.push(row);
        Ok(())
    }
}

/// The rows and bytes that may still be read.
struct Budget {
    limits: ReadLimits,
    rows: u64,
    bytes: u64,
}

impl Budget {
    fn new(limits: ReadLimits) -> Self {
        Self { limits, rows: limits.rows, bytes: limits.mib.saturating_mul(MIB) }
    }

    /// The rows to ask for: one more than allowed shows that there are more.
    fn asked(&self) -> u64 {
        self.limits.rows.saturating_add(1).min(i64::MAX.unsigned_abs())
    }

    fn take_row(&mut self) -> Result<(), DatabaseFault> {
        let too_many = DatabaseFault::TooManyRows { most: self.limits.rows };
        self.rows = self.rows.checked_sub(1).ok_or(too_many)?;
        Ok(())
    }

    fn take(&mut self, row: &[String]) -> Result<(), DatabaseFault> {
        self.take_row()?;
        let bytes: usize = row.iter().map(|cell| cell.len() + 1).sum();
        let too_much = DatabaseFault::TooMuchText { mib: self.limits.mib };
        self.bytes = self.bytes.checked_sub(bytes as u64).ok_or(too_much)?;
        Ok(())
    }
}

/// A key that the settings name may repeat; the key that the database states does not.
fn check_keys(layout: &Layout, rows: &[Cells]) -> Result<(), DatabaseFault> {
    if layout.key == 0 || layout.is_stated {
        return Ok(());
    }
    let mut seen: HashSet<&[String]> = HashSet::with_capacity(rows.len());
    if rows.iter().all(|row| seen.insert(row.get(..layout.key).unwrap_or_default())) {
        return Ok(());
    }
    let mut columns = layout.header();
    columns.truncate(layout.key);
    Err(DatabaseFault::RepeatedKey { columns: columns.join(", ") })
}

/// Compares rows cell by cell, whole numbers by their value, so that `9` comes before `10`.
fn in_order(one: &[String], other: &[String]) -> std::cmp::Ordering {
    let number = |cell: &String| cell.parse::<i64>().ok();
    for (one, other) in one.iter().zip(other) {
        let order = match (number(one), number(other)) {
            (Some(a), Some(b)) => a.cmp(&b).then_with(|| one.cmp(other)),
            (a, b) => b.is_some().cmp(&a.is_some()).then_with(|| one.cmp(other)),
        };
        if order.is_ne() {
            return order;
        }
    }
    one.len().cmp(&other.len())
}

/// The hash of a row. The length of each cell goes into it, so that cells do not run together.
pub(crate) fn hash_of(row: &[String]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    for cell in row {
        hasher.update(&(cell.len() as u64).to_le_bytes());
        hasher.update(cell.as_bytes());
    }
    *hasher.finalize().as_bytes()
}

fn digest_of(mut hashes: Vec<[u8; 32]>) -> blake3::Hash {
    hashes.sort_unstable();
    let mut hasher = blake3::Hasher::new();
    for hash in &hashes {
        hasher.update(hash);
    }
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Relation;
    use crate::choice::Choice;

    fn layout(changed: Option<&str>) -> Layout {
        let relation = Relation::sample("public", "staff")
            .with_column("id", "integer")
            .with_column("name", "text")
            .with_column("updated", "date");
        let (key, changed) = (vec!["id".to_owned()], changed.map(str::to_owned));
        Layout::of(&relation, &Choice { key, changed, ..Choice::default() })
    }

    fn rows(rows: &[[&str; 3]]) -> Vec<Cells> {
        rows.iter().map(|row| row.map(str::to_owned).to_vec()).collect()
    }

    #[test]
    fn a_digest_ignores_the_order_and_sees_every_change() {
        let of = |changed, all: &[[&str; 3]]| digest_of_rows(&layout(changed), &rows(all));
        let (ada, bob) = (["1", "Ada", "2026"], ["2", "Bob", "2026"]);
        for changed in [None, Some("updated")] {
            assert_eq!(of(changed, &[ada, bob]), of(changed, &[bob, ada]));
            assert_ne!(of(changed, &[ada, bob]), of(changed, &[ada]));
            assert_ne!(of(changed, &[ada, ada]), of(changed, &[ada]));
            assert_ne!(of(changed, &[["1", "Ada", "2027"]]), of(changed, &[ada]));
        }
        // The column decides alone, if the settings name it.
        let eve = ["1", "Eve", "2026"];
        assert_ne!(of(None, &[eve]), of(None, &[ada]));
        assert_eq!(of(Some("updated"), &[eve]), of(Some("updated"), &[ada]));
        assert_ne!(of(None, &[["1", "2", ""]]), of(None, &[["12", "", ""]]));
    }

    #[test]
    fn rows_are_sorted_with_numbers_by_value() {
        let mut all = rows(&[["10", "b", ""], ["x", "", ""], ["9", "c", ""], ["10", "a", ""]]);
        all.sort_by(|one, other| in_order(one, other));
        assert_eq!(all, rows(&[["9", "c", ""], ["10", "a", ""], ["10", "b", ""], ["x", "", ""]]));
    }

    #[test]
    fn a_key_that_repeats_is_refused() {
        let mut layout = layout(None);
        assert!(check_keys(&layout, &rows(&[["1", "a", ""], ["2", "a", ""]])).is_ok());
        let repeated = check_keys(&layout, &rows(&[["1", "a", ""], ["1", "b", ""]]));
        assert_eq!(repeated, Err(DatabaseFault::RepeatedKey { columns: "id".to_owned() }));
        layout.key = 0;
        assert!(check_keys(&layout, &rows(&[["1", "a", ""], ["1", "a", ""]])).is_ok());
    }

    /// As many rows as keys are not enough: `ab` read as `character(1)` finds the row of `a`.
    #[test]
    fn rows_found_by_key_have_the_keys_that_were_asked_for() {
        let wanted = || ["ab", "b"].map(|key| vec![key.to_owned()]).into_iter().collect();
        let have = |all: &[[&str; 3]]| have_keys(&rows(all), 1, wanted());
        let (ab, b) = (["ab", "1", ""], ["b", "2", ""]);
        assert!(have(&[b, ab]));
        for others in [&[["a", "1", ""], b][..], &[b, b], &[b], &[ab, b, b], &[]] {
            assert!(!have(others), "{others:?}");
        }
    }

    #[test]
    fn rows_and_texts_are_limited() {
        let limits = ReadLimits { rows: 2, mib: 1, ..ReadLimits::default() };
        let row = |cell: &str| vec![cell.to_owned()];
        let mut budget = Budget::new(limits);
        assert_eq!(budget.asked(), 3);
        assert!(budget.take(&row("a")).is_ok() && budget.take(&row("b")).is_ok());
        let most = limits.rows;
        assert_eq!(budget.take(&row("c")), Err(DatabaseFault::TooManyRows { most }));
        let long = "x".repeat(1 << 20);
        let too_much = Budget::new(limits).take(&row(&long));
        assert_eq!(too_much, Err(DatabaseFault::TooMuchText { mib: 1 }));
    }

    #[test]
    fn values_of_bytes_are_counted_and_not_kept() {
        let relation = Relation::sample("public", "photos")
            .with_column("id", "integer")
            .with_column("photo", "bytea");
        let layout = Layout::of(&relation, &Choice::default());
        let mut read = Rows { rows: Vec::new(), binary: vec![0] };
        let mut budget = Budget::new(ReadLimits::default());
        for photo in [Some(String::new()), None, Some(String::new())] {
            read.take(&layout, vec![Some("1".to_owned()), photo], &mut budget).unwrap();
        }
        assert_eq!(read.binary, [2]);
        assert_eq!(read.rows, [["1"], ["1"], ["1"]]);
    }
}
