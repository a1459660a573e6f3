//! Which things belong together, when all we hear of are pairs? (Union–find)

/// Things by their places, from 0, each in one set.
#[derive(Debug)]
pub(crate) struct DisjointSets {
    parent: Vec<usize>,
}

impl DisjointSets {
    /// So many things, each on its own.
    pub(crate) fn new(n: usize) -> Self {
        Self { parent: (0..n).collect() }
    }

    /// The first of those that belong with it.
    pub(crate) fn root(&mut self, mut of: usize) -> usize {
        while let Some(&parent) = self.parent.get(of) {
            if parent == of {
                break;
            }
            let above = self.parent.get(parent).copied().unwrap_or(parent);
            if let Some(slot) = self.parent.get_mut(of) {
                *slot = above;
            }
            of = above;
        }
        of
    }

    /// Makes one set of theirs; the lesser root stays the root.
    pub(crate) fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        if let Some(slot) = self.parent.get_mut(a.max(b)) {
            *slot = a.min(b);
        }
    }
}
