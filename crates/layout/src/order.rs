//! Sorts the pieces of a page into reading order.
//!
//! Above comes before below, and left before right if nothing between them spans both (T. Breuel,
//! High Performance Document Layout Analysis, 2003).

pub mod xy_cut;

use pikerag_knowledge::Area;

/// More pieces are a drawing, read from top to bottom.
const MOST: usize = 400;

/// The indexes of `areas` in reading order.
pub(crate) fn reading_order(areas: &[Area]) -> Vec<usize> {
    let mut order: Vec<(usize, Area)> = areas.iter().copied().enumerate().collect();
    order.sort_by(|(_, a), (_, b)| a.top.total_cmp(&b.top).then(a.left.total_cmp(&b.left)));
    if MOST < order.len() {
        return order.into_iter().map(|(index, _)| index).collect();
    }
    let mut read = Reading { sorted: order, done: vec![false; areas.len()], order: Vec::new() };
    for at in 0..areas.len() {
        read.visit(at);
    }
    read.order
}

struct Reading {
    sorted: Vec<(usize, Area)>,
    done: Vec<bool>,
    order: Vec<usize>,
}

impl Reading {
    /// Reads the pieces before this one, then the piece; the depth is at most the number of pieces.
    fn visit(&mut self, at: usize) {
        match self.done.get_mut(at) {
            Some(done) if !*done => *done = true,
            _ => return,
        }
        for other in 0..self.sorted.len() {
            if self.comes_before(other, at) {
                self.visit(other);
            }
        }
        self.order.extend(self.sorted.get(at).map(|(index, _)| *index));
    }

    fn comes_before(&self, a: usize, b: usize) -> bool {
        if a == b || self.done.get(a).copied().unwrap_or(true) {
            return false;
        }
        let (Some((_, one)), Some((_, two))) = (self.sorted.get(a), self.sorted.get(b)) else {
            return false;
        };
        if share_columns(one, two) {
            return middle(one) < middle(two);
        }
        if two.left < one.left {
            return false;
        }
        let (high, low) = (one.top.min(two.top), one.bottom.max(two.bottom));
        let across = |(_, area): &(usize, Area)| {
            let y = middle(area);
            high <= y
                && y <= low
                && between(y, one, two)
                && share_columns(area, one)
                && share_columns(area, two)
        };
        !self.sorted.iter().any(across)
    }
}

/// Whether `y` lies between the middles of both.
fn between(y: f32, one: &Area, two: &Area) -> bool {
    let (a, b) = (middle(one), middle(two));
    a.min(b) <= y && y <= a.max(b)
}

fn share_columns(a: &Area, b: &Area) -> bool {
    let shared = a.right.min(b.right) - a.left.max(b.left);
    let narrower = (a.right - a.left).min(b.right - b.left);
    0.1 * narrower < shared
}

fn middle(area: &Area) -> f32 {
    f32::midpoint(area.top, area.bottom)
}
