//! Which vectors are closest? An exact scan over int8 codes, several queries in one pass; the best
//! are scored again in full precision by whoever holds the vectors.

mod parts;

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashSet};
use std::sync::OnceLock;

use rayon::prelude::*;

pub(crate) use self::parts::{Lengths, Parts};

/// Vectors compared with each other to tell what unrelated ones look like: 8,128 pairs.
const SAMPLE: usize = 128;
/// Fewer pairs than this tell nothing.
const FEWEST_PAIRS: usize = 100;

/// Vectors in the block that one query after the other visits while it is in the cache.
const BLOCK: usize = 256;

/// The codes of one set of unit vectors: each component to a signed byte, one scale per vector.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Codes {
    /// Components of each vector, and so bytes of each code.
    pub dimensions: usize,
    /// What each vector stands for.
    pub ids: Vec<u64>,
    /// The chunk each vector leads to.
    pub owners: Vec<u64>,
    /// `vector ≈ scale · code`.
    pub scales: Vec<f32>,
    /// All codes, one after the other, as the bytes of signed integers.
    pub codes: Vec<u8>,
    /// Cosines of unrelated vectors, rising; found when they are first asked for.
    pub(crate) unrelated: OnceLock<Vec<f32>>,
}

/// Some rows of a set of codes, by place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows(Vec<u64>);

impl Rows {
    /// The rows that `admits` by what their vector stands for, and the chunk it leads to.
    pub fn of(codes: &Codes, admits: impl Fn(u64, u64) -> bool) -> Self {
        let mut words = vec![0; codes.ids.len().div_ceil(64)];
        for (row, (id, owner)) in codes.ids.iter().zip(&codes.owners).enumerate() {
            if admits(*id, *owner)
                && let Some(word) = words.get_mut(row / 64)
            {
                *word |= 1 << (row % 64);
            }
        }
        Self(words)
    }

    fn contains(&self, row: usize) -> bool {
        self.0.get(row / 64).is_some_and(|word| word >> (row % 64) & 1 == 1)
    }
}

/// What a scan may find.
#[derive(Clone, Copy)]
pub struct Among<'a> {
    /// Nothing that leads to these chunks.
    pub exclude: &'a HashSet<u64>,
    /// These rows alone; all, where it does not say.
    pub rows: Option<&'a Rows>,
}

/// Something found by a scan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Near {
    /// What the vector stands for.
    pub id: u64,
    /// The chunk it leads to.
    pub owner: u64,
    /// The cosine, to within about 0.01.
    pub score: f32,
}

/// Whether a row, with its identifier and owner, may be found; asked for the best alone.
type Keep<'a> = &'a (dyn Fn(usize, u64, u64) -> bool + Sync);

impl Codes {
    /// Adds one vector. All vectors of a set have the same number of components; one that differs
    /// is refused (`false`).
    #[must_use]
    pub fn push(&mut self, id: u64, owner: u64, vector: &[f32]) -> bool {
        if self.ids.is_empty() {
            self.dimensions = vector.len();
        }
        if vector.len() != self.dimensions || vector.is_empty() {
            return false;
        }
        let (scale, codes) = quantize(vector);
        self.ids.push(id);
        self.owners.push(owner);
        self.scales.push(scale);
        self.codes.extend(codes);
        self.unrelated.take();
        true
    }

    /// Makes room for more.
    fn reserve(&mut self, more: usize) {
        self.ids.reserve(more);
        self.owners.reserve(more);
        self.scales.reserve(more);
        self.codes.reserve(more * self.dimensions);
    }

    /// Adds a row of other codes of the same length.
    fn copy(&mut self, other: &Self, row: usize) {
        let place = row * self.dimensions..(row + 1) * self.dimensions;
        if let (Some(&id), Some(&owner), Some(&scale), Some(code)) = (
            other.ids.get(row),
            other.owners.get(row),
            other.scales.get(row),
            other.codes.get(place),
        ) {
            self.ids.push(id);
            self.owners.push(owner);
            self.scales.push(scale);
            self.codes.extend_from_slice(code);
        }
    }

