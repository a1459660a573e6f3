//! Reads the kind and size of a picture from its header alone.
//!
//! Pictures are decoded only after their declared number of pixels is known.

/// The most pictures of one TIFF file whose sizes are read.
const MOST_FRAMES: usize = 1_000;

/// Declared width and height of a PNG, JPEG, GIF, TIFF, WebP or BMP picture; if a file has several
/// pictures, those of the largest. `None` for anything else.
pub fn pixels(bytes: &[u8]) -> Option<(u32, u32)> {
    let bytes = Bytes(bytes);
    match media_type(bytes.0)? {
        "image/png" => Some((bytes.big(16, 4)?, bytes.big(20, 4)?)),
        "image/gif" => Some((bytes.little(6, 2)?, bytes.little(8, 2)?)),
        "image/bmp" => match bytes.little(14, 4)? {
            12 => Some((bytes.little(18, 2)?, bytes.little(20, 2)?)),
            // The height is negative if rows run downwards.
            _ => Some((bytes.little(18, 4)?, bytes.little(22, 4)?.cast_signed().unsigned_abs())),
        },
        "image/webp" => webp(bytes),
        "image/tiff" => tiff(bytes),
        _ => jpeg(bytes),
    }
}

/// The media type of a picture of a known kind.
pub fn media_type(bytes: &[u8]) -> Option<&'static str> {
    const MAGIC: &[(&[u8], &str)] = &[
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff", "image/jpeg"),
        (b"GIF87a", "image/gif"),
        (b"GIF89a", "image/gif"),
        (b"II*\0", "image/tiff"),
        (b"MM\0*", "image/tiff"),
    ];
    if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP".as_slice()) {
        return Some("image/webp");
    }
    // Two letters are not distinctive, so the four zero bytes and the size of the next header are
    // checked too.
    let is_bitmap = bytes.starts_with(b"BM")
        && bytes.get(6..10) == Some([0; 4].as_slice())
        && matches!(Bytes(bytes).little(14, 4), Some(12 | 40 | 52 | 56 | 64 | 108 | 124));
    if is_bitmap {
        return Some("image/bmp");
    }
    MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic)).map(|(_, media_type)| *media_type)
}

/// The media type of a picture that browsers can show.
pub fn shown_type(bytes: &[u8]) -> Option<&'static str> {
    media_type(bytes).filter(|media_type| *media_type != "image/tiff")
}

#[derive(Clone, Copy)]
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    /// A number of up to four bytes, most significant first.
    fn big(self, at: usize, size: usize) -> Option<u32> {
        let bytes = self.0.get(at..at.checked_add(size)?)?;
        Some(bytes.iter().fold(0, |number, byte| (number << 8) | u32::from(*byte)))
    }

    /// A number of up to four bytes, least significant first.
    fn little(self, at: usize, size: usize) -> Option<u32> {
        let bytes = self.0.get(at..at.checked_add(size)?)?;
        Some(bytes.iter().rev().fold(0, |number, byte| (number << 8) | u32::from(*byte)))
    }
}

fn webp(bytes: Bytes<'_>) -> Option<(u32, u32)> {
    match bytes.0.get(12..16)? {
        b"VP8X" => Some((bytes.little(24, 3)? + 1, bytes.little(27, 3)? + 1)),
        b"VP8L" => {
            let packed = bytes.little(21, 4)?;
            Some(((packed & 0x3fff) + 1, ((packed >> 14) & 0x3fff) + 1))
        }
        b"VP8 " => Some((bytes.little(26, 2)? & 0x3fff, bytes.little(28, 2)? & 0x3fff)),
        _ => None,
    }
}

/// Follows the markers up to one that begins a frame.
fn jpeg(bytes: Bytes<'_>) -> Option<(u32, u32)> {
    let mut at = 2;
    loop {
        if bytes.big(at, 1)? != 0xff {
            return None;
        }
        match bytes.big(at + 1, 1)? {
            0xff => at += 1,
            0x01 | 0xd0..=0xd8 => at += 2,
            0xc0..=0xc3 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf => {
                return Some((bytes.big(at + 7, 2)?, bytes.big(at + 5, 2)?));
            }
            _ => at += 2 + usize::try_from(bytes.big(at + 2, 2)?.max(2)).ok()?,
        }
    }
}

