//! Makes pictures of the images on a page: the original JPEG if it can be kept, else a PNG of its
//! pixels.

use hayro_interpret::kurbo::{Affine, Point, Rect};
use hayro_interpret::{Image as Drawn, ImageData, LumaData, Paint, hayro_syntax};
use hayro_syntax::Filter;
use hayro_syntax::object::Array;
use pikerag_knowledge::{Area, Image};
use pikerag_layout::figures::SHORTEST_SIDE;

use super::guard;
use super::place::area_of;

/// The most pixels of one picture.
const MOST_PIXELS: u64 = 40_000_000;
/// The most pixels decoded for one page.
const MOST_ON_PAGE: u64 = 60_000_000;
/// The most bytes of one kept picture, and of all pictures of a file.
const MOST_BYTES: usize = 8 << 20;
const MOST_IN_FILE: usize = 64 << 20;

/// The remaining budget of a file's pictures: pixels per page, bytes for the whole file.
#[derive(Debug)]
pub(crate) struct PictureBudget {
    /// Pixels that may still be decoded on this page.
    pixels: u64,
    /// Bytes that may still be kept of this file.
    bytes: usize,
    /// The number of images of this page that are unreadable or too large.
    pub(crate) lost: usize,
}

impl PictureBudget {
    pub(crate) fn new() -> Self {
        Self { pixels: MOST_ON_PAGE, bytes: MOST_IN_FILE, lost: 0 }
    }

    /// Begins the next page; returns the number of lost images of the last one.
    pub(crate) fn next_page(&mut self) -> usize {
        self.pixels = MOST_ON_PAGE;
        std::mem::take(&mut self.lost)
    }
}

/// An image as a page shows it, before it is composed with its neighbours.
#[derive(Debug)]
pub(crate) struct Picture {
    pub(crate) area: Area,
    pub(crate) content: Content,
}

#[derive(Debug)]
pub(crate) enum Content {
    /// An upright JPEG.
    Jpeg { bytes: Vec<u8>, width: u32 },
    /// Pixels, and their transform to the page.
    Pixels { pixels: Pixels, place: Affine },
    /// Too large or unreadable.
    Lost,
}

/// Rows of grey or of red, green and blue.
#[derive(Debug)]
pub(crate) struct Pixels {
    width: u32,
    height: u32,
    depth: usize,
    data: Vec<u8>,
}

/// Takes an image as it is drawn; `None` if it is too small or outside the page.
pub(crate) fn take(
    image: &Drawn<'_, '_>,
    place: Affine,
    page: Area,
    budget: &mut PictureBudget,
) -> Option<Picture> {
    let (width, height) = (image.width(), image.height());
    let corners = Rect::new(0.0, 0.0, f64::from(width), f64::from(height));
    let area = area_of(place.transform_rect_bbox(corners));
    let area = Area {
        left: area.left.max(page.left),
        top: area.top.max(page.top),
        right: area.right.min(page.right),
        bottom: area.bottom.min(page.bottom),
    };
    let (wide, high) = (area.right - area.left, area.bottom - area.top);
    // Slices of a picture may be thin, but then they are long.
    if !(SHORTEST_SIDE <= wide.max(high) && 1.0 <= wide.min(high)) {
        return None;
    }
    let n_pixels = u64::from(width) * u64::from(height);
    let content = match jpeg(image, place) {
        Some(bytes) => Content::Jpeg { bytes, width },
        None if MOST_PIXELS < n_pixels || budget.pixels < n_pixels => Content::Lost,
        None => {
            budget.pixels -= n_pixels;
            match decode(image) {
                Some(pixels) => {
                    let (x, y) = (
                        f64::from(width) / f64::from(pixels.width),
                        f64::from(height) / f64::from(pixels.height),
                    );
                    let place = place * Affine::scale_non_uniform(x, y);
                    Content::Pixels { pixels, place }
                }
                None => Content::Lost,
            }
        }
    };
    if matches!(content, Content::Lost) {
        budget.lost += 1;
    }
    Some(Picture { area, content })
}

impl Picture {
    /// A grey picture for tests.
    #[cfg(test)]
    pub(crate) fn of_pixels(
        width: u32,
        height: u32,
        grey: &[u8],
        place: Affine,
        area: Area,
    ) -> Self {
        let pixels = Pixels { width, height, depth: 1, data: grey.to_vec() };
        Self { area, content: Content::Pixels { pixels, place } }
    }
}

