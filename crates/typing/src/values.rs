//! Counts the different values of a column, and keeps the most frequent ones.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{DefaultHasher, Hash, Hasher};

use pikerag_knowledge::data::DataColumn;

/// The most characters of a sample; longer ones are cut.
const LONGEST_SAMPLE: usize = 120;

/// The different values of a column.
///
/// The first `most` different values are counted exactly, by their hashes: 16 bytes each. Later ones are not counted.
#[derive(Clone, Debug)]
pub(super) struct Values {
    counts: HashMap<u64, u32>,
    most: usize,
    repeats: u64,
    is_full: bool,
    frequent: Vec<Frequent>,
}

#[derive(Clone, Debug)]
struct Frequent {
    hash: u64,
    value: String,
    count: u32,
}

impl Values {
    pub(super) fn new(most: usize) -> Self {
        Self { counts: HashMap::new(), most, repeats: 0, is_full: false, frequent: Vec::new() }
    }

    /// Lowers the limit of different values; counted values stay.
    pub(super) fn limit(&mut self, most: usize) {
        self.most = most;
    }

    pub(super) fn add(&mut self, value: &str, times: u32) {
        let mut hasher = DefaultHasher::new();
        value.hash(&mut hasher);
        let hash = hasher.finish();
        let is_full = self.most <= self.counts.len();
        let count = match self.counts.entry(hash) {
            Entry::Occupied(mut entry) => {
                self.repeats += u64::from(times);
                let count = entry.get_mut();
                *count = count.saturating_add(times);
                *count
            }
            Entry::Vacant(_) if is_full => {
                self.is_full = true;
                return;
            }
            Entry::Vacant(entry) => {
                self.repeats += u64::from(times.saturating_sub(1));
                *entry.insert(times)
            }
        };
        self.promote(hash, value, count);
    }

    /// Keeps a value among the frequent ones.
    ///
    /// A value has its final count when it is added for the last time. So the frequent ones are exact, but for the order of
    /// values with the same count.
    fn promote(&mut self, hash: u64, value: &str, count: u32) {
        if let Some(known) = self.frequent.iter_mut().find(|known| known.hash == hash) {
            known.count = count;
            return;
        }
        if self.frequent.len() < DataColumn::SAMPLES {
            self.frequent.push(Frequent { hash, value: cut(value), count });
            return;
        }
        // The newest of the rarest values is dropped.
        let rarest = self.frequent.iter().enumerate().rev().min_by_key(|(_, known)| known.count);
        if let Some((at, rarest)) = rarest
            && rarest.count < count
        {
            self.frequent.remove(at);
            self.frequent.push(Frequent { hash, value: cut(value), count });
        }
    }

    /// The number of counted different values, at most the limit.
    pub(super) fn distinct(&self) -> u64 {
        self.counts.len() as u64
    }

    /// Whether there were more different values than are counted.
    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Whether no value occurs twice. Beyond the limit, this holds for the counted values.
    pub(super) fn is_all_different(&self) -> bool {
        self.repeats == 0
    }

    /// The most frequent values first; among equal counts, those that became frequent first.
    pub(super) fn into_samples(mut self) -> Vec<String> {
        self.frequent.sort_by_key(|known| std::cmp::Reverse(known.count));
        self.frequent.into_iter().map(|known| known.value).collect()
    }
}

fn cut(value: &str) -> String {
    match value.char_indices().nth(LONGEST_SAMPLE) {
        Some((end, _)) => {
            let mut short = value.get(..end).unwrap_or_default().to_owned();
            short.push('…');
            short
        }
        None => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn samples_have_the_highest_counts(cells in proptest::collection::vec("[a-f]{1,2}", 0..400)) {
            let mut values = Values::new(10_000);
            let mut counts: HashMap<&str, usize> = HashMap::new();
            for cell in &cells {
                values.add(cell, 1);
                *counts.entry(cell).or_default() += 1;
            }
            prop_assert_eq!(values.distinct(), counts.len() as u64);
            prop_assert_eq!(values.is_all_different(), counts.values().all(|count| *count == 1));
            let samples = values.into_samples();
            let found: Vec<usize> = samples.iter().map(|sample| counts[sample.as_str()]).collect();
            let mut expected: Vec<usize> = counts.values().copied().collect();
            expected.sort_unstable_by(|a, b| b.cmp(a));
            expected.truncate(DataColumn::SAMPLES);
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn values_beyond_the_limit_are_not_counted() {
        let mut values = Values::new(3);
        for value in ["a", "b", "c", "d", "e", "a"] {
            values.add(value, 1);
        }
        assert_eq!((values.distinct(), values.is_full()), (3, true));
        assert_eq!(values.into_samples(), ["a", "b", "c"]);
    }

    #[test]
    fn long_samples_are_cut() {
        let mut values = Values::new(3);
        values.add(&"长".repeat(500), 1);
        assert_eq!(values.into_samples()[0].chars().count(), 121);
    }
}