fn tiff(bytes: Bytes<'_>) -> Option<(u32, u32)> {
    let number = |at: usize, size: usize| match bytes.0.first() {
        Some(b'I') => bytes.little(at, size),
        _ => bytes.big(at, size),
    };
    let mut largest = None;
    let mut at = usize::try_from(number(4, 4)?).ok()?;
    for _ in 0..MOST_FRAMES {
        let Some(entries) = number(at, 2) else { break };
        let (mut width, mut height) = (0, 0);
        for entry in 0..usize::try_from(entries).ok()? {
            let entry = at + 2 + entry * 12;
            // A short occupies the first two of the four bytes.
            let size = if number(entry + 2, 2) == Some(3) { 2 } else { 4 };
            match (number(entry, 2), number(entry + 8, size)) {
                (Some(256), Some(value)) => width = value,
                (Some(257), Some(value)) => height = value,
                (Some(_), _) => {}
                (None, _) => break,
            }
        }
        let area = |(width, height): (u32, u32)| u64::from(width) * u64::from(height);
        if largest.is_none_or(|largest| area(largest) < area((width, height))) {
            largest = Some((width, height));
        }
        let next = number(at + 2 + usize::try_from(entries).ok()? * 12, 4).unwrap_or(0);
        if next == 0 {
            break;
        }
        at = usize::try_from(next).ok()?;
    }
    largest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn headers_tell_the_size() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\x02\0\0\x03\x04";
        let jpeg = b"\xff\xd8\xff\xe0\0\x04xx\xff\xff\xc2\0\x11\x08\0\x10\0\x20";
        let bmp = b"BM\0\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x05\0\0\0\xfb\xff\xff\xff";
        let little = b"II*\0\x08\0\0\0\x02\0\0\x01\x03\0\x01\0\0\0\x07\0\0\0\x01\x01\x04\0\x01\0\0\0\x09\0\0\0\0\0\0\0";
        let big = b"MM\0*\0\0\0\x08\0\x02\x01\0\0\x03\0\0\0\x01\0\x07\0\0\x01\x01\0\x04\0\0\0\x01\0\0\0\x09\0\0\0\0";
        let lossy = b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a\x40\x00\x30\x00";
        let lossless = b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f\x04\xc0\x00\x00";
        let animated = b"RIFF\0\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0\x04\0\0\x03\0\0";
        let sizes = [
            pixels(png),
            pixels(jpeg),
            pixels(b"GIF89a\x0a\0\x14\0"),
            pixels(bmp),
            pixels(little),
            pixels(big),
            pixels(lossy),
            pixels(lossless),
            pixels(animated),
            pixels(b"no picture"),
            pixels(b"\xff\xd8\xff"),
        ];
        let known =
            [(258, 772), (32, 16), (10, 20), (5, 5), (7, 9), (7, 9), (64, 48), (5, 4), (5, 4)];
        assert_eq!(sizes[..9], known.map(Some));
        assert_eq!(sizes[9..], [None, None]);
    }

    #[test]
    fn only_pictures_are_shown() {
        assert_eq!(shown_type(b"GIF89a"), Some("image/gif"));
        assert_eq!(shown_type(b"RIFF\0\0\0\0WEBPVP8 "), Some("image/webp"));
        assert_eq!(shown_type(b"RIFF\0\0\0\0WAVEfmt "), None);
        assert_eq!(shown_type(b"BMI is a ratio of mass and height."), None);
        assert_eq!(shown_type(b"II*\0"), None);
    }

    const STARTS: [&[u8]; 6] =
        [b"II*\0", b"MM\0*", b"\xff\xd8\xff", b"RIFF\0\0\0\0WEBPVP8X", b"BM", b"\x89PNG\r\n\x1a\n"];
    const BYTES: [u8; 9] = [0, 1, 2, 4, 8, 12, 40, 0xc0, 0xff];

    proptest! {
        /// Includes directories that point at each other, and lengths beyond the end.
        #[test]
        fn handles_any_header(
            start in prop::sample::select(&STARTS[..]),
            rest in prop::collection::vec(prop::sample::select(&BYTES[..]), 0..80),
        ) {
            let _ = pixels(&[start, &rest].concat());
        }
    }
}