    /// The `k` nearest to each query, best first, ties by id; none clearly below `min_score`. Queries of
    /// another length find nothing.
    pub fn nearest(
        &self,
        queries: &[Vec<f32>],
        k: usize,
        min_score: f32,
        among: Among<'_>,
    ) -> Vec<Vec<Near>> {
        self.nearest_kept(queries, k, min_score, &|row, _, owner| {
            among.rows.is_none_or(|rows| rows.contains(row)) && !among.exclude.contains(&owner)
        })
    }

    /// The same for those that `keep` says yes to, by row, identifier and owner.
    fn nearest_kept(
        &self,
        queries: &[Vec<f32>],
        k: usize,
        min_score: f32,
        keep: Keep<'_>,
    ) -> Vec<Vec<Near>> {
        if self.dimensions == 0 || k == 0 {
            return vec![Vec::new(); queries.len()];
        }
        // A code is off by at most half a step in each component: see `quantize`.
        let min_score = min_score - 0.02;
        let queries: Vec<Option<(f32, Vec<i16>)>> = queries
            .iter()
            .map(|query| {
                let (scale, codes) = quantize(query);
                (query.len() == self.dimensions)
                    .then(|| (scale, codes.map(|code| i16::from(code.cast_signed())).collect()))
            })
            .collect();
        let stride = BLOCK * self.dimensions;
        let scan_part = |part: usize, blocks: usize| {
            let mut best: Vec<Best> = queries.iter().map(|_| Best::new(k)).collect();
            let simd = pulp::Arch::new();
            for (at, block) in
                self.codes.chunks(stride).enumerate().skip(part * blocks).take(blocks)
            {
                for (query, best) in queries.iter().zip(&mut best) {
                    let Some((scale, query)) = query else { continue };
                    simd.dispatch(|| {
                        self.scan_block(at * BLOCK, block, query, *scale, min_score, keep, best);
                    });
                }
            }
            best
        };
        // About 4 MB of codes per task: enough to be worth a thread.
        let blocks_per_part = (4_000_000 / stride).max(1);
        let n_blocks = self.ids.len().div_ceil(BLOCK);
        let parts: Vec<Vec<Best>> = (0..n_blocks.div_ceil(blocks_per_part))
            .into_par_iter()
            .map(|part| scan_part(part, blocks_per_part))
            .collect();
        let mut merged: Vec<Best> = queries.iter().map(|_| Best::new(k)).collect();
        for part in parts {
            for (into, from) in merged.iter_mut().zip(part) {
                for near in from.heap {
                    into.offer(near.0);
                }
            }
        }
        merged.into_iter().map(Best::sorted).collect()
    }

    /// The cosine of each of these with a query, to within about 0.01; 0 for one that is not here.
    /// Vectors must have been pushed in the order of their identifiers.
    pub fn similarities(&self, query: &[f32], ids: &[u64]) -> Vec<f32> {
        let (query_scale, codes) = quantize(query);
        let query: Vec<i16> = codes.map(|code| i16::from(code.cast_signed())).collect();
        let similarity = |id: &u64| {
            let row = self.ids.binary_search(id).ok().filter(|_| query.len() == self.dimensions)?;
            let code = self.codes.get(row * self.dimensions..(row + 1) * self.dimensions)?;
            Some(dot(&query, code) as f32 * query_scale * self.scales.get(row)?)
        };
        pulp::Arch::new()
            .dispatch(|| ids.iter().map(|id| similarity(id).unwrap_or_default()).collect())
    }

    /// The cosine that a `share` of all pairs with different owners stays below, by a sample: the
    /// first vectors, which are any, for identifiers are hashes. `None` for too few pairs.
    pub fn unrelated_similarity(&self, share: f32) -> Option<f32> {
        let cosines = self.unrelated.get_or_init(|| self.unrelated_cosines());
        if cosines.len() < FEWEST_PAIRS {
            return None;
        }
        let place = (share.clamp(0.0, 1.0) * (cosines.len() - 1) as f32) as usize;
        cosines.get(place).copied()
    }

