//! Decodes PNG and JPEG pictures to lightness, with at most as many pixels as the limit allows.

use std::panic::{AssertUnwindSafe, catch_unwind};

use pikerag_knowledge::Image;
use pikerag_layout::raster::Grey;
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

use pikerag_unpack::image_header;

/// The most pixels of a picture: a page of A4 at 500 dots per inch. A progressive JPEG needs six
/// bytes for each, besides the result.
const MOST_PIXELS: u64 = 25_000_000;

/// Decodes the picture; `None` for other formats, and for damaged or too large pictures.
pub(super) fn decode(image: &Image) -> Option<Grey> {
    let (width, height) = image_header::pixels(&image.bytes)?;
    let n_pixels = u64::from(width) * u64::from(height);
    if n_pixels == 0 || MOST_PIXELS < n_pixels {
        return None;
    }
    let (width, height) = (width as usize, height as usize);
    let data = match image_header::media_type(&image.bytes)? {
        "image/png" => png(&image.bytes, width * height)?,
        // The words can still be recognised if the decoder fails.
        "image/jpeg" => {
            let jpeg = || jpeg(&image.bytes, width, height);
            catch_unwind(AssertUnwindSafe(jpeg)).ok()??
        }
        _ => return None,
    };
    (data.len() == width * height).then_some(Grey { width, height, data })
}

/// Encodes as PNG; `None` if there are no pixels.
pub(super) fn encode(grey: &Grey) -> Option<Image> {
    let (width, height) = (u32::try_from(grey.width).ok()?, u32::try_from(grey.height).ok()?);
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Fast);
    let mut writer = encoder.write_header().ok()?;
    writer.write_image_data(&grey.data).ok()?;
    writer.finish().ok()?;
    Some(Image { media_type: "image/png".to_owned(), bytes })
}

/// Works row by row, so the colours of the whole picture are never in memory.
fn png(bytes: &[u8], n_pixels: usize) -> Option<Vec<u8>> {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().ok()?;
    if reader.info().interlaced || reader.info().animation_control.is_some() {
        return None;
    }
    let n_parts = reader.output_color_type().0.samples();
    let mut data = Vec::with_capacity(n_pixels);
    while let Some(row) = reader.next_row().ok()? {
        if n_pixels <= data.len() {
            return None;
        }
        data.extend(row.data().chunks_exact(n_parts).map(lightness));
    }
    Some(data)
}

/// The lightness of grey or of red, green and blue, possibly with alpha, on white paper.
fn lightness(parts: &[u8]) -> u8 {
    let (light, cover) = match *parts {
        [grey] => (u32::from(grey), 255),
        [grey, cover] => (u32::from(grey), u32::from(cover)),
        [red, green, blue, ref rest @ ..] => {
            let sum = 77 * u32::from(red) + 150 * u32::from(green) + 29 * u32::from(blue);
            (sum >> 8, rest.first().map_or(255, |cover| u32::from(*cover)))
        }
        [] => (255, 255),
    };
    ((light * cover + 255 * (255 - cover)) / 255) as u8
}

fn jpeg(bytes: &[u8], width: usize, height: usize) -> Option<Vec<u8>> {
    let options = DecoderOptions::default()
        .set_max_width(width)
        .set_max_height(height)
        .jpeg_set_out_colorspace(ColorSpace::Luma);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder.decode_headers().ok()?;
    // The decoder gives no lightness for other colour spaces, and few scanners use them.
    let known = matches!(decoder.input_colorspace()?, ColorSpace::YCbCr | ColorSpace::Luma);
    if !known || decoder.dimensions()? != (width, height) {
        return None;
    }
    decoder.decode().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(bytes: &[u8]) -> Image {
        Image { media_type: String::new(), bytes: bytes.to_vec() }
    }

    #[test]
    fn encoded_pictures_decode_unchanged() {
        let data = (0..40 * 70).map(|i| (i % 251) as u8).collect();
        let grey = Grey { width: 40, height: 70, data };
        assert_eq!(decode(&encode(&grey).unwrap()), Some(grey.clone()));
        let turned = grey.transposed();
        assert_eq!((turned.width, turned.at(69, 3)), (70, grey.at(3, 69)));
        assert_eq!((turned.at(70, 3), turned.at(69, 40)), (255, 255));
        assert_eq!(turned.transposed(), grey);
    }

    #[test]
    fn colours_become_light() {
        let all = [&[7][..], &[7, 0], &[255, 255, 255], &[0, 0, 0, 255], &[0, 0, 0, 0]];
        assert_eq!(all.map(lightness), [7, 255, 255, 0, 255]);
    }

    /// No memory is allocated for the size in a header before it is checked.
    #[test]
    fn declared_sizes_are_not_trusted() {
        let grey = Grey { width: 9, height: 9, data: vec![0; 81] };
        let mut bytes = encode(&grey).unwrap().bytes;
        bytes.truncate(60);
        assert_eq!(decode(&image(&bytes)), None);
        bytes[16..24].fill(0x7f);
        assert_eq!(decode(&image(&bytes)), None);
        assert_eq!(decode(&image(b"\xff\xd8\xff\xc0\0\x11\x08\0\x10\0\x20")), None);
        assert_eq!(decode(&image(b"GIF89a\x0a\0\x14\0")), None);
    }
}
