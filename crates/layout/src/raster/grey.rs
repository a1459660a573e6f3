//! Stores the lightness of each pixel of a picture.

/// The number of rows transposed at once, so that source and target stay in the cache.
const STRIP: usize = 32;

/// Rows of pixels, from black (0) to white (255).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grey {
    /// Pixels of a row; at least one.
    pub width: usize,
    /// Number of rows; at least one.
    pub height: usize,
    /// Row by row from the upper left corner: `width * height` bytes.
    pub data: Vec<u8>,
}

impl Grey {
    /// The picture with rows and columns exchanged.
    #[must_use]
    pub fn transposed(&self) -> Self {
        let mut data = vec![0; self.data.len()];
        for top in (0..self.height).step_by(STRIP) {
            let rows: Vec<&[u8]> =
                self.data.chunks_exact(self.width).skip(top).take(STRIP).collect();
            for (x, column) in data.chunks_exact_mut(self.height).enumerate() {
                for (to, row) in column.iter_mut().skip(top).zip(&rows) {
                    *to = row.get(x).copied().unwrap_or_default();
                }
            }
        }
        Self { width: self.height, height: self.width, data }
    }

    /// The pixel at this place; white outside the picture.
    pub fn at(&self, x: usize, y: usize) -> u8 {
        if self.width <= x {
            return u8::MAX;
        }
        self.data.get(y.saturating_mul(self.width) + x).copied().unwrap_or(u8::MAX)
    }
}
