//! Measures how much a common trait of two chunks says: the fewer chunks have it, the more.

/// Rarity on a logarithmic scale: 1 for a trait of one chunk, 0 for a trait of all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rarity {
    /// Natural logarithm of the number of chunks, at least that of 2.
    ln_chunks: f32,
}

/// A name that more chunks share leads nowhere in a base of any size: each of them would be looked
/// up.
const MOST_SHARING: usize = 1000;

impl Rarity {
    pub(crate) fn new(n_chunks: usize) -> Self {
        Self { ln_chunks: (n_chunks.max(2) as f32).ln() }
    }

    /// The rarity of a trait of `count` chunks: 1 for one chunk, 0 for all of them.
    pub(crate) fn of(self, count: usize) -> f32 {
        (1.0 - (count.max(1) as f32).ln() / self.ln_chunks).clamp(0.0, 1.0)
    }

    /// The weight of a common trait that `count` chunks have: 1 if it is as rare as possible, 0 if
    /// it is as rare as `floor`, or less.
    pub(crate) fn shared(self, count: usize, floor: f32) -> f32 {
        let rare = (self.of(count) - floor) / (1.0 - floor);
        rare.max(0.0).powi(2)
    }

    /// The most chunks that may share a name that still counts as rare.
    pub(crate) fn most_sharing(self, floor: f32) -> usize {
        ((self.ln_chunks * (1.0 - floor)).exp().ceil() as usize + 1).min(MOST_SHARING)
    }

    /// The approximate number of all chunks.
    pub(crate) fn n_chunks(self) -> usize {
        self.ln_chunks.exp() as usize
    }
}
