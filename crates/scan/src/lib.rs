//! Finds the closest vectors by an exact scan over int8 codes, several queries in one pass. Callers
//! that hold the vectors score the best results again in full precision.

mod best;
mod dots;
mod parts;
mod pass;
mod turn;

use std::collections::HashSet;
use std::sync::OnceLock;

pub use self::best::Best;
pub use self::parts::{KnownRows, Lengths, Parts};
use self::pass::Limits;

/// Scores by codes are taken to be off by less than this. A vector of which one component makes up
/// nearly everything can be off by more; see [`Near::score`] for others.
pub const CODES_ERR: f32 = 0.02;
/// Vectors compared with each other to learn how similar unrelated ones are: 8,128 pairs.
const SAMPLE: usize = 128;
/// The fewest pairs for a meaningful result.
const FEWEST_PAIRS: usize = 100;

/// The codes of a set of unit vectors: one signed byte per component, one scale per vector.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Codes {
    /// Components of each vector, and so bytes of each code.
    pub dimensions: usize,
    /// The identifier of each vector's node.
    pub ids: Vec<u64>,
    /// The chunk each vector leads to.
    pub owners: Vec<u64>,
    /// `vector ≈ scale · code`.
    pub scales: Vec<f32>,
    /// All codes, one after the other, as the bytes of signed integers.
    pub codes: Vec<u8>,
    /// Cosines of unrelated vectors, ascending; computed on first use.
    pub unrelated: OnceLock<Vec<f32>>,
}

/// Some rows of a set of codes, by position.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows(Vec<u64>);

impl Rows {
    /// The rows that `admits` accepts, given the vector's node and the chunk it leads to.
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

/// Limits the results of a scan.
#[derive(Clone, Copy)]
pub struct Among<'a> {
    /// Chunks whose vectors are left out.
    pub exclude: &'a HashSet<u64>,
    /// The only rows to search; `None` searches all.
    pub rows: Option<&'a Rows>,
}

/// A vector found by a scan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Near {
    /// The identifier of the vector's node.
    pub id: u64,
    /// The chunk it leads to.
    pub owner: u64,
    /// The cosine, to within about 0.01.
    pub score: f32,
}

impl Codes {
    /// Adds one vector. Returns `false` and adds nothing if the vector is empty or its number of
    /// components differs from the set's.
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

    /// Reserves space for `more` vectors.
    fn reserve(&mut self, more: usize) {
        self.ids.reserve(more);
        self.owners.reserve(more);
        self.scales.reserve(more);
        self.codes.reserve(more * self.dimensions);
    }

    /// Copies a row of other codes with the same number of components.
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

    /// The `k` nearest vectors for each query, best first, ties by id; none clearly below
    /// `min_score`. Queries of another length find nothing.
    pub fn nearest(
        &self,
        queries: &[Vec<f32>],
        k: usize,
        min_score: f32,
        among: Among<'_>,
    ) -> Vec<Vec<Near>> {
        let keep = |_, owner: u64| !among.exclude.contains(&owner);
        pass::nearest(self, queries, Limits { k, min_score, rows: among.rows, keep: &keep })
    }

    /// The cosine of each of these vectors with a query, to within about 0.01; 0 for unknown
    /// identifiers. Vectors must have been pushed in the order of their identifiers.
    pub fn similarities(&self, query: &[f32], ids: &[u64]) -> Vec<f32> {
        let (query_scale, codes) = quantize(query);
        let query: Vec<i8> = codes.map(u8::cast_signed).collect();
        let row = |id: &u64| {
            let row = self.ids.binary_search(id).ok().filter(|_| query.len() == self.dimensions)?;
            let code = self.codes.get(row * self.dimensions..(row + 1) * self.dimensions)?;
            Some((code, *self.scales.get(row)?))
        };
        let rows: Vec<Option<(&[u8], f32)>> = ids.iter().map(row).collect();
        let found = rows.iter().flatten();
        let mut sums = dots::each(&query, found.map(|(code, _)| *code)).into_iter();
        let mut similarity = |scale: f32| Some(sums.next()? as f32 * query_scale * scale);
        rows.iter()
            .map(|row| row.and_then(|(_, scale)| similarity(scale)).unwrap_or_default())
            .collect()
    }

    /// The cosine that a `share` of all pairs with different owners stays below, estimated from the
    /// first vectors. They are a random sample because identifiers are hashes. `None` for too few
    /// pairs.
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
        let mut cosines = Vec::with_capacity(SAMPLE * SAMPLE / 2);
        for (place, (owner, scale, code)) in rows.iter().enumerate() {
            let query: Vec<i8> = code.iter().copied().map(u8::cast_signed).collect();
            let others = || rows.iter().skip(place + 1).filter(|other| owner != &other.0);
            let sums = dots::each(&query, others().map(|(_, _, code)| *code));
            for ((_, other_scale, _), sum) in others().zip(sums) {
                cosines.push(sum as f32 * **scale * **other_scale);
            }
        }
        cosines.sort_unstable_by(f32::total_cmp);
        cosines
    }
}

/// Computes one scale per vector: the largest component becomes ±127.
fn quantize(vector: &[f32]) -> (f32, impl Iterator<Item = u8>) {
    let largest = vector.iter().fold(f32::MIN_POSITIVE, |largest, x| largest.max(x.abs()));
    let scale = largest / 127.0;
    (scale, vector.iter().map(move |x| ((x / scale).round() as i8).cast_unsigned()))
}

#[cfg(test)]
mod tests {
    use pikerag_knowledge::cosine;
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

    fn vectors(length: usize, n: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Vec<f32>>> {
        prop::collection::vec(prop::collection::vec(-1.0f32..1.0, length).prop_map(unit), n)
    }

    /// Vectors and up to ten queries of one length, which may end within a step of any kernel.
    fn stored_and_queries() -> impl Strategy<Value = (Vec<Vec<f32>>, Vec<Vec<f32>>)> {
        let length = prop::sample::select(vec![1usize, 7, 48, 100, 383]);
        length.prop_flat_map(|length| {
            (vectors(length, 1..600.min(30_000 / length)), vectors(length, 1..11))
        })
    }

    /// Three owners with many vectors each; vectors of one owner are alike and do not count.
    #[test]
    fn unrelated_similarity_ignores_pairs_of_one_owner() {
        let mut codes = Codes::default();
        for id in 0..30u64 {
            let owner = id % 3;
            let mut vector = vec![0.0f32; 4];
            // 0.6 in common with all vectors, the rest with vectors of the same owner.
            vector[3] = 0.6;
            vector[owner as usize] = 0.8;
            assert!(codes.push(id, owner, &vector));
        }
        let alike = codes.unrelated_similarity(0.95).unwrap();
        assert!((alike - 0.36).abs() < 0.01, "{alike}");
        // Too few vectors, none, and vectors of one owner only give no result.
        let mut few = Codes::default();
        assert_eq!(few.unrelated_similarity(0.95), None);
        for id in 0..60 {
            assert!(few.push(id, 7, &[1.0, 0.0]));
        }
        assert_eq!(few.unrelated_similarity(0.95), None);
    }

    proptest! {
        /// Compares with every vector scored in full precision; codes may only swap near ties.
        #[test]
        fn finds_what_brute_force_finds(
            (stored, queries) in stored_and_queries(), k in 1usize..12, min_score in -0.2f32..0.4
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
    fn single_similarities_equal_those_of_the_scan() {
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
