//! In which direction does text run, and where is it in the coordinates of that direction?

use hayro_interpret::kurbo::{Affine, Point, Rect};
use pikerag_knowledge::Area;

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
    /// From where it is placed on the page; `None` where that is nowhere.
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

/// The coordinates of text that runs at an angle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    cos: f32,
    sin: f32,
}

impl Frame {
    /// For text that runs so many degrees clockwise.
    pub(crate) fn new(angle: i16) -> Self {
        let (sin, cos) = match angle {
            0 => (0.0, 1.0),
            90 => (1.0, 0.0),
            180 => (0.0, -1.0),
            270 => (-1.0, 0.0),
            other => f32::from(other).to_radians().sin_cos(),
        };
        Self { cos, sin }
    }

    /// From the page.
    pub(crate) fn turn(self, x: f32, y: f32) -> (f32, f32) {
        (x * self.cos + y * self.sin, y * self.cos - x * self.sin)
    }

    /// A box of the page.
    pub(crate) fn turn_area(self, area: Area) -> Area {
        let corners = [(area.left, area.top), (area.right, area.bottom)];
        let others = [(area.left, area.bottom), (area.right, area.top)];
        let points: Vec<Point> = (corners.iter().chain(&others))
            .map(|&(x, y)| self.turn(x, y))
            .map(|(x, y)| Point::new(f64::from(x), f64::from(y)))
            .collect();
        box_of(&points)
    }

    /// Back to the page: the smallest box around.
    pub(crate) fn back(self, area: Area) -> Area {
        Self { cos: self.cos, sin: -self.sin }.turn_area(area)
    }
}

/// The smallest box around points.
pub(crate) fn box_of(points: &[Point]) -> Area {
    let mut area = Area { left: f32::MAX, top: f32::MAX, right: f32::MIN, bottom: f32::MIN };
    for point in points {
        let (x, y) = (point.x as f32, point.y as f32);
        area = area.around(Area { left: x, top: y, right: x, bottom: y });
    }
    area
}

/// As an area.
pub(crate) fn area_of(rect: Rect) -> Area {
    Area {
        left: rect.x0 as f32,
        top: rect.y0 as f32,
        right: rect.x1 as f32,
        bottom: rect.y1 as f32,
    }
}
