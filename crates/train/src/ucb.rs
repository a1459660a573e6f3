//! Samples a chunk for the proposer by upper confidence bounds (PIKE-RAG §5.3.3, Algorithm 2, lines 2, 3, 5, 13, 23
//! and 24).

use std::collections::{BTreeMap, BTreeSet};

use pikerag_knowledge::{ChunkId, Seeded};
use serde::{Deserialize, Serialize};

/// The chunks that can be sampled. Algorithm 2 and its text differ.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    strum::EnumMessage,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Pool {
    /// Chunks with a score (the text: “from S when available”). The first round samples none.
    #[default]
    Scored,
    /// All chunks of the base (line 5 as printed). In the first round all bounds are 0, and the draw decides.
    All,
    /// None: the baseline without context sampling (§6.4).
    None,
}

/// The bound of the sampled chunk, `S(c) + α·√(ln t / V(c))`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bound {
    /// The chunk.
    pub chunk: ChunkId,
    /// `S(c)`: the sum of similarities.
    pub score: f64,
    /// `V(c)`: 1, and 1 more for each selection.
    pub visits: u32,
    /// The bound.
    pub bound: f64,
}

/// The dictionaries S and V. Chunks without an entry have S = 0 and V = 1.
#[derive(Clone, Debug)]
pub struct Sampler {
    alpha: f64,
    pool: Pool,
    scores: BTreeMap<ChunkId, f64>,
    visits: BTreeMap<ChunkId, u32>,
    draws: Seeded,
}

impl Sampler {
    /// Lines 2 and 3. `alpha` weighs exploration; `seed` decides between equal bounds.
    pub fn new(alpha: f64, pool: Pool, seed: u64) -> Self {
        let (scores, visits) = (BTreeMap::new(), BTreeMap::new());
        Self { alpha, pool, scores, visits, draws: Seeded::new(seed) }
    }

    /// Line 5: the chunk with the greatest bound in round `t`, from 1. `all` holds the chunks of the base; only
    /// [`Pool::All`] reads it. `None` if the pool is empty.
    pub fn sample(&mut self, t: usize, all: &[ChunkId]) -> Option<Bound> {
        let pool: BTreeSet<ChunkId> = match self.pool {
            Pool::Scored => self.scores.keys().copied().collect(),
            Pool::All => all.iter().copied().collect(),
            Pool::None => return None,
        };
        let bounds: Vec<Bound> = pool.into_iter().map(|chunk| self.bound(chunk, t)).collect();
        let greatest = bounds.iter().map(|bound| bound.bound).max_by(f64::total_cmp)?;
        let best: Vec<Bound> =
            bounds.into_iter().filter(|bound| bound.bound.total_cmp(&greatest).is_eq()).collect();
        best.get(self.draws.below(best.len())).copied()
    }

    /// The bound of a chunk in round `t`, from 1.
    pub fn bound(&self, chunk: ChunkId, t: usize) -> Bound {
        let score = self.scores.get(&chunk).copied().unwrap_or(0.0);
        let visits = self.visits.get(&chunk).copied().unwrap_or(1);
        let bonus = ((t.max(1) as f64).ln() / f64::from(visits)).sqrt();
        Bound { chunk, score, visits, bound: score + self.alpha * bonus }
    }

    /// Line 13: adds the similarity of a pair that is no candidate to the score of its chunk.
    pub fn raise(&mut self, chunk: ChunkId, similarity: f64) {
        *self.scores.entry(chunk).or_insert(0.0) += similarity;
    }

    /// Lines 23 and 24: the chunk was selected.
    pub fn select(&mut self, chunk: ChunkId) {
        self.scores.insert(chunk, 0.0);
        self.visit(chunk);
    }

    /// Counts a visit without a selection, so that a round without a choice does not sample the same chunk again.
    pub fn visit(&mut self, chunk: ChunkId) {
        *self.visits.entry(chunk).or_insert(1) += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: ChunkId = ChunkId(1);
    const B: ChunkId = ChunkId(2);
    const C: ChunkId = ChunkId(3);

    fn close(left: f64, right: f64) -> bool {
        (left - right).abs() < 1e-12
    }

    /// Four rounds, each computed by hand with α = 0.5.
    #[test]
    fn four_rounds_by_hand() {
        let mut sampler = Sampler::new(0.5, Pool::Scored, 7);
        // t = 1: S is empty.
        assert_eq!(sampler.sample(1, &[]), None);
        sampler.raise(A, 0.40);
        sampler.raise(B, 0.30);
        sampler.raise(B, 0.15);
        // t = 2: B has 0.45 + 0.5·√(ln 2 / 1) = 0.45 + 0.5·0.8325546… = 0.8662773…
        let second = sampler.sample(2, &[]).unwrap();
        assert_eq!((second.chunk, second.visits), (B, 1));
        assert!(close(second.bound, 0.45 + 0.5 * 0.832_554_611_157_697_7), "{second:?}");
        sampler.select(B);
        // t = 3: A has 0.40 + 0.5·√(ln 3 / 1) = 0.9240735…; B has 0 + 0.5·√(ln 3 / 2) = 0.3705…
        let third = sampler.sample(3, &[]).unwrap();
        assert_eq!((third.chunk, third.score), (A, 0.40));
        assert!(close(third.bound, 0.40 + 0.5 * 1.098_612_288_668_109_8_f64.sqrt()), "{third:?}");
        assert!(close(sampler.bound(B, 3).bound, 0.5 * (1.098_612_288_668_109_8_f64 / 2.0).sqrt()));
        sampler.select(A);
        sampler.raise(B, 0.20);
        sampler.raise(C, 0.20);
        // t = 4: C has one visit, B two: the bonus decides between equal scores.
        let fourth = sampler.sample(4, &[]).unwrap();
        assert_eq!((fourth.chunk, fourth.visits), (C, 1));
        assert!(close(fourth.bound, 0.20 + 0.5 * 4.0_f64.ln().sqrt()), "{fourth:?}");
    }

    #[test]
    fn the_seed_draws_among_equal_bounds() {
        let first = |seed| Sampler::new(1.0, Pool::All, seed).sample(1, &[A, B, C]).unwrap().chunk;
        let drawn: BTreeSet<ChunkId> = (0..40).map(first).collect();
        assert_eq!(drawn.into_iter().collect::<Vec<_>>(), [A, B, C]);
        assert_eq!(first(5), first(5));
        assert_eq!(Sampler::new(1.0, Pool::None, 1).sample(3, &[A]), None);
    }
}
