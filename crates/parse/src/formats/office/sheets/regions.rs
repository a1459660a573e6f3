//! Groups the cells of a sheet into regions: cells that touch along an edge, and cells inside their
//! bounds.

use super::Cell;

/// With more pieces, the sheet is cut only at its empty rows, because comparing all pieces is slow.
const MOST_PIECES: usize = 500;

/// Groups cells by row and column into regions, sorted from the top, then from the left.
pub(super) fn regions(cells: Vec<Cell>) -> Vec<Vec<Cell>> {
    let mut labels = touching(&cells);
    let mut bounds = bounds_of(&cells, &labels);
    if MOST_PIECES < bounds.len() {
        labels = bands(&cells);
        bounds = bounds_of(&cells, &labels);
    } else {
        let merged = unite(&mut bounds);
        for label in &mut labels {
            *label = merged.get(*label).copied().unwrap_or(*label);
        }
    }
    let mut order: Vec<usize> = (0..bounds.len()).collect();
    let corner = |label: &usize| bounds.get(*label).map(|[top, left, ..]| (*top, *left));
    order.sort_by_key(corner);
    let mut place = vec![0usize; bounds.len()];
    for (at, label) in order.iter().enumerate() {
        if let Some(place) = place.get_mut(*label) {
            *place = at;
        }
    }
    let mut regions: Vec<Vec<Cell>> = vec![Vec::new(); bounds.len()];
    for (cell, label) in cells.into_iter().zip(labels) {
        if let Some(region) = place.get(label).and_then(|place| regions.get_mut(*place)) {
            region.push(cell);
        }
    }
    regions.retain(|region| !region.is_empty());
    regions
}

/// A label per cell, from 0 without gaps: touching cells have the same.
fn touching(cells: &[Cell]) -> Vec<usize> {
    let mut parents: Vec<usize> = (0..cells.len()).collect();
    let mut above = 0; // A cell in the row above, no further right than needed.
    for (at, cell) in cells.iter().enumerate() {
        let left = at.checked_sub(1).and_then(|left| cells.get(left));
        if left.is_some_and(|left| left.row == cell.row && left.column + 1 == cell.column) {
            union(&mut parents, at - 1, at);
        }
        let Some(row) = cell.row.checked_sub(1) else { continue };
        while cells.get(above).is_some_and(|other| (other.row, other.column) < (row, cell.column)) {
            above += 1;
        }
        if cells.get(above).is_some_and(|other| (other.row, other.column) == (row, cell.column)) {
            union(&mut parents, above, at);
        }
    }
    let mut names = std::collections::HashMap::new();
    let mut labels = Vec::with_capacity(cells.len());
    for at in 0..cells.len() {
        let root = root_of(&mut parents, at);
        let next = names.len();
        labels.push(*names.entry(root).or_insert(next));
    }
    labels
}

fn root_of(parents: &mut [usize], mut at: usize) -> usize {
    while let Some(parent) = parents.get(at).copied().filter(|parent| *parent != at) {
        let grand = parents.get(parent).copied().unwrap_or(parent);
        if let Some(parent) = parents.get_mut(at) {
            *parent = grand;
        }
        at = grand;
    }
    at
}

fn union(parents: &mut [usize], a: usize, b: usize) {
    let (a, b) = (root_of(parents, a), root_of(parents, b));
    if let Some(parent) = parents.get_mut(a.max(b)) {
        *parent = a.min(b);
    }
}

/// A label per cell: cells between two empty rows have the same.
fn bands(cells: &[Cell]) -> Vec<usize> {
    let mut label = 0;
    let mut last = cells.first().map_or(0, |cell| cell.row);
    let label_of = |cell: &Cell| {
        label += usize::from(last + 1 < cell.row);
        last = cell.row;
        label
    };
    cells.iter().map(label_of).collect()
}

/// First row and column, last row and column of each label.
fn bounds_of(cells: &[Cell], labels: &[usize]) -> Vec<[u32; 4]> {
    let mut bounds: Vec<[u32; 4]> = Vec::new();
    for (cell, label) in cells.iter().zip(labels) {
        if bounds.len() <= *label {
            bounds.resize(label + 1, [u32::MAX, u32::MAX, 0, 0]);
        }
        if let Some([top, left, bottom, right]) = bounds.get_mut(*label) {
            (*top, *left) = ((*top).min(cell.row), (*left).min(cell.column));
            (*bottom, *right) = ((*bottom).max(cell.row), (*right).max(cell.column));
        }
    }
    bounds
}

/// Unites labels with overlapping bounds; returns the representative of each label.
fn unite(bounds: &mut [[u32; 4]]) -> Vec<usize> {
    let mut merged: Vec<usize> = (0..bounds.len()).collect();
    loop {
        let mut changed = false;
        for first in 0..bounds.len() {
            for second in first + 1..bounds.len() {
                let (Some(a), Some(b)) = (bounds.get(first).copied(), bounds.get(second).copied())
                else {
                    continue;
                };
                let gone = |label: usize| merged.get(label) != Some(&label);
                if gone(first)
                    || gone(second)
                    || b[0] > a[2]
                    || a[0] > b[2]
                    || b[1] > a[3]
                    || a[1] > b[3]
                {
                    continue;
                }
                if let Some(bounds) = bounds.get_mut(first) {
                    *bounds = [a[0].min(b[0]), a[1].min(b[1]), a[2].max(b[2]), a[3].max(b[3])];
                }
                for label in &mut merged {
                    if *label == second {
                        *label = first;
                    }
                }
                changed = true;
            }
        }
        if !changed {
            return merged;
        }
    }
}