/// One picture of images that form one figure, with the points per pixel.
pub(crate) fn compose(pictures: &[&Picture], area: Area) -> Option<(Image, f32)> {
    if let [Picture { content: Content::Jpeg { bytes, width }, area }] = pictures {
        let image = Image { media_type: "image/jpeg".to_owned(), bytes: bytes.clone() };
        return Some((image, (area.right - area.left) / (*width).max(1) as f32));
    }
    paint(pictures, area)?.encode()
}

/// The same picture upside down; `None` for a JPEG that is kept unchanged.
pub(crate) fn upside_down(pictures: &[&Picture], area: Area) -> Option<(Image, f32)> {
    if let [Picture { content: Content::Jpeg { .. }, .. }] = pictures {
        return None;
    }
    let mut canvas = paint(pictures, area)?;
    canvas.data = canvas.data.rchunks_exact(canvas.depth).flatten().copied().collect();
    canvas.encode()
}

/// Pixels of several images, with the points per pixel.
struct Canvas {
    data: Vec<u8>,
    width: usize,
    height: usize,
    depth: usize,
    scale: f64,
}

impl Canvas {
    fn encode(&self) -> Option<(Image, f32)> {
        let bytes = png(&self.data, self.width, self.height, self.depth)?;
        Some((Image { media_type: "image/png".to_owned(), bytes }, self.scale as f32))
    }
}

fn paint(pictures: &[&Picture], area: Area) -> Option<Canvas> {
    let mut finest = f64::MAX;
    for picture in pictures {
        if let Content::Pixels { place, .. } = &picture.content {
            finest = finest.min(place.determinant().abs().sqrt());
        }
    }
    if !(finest.is_finite() && 0.0 < finest && finest < 1e6) {
        return None;
    }
    let (wide, high) = (f64::from(area.right - area.left), f64::from(area.bottom - area.top));
    // The limit holds for any scale in the file.
    let scale = finest.max((wide * high / 25_000_000.0).sqrt());
    let (width, height) = ((wide / scale).round() as usize, (high / scale).round() as usize);
    if width == 0 || height == 0 || MOST_PIXELS < (width as u64).saturating_mul(height as u64) {
        return None;
    }
    let is_grey = |picture: &&Picture| match &picture.content {
        Content::Pixels { pixels, .. } => pixels.depth == 1,
        _ => true,
    };
    let depth = if pictures.iter().all(is_grey) { 1 } else { 3 };
    let mut data = vec![255_u8; width * height * depth];
    for picture in pictures {
        if let Content::Pixels { pixels, place } = &picture.content {
            let to_page = Affine::translate((f64::from(area.left), f64::from(area.top)))
                * Affine::scale(scale);
            pixels.paint(place.inverse() * to_page, &mut data, width, depth);
        }
    }
    Some(Canvas { data, width, height, depth, scale })
}

/// The picture, if the file's budget allows it.
pub(crate) fn kept(image: Image, budget: &mut PictureBudget) -> Option<Image> {
    let fits = image.bytes.len() <= MOST_BYTES.min(budget.bytes);
    if fits {
        budget.bytes -= image.bytes.len();
        return Some(image);
    }
    budget.lost += 1;
    None
}

impl Pixels {
    /// Paints itself; `from` converts pixels of the canvas to its own.
    fn paint(&self, from: Affine, canvas: &mut [u8], width: usize, depth: usize) {
        for (y, row) in canvas.chunks_exact_mut(width * depth).enumerate() {
            let start = from * Point::new(0.5, y as f64 + 0.5);
            let step = from * Point::new(1.5, y as f64 + 0.5) - start;
            for (x, target) in row.chunks_exact_mut(depth).enumerate() {
                let at = start + step * x as f64;
                if at.x < 0.0 || at.y < 0.0 {
                    continue;
                }
                let (column, line) = (at.x as usize, at.y as usize);
                if self.width as usize <= column || self.height as usize <= line {
                    continue;
                }
                let place = (line * self.width as usize + column) * self.depth;
                let Some(source) = self.data.get(place..place + self.depth) else { continue };
                let mut parts = source.iter().cycle();
                for part in target {
                    *part = parts.next().copied().unwrap_or(255);
                }
            }
        }
    }
}

