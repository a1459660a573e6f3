//! Finds the nearest vectors for all queries in one pass over the codes. A block of rows is read
//! from memory once; all groups of queries visit it while it is in the cache.

#![expect(
    clippy::inline_always,
    reason = "only inlined code is compiled for the dispatched instructions"
)]

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use rayon::prelude::*;

use super::best::Best;
use super::dots::{self, Job, Kernel, Packed};
use super::turn::Line;
use super::{CODES_ERR, Codes, Near, Rows, quantize};

/// Rows of a block: 96 KiB of codes with 384 components, which fit the second-level cache.
const BLOCK: usize = 256;
/// Bytes of codes in a task: enough to justify a thread.
const TASK: usize = 4_000_000;

/// All scans of this process that need the pool of threads.
static LARGE_SCANS: Line = Line::new();

/// Limits the results of a pass.
#[derive(Clone, Copy)]
pub(super) struct Limits<'a> {
    /// The most results of each query.
    pub(super) k: usize,
    /// The lowest cosine; results clearly below it are dropped.
    pub(super) min_score: f32,
    /// The only rows to search; `None` searches all. Other rows are not even read.
    pub(super) rows: Option<&'a Rows>,
    /// Whether a vector may be found, by identifier and owner; called only for candidates among the
    /// best.
    pub(super) keep: &'a (dyn Fn(u64, u64) -> bool + Sync),
}

/// As [`Codes::nearest`].
pub(super) fn nearest(codes: &Codes, queries: &[Vec<f32>], limits: Limits<'_>) -> Vec<Vec<Near>> {
    let mut lists = vec![Vec::new(); queries.len()];
    let fitting: Vec<Query> = queries
        .iter()
        .enumerate()
        .filter(|(_, query)| query.len() == codes.dimensions)
        .map(|(place, query)| Query::new(place, query))
        .collect();
    if codes.dimensions == 0 || limits.k == 0 || fitting.is_empty() {
        return lists;
    }
    let groups: Vec<Group> = fitting.chunks(8).map(Group::new).collect();
    let rows = (TASK / codes.dimensions).max(1).next_multiple_of(BLOCK);
    let n_tasks = codes.ids.len().div_ceil(rows);
    // A single task runs on the caller's thread.
    let _turn = (1 < n_tasks).then(|| LARGE_SCANS.wait());
    let tasks: Vec<Vec<Best>> = (0..n_tasks)
        .into_par_iter()
        .map(|task| dots::run(Task { codes, groups: &groups, limits, first: task * rows, rows }))
        .collect();
    let mut merged: Vec<Best> = fitting.iter().map(|_| Best::new(limits.k)).collect();
    for task in tasks {
        for (into, from) in merged.iter_mut().zip(task) {
            into.join(from);
        }
    }
    for (query, best) in fitting.iter().zip(merged) {
        if let Some(list) = lists.get_mut(query.place) {
            *list = best.sorted();
        }
    }
    lists
}

struct Query {
    /// The position of its list in the results.
    place: usize,
    scale: f32,
    codes: Vec<i8>,
    floor: Floor,
}

impl Query {
    fn new(place: usize, vector: &[f32]) -> Self {
        let (scale, codes) = quantize(vector);
        Self { place, scale, codes: codes.map(u8::cast_signed).collect(), floor: Floor::default() }
    }
}

/// A score that is too low in every task, because one task has found `k` results that are no lower.
struct Floor(AtomicU32);

impl Default for Floor {
    fn default() -> Self {
        Self(AtomicU32::new(f32::NEG_INFINITY.to_bits()))
    }
}

impl Floor {
    fn get(&self) -> f32 {
        f32::from_bits(self.0.load(Relaxed))
    }

    fn raise(&self, score: f32) {
        let higher = |held| (f32::from_bits(held) < score).then_some(score.to_bits());
        let _ = self.0.fetch_update(Relaxed, Relaxed, higher);
    }
}

