//! Groups things by pairs that belong together (union–find).

/// The numbers from 0 to n − 1, each in one set.
#[derive(Debug)]
pub(crate) struct DisjointSets {
    parent: Vec<usize>,
}

impl DisjointSets {
    /// Sets of one number each.
    pub(crate) fn new(n: usize) -> Self {
        Self { parent: (0..n).collect() }
    }

    /// The smallest number of the set that contains `of`.
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

    /// Joins the sets of two numbers; the smaller root remains the root.
    pub(crate) fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        if let Some(slot) = self.parent.get_mut(a.max(b)) {
            *slot = a.min(b);
        }
    }
}
