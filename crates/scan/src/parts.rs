//! Changes codes in steps. A set consists of a few parts, the largest first. New codes go to a
//! later part; removed codes are marked in their part. Small parts are merged, so that parts stay
//! few and a step costs in proportion to its changes.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, LazyLock, Weak};

use super::pass::{self, Limits};
use super::{Codes, Near, Rows};

/// The codes of one set, cheap to clone: a search keeps the parts it began with. Parts with vectors
/// of one length are adjacent.
#[derive(Clone, Debug, Default)]
pub struct Parts(Vec<Part>);

/// Codes by the length of their vectors, each in the order of identifiers. A set has two lengths
/// while a new embedder replaces the old one.
#[derive(Debug, Default, PartialEq)]
pub struct Lengths(BTreeMap<usize, Codes>);

impl Lengths {
    /// Adds one vector; returns `false` for a vector without components.
    #[must_use]
    pub fn push(&mut self, id: u64, owner: u64, vector: &[f32]) -> bool {
        !vector.is_empty() && self.0.entry(vector.len()).or_default().push(id, owner, vector)
    }

    /// The number of codes.
    pub fn len(&self) -> usize {
        self.0.values().map(|codes| codes.ids.len()).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The codes if all have one length; `None` if there are several lengths.
    pub fn only(&self) -> Option<&Codes> {
        static NONE: LazyLock<Codes> = LazyLock::new(Codes::default);
        match self.0.len() {
            0 => Some(&NONE),
            1 => self.0.values().next(),
            _ => None,
        }
    }
}

impl From<Codes> for Lengths {
    fn from(codes: Codes) -> Self {
        let codes = Some(codes).filter(|codes| !codes.ids.is_empty());
        Self(codes.into_iter().map(|codes| (codes.dimensions, codes)).collect())
    }
}

#[derive(Clone, Debug)]
struct Part {
    /// In the order of their identifiers.
    codes: Arc<Codes>,
    /// Identifiers that were removed, or that a later part holds now.
    dead: Arc<HashSet<u64>>,
}

impl Part {
    fn live(&self) -> usize {
        self.codes.ids.len() - self.dead.len()
    }

    fn holds(&self, id: u64) -> bool {
        self.codes.ids.binary_search(&id).is_ok() && !self.dead.contains(&id)
    }
}

/// The admitted rows of parts that were seen before. It does not keep their codes in memory.
#[derive(Debug, Default)]
pub struct KnownRows(Vec<(Weak<Codes>, Arc<Rows>)>);

impl Parts {
    /// Makes one part for each length. The codes must be in the order of their identifiers.
    pub fn of(codes: impl Into<Lengths>) -> Self {
        let mut parts = Self::default();
        parts.add(codes.into());
        parts
    }

