//! Decodes bytes to text and detects their encoding.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{
    BIG5, EUC_JP, EUC_KR, Encoding, GBK, IBM866, ISO_8859_2, ISO_8859_4, ISO_8859_5, ISO_8859_6,
    ISO_8859_7, ISO_8859_8, ISO_8859_13, KOI8_U, SHIFT_JIS, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_874,
    WINDOWS_1250, WINDOWS_1251, WINDOWS_1252, WINDOWS_1253, WINDOWS_1254, WINDOWS_1255,
    WINDOWS_1256, WINDOWS_1257, WINDOWS_1258,
};
use pikerag_knowledge::ProblemFact;

use crate::{ParseError, Problems};

/// A text of fewer characters is too short for the detector to tell Chinese from Korean and Japanese.
const SHORT: usize = 32;
/// Frequent syllables of Korean. They make up most of any Korean text, and seldom even half of the
/// syllables that the bytes of a Chinese word give by accident.
const FREQUENT_SYLLABLES: &str = "이다는의에을가고를은하지도로한사서기자인대어리그시부보정여나일해아게수들주있\
    라으전과장구상제원동국만안선면조성신공관회학생경용비재세문연계금미무내실방화법중스트발간것할모물오우유영업행개단당소치위결년월료\
    표적견양약계명식강건격권규급남등력록류르마말매목민반배번본북분불산새색석설속수순술심알요운음입작저점종증진질집차처천청초최추출\
    취카크타태통파평포품프필함합항현형호환활황효후";

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
    let found = detector.guess(None, Utf8Detection::Deny);
    let is_chinese = match found {
        _ if found == EUC_KR => has_rare_syllables(bytes) && is_short_chinese(bytes),
        _ if found == EUC_JP || found == SHIFT_JIS => is_short_chinese(bytes),
        _ => false,
    };
    if is_chinese { GBK } else { found }
}

/// The name of a file as text; `None` if it is valid in no encoding.
pub fn decode_name(name: &[u8]) -> Option<String> {
    if let Ok(name) = std::str::from_utf8(name) {
        return Some(name.to_owned());
    }
    let text = guess(name, None).decode_without_bom_handling_and_without_replacement(name);
    text.map(Cow::into_owned)
}

/// The names in other encodings than UTF-8 that [`decode_name`] decodes to this one, the most
/// frequent encodings first.
pub fn encode_name(name: &str) -> Vec<Vec<u8>> {
    let mut names: Vec<Vec<u8>> = Vec::new();
    for encoding in encodings_of_names() {
        let (bytes, _, has_unmapped) = encoding.encode(name);
        let is_it = || !names.iter().any(|known| *known == *bytes);
        let leads_back = || decode_name(&bytes).as_deref() == Some(name);
        if !has_unmapped && std::str::from_utf8(&bytes).is_err() && is_it() && leads_back() {
            names.push(bytes.into_owned());
        }
    }
    names
}

/// The encodings of names of files: those that the detector may find.
fn encodings_of_names() -> [&'static Encoding; 24] {
    [
        GBK,
        BIG5,
        SHIFT_JIS,
        EUC_KR,
        EUC_JP,
        WINDOWS_1252,
        WINDOWS_1251,
        WINDOWS_1250,
        WINDOWS_1253,
        WINDOWS_1254,
        WINDOWS_1255,
        WINDOWS_1256,
        WINDOWS_1257,
        WINDOWS_1258,
        WINDOWS_874,
        KOI8_U,
        IBM866,
        ISO_8859_2,
        ISO_8859_4,
        ISO_8859_5,
        ISO_8859_6,
        ISO_8859_7,
        ISO_8859_8,
        ISO_8859_13,
    ]
}

/// Whether few of the syllables that a text gives as Korean are frequent ones: as Korean, `报告` would
/// become two syllables that no Korean text contains.
fn has_rare_syllables(bytes: &[u8]) -> bool {
    let text = EUC_KR.decode_without_bom_handling(bytes).0;
    let syllables = text.chars().filter(|c| ('가'..='힣').contains(c)).count();
    text.chars().filter(|c| FREQUENT_SYLLABLES.contains(*c)).count() * 2 <= syllables
}

/// Whether a short text that the detector takes for Japanese or Korean is Chinese: most of its pairs of
/// bytes are characters of GB 2312's first level, the 3,755 frequent ones. Kana and the kanji of
/// Shift JIS have other bytes.
fn is_short_chinese(bytes: &[u8]) -> bool {
    let (mut frequent, mut rare) = (0usize, 0usize);
    let mut rest = bytes;
    while let [first, behind @ ..] = rest {
        rest = behind;
        if first.is_ascii() {
            continue;
        }
        let [second, behind @ ..] = rest else { return false };
        rest = behind;
        let is_frequent = (0xb0..=0xd7).contains(first) && 0xa1 <= *second;
        *(if is_frequent { &mut frequent } else { &mut rare }) += 1;
    }
    frequent + rare < SHORT
        && rare * 4 <= frequent
        && GBK.decode_without_bom_handling_and_without_replacement(bytes).is_some()
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
        let sjis = encoded(SHIFT_JIS, "これは日本語の文章です。");
        let big5 = encoded(BIG5, "這是一份繁體中文的文件,請仔細閱讀。");
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

    /// The detector takes the first group for Korean or Japanese, because the bytes fit these, too.
    #[test]
    fn short_chinese_names_are_neither_korean_nor_japanese() {
        for name in ["报告", "采购方案", "客户名单", "管理办法.doc", "价格目录", "合同"]
        {
            let bytes = encoded(GBK, name);
            assert_eq!(guess(&bytes, None).decode(&bytes).0, name);
        }
        for name in ["보고서", "회의 자료", "이것은 문자 인코딩 테스트입니다."]
        {
            let bytes = encoded(EUC_KR, name);
            assert_eq!(guess(&bytes, None).decode(&bytes).0, name);
        }
        for (encoding, name) in [
            (SHIFT_JIS, "会議資料"),
            (SHIFT_JIS, "見積書のテンプレート.doc"),
            (EUC_JP, "これは見積書です"),
        ] {
            let bytes = encoded(encoding, name);
            assert_eq!(guess(&bytes, None).decode(&bytes).0, name);
        }
    }

    #[test]
    fn decoded_names_are_encoded_again() {
        for (encoding, name) in [
            (GBK, "差旅费管理办法.doc"),
            (BIG5, "這是一份繁體中文的文件.doc"),
            (WINDOWS_1252, "café.doc"),
        ] {
            let bytes = encoded(encoding, name);
            assert_eq!(decode_name(&bytes).as_deref(), Some(name));
            assert!(encode_name(name).contains(&bytes), "{name}");
        }
        assert!(encode_name("plain.doc").is_empty());
        assert_eq!(decode_name("报告".as_bytes()).as_deref(), Some("报告"));
        assert_eq!(decode_name(&["检索增强生成的系统".as_bytes(), b"\xff"].concat()), None);
    }
}