/// The JPEG of the file, if JPEG viewers show it as the page does.
fn jpeg(image: &Drawn<'_, '_>, place: Affine) -> Option<Vec<u8>> {
    let Drawn::Raster(raster) = image else { return None };
    let stream = raster.stream();
    let [a, b, c, d, ..] = place.as_coeffs();
    let upright = 0.0 < a && 0.0 < d && b.abs() < 0.01 * a && c.abs() < 0.01 * d;
    let dict = stream.dict();
    let plain =
        !["SMask", "Mask", "Decode", "SMaskInData"].iter().any(|key| dict.contains_key(key));
    if !upright || !plain || stream.filters().as_slice() != [Filter::DctDecode] {
        return None;
    }
    // Indexed and separation colours need tables of the PDF.
    if dict.get::<Array<'_>>("ColorSpace").is_some_and(|space| {
        let name = space.iter::<hayro_syntax::object::Name<'_>>().next();
        !name.is_some_and(|name| name.as_str() == "ICCBased" || name.as_str().starts_with("Cal"))
    }) {
        return None;
    }
    let bytes = stream.raw_data();
    (bytes.len() <= MOST_BYTES && matches!(n_components(&bytes), Some(1 | 3)))
        .then(|| bytes.into_owned())
}

/// The number of components of a JPEG, from its frame header.
fn n_components(bytes: &[u8]) -> Option<u8> {
    let mut rest = bytes.strip_prefix(b"\xff\xd8")?;
    loop {
        let [0xff, marker, high, low, ..] = rest else { return None };
        let length = usize::from(u16::from_be_bytes([*high, *low]));
        if matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc) {
            return rest.get(9).copied();
        }
        rest = rest.get(2 + length.max(2)..)?;
    }
}

fn decode(image: &Drawn<'_, '_>) -> Option<Pixels> {
    let mut pixels = None;
    let stream = match image {
        Drawn::Raster(raster) => raster.stream(),
        Drawn::Stencil(stencil) => stencil.stream(),
    };
    if !guard::fits(stream, 4 * MOST_PIXELS) {
        return None;
    }
    match image {
        Drawn::Raster(raster) => raster.with_rgba(
            |colours, alpha| {
                pixels = Some(match colours {
                    ImageData::Rgb(rgb) => {
                        Pixels { width: rgb.width, height: rgb.height, depth: 3, data: rgb.data }
                    }
                    ImageData::Luma(grey) => {
                        Pixels { width: grey.width, height: grey.height, depth: 1, data: grey.data }
                    }
                });
                if let (Some(pixels), Some(alpha)) = (&mut pixels, alpha) {
                    on_white(pixels, &alpha);
                }
            },
            None,
        ),
        Drawn::Stencil(stencil) => stencil.with_stencil(
            |mask, paint| {
                let ink = match paint {
                    Paint::Color(color) => {
                        let [red, green, blue, _] = color.to_rgba().components();
                        0.3 * red + 0.59 * green + 0.11 * blue
                    }
                    Paint::Pattern(_) => 0.5,
                };
                let data = (mask.data.iter())
                    .map(|cover| 255 - (f32::from(*cover) * (1.0 - ink)) as u8)
                    .collect();
                pixels = Some(Pixels { width: mask.width, height: mask.height, depth: 1, data });
            },
            None,
        ),
    }
    pixels.filter(|pixels| 0 < pixels.width && 0 < pixels.height)
}

/// Blends the picture with white paper.
fn on_white(pixels: &mut Pixels, alpha: &LumaData) {
    if (alpha.width, alpha.height) != (pixels.width, pixels.height) {
        return;
    }
    for (parts, cover) in pixels.data.chunks_exact_mut(pixels.depth).zip(&alpha.data) {
        for part in parts {
            let (value, cover) = (u16::from(*part), u16::from(*cover));
            *part = ((value * cover + 255 * (255 - cover)) / 255) as u8;
        }
    }
}

fn png(data: &[u8], width: usize, height: usize, depth: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut encoder =
        png::Encoder::new(&mut bytes, u32::try_from(width).ok()?, u32::try_from(height).ok()?);
    encoder.set_color(if depth == 1 { png::ColorType::Grayscale } else { png::ColorType::Rgb });
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Fast);
    let mut writer = encoder.write_header().ok()?;
    writer.write_image_data(data).ok()?;
    writer.finish().ok()?;
    Some(bytes)
}
