//! Computes the place and the direction of a PDF glyph on its page.

use hayro_interpret::kurbo::{Affine, Point, Rect};
use pikerag_knowledge::Area;
use pikerag_layout::frame::Frame;

/// A glyph in the coordinates of its direction.
pub(crate) struct Placed {
    pub(crate) left: f32,
    pub(crate) right: f32,
    pub(crate) base: f32,
    /// Height of the font.
    pub(crate) size: f32,
    pub(crate) angle: i16,
}

impl Placed {
    /// Computes the place from a transform; `None` if it is degenerate.
    pub(crate) fn new(place: Affine, advance: f64, vertical: bool) -> Option<Self> {
        let [right_x, right_y, up_x, up_y, x, y] = place.as_coeffs();
        let size = (up_x.hypot(up_y) * 1000.0) as f32;
        let (start, end) = if vertical {
            let start = Point::new(x, y);
            (start, start + (place * Point::new(0.0, -1000.0) - start))
        } else {
            (Point::new(x, y), Point::new(x + right_x * advance, y + right_y * advance))
        };
        if !(size.is_finite() && x.is_finite() && y.is_finite() && 0.0 < size) {
            return None;
        }
        let (dx, dy) = if vertical { (-up_x, -up_y) } else { (right_x, right_y) };
        let degrees = dy.atan2(dx).to_degrees().round() as i16;
        let near = (degrees + 360) % 90;
        let angle = if near <= 1 || 89 <= near {
            ((degrees + 361).div_euclid(90) * 90).rem_euclid(360)
        } else {
            degrees.rem_euclid(360)
        };
        let frame = Frame::new(angle);
        let (left, base) = frame.turn(start.x as f32, start.y as f32);
        let (right, _) = frame.turn(end.x as f32, end.y as f32);
        right.is_finite().then_some(Self { left, right, base, size, angle })
    }
}

pub(crate) fn box_of(points: &[Point]) -> Area {
    let mut area = Area { left: f32::MAX, top: f32::MAX, right: f32::MIN, bottom: f32::MIN };
    for point in points {
        let (x, y) = (point.x as f32, point.y as f32);
        area = area.around(Area { left: x, top: y, right: x, bottom: y });
    }
    area
}

pub(crate) fn area_of(rect: Rect) -> Area {
    Area {
        left: rect.x0 as f32,
        top: rect.y0 as f32,
        right: rect.x1 as f32,
        bottom: rect.y1 as f32,
    }
}