/// Queries that are multiplied with a row together.
enum Group<'a> {
    One(&'a [Query], Packed<1>),
    Four(&'a [Query], Packed<4>),
    Eight(&'a [Query], Packed<8>),
}

impl<'a> Group<'a> {
    fn new(queries: &'a [Query]) -> Self {
        let codes: Vec<&[i8]> = queries.iter().map(|query| query.codes.as_slice()).collect();
        match queries.len() {
            0 | 1 => Self::One(queries, Packed::new(&codes)),
            2..=4 => Self::Four(queries, Packed::new(&codes)),
            _ => Self::Eight(queries, Packed::new(&codes)),
        }
    }

    fn queries(&self) -> &'a [Query] {
        match self {
            Self::One(queries, _) | Self::Four(queries, _) | Self::Eight(queries, _) => queries,
        }
    }
}

/// Some rows, processed block by block.
struct Task<'a> {
    codes: &'a Codes,
    groups: &'a [Group<'a>],
    limits: Limits<'a>,
    first: usize,
    rows: usize,
}

impl Job for Task<'_> {
    /// The best results of each query.
    type Output = Vec<Best>;

    #[inline(always)]
    fn with(self, kernel: impl Kernel) -> Vec<Best> {
        let mut best: Vec<Vec<Best>> = self
            .groups
            .iter()
            .map(|group| group.queries().iter().map(|_| Best::new(self.limits.k)).collect())
            .collect();
        let end = self.codes.ids.len().min(self.first + self.rows);
        for first in (self.first..end).step_by(BLOCK) {
            for (group, best) in self.groups.iter().zip(&mut best) {
                match group {
                    Group::One(queries, packed) => self.block(kernel, first, queries, packed, best),
                    Group::Four(queries, packed) => {
                        self.block(kernel, first, queries, packed, best);
                    }
                    Group::Eight(queries, packed) => {
                        self.block(kernel, first, queries, packed, best);
                    }
                }
            }
        }
        best.into_iter().flatten().collect()
    }
}

