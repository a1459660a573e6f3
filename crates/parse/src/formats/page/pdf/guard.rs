//! Limits the unpacked size of streams before they are unpacked, because a few bytes may become
//! gigabytes.

use std::borrow::Cow;
use std::io::Read;

use flate2::read::ZlibDecoder;
use hayro_interpret::hayro_syntax::Filter;
use hayro_interpret::hayro_syntax::object::{Array, Stream};
use hayro_interpret::hayro_syntax::page::Page;

/// The most bytes of the drawing instructions of a page.
const MOST_CONTENT: u64 = 64 << 20;

/// Whether the stream unpacks to at most `most` bytes; always true here for images of their own
/// formats.
pub(crate) fn fits(stream: &Stream<'_>, most: u64) -> bool {
    let mut data = stream.raw_data();
    for filter in stream.filters() {
        let factor = match filter {
            Filter::FlateDecode => 1_032,
            Filter::LzwDecode => 2_048,
            Filter::RunLengthDecode => 64,
            Filter::Crypt => continue,
            // Text codes shrink, and pictures declare their size. The limits of the process cover
            // data packed below a text code.
            _ => return true,
        };
        if (data.len() as u64).saturating_mul(factor) <= most && stream.filters().len() == 1 {
            return true;
        }
        data = match filter {
            Filter::FlateDecode => match unpacked(&data, most) {
                Some(unpacked) => Cow::Owned(unpacked),
                None => return false,
            },
            _ => return (data.len() as u64).saturating_mul(factor) <= most,
        };
    }
    data.len() as u64 <= most
}

fn unpacked(data: &[u8], most: u64) -> Option<Vec<u8>> {
    let mut unpacked = Vec::new();
    // Damaged data unpacks up to the damage.
    let _ = ZlibDecoder::new(data).take(most + 1).read_to_end(&mut unpacked);
    (unpacked.len() as u64 <= most).then_some(unpacked)
}

/// The drawing instructions of a page; `None` if they exceed the limit.
pub(crate) fn content(page: &Page<'_>) -> Option<Vec<u8>> {
    let raw = page.raw();
    let streams: Vec<Stream<'_>> = match raw.get::<Stream<'_>>("Contents") {
        Some(stream) => vec![stream],
        None => raw.get::<Array<'_>>("Contents").map_or_else(Vec::new, |all| all.iter().collect()),
    };
    let mut content = Vec::new();
    for stream in streams {
        let left = MOST_CONTENT.checked_sub(content.len() as u64)?;
        if !fits(&stream, left) {
            return None;
        }
        if let Ok(data) = stream.decoded_data() {
            content.extend_from_slice(&data);
            content.push(b' ');
        }
    }
    Some(content)
}
