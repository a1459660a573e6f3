//! Tests the reader of PDFs with small files that are written here.

mod edges;
mod tables;

use std::fmt::Write as _;

use pikerag_knowledge::{Area, BlockKind, Image};
use proptest::prelude::*;

use crate::test_support::{check, run, run_within};
use crate::{
    ExternalTools, Limits, NoTools, ParseError, Parsed, RecognizedWord, Unavailable, parse,
};

/// A PDF of pages with these contents and extra entries; F1 is Helvetica, F2 its bold, F3 Courier.
fn pdf(pages: &[(&str, &str)], others: &[&str]) -> Vec<u8> {
    let font = |name: &str| {
        format!("<</Type/Font/Subtype/Type1/BaseFont/{name}/Encoding/WinAnsiEncoding>>")
    };
    let mut objects = vec!["<</Type/Catalog/Pages 2 0 R>>".to_owned(), String::new()];
    objects.extend(["Helvetica", "Helvetica-Bold", "Courier"].map(font));
    objects.extend(others.iter().map(|object| (*object).to_owned()));
    let mut kids = String::new();
    for (content, extra) in pages {
        write!(kids, "{} 0 R ", objects.len() + 1).unwrap();
        objects.push(format!(
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F1 3 0 R/F2 4 0 R/F3 5 0 R>>/XObject<</Im 6 0 R>>>>/Contents {} 0 R {extra}>>",
            objects.len() + 2
        ));
        objects.push(format!("<</Length {}>>stream\n{content}\nendstream", content.len()));
    }
    objects[1] = format!("<</Type/Pages/Kids[{kids}]/Count {}>>", pages.len());
    let mut file = "%PDF-1.7\n".to_owned();
    let mut offsets = Vec::new();
    for (number, object) in (1..).zip(&objects) {
        offsets.push(file.len());
        write!(file, "{number} 0 obj\n{object}\nendobj\n").unwrap();
    }
    let start = file.len();
    write!(file, "xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).unwrap();
    for offset in offsets {
        writeln!(file, "{offset:010} 00000 n ").unwrap();
    }
    write!(file, "trailer\n<</Size {}/Root 1 0 R>>\nstartxref\n{start}\n%%EOF", objects.len() + 1)
        .unwrap();
    file.into_bytes()
}

/// Lines of text from a place on, at a fixed distance, in a font.
fn text(font: &str, size: u32, x: u32, y: u32, lines: &[&str]) -> String {
    let mut text = format!("BT /{font} {size} Tf {} TL {x} {y} Td\n", size + 2);
    for line in lines {
        writeln!(text, "({line}) Tj T*").unwrap();
    }
    text + "ET\n"
}

const LEFT: [&str; 4] = [
    "The crane lifts five tons when the wind",
    "is weak. When it is strong, no load may be at-",
    "tached, and the well-known rules apply to",
    "all of the crew.",
];
const RIGHT: [&str; 3] = [
    "Every well-known part is greased once a month",
    "by the crew, and every rope is changed once",
    "a year by the maker.",
];

#[test]
fn columns_are_read_one_after_the_other() {
    let page = text("F2", 18, 60, 740, &["Handbook of the crane"])
        + &text("F2", 12, 60, 700, &["1 Loads"])
        + &text("F1", 10, 60, 680, &LEFT)
        + &text("F1", 10, 60, 620, &["\\225 hooks and", "  shackles", "\\225 ropes"])
        + &text("F1", 10, 330, 700, &RIGHT)
        + &text("F1", 9, 60, 500, &["Figure 3. The hook."]);
    insta::assert_snapshot!(run("crane.pdf", pdf(&[(&page, "")], &[])), @r#"
    == Handbook of the crane
    h1 p1 [60 46 255 64] "Handbook of the crane"
    h2 p1 [60 91 105 103] "1 Loads"
    p p1 [60 112 230 122] "The crane lifts five tons when the wind is weak. When it is strong, no load may be attached, and the well-known rules apply to all of the crew."
    item p1 [60 172 112 194] "hooks and shackles"
    item p1 [60 196 91 206] "ropes"
    caption p1 [60 293 138 302] "Figure 3. The hook."
    p p1 [330 92 540 126] "Every well-known part is greased once a month by the crew, and every rope is changed once a year by the maker."
    pages = 1
    "#);
}

#[test]
fn tables_keep_their_cells() {
    let mut ruled = String::new();
    for y in [700, 680, 660, 640] {
        writeln!(ruled, "60 {y} m 360 {y} l S").unwrap();
    }
    for x in [60, 160, 260, 360] {
        writeln!(ruled, "{x} 640 m {x} 700 l S").unwrap();
    }
    for (row, cells) in
        [["Part", "Load (t)", "Maker"], ["Hook", "5", "Smith and"], ["Rope", "12", ""]]
            .iter()
            .enumerate()
    {
        for (column, cell) in cells.iter().enumerate() {
            ruled += &text("F1", 8, 65 + 100 * column as u32, 690 - 20 * row as u32, &[cell]);
        }
    }
    ruled += &text("F1", 8, 265, 663, &["Sons"]);
    let mut plain = String::new();
    for (row, cells) in [
        ["Year", "Hooks", "Ropes"],
        ["2021", "1,200", "31"],
        ["2022", "1,350", "29"],
        ["2023", "900", "35"],
    ]
    .iter()
    .enumerate()
    {
        for (column, cell) in cells.iter().enumerate() {
            plain += &text("F1", 10, 65 + 90 * column as u32, 500 - 14 * row as u32, &[cell]);
        }
    }
    insta::assert_snapshot!(run("tables.pdf", pdf(&[(&(ruled + &plain), "")], &[])), @r#"
    == tables
    table p1 [60 100 360 160] "Part | Load (t) | Maker\nHook | 5 | Smith and Sons\nRope | 12 | "
      header ["Part", "Load (t)", "Maker"]
      row ["Hook", "5", "Smith and Sons"]
      row ["Rope", "12", ""]
    table p1 [65 292 274 344] "Year | Hooks | Ropes\n2021 | 1,200 | 31\n2022 | 1,350 | 29\n2023 | 900 | 35"
      header ["Year", "Hooks", "Ropes"]
      row ["2021", "1,200", "31"]
      row ["2022", "1,350", "29"]
      row ["2023", "900", "35"]
    pages = 1
    "#);
}

#[test]
fn links_pages_and_boxes_are_kept() {
    let page = text("F1", 10, 60, 700, &["See the manual."]);
    let link = "/Annots[<</Type/Annot/Subtype/Link/Rect[76 695 140 712]/A<</S/URI/URI(https://example.org/manual.pdf)>>>>]";
    let bytes = pdf(&[("", ""), (&page, link)], &[]);
    let Parsed { documents, .. } = parse("a.pdf", &bytes, &Limits::default(), &NoTools).unwrap();
    let block = &documents[0].blocks[0];
    assert_eq!(block.page, Some(2));
    let Area { left, top, right, bottom } = block.area.unwrap();
    assert_eq!([left, top, right, bottom].map(|at| at.round() as i32), [60, 92, 133, 102]);
    let link = &documents[0].links[0];
    assert_eq!(link.target, "https://example.org/manual.pdf");
    assert_eq!(link.span.of(&documents[0].text), Some("the manual."));
}

#[test]
fn a_turned_page_is_read_as_it_is_shown() {
    let lines = text("F1", 10, 60, 700, &["Upright text of the page."]);
    let turned = "BT /F1 10 Tf 0 1 -1 0 300 100 Tm (This runs upwards) Tj ET";
    let bytes = pdf(&[(&lines, "/Rotate 90"), (turned, "/Rotate 90")], &[]);
    let Parsed { documents, .. } = parse("a.pdf", &bytes, &Limits::default(), &NoTools).unwrap();
    assert_eq!(documents[0].text, "Upright text of the page.\n\nThis runs upwards");
    let area = documents[0].blocks[1].area.unwrap();
    assert!(area.right - area.left > 4.0 * (area.bottom - area.top), "{area:?}");
    assert!(area.right <= 800.0 && area.bottom <= 600.0, "{area:?}");
}

#[test]
fn invisible_text_is_hidden() {
    let page = text("F1", 10, 60, 700, &["Quarterly report."])
        + "BT /F1 10 Tf 3 Tr 60 600 Td (unseen ink) Tj 0 Tr ET "
        + "BT /F1 10 Tf 1 g 60 500 Td (white on white) Tj ET "
        + "0 0 1 rg 50 390 300 30 re f BT /F1 10 Tf 1 g 60 400 Td (white on blue) Tj ET "
        + "BT /F1 10 Tf 0 g 700 300 Td (outside the page) Tj ET "
        + "BT /F1 0.1 Tf 60 200 Td (dust) Tj ET";
    let bytes = pdf(&[(&page, "")], &[]);
    let Parsed { documents, problems } =
        parse("a.pdf", &bytes, &Limits::default(), &NoTools).unwrap();
    let shown: Vec<_> = documents[0]
        .blocks
        .iter()
        .map(|block| (block.hidden, block.span.of(&documents[0].text).unwrap()))
        .collect();
    let hidden = ["unseen ink", "white on white", "outside the page", "dust"];
    for text in hidden {
        assert!(shown.contains(&(true, text)), "{text}: {shown:?}");
    }
    assert!(
        shown.contains(&(false, "white on blue")) && shown.contains(&(false, "Quarterly report.")),
        "{shown:?}"
    );
    assert_eq!(problems[0].place, "page 1");
}

/// A grey picture of 2 × 2 pixels.
const PICTURE: &str = "<</Type/XObject/Subtype/Image/Width 2/Height 2/ColorSpace/DeviceGray/BitsPerComponent 8/Length 4>>stream\nabcd\nendstream";
const SCAN: &str = "q 600 0 0 800 0 0 cm /Im Do Q";

/// Recognises two words on every picture.
struct Reads;

impl ExternalTools for Reads {
    fn recognize(&self, image: &Image, scale: f32) -> Result<Vec<RecognizedWord>, Unavailable> {
        assert_eq!(image.media_type, "image/png");
        assert!((scale - 346.0).abs() < 1.0, "{scale}");
        let word = |text: &str, line| RecognizedWord {
            text: text.to_owned(),
            area: Area { left: 60.0, top: 70.0, right: 90.0, bottom: 80.0 },
            line,
            paragraph: line / 2,
            confidence: 0.9,
        };
        Ok(vec![
            word("Scanned", 0),
            word("text", 0),
            word("goes", 1),
            word("on.", 1),
            word("End", 2),
        ])
    }

    fn convert(&self, _: &[u8], _: &str) -> Result<Vec<u8>, Unavailable> {
        Err(Unavailable("not asked".to_owned()))
    }
}

#[test]
fn a_scanned_page_is_recognised_and_its_picture_kept() {
    let bytes = pdf(&[(SCAN, "")], &[PICTURE]);
    let Parsed { documents, problems } =
        parse("a.pdf", &bytes, &Limits::default(), &Reads).unwrap();
    assert_eq!(documents[0].text, "[Figure 1]\n\nScanned text goes on.\n\nEnd");
    assert_eq!(documents[0].images.len(), 1);
    assert!(matches!(documents[0].blocks[0].kind, BlockKind::Figure { image: Some(0) }));
    assert_eq!(problems, []);
}

#[test]
fn a_scan_without_help_is_refused_unless_other_pages_have_text() {
    let seen = run("scan.pdf", pdf(&[(SCAN, "")], &[PICTURE]));
    insta::assert_snapshot!(seen, @r#"
    `scan.pdf` is a scanned PDF (1 of 1 pages are pictures, and no page has text): no program for text recognition is set up
    "#);
    let page = text("F1", 10, 60, 700, &["A page with text."]);
    insta::assert_snapshot!(run("half.pdf", pdf(&[(SCAN, ""), (&page, "")], &[PICTURE])), @r#"
    == half
    figure p1 [0 0 600 800] "[Figure 1]"
    p p2 [60 92 134 102] "A page with text."
    pages = 2
    ! page 1: the page was scanned, and its text was not recognised: no program for text recognition is set up
    "#);
}

#[test]
fn recognised_text_under_a_picture_is_not_hidden() {
    let page = format!(
        "{SCAN} {}",
        text(
            "F1 10 Tf 3 Tr /F1",
            10,
            60,
            700,
            &["Recognised before, and long enough to be the text of it."]
        )
    );
    insta::assert_snapshot!(run("ocr.pdf", pdf(&[(&page, "")], &[PICTURE])), @r#"
    == ocr
    p p1 [60 92 306 102] "Recognised before, and long enough to be the text of it."
    pages = 1
    "#);
}

#[test]
fn repeated_headers_appear_once() {
    let pages: Vec<String> = (1..=4)
        .map(|n| {
            text("F1", 9, 60, 780, &["Crane manual"])
                + &text(
                    "F1",
                    10,
                    60,
                    600,
                    &[&format!("Text of page {}.", ["one", "two", "three", "four"][n - 1])],
                )
                + &text("F1", 9, 300, 20, &[&format!("{n}")])
        })
        .collect();
    let pages: Vec<(&str, &str)> = pages.iter().map(|page| (page.as_str(), "")).collect();
    insta::assert_snapshot!(run("manual.pdf", pdf(&pages, &[])), @r#"
    == manual
    p p1 [60 13 117 22] "Crane manual"
    p p1 [60 192 138 202] "Text of page one."
    p p2 [60 192 137 202] "Text of page two."
    p p3 [60 192 144 202] "Text of page three."
    p p4 [60 192 138 202] "Text of page four."
    pages = 4
    "#);
    let limits = Limits { max_pages: 2, ..Limits::default() };
    insta::assert_snapshot!(run_within("manual.pdf", pdf(&pages, &[]), &limits), @r#"
    == manual
    p p1 [60 13 117 22] "Crane manual"
    p p1 [60 192 138 202] "Text of page one."
    p p1 [300 773 305 782] "1"
    p p2 [60 13 117 22] "Crane manual"
    p p2 [60 192 137 202] "Text of page two."
    p p2 [300 773 305 782] "2"
    pages = 4
    ! : the limit is 2 pages: those from 3 to 4 were skipped
    "#);
}

#[test]
fn damaged_and_encrypted_files_are_refused_with_a_reason() {
    let whole = pdf(&[(&text("F1", 10, 60, 700, &["x"]), "")], &[]);
    let no_pages =
        String::from_utf8(whole.clone()).unwrap().replace("/Kids[6 0 R ]", "/Kids[    ]  ");
    let encrypted = String::from_utf8(whole).unwrap().replace(
        "/Root 1 0 R",
        &format!(
            "/Encrypt<</Filter/Standard/V 1/R 2/O({})/U({})/P -4>>/ID[<00><00>]/Root 1 0 R",
            "x".repeat(32),
            "y".repeat(32)
        ),
    );
    let seen = [run("a.pdf", no_pages), run("b.pdf", encrypted), run("c.pdf", "%PDF-1.7 nothing")];
    insta::assert_snapshot!(seen.join("\n"), @r#"
    `a.pdf` is not readable as PDF: it has no pages; open it in its program and save it again; if it is plain text, rename it to .txt
    `b.pdf` is an encrypted PDF that opens with a password only: open it with its password and save a copy without one
    `c.pdf` is not readable as PDF: its structure is damaged and no page can be found; open it in its program and save it again; if it is plain text, rename it to .txt
    "#);
}

#[test]
fn a_decompression_bomb_is_skipped() {
    let mut packed = Vec::new();
    let mut writer = flate2::write::ZlibEncoder::new(&mut packed, flate2::Compression::best());
    let zeros = vec![0; 1 << 20];
    for _ in 0..80 {
        std::io::Write::write_all(&mut writer, &zeros).unwrap();
    }
    writer.finish().unwrap();
    let page = text("F1", 10, 60, 700, &["x"]);
    let mut bytes = pdf(&[(&page, "")], &[]);
    let from = bytes.windows(6).rposition(|window| window == b"stream").unwrap();
    let at = bytes[..from].windows(8).rposition(|window| window == b"<</Lengt").unwrap();
    bytes.truncate(at);
    bytes.extend(format!("<</Filter/FlateDecode/Length {}>>stream\n", packed.len()).bytes());
    bytes.extend(packed);
    bytes.extend(b"\nendstream\nendobj\ntrailer\n<</Root 1 0 R>>");
    let refused = parse("a.pdf", &bytes, &Limits::default(), &NoTools).unwrap_err();
    assert!(
        matches!(&refused, ParseError::Malformed { reason, .. } if reason.contains("page 1: its drawing instructions exceed")),
        "{refused}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn handles_any_damage(damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..12), end in any::<prop::sample::Index>()) {
        let page = text("F2", 18, 60, 740, &["Handbook"]) + &text("F1", 10, 60, 680, &LEFT) + SCAN + " 60 600 300 40 re S 160 600 m 160 640 l S";
        let mut bytes = pdf(&[(&page, "/Rotate 90"), (SCAN, "")], &[PICTURE]);
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if end.index(3) == 0 {
            bytes.truncate(end.index(bytes.len()));
        }
        if let Ok(parsed) = parse("a.pdf", &bytes, &Limits::default(), &NoTools) {
            check(&parsed);
        }
    }

    #[test]
    fn handles_any_drawing(pieces in prop::collection::vec(prop::sample::select(&[
        "BT", "ET", "/F1 10 Tf", "/F3 0 Tf", "/F1 -9 Tf", "(a b) Tj", "[(x)-900(y)] TJ", "1 0 0 1 60 700 Tm", "0 1 -1 0 300 300 Tm",
        "1e9 0 0 1e9 0 0 Tm", "0 0 0 0 0 0 Tm", "60 700 Td", "0 -12 Td", "3 Tr", "0 Tr", "1 g", "0 g", "q", "Q", "/Im Do", "50 50 100 100 re", "S", "f",
        "10 10 m", "90 10 l", "1 2 3 4 5 6 c", "600 0 0 800 0 0 cm", "1e-9 0 0 1 0 0 cm", "99999999999 0 0 1 0 0 cm", "(Table 1. x) '", "12 TL",
        "(a . . . . 1) '", "(b.....2  c.....3) '", "50 50 m 50 700 l S", "90 50 m 90 700 l S", "50 60 m 150 60 l S",
    ][..]), 0..60)) {
        let bytes = pdf(&[(&pieces.join(" "), "")], &[PICTURE]);
        for tools in [&NoTools as &dyn ExternalTools, &Blank] {
            if let Ok(parsed) = parse("a.pdf", &bytes, &Limits::default(), tools) {
                check(&parsed);
            }
        }
    }
}

/// Recognises no word on any picture.
struct Blank;

impl ExternalTools for Blank {
    fn recognize(&self, _: &Image, _: f32) -> Result<Vec<RecognizedWord>, Unavailable> {
        Ok(Vec::new())
    }

    fn convert(&self, _: &[u8], _: &str) -> Result<Vec<u8>, Unavailable> {
        Err(Unavailable("not asked".to_owned()))
    }
}
