//! Sorts the shapes of a slide into reading order (recursive X-Y cut).
//!
//! It cuts along empty bands. If both rows and columns are possible, it takes the order that agrees
//! better with the file.

/// Left, top, right and lower edge, in any unit; y downwards.
pub type Bounds = [f64; 4];

/// More shapes keep the order of the file: comparing orders takes time.
const MOST: usize = 400;
/// The most levels of cuts; deeper shapes keep the order of the file.
const DEEPEST: usize = 12;

/// The indexes of the boxes in reading order, each once.
pub fn reading_order(boxes: &[Bounds]) -> Vec<usize> {
    let all: Vec<usize> = (0..boxes.len()).collect();
    if MOST < boxes.len() {
        return all;
    }
    ordered(boxes, all, DEEPEST)
}

fn ordered(boxes: &[Bounds], set: Vec<usize>, depth: usize) -> Vec<usize> {
    if set.len() < 2 || depth == 0 {
        return set;
    }
    let [mut rows, mut columns] =
        [1, 0].map(|axis| cut(boxes, &set, axis)).map(|parts| (1 < parts.len()).then_some(parts));
    if rows.is_none() && columns.is_none() {
        let edge = |at: &usize, side: usize| {
            boxes.get(*at).and_then(|it| it.get(side)).copied().unwrap_or(0.0)
        };
        let mut sorted = set;
        sorted.sort_by(|a, b| {
            edge(a, 1).total_cmp(&edge(b, 1)).then(edge(a, 0).total_cmp(&edge(b, 0))).then(a.cmp(b))
        });
        return sorted;
    }
    let mut orders = [rows.take(), columns.take()].map(|parts| {
        let parts = parts?;
        Some(parts.into_iter().flat_map(|part| ordered(boxes, part, depth - 1)).collect::<Vec<_>>())
    });
    match &mut orders {
        [Some(rows), Some(columns)] => {
            let better = if inversions(columns) < inversions(rows) { columns } else { rows };
            std::mem::take(better)
        }
        [Some(order), None] | [None, Some(order)] => std::mem::take(order),
        [None, None] => Vec::new(),
    }
}

/// Groups that do not overlap along an axis, in rising order. Boxes may touch and overlap a little.
fn cut(boxes: &[Bounds], set: &[usize], axis: usize) -> Vec<Vec<usize>> {
    let extent = |at: usize| {
        let edges = boxes.get(at);
        let edge = |side: usize| edges.and_then(|edges| edges.get(side)).copied().unwrap_or(0.0);
        (edge(axis), edge(axis + 2))
    };
    let mut sorted = set.to_vec();
    sorted.sort_by(|a, b| extent(*a).0.total_cmp(&extent(*b).0).then(a.cmp(b)));
    let mut parts: Vec<Vec<usize>> = Vec::new();
    let mut end = f64::NEG_INFINITY;
    for at in sorted {
        let (from, to) = extent(at);
        let slack = (to - from) * 0.1;
        match parts.last_mut() {
            Some(part) if from + slack < end => part.push(at),
            _ => parts.push(vec![at]),
        }
        end = end.max(to);
    }
    // Within a group, the order of the file holds until the group is cut itself.
    for part in &mut parts {
        part.sort_unstable();
    }
    parts
}

/// The number of pairs in the opposite order of the file.
fn inversions(order: &[usize]) -> usize {
    let after = |(at, first): (usize, &usize)| {
        order.iter().skip(at + 1).filter(|second| *second < first).count()
    };
    order.iter().enumerate().map(after).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_columns() {
        let [a, b, c, d] = [[0., 0., 4., 1.], [5., 0., 9., 1.], [0., 2., 4., 6.], [5., 2., 9., 6.]];
        // A table can be read both ways, so the order of the file decides.
        assert_eq!(reading_order(&[a, b, c, d]), [0, 1, 2, 3]);
        assert_eq!(reading_order(&[a, c, b, d]), [0, 1, 2, 3]);
        // A title above two columns, in any order of the file.
        let title = [0., -2., 9., -1.];
        assert_eq!(reading_order(&[d, c, title]), [2, 1, 0]);
        // Boxes that overlap cannot be cut: from above, from the left.
        assert_eq!(reading_order(&[[2., 2., 6., 6.], [0., 0., 4., 4.]]), [1, 0]);
    }
}