impl Task<'_> {
    #[inline(always)]
    fn block<const Q: usize>(
        &self,
        kernel: impl Kernel,
        first: usize,
        queries: &[Query],
        packed: &Packed<Q>,
        best: &mut [Best],
    ) {
        // The score that each query must reach; a missing query accepts nothing.
        let (mut scales, mut least) = ([0.0; Q], [f32::INFINITY; Q]);
        for (((scale, least), query), best) in
            scales.iter_mut().zip(&mut least).zip(queries).zip(&*best)
        {
            *scale = query.scale;
            *least = (self.limits.min_score - CODES_ERR).max(best.worst()).max(query.floor.get());
        }
        let codes = self.codes.codes.chunks_exact(self.codes.dimensions).skip(first).take(BLOCK);
        let rows = codes.zip(self.codes.scales.iter().skip(first)).enumerate();
        for (row, (code, row_scale)) in rows {
            let row = first + row;
            if self.limits.rows.is_some_and(|rows| !rows.contains(row)) {
                continue;
            }
            let sums = kernel.sums(code, packed);
            let (mut scores, mut is_near) = ([0.0; Q], false);
            for (((score, sum), scale), least) in scores.iter_mut().zip(sums).zip(scales).zip(least)
            {
                *score = sum as f32 * scale * row_scale;
                is_near |= least <= *score;
            }
            if is_near {
                self.offer(row, &scores, &mut least, best);
            }
        }
        for (query, best) in queries.iter().zip(best) {
            query.floor.raise(best.worst());
        }
    }

    #[cold]
    #[inline(never)]
    fn offer(&self, row: usize, scores: &[f32], least: &mut [f32], best: &mut [Best]) {
        let (Some(&id), Some(&owner)) = (self.codes.ids.get(row), self.codes.owners.get(row))
        else {
            return;
        };
        if !(self.limits.keep)(id, owner) {
            return;
        }
        for ((score, least), best) in scores.iter().zip(least).zip(best) {
            if *least <= *score {
                best.offer(Near { id, owner, score: *score });
                *least = least.max(best.worst());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Scores every row in integers, and sorts the scores.
    fn score_every_row(codes: &Codes, query: &[f32], limits: Limits<'_>) -> Vec<Near> {
        if query.len() != codes.dimensions || query.is_empty() {
            return Vec::new();
        }
        let (query_scale, query) = quantize(query);
        let query: Vec<i64> = query.map(|code| i64::from(code.cast_signed())).collect();
        let mut all = Vec::new();
        for (row, code) in codes.codes.chunks(codes.dimensions).enumerate() {
            let (id, owner) = (codes.ids[row], codes.owners[row]);
            let products = query.iter().zip(code).map(|(a, b)| a * i64::from(b.cast_signed()));
            let score = products.sum::<i64>() as f32 * query_scale * codes.scales[row];
            let is_admitted = limits.rows.is_none_or(|rows| rows.contains(row));
            if is_admitted && limits.min_score - 0.02 <= score && (limits.keep)(id, owner) {
                all.push(Near { id, owner, score });
            }
        }
        all.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
        all.truncate(limits.k);
        all
    }

    fn check(codes: &Codes, queries: &[Vec<f32>], limits: Limits<'_>) {
        let found = nearest(codes, queries, limits);
        let wanted: Vec<_> =
            queries.iter().map(|query| score_every_row(codes, query, limits)).collect();
        assert_eq!(found, wanted);
        let alone: Vec<_> = queries
            .iter()
            .flat_map(|query| nearest(codes, std::slice::from_ref(query), limits))
            .collect();
        assert_eq!(alone, wanted, "one at a time");
    }

    fn codes_of(vectors: &[Vec<f32>]) -> Codes {
        let mut codes = Codes::default();
        for (id, vector) in vectors.iter().enumerate() {
            assert!(codes.push(id as u64, id as u64 / 3, vector));
        }
        codes
    }

    /// Few different components, so that many scores are equal.
    fn vectors(length: usize, n: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Vec<f32>>> {
        let component = prop::sample::select(vec![-1.0f32, 1.0, -0.5, 0.0, 0.25]);
        prop::collection::vec(prop::collection::vec(component, length), n)
    }

    fn bases_and_queries() -> impl Strategy<Value = (Vec<Vec<f32>>, Vec<Vec<f32>>)> {
        let length = prop::sample::select(vec![1usize, 2, 7, 16, 23, 100]);
        length.prop_flat_map(|length| (vectors(length, 0..700), vectors(length, 0..20)))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// The results are the same to the bit, with ties by identifier, for any number of queries.
        #[test]
        fn a_pass_equals_scoring_every_row(
            (stored, queries) in bases_and_queries(), k in 0usize..60, min_score in -2.0f32..2.0, of in 1u64..9
        ) {
            let codes = codes_of(&stored);
            let keep = |id: u64, owner: u64| id % 11 != 5 && owner != 2;
            let rows = Rows::of(&codes, |id, _| id % of == 0);
            for rows in [None, Some(&rows)] {
                check(&codes, &queries, Limits { k, min_score, rows, keep: &keep });
            }
        }
    }

    /// Tasks share the score that is too low.
    #[test]
    fn many_tasks_find_what_one_would() {
        for length in [383, 1024] {
            let mut state = 1u64;
            let mut random = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                // Few values, as above.
                ((state >> 60) as f32 - 8.0) / 8.0
            };
            let vectors: Vec<Vec<f32>> = (0..5 * TASK / 2 / length)
                .map(|_| (0..length).map(|_| random()).collect())
                .collect();
            // Some vectors occur twice, far apart: equal scores in different tasks.
            let stored: Vec<Vec<f32>> =
                vectors.iter().chain(vectors.iter().take(500)).cloned().collect();
            let codes = codes_of(&stored);
            let mut queries = vectors[..10].to_vec();
            queries.insert(3, vec![1.0]);
            for k in [1, 50] {
                let limits = Limits { k, min_score: -9.0e9, rows: None, keep: &|_, _| true };
                check(&codes, &queries, limits);
            }
        }
    }

    #[test]
    fn extreme_vectors_and_no_vectors_are_handled() {
        for length in [1, 7, 100, 383, 1024] {
            let codes = codes_of(&[vec![1.0; length], vec![-1.0; length], vec![0.0; length]]);
            let queries = vec![vec![1.0; length], vec![-1.0; length], vec![0.0; length]];
            let limits = Limits { k: 3, min_score: -9.0e9, rows: None, keep: &|_, _| true };
            check(&codes, &queries, limits);
            let none = Rows::default();
            check(&codes, &queries, Limits { rows: Some(&none), ..limits });
            check(&Codes::default(), &queries, limits);
            check(&codes, &[], limits);
            let best = nearest(&codes, &queries, limits);
            assert_eq!(best[0][0].id, 0, "{length}");
            assert_eq!(best[1][0].id, 1, "{length}");
            assert!((best[0][0].score - length as f32).abs() < 0.001 * length as f32);
        }
    }
}
