//! Places tables between the paragraphs of a picture: after most paragraphs above the table and
//! before most paragraphs below it.

use pikerag_knowledge::Area;

use crate::order::reading_order;
use crate::piece::Body;

/// A table or paragraph, with the index of its first word among all words.
pub(super) type Found = (usize, Area, Body);

/// Inserts tables between paragraphs, whose order is kept; each has the index of its first word.
pub(super) fn placed(paragraphs: Vec<Found>, tables: Vec<Found>) -> Vec<(Area, Body)> {
    let areas: Vec<Area> = tables.iter().map(|(_, area, _)| *area).collect();
    let mut tables: Vec<Option<Found>> = tables.into_iter().map(Some).collect();
    let mut slots: Vec<Vec<(Area, Body)>> = Vec::new();
    slots.resize_with(paragraphs.len() + 1, Vec::new);
    for at in reading_order(&areas) {
        let Some((first, area, body)) = tables.get_mut(at).and_then(Option::take) else { continue };
        let slot = slot(&paragraphs, first, area);
        if let Some(slot) = slots.get_mut(slot) {
            slot.push((area, body));
        }
    }
    let mut pieces = Vec::new();
    let mut paragraphs = paragraphs.into_iter();
    for slot in slots {
        pieces.extend(slot);
        pieces.extend(paragraphs.next().map(|(_, area, body)| (area, body)));
    }
    pieces
}

/// The number of paragraphs before the table.
fn slot(paragraphs: &[Found], first: usize, table: Area) -> usize {
    let n_above =
        (paragraphs.iter()).filter(|(_, area, _)| side(*area, table) == Side::Above).count();
    // Counts the paragraphs on the wrong side of the table: first with the table before all of
    // them, then after each step.
    let (mut before, mut behind) = (n_above, 0);
    let own = paragraphs.partition_point(|(index, ..)| *index < first);
    let (mut best, mut least) = (0, (before, own));
    for (number, (_, area, _)) in (1..).zip(paragraphs) {
        match side(*area, table) {
            Side::Above => before = before.saturating_sub(1),
            Side::Below => behind += 1,
            Side::Beside => {}
        }
        // Among equal places, takes the nearest to the place of the table's words.
        let here = (before + behind, own.abs_diff(number));
        if here < least {
            (best, least) = (number, here);
        }
    }
    best
}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Above,
    Below,
    Beside,
}

/// The side of the table on which `area` lies.
fn side(area: Area, table: Area) -> Side {
    let shared = area.right.min(table.right) - area.left.max(table.left);
    let middle = f32::midpoint(area.top, area.bottom);
    match () {
        () if shared <= 0.0 => Side::Beside,
        () if middle < f32::midpoint(table.top, table.bottom) => Side::Above,
        () => Side::Below,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(first: usize, [left, top, right, bottom]: [f32; 4]) -> Found {
        (first, Area { left, top, right, bottom }, Body::Figure(None))
    }

    fn run(paragraphs: &[[f32; 4]], tables: &[(usize, [f32; 4])]) -> Vec<f32> {
        let paragraphs = paragraphs.iter().enumerate().map(|(at, area)| piece(at, *area));
        let tables = tables.iter().map(|(first, area)| piece(*first, *area));
        let placed = placed(paragraphs.collect(), tables.collect());
        placed.iter().map(|(area, _)| area.top).collect()
    }

    #[test]
    fn a_table_is_placed_under_its_title() {
        let [title, text, end] = [[0., 0., 9., 1.], [0., 2., 9., 3.], [0., 8., 9., 9.]];
        for first in 0..4 {
            assert_eq!(run(&[title, text, end], &[(first, [2., 4., 7., 7.])]), [0., 2., 4., 8.]);
        }
        // The order of the paragraphs is kept, even an odd one; two tables lie side by side.
        let tables = [(0, [5., 4.5, 9., 7.]), (0, [0., 4., 4., 7.])];
        assert_eq!(run(&[text, title, end], &tables), [2., 0., 4., 4.5, 8.]);
        assert_eq!(run(&[], &tables), [4., 4.5]);
        // In the other of two columns, the order of the words decides.
        let columns = [[0., 0., 4., 1.], [0., 8., 4., 9.], [5., 0., 9., 1.]];
        assert_eq!(run(&columns, &[(3, [5., 4., 9., 5.])]), [0., 8., 0., 4.]);
    }
}