    fn unrelated_cosines(&self) -> Vec<f32> {
        let rows: Vec<(&u64, &f32, &[u8])> = self
            .owners
            .iter()
            .zip(&self.scales)
            .zip(self.codes.chunks_exact(self.dimensions.max(1)))
            .map(|((owner, scale), code)| (owner, scale, code))
            .take(SAMPLE)
            .collect();
        let mut cosines = pulp::Arch::new().dispatch(|| {
            let mut cosines = Vec::with_capacity(SAMPLE * SAMPLE / 2);
            for (place, (owner, scale, code)) in rows.iter().enumerate() {
                let query: Vec<i16> =
                    code.iter().map(|code| i16::from(code.cast_signed())).collect();
                for (other_owner, other_scale, other) in rows.iter().skip(place + 1) {
                    if owner != other_owner {
                        cosines.push(dot(&query, other) as f32 * **scale * **other_scale);
                    }
                }
            }
            cosines
        });
        cosines.sort_unstable_by(f32::total_cmp);
        cosines
    }

    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "only inlined code is compiled for the dispatched instructions"
    )]
    #[expect(clippy::too_many_arguments, reason = "the inner loop, kept apart for dispatch")]
    fn scan_block(
        &self,
        first: usize,
        block: &[u8],
        query: &[i16],
        query_scale: f32,
        min_score: f32,
        keep: Keep<'_>,
        best: &mut Best,
    ) {
        let rows = block.chunks_exact(self.dimensions).enumerate();
        for ((row, code), scale) in rows.zip(self.scales.iter().skip(first)) {
            let score = dot(query, code) as f32 * query_scale * scale;
            if score < min_score || score < best.worst {
                continue;
            }
            let (Some(&id), Some(&owner)) =
                (self.ids.get(first + row), self.owners.get(first + row))
            else {
                continue;
            };
            if keep(first + row, id, owner) {
                best.offer(Near { id, owner, score });
            }
        }
    }
}

/// `Σ query·code`; |query|, |code| ≤ 127, so sums of up to 130,000 components fit.
#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "only inlined code is compiled for the dispatched instructions"
)]
fn dot(query: &[i16], code: &[u8]) -> i32 {
    let mut sum = 0i32;
    for (&a, &b) in query.iter().zip(code) {
        sum += i32::from(a) * i32::from(i16::from(b.cast_signed()));
    }
    sum
}

/// One scale per vector: the largest component becomes ±127.
fn quantize(vector: &[f32]) -> (f32, impl Iterator<Item = u8>) {
    let largest = vector.iter().fold(f32::MIN_POSITIVE, |largest, x| largest.max(x.abs()));
    let scale = largest / 127.0;
    (scale, vector.iter().map(move |x| ((x / scale).round() as i8).cast_unsigned()))
}

/// The best `k` so far.
pub(crate) struct Best {
    k: usize,
    worst: f32,
    heap: BinaryHeap<Worst>,
}

/// Orders [`Near`]s so that the heap's top is the one to drop first.
struct Worst(Near);

impl Best {
    pub(crate) fn new(k: usize) -> Self {
        Self { k, worst: f32::NEG_INFINITY, heap: BinaryHeap::new() }
    }

    /// The least score that is held; below all scores while there is room.
    pub(crate) fn worst(&self) -> f32 {
        self.worst
    }

    pub(crate) fn offer(&mut self, near: Near) {
        self.heap.push(Worst(near));
        if self.k < self.heap.len() {
            self.heap.pop();
        }
        if self.heap.len() == self.k {
            self.worst = self.heap.peek().map_or(f32::NEG_INFINITY, |worst| worst.0.score);
        }
    }

    pub(crate) fn sorted(self) -> Vec<Near> {
        let mut all: Vec<Near> = self.heap.into_iter().map(|worst| worst.0).collect();
        all.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
        all
    }
}

impl Ord for Worst {
    fn cmp(&self, other: &Self) -> Ordering {
        other.0.score.total_cmp(&self.0.score).then(self.0.id.cmp(&other.0.id))
    }
}

impl PartialOrd for Worst {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Worst {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Worst {}

/// Inner product in full precision; the cosine of unit vectors.
pub fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn unit(mut vector: Vec<f32>) -> Vec<f32> {
        let norm = cosine(&vector, &vector).sqrt().max(1e-6);
        for x in &mut vector {
            *x /= norm;
        }
        vector
    }

    fn all(exclude: &HashSet<u64>) -> Among<'_> {
        Among { exclude, rows: None }
    }

