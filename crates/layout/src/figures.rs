//! Which images on a page are one figure, and which are none?

use pikerag_knowledge::{Area, Image};

use crate::marks::Word;
use crate::piece::{Body, Sheet};

/// What has a shorter side of fewer points than this is an ornament, and no figure.
pub const SHORTEST_SIDE: f32 = 28.0;
/// Images of a page that are looked at; more are a pattern.
const MOST_IMAGES: usize = 500;

/// Makes one picture of the images with these places among those of the page, which together fill
/// the area; `None` where it cannot be made or kept.
pub type Compose<'a> = dyn FnMut(&[usize], Area) -> Option<Image> + 'a;

/// Images that touch are one figure; what lies under the text of the whole page is none.
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

/// The sum of the images' sizes in parts of the page's: above 1 where they overlap.
pub fn covered(images: impl IntoIterator<Item = Area>, page: Area) -> f32 {
    let sum: f32 = images.into_iter().map(size).sum();
    sum / size(page).max(1.0)
}

fn size(area: Area) -> f32 {
    (area.right - area.left).max(0.0) * (area.bottom - area.top).max(0.0)
}

/// They lie no more than one and a half points apart.
fn touches(a: Area, b: Area) -> bool {
    a.left <= b.right + 1.5
        && b.left <= a.right + 1.5
        && a.top <= b.bottom + 1.5
        && b.top <= a.bottom + 1.5
}
