//! Reads the metadata of a PDF (title, author, dates) and the targets of its links.

use std::collections::BTreeMap;

use encoding_rs::WINDOWS_1252;
use hayro_interpret::hayro_syntax::Pdf;
use hayro_interpret::hayro_syntax::metadata::Metadata;
use hayro_interpret::hayro_syntax::object::{
    Array, DateTime, Dict, Name, Rect, Stream, String as Text,
};
use hayro_interpret::hayro_syntax::page::Page;
use hayro_interpret::kurbo::Affine;
use pikerag_knowledge::Area;
use pikerag_unpack::encoding;

use super::place::area_of;
use crate::document::blocks::one_line;

/// The most links of a page.
const MOST_LINKS: usize = 500;
/// The most bytes of metadata that are searched.
const MOST_BYTES: usize = 1 << 20;

/// The title, if a person wrote one, and the declared author, subject, keywords and dates.
pub(crate) fn about(pdf: &Pdf) -> (Option<String>, BTreeMap<String, String>) {
    let Metadata { creation_date, modification_date, title, author, subject, keywords, .. } =
        pdf.metadata();
    let read =
        |bytes: &Option<Box<[u8]>>| bytes.as_deref().and_then(|bytes| one_line(&text(bytes)));
    let xmp = xmp(pdf).unwrap_or_default();
    let stated = |tag: &str| xmp_value(&xmp, tag).and_then(|value| one_line(&value));
    let title = read(title).or_else(|| stated("dc:title")).and_then(|title| real_title(&title));
    let mut metadata = BTreeMap::new();
    let mut keep = |key: &str, value: Option<String>| {
        if let Some(value) = value {
            metadata.insert(key.to_owned(), value);
        }
    };
    keep("author", read(author).or_else(|| stated("dc:creator")));
    keep("subject", read(subject).or_else(|| stated("dc:description")));
    keep("keywords", read(keywords).or_else(|| stated("pdf:Keywords")));
    keep("created", creation_date.map(date).or_else(|| stated("xmp:CreateDate")));
    keep("modified", modification_date.map(date).or_else(|| stated("xmp:ModifyDate")));
    (title, metadata)
}

/// The title, unless a program set it: the name or the address of a file, or a placeholder.
fn real_title(title: &str) -> Option<String> {
    // Browsers print the name of a page without a title, and Office the name of the file.
    const ENDINGS: [&str; 43] = [
        ".asp", ".aspx", ".cdr", ".csv", ".dps", ".dvi", ".doc", ".docm", ".docx", ".dot", ".dotx",
        ".dwg", ".et", ".htm", ".html", ".indd", ".jsp", ".key", ".md", ".mht", ".mhtml",
        ".numbers", ".odp", ".ods", ".odt", ".pages", ".pdf", ".php", ".pot", ".pps", ".ppt",
        ".pptx", ".psd", ".pub", ".qxd", ".rtf", ".shtml", ".tex", ".txt", ".wps", ".xhtml",
        ".xls", ".xlsx",
    ];
    const EMPTY: [&str; 14] = [
        "",
        "untitled",
        "title",
        "(anonymous)",
        "unknown",
        "untitled document",
        "no title",
        "about:blank",
        "word document",
        "powerpoint presentation",
        "powerpoint 演示文稿",
        "无标题",
        "无标题文档",
        "未命名",
    ];
    let made_by = title.split_once(" - ").filter(|(program, _)| {
        ["Microsoft Word", "Microsoft PowerPoint", "Microsoft Excel"].contains(program)
    });
    let title = made_by.map_or(title, |(_, rest)| rest).trim();
    let low = title.to_lowercase();
    // The query and the fragment of an address follow the name of the page.
    let name = low.split(['?', '#']).next().unwrap_or(&low).trim_end();
    let names_a_file =
        [low.as_str(), name].iter().any(|name| ENDINGS.iter().any(|ending| name.ends_with(ending)));
    let is_address = ["http://", "https://", "file:"].iter().any(|start| low.starts_with(start))
        && !low.contains(char::is_whitespace);
    let is_path = low.get(1..3) == Some(":\\");
    // `文档1`, `Document 12`: names of new files.
    let stem = low.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end();
    let is_new = ["document", "文档", "新建文档", "新建 microsoft word 文档", "slide", "幻灯片"];
    let is_new = is_new.contains(&stem);
    let is_bad = EMPTY.contains(&low.as_str()) || names_a_file || is_address || is_path || is_new;
    (!is_bad && title.chars().any(char::is_alphabetic)).then(|| title.to_owned())
}