    fn vectors(n: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Vec<f32>>> {
        prop::collection::vec(prop::collection::vec(-1.0f32..1.0, 48).prop_map(unit), n)
    }

    /// Three owners of many vectors each: those of one owner are alike, and do not count.
    #[test]
    fn unrelated_vectors_tell_where_the_scale_begins() {
        let mut codes = Codes::default();
        for id in 0..30u64 {
            let owner = id % 3;
            let mut vector = vec![0.0f32; 4];
            // 0.6 in common with everybody, the rest with one's own kind.
            vector[3] = 0.6;
            vector[owner as usize] = 0.8;
            assert!(codes.push(id, owner, &vector));
        }
        let alike = codes.unrelated_similarity(0.95).unwrap();
        assert!((alike - 0.36).abs() < 0.01, "{alike}");
        // Too few, none, and all of one owner: nothing to tell.
        let mut few = Codes::default();
        assert_eq!(few.unrelated_similarity(0.95), None);
        for id in 0..60 {
            assert!(few.push(id, 7, &[1.0, 0.0]));
        }
        assert_eq!(few.unrelated_similarity(0.95), None);
    }

    proptest! {
        /// The twin: every vector scored in full precision. Codes may swap near ties, no more.
        #[test]
        fn finds_what_brute_force_finds(
            stored in vectors(1..600), queries in vectors(1..4), k in 1usize..12, min_score in -0.2f32..0.4
        ) {
            let mut codes = Codes::default();
            for (id, vector) in stored.iter().enumerate() {
                prop_assert!(codes.push(id as u64, id as u64 / 3, vector));
            }
            let exclude = HashSet::from([0, 2]);
            let rows = Rows::of(&codes, |id, _| id % 7 != 3);
            let among = Among { exclude: &exclude, rows: Some(&rows) };
            let found = codes.nearest(&queries, k, min_score, among);
            for (query, found) in queries.iter().zip(found) {
                let mut exact: Vec<f32> = stored.iter().enumerate()
                    .filter(|(id, _)| !exclude.contains(&(*id as u64 / 3)) && id % 7 != 3)
                    .map(|(_, vector)| cosine(query, vector))
                    .filter(|score| min_score <= *score)
                    .collect();
                exact.sort_by(|a, b| b.total_cmp(a));
                exact.truncate(k);
                prop_assert!(exact.len() <= found.len());
                for (near, exact) in found.iter().zip(&exact) {
                    prop_assert!(!exclude.contains(&near.owner) && near.id % 7 != 3);
                    let true_score = cosine(query, &stored[near.id as usize]);
                    prop_assert!((true_score - near.score).abs() < 0.02, "{true_score} {near:?}");
                    prop_assert!((near.score - exact).abs() < 0.03, "{near:?} {exact}");
                }
            }
        }
    }

    #[test]
    fn equal_scores_are_ordered_by_id() {
        let mut codes = Codes::default();
        for id in [5, 3, 9, 1] {
            assert!(codes.push(id, id, &[1.0, 0.0]));
        }
        let found = codes.nearest(&[vec![1.0, 0.0]], 3, 0.0, all(&HashSet::new()));
        assert_eq!(found[0].iter().map(|near| near.id).collect::<Vec<_>>(), [1, 3, 5]);
    }

    #[test]
    fn single_similarities_are_those_of_the_scan() {
        let mut codes = Codes::default();
        assert!(codes.push(2, 2, &[0.6, 0.8]) && codes.push(5, 5, &[1.0, 0.0]));
        let found = codes.similarities(&[1.0, 0.0], &[5, 3, 2]);
        assert!(
            (found[0] - 1.0).abs() < 0.01 && found[1] == 0.0 && (found[2] - 0.6).abs() < 0.01,
            "{found:?}"
        );
        assert_eq!(codes.similarities(&[1.0], &[5]), [0.0]);
    }

    #[test]
    fn other_lengths_are_refused_or_find_nothing() {
        let mut codes = Codes::default();
        assert!(codes.push(1, 1, &[1.0, 0.0]));
        assert!(!codes.push(2, 2, &[1.0]));
        assert_eq!(codes.nearest(&[vec![1.0]], 3, 0.0, all(&HashSet::new())), [vec![]]);
        assert_eq!(Codes::default().nearest(&[vec![1.0]], 3, 0.0, all(&HashSet::new())), [vec![]]);
    }
}
