//! Decodes bytes to text and detects their encoding.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use pikerag_knowledge::ProblemFact;

use crate::{ParseError, Problems};

/// Text with its original encoding, if that is not UTF-8.
#[derive(Debug)]
pub struct Decoded {
    /// The text, as UTF-8.
    pub text: String,
    /// The name of the original encoding; `None` for UTF-8.
    pub encoding: Option<&'static str>,
}

/// The kind of bytes at first sight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bytes {
    /// A byte order mark, or zero bytes in the pattern of UTF-16.
    Utf16(&'static Encoding),
    /// No zero bytes: text in some encoding.
    Text,
    /// Zero bytes at places where text has none.
    Binary,
}

/// Classifies the bytes without decoding them.
pub fn kind_of(bytes: &[u8]) -> Bytes {
    if let Some((encoding, _)) = Encoding::for_bom(bytes).filter(|(found, _)| *found != UTF_8) {
        return Bytes::Utf16(encoding);
    }
    if !bytes.contains(&0) {
        return Bytes::Text;
    }
    // Latin text in UTF-16 without a mark: every second byte is zero, and the others never are.
    let sample = bytes.get(..4096).unwrap_or(bytes);
    let zeros = |first| sample.iter().skip(first).step_by(2).filter(|byte| **byte == 0).count();
    let (even, odd) = (zeros(0), zeros(1));
    let enough = sample.len() / 6;
    match (even, odd) {
        _ if sample.len() < 16 => Bytes::Binary,
        (0, odd) if enough < odd => Bytes::Utf16(UTF_16LE),
        (even, 0) if enough < even => Bytes::Utf16(UTF_16BE),
        _ => Bytes::Binary,
    }
}

/// Decodes bytes by their byte order mark, then as UTF-8, then as the file declares, then by a
/// guess.
pub fn decode(
    name: &str,
    bytes: &[u8],
    declared: Option<&'static Encoding>,
    problems: &mut Problems,
) -> Result<Decoded, ParseError> {
    let decoded = match kind_of(bytes) {
        Bytes::Utf16(encoding) => decode_as(encoding, bytes, problems),
        Bytes::Text | Bytes::Binary => {
            let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
            match std::str::from_utf8(bytes) {
                Ok(text) => Decoded { text: text.to_owned(), encoding: None },
                Err(_) => decode_as(guess(bytes, declared), bytes, problems),
            }
        }
    };
    if mostly_controls(&decoded.text) {
        let found = "mostly control characters".to_owned();
        return Err(ParseError::NotText { name: name.to_owned(), found });
    }
    Ok(decoded)
}

/// The encoding of bytes that are not valid UTF-8.
pub fn guess(bytes: &[u8], declared: Option<&'static Encoding>) -> &'static Encoding {
    let (mut valid, mut broken) = (0usize, 0usize);
    for chunk in bytes.utf8_chunks() {
        valid += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        broken += usize::from(!chunk.invalid().is_empty());
    }
    // Damaged UTF-8. In other encodings, only a few sequences are valid UTF-8 by accident.
    if broken * 4 <= valid {
        return UTF_8;
    }
    if let Some(encoding) = declared {
        return encoding;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(bytes, true);
    detector.guess(None, Utf8Detection::Deny)
}

/// The encoding that the start of an HTML file declares: `<meta charset=…>` or `encoding="…"`.
pub fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let start = String::from_utf8_lossy(bytes.get(..1024).unwrap_or(bytes)).to_ascii_lowercase();
    for key in ["charset", "encoding"] {
        for (at, _) in start.match_indices(key) {
            let value = start.get(at + key.len()..)?.trim_start();
            let Some(value) = value.strip_prefix('=') else { continue };
            let value = value.trim_start().trim_start_matches(['"', '\'']);
            let end = value.find(|c: char| !c.is_ascii_alphanumeric() && !"-_:".contains(c));
            let label = value.get(..end.unwrap_or(value.len()))?;
            // A file whose declaration is readable as ASCII is not UTF-16, whatever it declares.
            let encoding = Encoding::for_label(label.as_bytes());
            if let Some(encoding) =
                encoding.filter(|found| *found != UTF_8 && found.is_ascii_compatible())
            {
                return Some(encoding);
            }
        }
    }
    None
}

fn decode_as(encoding: &'static Encoding, bytes: &[u8], problems: &mut Problems) -> Decoded {
    let (text, torn) = encoding.decode_with_bom_removal(bytes);
    if torn {
        let reason = ProblemFact::WrongEncoding { encoding: encoding.name().to_owned() };
        problems.add("", reason);
    }
    let name = if encoding == UTF_8 { "UTF-8, damaged" } else { encoding.name() };
    Decoded { text: text.into_owned(), encoding: Some(name) }
}

/// Whether more than one character in five never occurs in text; then the encoding is wrong.
fn mostly_controls(text: &str) -> bool {
    let mut controls = 0usize;
    let mut all = 0usize;
    for c in text.chars() {
        all += 1;
        let ordinary = matches!(c, '\t' | '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1b}' | '\u{85}');
        controls += usize::from(c == '\u{fffd}' || (c.is_control() && !ordinary));
    }
    all < controls * 5
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(name: &str, bytes: &[u8]) -> String {
        let mut problems = Problems::default();
        let declared = if name == "a.html" { declared(bytes) } else { None };
        match decode(name, bytes, declared, &mut problems) {
            Ok(decoded) => format!(
                "{}: {:?}{}",
                decoded.encoding.unwrap_or("-"),
                decoded.text,
                problems.finish().first().map_or(String::new(), |p| format!(" ({})", p.reason))
            ),
            Err(error) => error.to_string(),
        }
    }

    fn encoded(encoding: &'static Encoding, text: &str) -> Vec<u8> {
        encoding.encode(text).0.into_owned()
    }

    #[test]
    fn every_common_encoding_is_detected() {
        let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
        let gb = encoded(encoding_rs::GB18030, "检索增强生成系统");
        let sjis = encoded(encoding_rs::SHIFT_JIS, "これは日本語の文章です。");
        let big5 = encoded(encoding_rs::BIG5, "這是一份繁體中文的文件,請仔細閱讀。");
        let torn = ["检索增强生成系统".as_bytes(), b"\xff"].concat();
        let html = b"<!doctype html><meta http-equiv=x content='text/html; charset=koi8-r'>\xf0\xd2\xc9\xd7\xc5\xd4";
        insta::assert_snapshot!(
            [
                run("a.txt", "\u{feff}a 检索".as_bytes()),
                run("a.txt", &utf16("\u{feff}héllo 检索")),
                run("a.txt", &utf16("sixteen or more letters")),
                run("a.txt", &gb),
                run("a.txt", &sjis),
                run("a.txt", &big5),
                run("a.txt", b"caf\xe9 na\xefve"),
                run("a.txt", &torn),
                run("a.html", html),
                run("a.txt", b"\x01\x02\x03\x04ab"),
            ]
            .join("\n"),
            @r#"
        -: "a 检索"
        UTF-16LE: "héllo 检索"
        UTF-16LE: "sixteen or more letters"
        GBK: "检索增强生成系统"
        Shift_JIS: "これは日本語の文章です。"
        Big5: "這是一份繁體中文的文件,請仔細閱讀。"
        windows-1252: "café naïve"
        UTF-8, damaged: "检索增强生成系统�" (some bytes are not UTF-8 and became �)
        KOI8-R: "<!doctype html><meta http-equiv=x content='text/html; charset=koi8-r'>Привет"
        `a.txt` is not text: it holds mostly control characters; if it is a document, convert it to text first
        "#
        );
    }
}