/// Decodes a text string: UTF-16 or UTF-8 with a mark, else Latin, or the encoding of the machine
/// that wrote it, such as GBK.
fn text(bytes: &[u8]) -> String {
    if let Some(wide) = bytes.strip_prefix(b"\xfe\xff") {
        let units = wide.chunks_exact(2).filter_map(|pair| match pair {
            [high, low] => Some(u16::from_be_bytes([*high, *low])),
            _ => None,
        });
        return char::decode_utf16(units).map(|c| c.unwrap_or('\u{fffd}')).collect();
    }
    match std::str::from_utf8(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)) {
        Ok(text) => text.to_owned(),
        Err(_) => {
            let found = encoding::guess(bytes, None);
            let found = if found.is_single_byte() { WINDOWS_1252 } else { found };
            found.decode_without_bom_handling(bytes).0.into_owned()
        }
    }
}

fn date(date: DateTime) -> String {
    let DateTime { year, month, day, hour, minute, second, .. } = date;
    let zone = match (date.utc_offset_hour, date.utc_offset_minute) {
        (0, 0) => "Z".to_owned(),
        (hours, minutes) => format!("{hours:+03}:{minutes:02}"),
    };
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{zone}")
}

fn xmp(pdf: &Pdf) -> Option<String> {
    let catalog: Dict<'_> = pdf.xref().get(pdf.xref().root_id())?;
    let stream: Stream<'_> = catalog.get("Metadata")?;
    // Compressed metadata is rare and may have any size.
    if !stream.filters().is_empty() {
        return None;
    }
    let bytes = stream.raw_data();
    Some(String::from_utf8_lossy(bytes.get(..MOST_BYTES).unwrap_or(&bytes)).into_owned())
}

/// The value of an XMP element: its own text, or that of the first entry of its list.
fn xmp_value(xmp: &str, tag: &str) -> Option<String> {
    let (_, rest) = xmp.split_once(&format!("<{tag}"))?;
    let (inside, _) = rest.split_once(&format!("</{tag}>"))?;
    let inside = inside.split_once("<rdf:li").map_or(inside, |(_, entry)| entry);
    let (_, value) = inside.split_once('>')?;
    let value = value.split('<').next().unwrap_or(value).trim();
    let plain = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")];
    let value = plain.iter().fold(value.to_owned(), |text, (from, to)| text.replace(from, to));
    (!value.is_empty()).then_some(value)
}

/// The links of a page that lead out of the document, with their places and targets.
pub(crate) fn links(page: &Page<'_>, to_page: Affine) -> Vec<(Area, String)> {
    let Some(notes) = page.raw().get::<Array<'_>>("Annots") else { return Vec::new() };
    let mut links = Vec::new();
    for note in notes.iter::<Dict<'_>>().take(10 * MOST_LINKS) {
        let Some(action) = note.get::<Dict<'_>>("A") else { continue };
        let string = |dict: &Dict<'_>, key: &str| {
            dict.get::<Text<'_>>(key).map(|string| text(string.as_bytes()))
        };
        // An address or another document; programs to launch are not links.
        let target = string(&action, "URI").or_else(|| {
            let kind = action.get::<Name<'_>>("S")?;
            if kind.as_str() != "GoToR" {
                return None;
            }
            let file = action.get::<Dict<'_>>("F");
            string(&action, "F")
                .or_else(|| file.as_ref().and_then(|f| string(f, "UF").or_else(|| string(f, "F"))))
        });
        let Some(rect) = note.get::<Rect>("Rect") else { continue };
        let rect = hayro_interpret::kurbo::Rect::new(rect.x0, rect.y0, rect.x1, rect.y1);
        if let Some(target) =
            target.filter(|target| !target.trim().is_empty() && target.len() < 4096)
            && links.len() < MOST_LINKS
        {
            links.push((area_of(to_page.transform_rect_bbox(rect)), target.trim().to_owned()));
        }
    }
    links
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_no_titles() {
        for title in [
            "travel.html",
            "index.php?id=3",
            "Microsoft Word - foo.doc",
            "Microsoft Excel - 报价.xlsx",
            "C:\\Users\\ada\\plan",
            "file:///tmp/plan",
            "https://a.example/plan",
            "about:blank",
            "Untitled",
            "文档1",
            "Document 12",
            "Document",
            "无标题",
            "PowerPoint 演示文稿",
            "2023",
            " ",
        ] {
            assert_eq!(real_title(title), None, "{title}");
        }
        for title in [
            "Handbook of the crane",
            "差旅费管理办法",
            "Slides for beginners",
            "Node.js in practice",
            "Why https:// matters",
            "Section 4.3",
            "Is it safe?",
        ] {
            assert_eq!(real_title(title).as_deref(), Some(title));
        }
        assert_eq!(real_title("Microsoft Word - Travel rules").as_deref(), Some("Travel rules"));
    }

    #[test]
    fn titles_in_gbk_are_decoded() {
        let gbk = encoding_rs::GBK.encode("差旅费管理办法").0;
        assert_eq!(text(&gbk), "差旅费管理办法");
        assert_eq!(text(b"Ren\xe9 Lef\xe8vre"), "René Lefèvre");
    }
}
