//! Keeps the best `k` results in any order of arrival; ties go by identifier.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::Near;

/// The best `k` so far.
pub struct Best {
    k: usize,
    worst: f32,
    heap: BinaryHeap<Worst>,
}

/// Orders [`Near`]s so that the heap's top is the one to drop first.
struct Worst(Near);

impl Best {
    /// Keeps the best `k`.
    pub fn new(k: usize) -> Self {
        Self { k, worst: f32::NEG_INFINITY, heap: BinaryHeap::new() }
    }

    /// The lowest score held; below all scores while fewer than `k` are held.
    pub fn worst(&self) -> f32 {
        self.worst
    }

    /// Takes a result, which is dropped unless it is one of the best so far.
    pub fn offer(&mut self, near: Near) {
        self.heap.push(Worst(near));
        if self.k < self.heap.len() {
            self.heap.pop();
        }
        if self.heap.len() == self.k {
            self.worst = self.heap.peek().map_or(f32::NEG_INFINITY, |worst| worst.0.score);
        }
    }

    /// Adds the results of another.
    pub fn join(&mut self, other: Self) {
        for near in other.heap {
            self.offer(near.0);
        }
    }

    /// The results, best first.
    pub fn sorted(self) -> Vec<Near> {
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
