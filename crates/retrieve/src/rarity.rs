//! How much does it say to have something in common? The more, the fewer chunks have it.

/// Rarity on a logarithmic scale: 1 for what one chunk has, 0 for what all have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rarity {
    /// Natural logarithm of the number of chunks, at least that of 2.
    ln_chunks: f32,
}

/// A name that more chunks share leads nowhere, however many chunks there are: each of them would be looked at.
const MOST_SHARING: usize = 1000;

impl Rarity {
    pub(crate) fn new(n_chunks: usize) -> Self {
        Self { ln_chunks: (n_chunks.max(2) as f32).ln() }
    }

    /// How rare something is that `count` chunks have: 1 for one chunk, 0 for all of them.
    pub(crate) fn of(self, count: usize) -> f32 {
        (1.0 - (count.max(1) as f32).ln() / self.ln_chunks).clamp(0.0, 1.0)
    }

    /// What it says to have something in common that `count` chunks have: 1 where it is rarest, 0 where
    /// it is as rare as `floor`, or less.
    pub(crate) fn shared(self, count: usize, floor: f32) -> f32 {
        let rare = (self.of(count) - floor) / (1.0 - floor);
        rare.max(0.0).powi(2)
    }

    /// More chunks than this may not share a name that still counts as rare.
    pub(crate) fn most_sharing(self, floor: f32) -> usize {
        ((self.ln_chunks * (1.0 - floor)).exp().ceil() as usize + 1).min(MOST_SHARING)
    }

    /// All chunks that there are, about.
    pub(crate) fn n_chunks(self) -> usize {
        self.ln_chunks.exp() as usize
    }
}
