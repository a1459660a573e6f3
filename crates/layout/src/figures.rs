//! Groups the images of a page into figures and drops ornaments and backgrounds.

use pikerag_knowledge::{Area, Image};

use crate::marks::Word;
use crate::piece::{Body, Sheet};

/// An image whose shorter side has fewer points is an ornament, not a figure.
pub const SHORTEST_SIDE: f32 = 28.0;
/// The most images of a page that are examined; more are a pattern.
const MOST_IMAGES: usize = 500;

/// Makes one picture of the images with these indexes, which together fill the area; `None` if it
/// cannot be made or kept.
pub type Compose<'a> = dyn FnMut(&[usize], Area) -> Option<Image> + 'a;

/// Finds the figures of a page: images that touch are one figure; an image under the text of the
/// whole page is not a figure.
pub(crate) fn figures(
    images: &[Area],
    words: &[Word],
    sheet: Sheet,
    compose: &mut Compose<'_>,
) -> Vec<(Area, Body)> {
    let mut groups: Vec<(Area, Vec<usize>)> = Vec::new();
    for (place, image) in images.iter().enumerate().take(MOST_IMAGES) {
        let mut group = (*image, vec![place]);
        let mut apart = Vec::with_capacity(groups.len());
        for (area, members) in groups {
            if touches(area, group.0) {
                group.0 = group.0.around(area);
                group.1.splice(0..0, members);
            } else {
                apart.push((area, members));
            }
        }
        groups = apart;
        groups.push(group);
    }
    let page = size(sheet.area).max(1.0);
    let mut figures = Vec::new();
    for (area, members) in groups {
        let is_large = SHORTEST_SIDE <= (area.right - area.left).min(area.bottom - area.top);
        if !is_large || 0.7 * page < size(area) && !words.is_empty() {
            continue;
        }
        figures.push((area, Body::Figure(compose(&members, area))));
    }
    figures
}

/// The sum of the images' sizes as a share of the page's size; above 1 if they overlap.
pub fn covered(images: impl IntoIterator<Item = Area>, page: Area) -> f32 {
    let sum: f32 = images.into_iter().map(size).sum();
    sum / size(page).max(1.0)
}

fn size(area: Area) -> f32 {
    (area.right - area.left).max(0.0) * (area.bottom - area.top).max(0.0)
}

/// Whether the gap between two areas is at most one and a half points.
fn touches(a: Area, b: Area) -> bool {
    a.left <= b.right + 1.5
        && b.left <= a.right + 1.5
        && a.top <= b.bottom + 1.5
        && b.top <= a.bottom + 1.5
}
