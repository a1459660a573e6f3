//! Computes the columns of rows of cells, and the column of each cell.

use crate::marks::Word;

/// The columns: the areas between the gaps that almost all rows share.
pub(crate) fn columns(several: &[&Vec<(f32, f32)>], size: f32) -> Vec<(f32, f32)> {
    let mut ends: Vec<(f32, i32)> = Vec::new();
    for (left, right) in several.iter().flat_map(|cells| cells.iter()) {
        ends.extend([(*left, 1), (*right, -1)]);
    }
    ends.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
    let few = i32::try_from(several.len() / 8).unwrap_or(i32::MAX);
    let mut columns: Vec<(f32, f32)> = Vec::new();
    let (mut covered, mut from) = (0, None);
    for (at, step) in ends {
        let before = covered;
        covered += step;
        if before <= few && few < covered {
            from = Some(at);
        } else if covered <= few
            && few < before
            && let Some(from) = from.take()
        {
            match columns.last_mut() {
                Some((_, to)) if from - *to < 0.4 * size => *to = at,
                _ => columns.push((from, at)),
            }
        }
    }
    columns
}

/// The extents of the cells that lie in one column only, without columns that are only the overlap
/// of others.
pub(crate) fn whole_columns(
    several: &[&Vec<(f32, f32)>],
    mut columns: Vec<(f32, f32)>,
) -> Vec<(f32, f32)> {
    let own = |columns: &[(f32, f32)]| {
        let mut own: Vec<Vec<(f32, f32)>> = vec![Vec::new(); columns.len()];
        for cell in several.iter().flat_map(|cells| cells.iter()) {
            let touched = |column: &(f32, f32)| cell.0 < column.1 && column.0 < cell.1;
            let first = columns.iter().position(touched);
            if let Some(at) = first.filter(|_| columns.iter().rposition(touched) == first)
                && let Some(own) = own.get_mut(at)
            {
                own.push(*cell);
            }
        }
        own
    };
    let mut is_own = own(&columns).into_iter().map(|cells| !cells.is_empty());
    columns.retain(|_| is_own.next().unwrap_or(false));
    let mut cells = own(&columns);
    for at in 1..cells.len() {
        // Cells of one column that reach into the other, such as a title over both: removes those
        // of the column with fewer cells.
        let [.., before, here] = cells.get_mut(..=at).unwrap_or_default() else { continue };
        let (end, start) = (extent(before).1, extent(here).0);
        let n_before = before.iter().filter(|cell| start < cell.1).count();
        if n_before < here.iter().filter(|cell| cell.0 < end).count() {
            before.retain(|cell| cell.1 <= start);
        } else {
            here.retain(|cell| end <= cell.0);
        }
    }
    let extents = cells.iter().map(|cells| extent(cells)).zip(columns);
    extents.map(|(own, column)| if own.0 < own.1 { own } else { column }).collect()
}

fn extent(cells: &[(f32, f32)]) -> (f32, f32) {
    cells.iter().fold((f32::MAX, f32::MIN), |all, cell| (all.0.min(cell.0), all.1.max(cell.1)))
}

/// Groups words without gaps, split where some of them belong to a column of their own: long cells
/// almost touch their neighbours.
pub(crate) fn parts(words: Vec<Word>, columns: &[(f32, f32)], size: f32) -> Vec<Vec<Word>> {
    let slack = 0.35 * size;
    let inside = |word: &Word| {
        let holds =
            |column: &(f32, f32)| column.0 - slack <= word.left && word.right <= column.1 + slack;
        columns.iter().position(holds)
    };
    let own: Vec<Option<usize>> = words.iter().map(inside).collect();
    let mut starts = Vec::new();
    for (at, pair) in words.windows(2).enumerate() {
        let ([last, word], Some(&[before, Some(here)])) = (pair, own.get(at..at + 2)) else {
            continue;
        };
        let Some(&(from, to)) = columns.get(here).filter(|_| before != Some(here)) else {
            continue;
        };
        let rest = words.iter().zip(&own).skip(at + 1).take_while(|(_, own)| **own == Some(here));
        let right = rest.last().map_or(word.right, |(word, _)| word.right);
        let keeps = (word.left - from).abs() < slack
            || (right - to).abs() < slack
            || (f32::midpoint(word.left, right) - f32::midpoint(from, to)).abs() < slack;
        if last.right < from && keeps {
            starts.push(at + 1);
        }
    }
    let mut starts = starts.into_iter().peekable();
    let mut parts: Vec<Vec<Word>> = Vec::new();
    for (at, word) in words.into_iter().enumerate() {
        match parts.last_mut().filter(|_| starts.next_if_eq(&at).is_none()) {
            Some(part) => part.push(word),
            None => parts.push(vec![word]),
        }
    }
    parts
}

/// The column of a cell, and whether the cell spans further columns. A spanning cell belongs to the
/// column of its start, or to the first column whose middle it covers.
pub(crate) fn column_of(
    (left, right): (f32, f32),
    columns: &[(f32, f32)],
    size: f32,
) -> Option<(usize, bool)> {
    let middle = f32::midpoint(left, right);
    let touched = |column: &(f32, f32)| left < column.1 && column.0 < right;
    let first = columns.iter().position(touched);
    let last = columns.iter().rposition(touched);
    let (Some(first), Some(last)) = (first, last) else {
        // Between two columns: the nearer one.
        let away = |column: &(f32, f32)| (column.0 - middle).max(middle - column.1).max(0.0);
        let nearest =
            (columns.iter().enumerate()).min_by(|(_, a), (_, b)| away(a).total_cmp(&away(b)));
        return nearest.map(|(index, _)| (index, false));
    };
    if first == last {
        return Some((first, false));
    }
    let starts = |column: &(f32, f32)| (column.0 - left).abs() < 0.5 * size;
    let over = |from: usize, to: usize, slack: f32| {
        let ends = columns.get(from).zip(columns.get(to));
        ends.is_some_and(|(from, to)| (f32::midpoint(from.0, to.1) - middle).abs() < slack * size)
    };
    let much = |column: &(f32, f32)| {
        0.3 * (column.1 - column.0) < right.min(column.1) - left.max(column.0)
    };
    let column = (columns.iter().position(starts))
        .or_else(|| (first..=last).find(|at| over(*at, *at, 0.5)))
        .or_else(|| (first..last).find(|at| over(*at, at + 1, 1.0)))
        .or_else(|| columns.iter().position(much));
    Some((column.unwrap_or(first), true))
}
