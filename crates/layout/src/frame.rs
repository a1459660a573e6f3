//! Converts coordinates between a page and text that runs at an angle.

use pikerag_knowledge::Area;

/// The coordinates of text that runs at an angle.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    cos: f32,
    sin: f32,
}

impl Frame {
    /// The coordinates of text that runs `angle` degrees clockwise.
    pub fn new(angle: i16) -> Self {
        let (sin, cos) = match angle {
            0 => (0.0, 1.0),
            90 => (1.0, 0.0),
            180 => (0.0, -1.0),
            270 => (-1.0, 0.0),
            other => f32::from(other).to_radians().sin_cos(),
        };
        Self { cos, sin }
    }

    /// Converts a point of the page to these coordinates.
    pub fn turn(self, x: f32, y: f32) -> (f32, f32) {
        (x * self.cos + y * self.sin, y * self.cos - x * self.sin)
    }

    /// Converts a box of the page to these coordinates: the smallest box around its turned corners.
    pub fn turn_area(self, area: Area) -> Area {
        let corners = [(area.left, area.top), (area.right, area.bottom)];
        let others = [(area.left, area.bottom), (area.right, area.top)];
        let mut area = Area { left: f32::MAX, top: f32::MAX, right: f32::MIN, bottom: f32::MIN };
        for &(x, y) in corners.iter().chain(&others) {
            let (x, y) = self.turn(x, y);
            area = area.around(Area { left: x, top: y, right: x, bottom: y });
        }
        area
    }

    /// Converts a box back to the page: the smallest box around its corners; exact for multiples of
    /// 90 degrees.
    pub fn back(self, area: Area) -> Area {
        Self { cos: self.cos, sin: -self.sin }.turn_area(area)
    }
}