    /// The number of codes.
    pub fn len(&self) -> usize {
        self.0.iter().map(Part::live).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes one step: removes the codes of `changed`, and adds those of them that have a vector
    /// now. Both are in the order of identifiers.
    pub fn step(&mut self, changed: &[u64], added: impl Into<Lengths>) {
        for part in &mut self.0 {
            let gone: Vec<u64> = changed.iter().copied().filter(|id| part.holds(*id)).collect();
            if !gone.is_empty() {
                Arc::make_mut(&mut part.dead).extend(gone);
            }
        }
        self.0.retain(|part| 0 < part.live());
        self.add(added.into());
        self.settle();
    }

    /// Adds each length behind the parts of the same length.
    fn add(&mut self, codes: Lengths) {
        for (dimensions, codes) in codes.0 {
            let alike = self.0.iter().rposition(|part| part.codes.dimensions == dimensions);
            let place = alike.map_or(self.0.len(), |last| last + 1);
            self.0.insert(place, Part { codes: Arc::new(codes), dead: Arc::default() });
        }
    }

    /// Merges until each part is more than twice as large as the next of its length, so that a code
    /// moves only a few times.
    fn settle(&mut self) {
        let too_close = |two: &[Part]| match two {
            [large, small] => {
                large.live() <= 2 * small.live() && large.codes.dimensions == small.codes.dimensions
            }
            _ => false,
        };
        while let Some(place) = self.0.windows(2).rposition(too_close)
            && let Some([large, small]) = self.0.get(place..place + 2)
        {
            let whole = Part { codes: Arc::new(merged(large, small)), dead: Arc::default() };
            self.0.splice(place..place + 2, [whole]);
        }
    }

    /// All codes of one length in one set, in the order of identifiers.
    pub fn compact(&self) -> Lengths {
        let none = Part { codes: Arc::default(), dead: Arc::default() };
        let mut whole: BTreeMap<usize, Part> = BTreeMap::new();
        for part in &self.0 {
            let one = whole.remove(&part.codes.dimensions).map_or_else(
                || part.clone(),
                |large| Part { codes: Arc::new(merged(&large, part)), dead: Arc::default() },
            );
            whole.insert(part.codes.dimensions, one);
        }
        let codes = whole.into_iter().map(|(dimensions, part)| {
            let codes = match part.dead.is_empty() {
                true => Arc::unwrap_or_clone(part.codes),
                false => merged(&part, &none),
            };
            (dimensions, codes)
        });
        Lengths(codes.collect())
    }

    /// The rows of each part that `admits` accepts, given the vector's node and the chunk it leads
    /// to.
    pub fn rows(&self, admits: impl Fn(u64, u64) -> bool) -> Vec<Arc<Rows>> {
        self.known_rows(&mut KnownRows::default(), admits)
    }

    /// As [`Parts::rows`], where the rows of unchanged parts are known from an earlier call with the
    /// same `admits`.
    pub fn known_rows(
        &self,
        known: &mut KnownRows,
        admits: impl Fn(u64, u64) -> bool,
    ) -> Vec<Arc<Rows>> {
        let rows = |part: &Part| {
            let same = |(codes, _): &&(Weak<Codes>, _)| codes.as_ptr() == Arc::as_ptr(&part.codes);
            let found = known.0.iter().find(same).map(|(_, rows)| Arc::clone(rows));
            found.unwrap_or_else(|| Arc::new(Rows::of(&part.codes, &admits)))
        };
        let rows: Vec<Arc<Rows>> = self.0.iter().map(rows).collect();
        let codes = self.0.iter().map(|part| Arc::downgrade(&part.codes));
        known.0 = codes.zip(rows.iter().cloned()).collect();
        rows
    }

    /// As [`Codes::nearest`], over all parts; `rows` limits the rows of each part.
    pub fn nearest(
        &self,
        queries: &[Vec<f32>],
        k: usize,
        min_score: f32,
        exclude: &HashSet<u64>,
        rows: Option<&[Arc<Rows>]>,
    ) -> Vec<Vec<Near>> {
        let (mut lists, none) = (vec![Vec::new(); queries.len()], Arc::default());
        for (place, part) in self.0.iter().enumerate() {
            let rows = rows.map(|rows| rows.get(place).unwrap_or(&none).as_ref());
            let keep = |id: u64, owner: u64| !exclude.contains(&owner) && !part.dead.contains(&id);
            let limits = Limits { k, min_score, rows, keep: &keep };
            let found = pass::nearest(&part.codes, queries, limits);
            for (list, found) in lists.iter_mut().zip(found) {
                list.extend(found);
            }
        }
        for list in &mut lists {
            list.sort_by(|a: &Near, b: &Near| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
            list.truncate(k);
        }
        lists
    }

    /// As [`Codes::similarities`].
    pub fn similarities(&self, query: &[f32], ids: &[u64]) -> Vec<f32> {
        let mut all = vec![0.0; ids.len()];
        for part in &self.0 {
            let found = part.codes.similarities(query, ids);
            for ((all, found), id) in all.iter_mut().zip(found).zip(ids) {
                if part.holds(*id) {
                    *all = found;
                }
            }
        }
        all
    }

    /// As [`Codes::unrelated_similarity`], estimated from the largest part.
    pub fn unrelated_similarity(&self, share: f32) -> Option<f32> {
        self.0.iter().max_by_key(|part| part.live())?.codes.unrelated_similarity(share)
    }
}

/// The live codes of two parts, in the order of their identifiers.
fn merged(one: &Part, other: &Part) -> Codes {
    let mut codes = Codes { dimensions: one.codes.dimensions, ..Codes::default() };
    codes.reserve(one.live() + other.live());
    let rows = |part: &Part| -> Vec<usize> {
        let ids = part.codes.ids.iter().enumerate();
        ids.filter(|(_, id)| !part.dead.contains(id)).map(|(row, _)| row).collect()
    };
    let (ones, others) = (rows(one), rows(other));
    let id = |part: &Part, row: usize| part.codes.ids.get(row).copied();
    let mut others = others.into_iter().peekable();
    for row in ones {
        while let Some(next) = others.next_if(|next| id(other, *next) < id(one, row)) {
            codes.copy(&other.codes, next);
        }
        codes.copy(&one.codes, row);
    }
    for row in others {
        codes.copy(&other.codes, row);
    }
    codes
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use pikerag_knowledge::cosine;
    use proptest::prelude::*;

    use super::*;
    use crate::Among;

    fn unit(angle: u16) -> Vec<f32> {
        let angle = f32::from(angle) / 1000.0;
        vec![angle.cos(), angle.sin()]
    }

    proptest! {
        /// Compares with codes that are rebuilt after every step.
        #[test]
        fn steps_equal_a_rebuild(
            steps in prop::collection::vec(
                prop::collection::btree_map(0u64..60, prop::option::of(0u16..3000), 0..25), 1..12),
            query in 0u16..3000, k in 1usize..9
        ) {
            let (mut parts, mut twin) = (Parts::default(), BTreeMap::new());
            let mut known = KnownRows::default();
            for step in steps {
                let mut added = Codes::default();
                for (id, angle) in &step {
                    match angle {
                        Some(angle) => {
                            twin.insert(*id, unit(*angle));
                            prop_assert!(added.push(*id, id / 4, &unit(*angle)));
                        }
                        None => drop(twin.remove(id)),
                    }
                }
                parts.step(&step.into_keys().collect::<Vec<_>>(), added);
                prop_assert_eq!(parts.len(), twin.len());
                prop_assert!(parts.0.windows(2).all(|two| two[1].live() < two[0].live()));
                let mut whole = Codes::default();
                for (id, vector) in &twin {
                    prop_assert!(whole.push(*id, id / 4, vector));
                }
                let compact = parts.compact();
                prop_assert_eq!(compact.only(), Some(&whole));
                let (queries, exclude) = ([unit(query)], HashSet::from([2]));
                prop_assert_eq!(
                    parts.nearest(&queries, k, -1.0, &exclude, None),
                    whole.nearest(&queries, k, -1.0, Among { exclude: &exclude, rows: None })
                );
                let even = |id: u64, _| id.is_multiple_of(2);
                let (of_parts, of_whole) = (parts.rows(even), Rows::of(&whole, even));
                prop_assert_eq!(&parts.known_rows(&mut known, even), &of_parts);
                prop_assert_eq!(
                    parts.nearest(&queries, k, -1.0, &exclude, Some(&of_parts)),
                    whole.nearest(
                        &queries, k, -1.0, Among { exclude: &exclude, rows: Some(&of_whole) })
                );
                let ids: Vec<u64> = (0..60).collect();
                for (id, found) in ids.iter().zip(parts.similarities(&unit(query), &ids)) {
                    let exact = twin.get(id).map_or(0.0, |vector| cosine(&unit(query), vector));
                    prop_assert!((exact - found).abs() < 0.02);
                }
            }
        }
    }

    #[test]
    fn rows_of_unchanged_parts_are_kept() {
        let codes = |ids: std::ops::Range<u64>| {
            let mut codes = Codes::default();
            for id in ids {
                assert!(codes.push(id, id, &[1.0, 0.0]));
            }
            codes
        };
        let (mut parts, mut known) = (Parts::of(codes(0..50)), KnownRows::default());
        let first = parts.known_rows(&mut known, |id, _| id < 9);
        parts.step(&[3, 60], codes(60..61));
        let next = parts.known_rows(&mut known, |id, _| id < 9);
        assert_eq!((first.len(), next.len()), (1, 2));
        assert!(Arc::ptr_eq(&first[0], &next[0]));
        // Parts that are gone are not held.
        let held = Arc::downgrade(&parts.0[0].codes);
        drop(parts);
        assert!(held.upgrade().is_none());
    }

    /// A new embedder arrives step by step: until it is done, each query finds the vectors of its
    /// own length.
    #[test]
    fn vectors_of_two_lengths_are_found_separately() {
        let mut old = Codes::default();
        for id in 0..9 {
            assert!(old.push(id, id, &[1.0, 0.0]));
        }
        let mut parts = Parts::of(old);
        let mut new = Codes::default();
        assert!(new.push(3, 3, &[0.0, 0.0, 1.0]));
        parts.step(&[3], new);
        let found = |parts: &Parts| {
            [vec![1.0, 0.0], vec![0.0, 0.0, 1.0]]
                .map(|query| parts.nearest(&[query], 99, -1.0, &HashSet::new(), None)[0].len())
        };
        assert_eq!(found(&parts), [8, 1]);
        // No code is lost, and no single length holds all codes.
        assert_eq!((parts.compact().len(), parts.compact().only()), (9, None));
        for id in [1, 4, 7, 8] {
            let mut both = Lengths::default();
            assert!(both.push(id, id, &[0.0, 0.0, 1.0]) && both.push(id + 20, id, &[1.0, 0.0]));
            parts.step(&[id, id + 20], both);
        }
        assert_eq!(found(&parts), [8, 5]);
        assert!(parts.0.len() <= 4, "parts of one length are merged: {}", parts.0.len());
    }
}
