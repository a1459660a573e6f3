//! Groups lines into columns, and the lines of a column into paragraphs.

use pikerag_knowledge::Area;

use super::lines::Line;
use super::markers;

/// Lines under one another.
#[derive(Debug)]
pub(crate) struct Column {
    pub(crate) lines: Vec<Line>,
    pub(crate) area: Area,
}

/// Groups lines, from top to bottom, into columns.
pub(crate) fn columns(lines: Vec<Line>) -> Vec<Column> {
    let mut columns: Vec<Column> = Vec::new();
    // Columns whose last line is near enough to continue.
    let mut open: Vec<usize> = Vec::new();
    let areas: Vec<Area> = lines.iter().map(|line| line.area).collect();
    for (index, line) in lines.into_iter().enumerate() {
        open.retain(|at| {
            let last = columns.get(*at).and_then(|column| column.lines.last());
            last.is_some_and(|last| line.base - last.base < 2.4 * last.size.max(line.size))
        });
        // Other text on the same line.
        let start = index.saturating_sub(40);
        let beside = areas.iter().enumerate().skip(start).take(80).filter(|(other, area)| {
            *other != index && (area.bottom - line.area.bottom).abs() < 0.5 * line.size
        });
        let beside: Vec<Area> = beside.map(|(_, area)| *area).collect();
        let above: Vec<usize> = (open.iter().copied())
            .filter(|at| {
                let column = columns.get(*at).and_then(|column| column.lines.last());
                column.is_some_and(|last| overlap(last.area, line.area) && last.base < line.base)
            })
            .collect();
        let joins = match above.as_slice() {
            [only] => columns.get(*only).is_some_and(|column| {
                let last = column.lines.last();
                let alike = last.is_some_and(|last| goes_on(last, &line));
                alike
                    && !beside
                        .iter()
                        .any(|area| overlap(*area, last.map_or(column.area, |l| l.area)))
            }),
            _ => false,
        };
        match above.first().and_then(|at| columns.get_mut(*at)).filter(|_| joins) {
            Some(column) => {
                column.area = column.area.around(line.area);
                column.lines.push(line);
            }
            None => {
                open.push(columns.len());
                columns.push(Column { area: line.area, lines: vec![line] });
            }
        }
    }
    columns
}

/// Whether the line below may belong to the same text.
fn goes_on(last: &Line, line: &Line) -> bool {
    let size = last.size.max(line.size);
    line.base - last.base < 2.2 * size && (last.size - line.size).abs() < 0.16 * size
}

fn overlap(a: Area, b: Area) -> bool {
    let shared = a.right.min(b.right) - a.left.max(b.left);
    let narrower = (a.right - a.left).min(b.right - b.left);
    0.02 * narrower < shared
}

/// The paragraphs of a column from top to bottom, each of at least one line.
pub(crate) fn paragraphs(column: Column) -> Vec<Vec<Line>> {
    let Column { lines, area } = column;
    let mut steps: Vec<f32> = (lines.iter().zip(lines.iter().skip(1)))
        .map(|(a, b)| (b.base - a.base) / a.size.max(b.size).max(0.01))
        .collect();
    steps.sort_by(f32::total_cmp);
    // The lower third of the steps, because gaps between paragraphs are larger.
    let step = steps.get(steps.len() / 3).copied().unwrap_or(1.2).max(0.8);
    let mut paragraphs: Vec<Vec<Line>> = Vec::new();
    for line in lines {
        let ends = match paragraphs.last().map(Vec::as_slice) {
            Some(before @ [.., last]) => breaks(before, last, &line, area, step),
            _ => true,
        };
        match paragraphs.last_mut().filter(|_| !ends) {
            Some(paragraph) => paragraph.push(line),
            None => paragraphs.push(vec![line]),
        }
    }
    paragraphs
}

/// Whether a paragraph ends between two lines.
fn breaks(before: &[Line], last: &Line, line: &Line, area: Area, step: f32) -> bool {
    let size = last.size.max(line.size).max(0.01);
    if step * 1.3 + 0.1 < (line.base - last.base) / size {
        return true;
    }
    if 0.1 * size < (last.size - line.size).abs()
        || last.mono != line.mono && 12 < line.text.text.len()
    {
        return true;
    }
    if 0.0 < last.weight && 0.0 < line.weight {
        let (light, heavy) = (last.weight.min(line.weight), last.weight.max(line.weight));
        if 1.28 * light < heavy && line.text.text.len().min(last.text.text.len()) > 3 {
            return true;
        }
    }
    if last.mono && line.mono {
        return false;
    }
    if markers::is_item(&line.text.text) || markers::is_caption(&line.text.text) {
        return true;
    }
    let first = before.first().unwrap_or(last);
    if markers::is_item(&first.text.text) {
        // An item continues as long as its lines stay right of its mark.
        return line.area.left < first.area.left + 0.3 * size
            && first.area.left + 0.3 * size < last.area.left;
    }
    if markers::ends_in_leader(&last.text.text) {
        return true;
    }
    // The next paragraph has an indented first line.
    let indent = line.area.left - last.area.left;
    if 0.8 * size < indent && indent < 5.0 * size && last.area.left - area.left < 0.5 * size {
        return true;
    }
    // The next word would have fitted on the last line, so that line ended on purpose.
    let room = area.right - last.area.right;
    let centred = (f32::midpoint(last.area.left, last.area.right)
        - f32::midpoint(line.area.left, line.area.right))
    .abs()
        < 0.5 * size
        && 1.0 * size < (last.area.left - line.area.left).abs();
    !centred && line.first + 0.9 * size < room && !last.text.text.ends_with(['-', ','])
}
