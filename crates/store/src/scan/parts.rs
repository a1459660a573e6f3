//! How do codes change in steps? A set is a few parts, the largest first: what came later stands in a later
//! part, what went is marked in the part that holds it. Small parts are merged, so that there are never many
//! and a step costs in proportion to what it brings.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, LazyLock};

use super::pass::{self, Limits};
use super::{Codes, Near, Rows};

/// The codes of one set, cheap to clone: searches hold the parts that they began with. Parts of one length of
/// vectors stand side by side.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parts(Vec<Part>);

/// Codes by the length of their vectors: while another embedder comes in, a set has two. Each in the order of
/// identifiers.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Lengths(BTreeMap<usize, Codes>);

impl Lengths {
    /// Adds one vector; one without components is refused (`false`).
    #[must_use]
    pub(crate) fn push(&mut self, id: u64, owner: u64, vector: &[f32]) -> bool {
        !vector.is_empty() && self.0.entry(vector.len()).or_default().push(id, owner, vector)
    }

    /// How many codes there are.
    pub(crate) fn len(&self) -> usize {
        self.0.values().map(|codes| codes.ids.len()).sum()
    }

    /// The codes of the one length that there is; `None` where there are several.
    pub(crate) fn only(&self) -> Option<&Codes> {
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
    /// Identifiers that went, or stand in a later part now.
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

impl Parts {
    /// One part for each length; its codes are in the order of their identifiers.
    pub(crate) fn of(codes: impl Into<Lengths>) -> Self {
        let mut parts = Self::default();
        parts.add(codes.into());
        parts
    }

    /// How many codes there are.
    pub(crate) fn len(&self) -> usize {
        self.0.iter().map(Part::live).sum()
    }

    /// One step: `changed` go where they are, and those of them that have a vector now come anew. Both are in
    /// the order of identifiers.
    pub(crate) fn step(&mut self, changed: &[u64], came: impl Into<Lengths>) {
        for part in &mut self.0 {
            let gone: Vec<u64> = changed.iter().copied().filter(|id| part.holds(*id)).collect();
            if !gone.is_empty() {
                Arc::make_mut(&mut part.dead).extend(gone);
            }
        }
        self.0.retain(|part| 0 < part.live());
        self.add(came.into());
        self.settle();
    }

    /// Behind those of the same length.
    fn add(&mut self, codes: Lengths) {
        for (dimensions, codes) in codes.0 {
            let alike = self.0.iter().rposition(|part| part.codes.dimensions == dimensions);
            let place = alike.map_or(self.0.len(), |last| last + 1);
            self.0.insert(place, Part { codes: Arc::new(codes), dead: Arc::default() });
        }
    }

    /// Merges until each part is more than twice as large as the next of its length: a code is moved a few times
    /// in its life.
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

    /// All of one length in one, in the order of identifiers.
    pub(crate) fn compact(&self) -> Lengths {
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

    /// The rows of each part that `admits` by what their vector stands for, and the chunk it leads to.
    pub(crate) fn rows(&self, admits: impl Fn(u64, u64) -> bool) -> Vec<Rows> {
        self.0.iter().map(|part| Rows::of(&part.codes, &admits)).collect()
    }

    /// As [`Codes::nearest`], over all parts; of each part those of its `rows` alone, where that is said.
    pub(crate) fn nearest(
        &self,
        queries: &[Vec<f32>],
        k: usize,
        min_score: f32,
        exclude: &HashSet<u64>,
        rows: Option<&[Rows]>,
    ) -> Vec<Vec<Near>> {
        let (mut lists, none) = (vec![Vec::new(); queries.len()], Rows::default());
        for (place, part) in self.0.iter().enumerate() {
            let rows = match rows {
                Some(rows) => Some(rows.get(place).unwrap_or(&none)),
                None => None,
            };
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
    pub(crate) fn similarities(&self, query: &[f32], ids: &[u64]) -> Vec<f32> {
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

    /// As [`Codes::unrelated_similarity`], told from the largest part.
    pub(crate) fn unrelated_similarity(&self, share: f32) -> Option<f32> {
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

    use proptest::prelude::*;

    use super::*;
    use crate::scan::{Among, cosine};

    fn unit(angle: u16) -> Vec<f32> {
        let angle = f32::from(angle) / 1000.0;
        vec![angle.cos(), angle.sin()]
    }

    proptest! {
        /// The twin: all codes made anew after every step.
        #[test]
        fn steps_come_to_what_a_fresh_start_gives(
            steps in prop::collection::vec(
                prop::collection::btree_map(0u64..60, prop::option::of(0u16..3000), 0..25), 1..12),
            query in 0u16..3000, k in 1usize..9
        ) {
            let (mut parts, mut twin) = (Parts::default(), BTreeMap::new());
            for step in steps {
                let mut came = Codes::default();
                for (id, angle) in &step {
                    match angle {
                        Some(angle) => {
                            twin.insert(*id, unit(*angle));
                            prop_assert!(came.push(*id, id / 4, &unit(*angle)));
                        }
                        None => drop(twin.remove(id)),
                    }
                }
                parts.step(&step.into_keys().collect::<Vec<_>>(), came);
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

    /// A new embedder comes in step by step: until it is done, each query finds those of its own length.
    #[test]
    fn vectors_of_two_lengths_stand_side_by_side() {
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
        // None is left out, and none says that it is all.
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
