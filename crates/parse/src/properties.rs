//! Tests that reading any file gives no panic and keeps the promises of this crate.

use proptest::prelude::*;

use crate::test_support::{NAMES, check, packed};
use crate::{Limits, NoTools, ParseError, parse};

fn survives(name: &str, bytes: &[u8]) {
    let limits = Limits { max_depth: 8, max_cells: 60, max_records: 20, ..Limits::default() };
    for limits in [limits, Limits::default()] {
        let parsed = parse(name, bytes, &limits, &NoTools);
        assert_eq!(parsed, parse(name, bytes, &limits, &NoTools));
        if let Ok(parsed) = parsed {
            check(&parsed);
        }
    }
}

// One target per format; formats from before 2007 are read through LibreOffice.
pikerag_test_support::fuzz_targets! {
    text in "corpus/text" => |bytes: &[u8]| survives("a.txt", bytes);
    markdown in "corpus/markdown" => |bytes: &[u8]| survives("a.md", bytes);
    html in "corpus/html" => |bytes: &[u8]| survives("a.html", bytes);
    json in "corpus/json" => |bytes: &[u8]| survives("a.json", bytes);
    jsonl in "corpus/jsonl" => |bytes: &[u8]| survives("a.jsonl", bytes);
    csv in "corpus/csv" => |bytes: &[u8]| survives("a.csv", bytes);
    tsv in "corpus/tsv" => |bytes: &[u8]| survives("a.tsv", bytes);
    xml in "corpus/xml" => |bytes: &[u8]| survives("a.xml", bytes);
    eml in "corpus/eml" => |bytes: &[u8]| survives("a.eml", bytes);
    rtf in "corpus/rtf" => |bytes: &[u8]| survives("a.rtf", bytes);
    subtitles in "corpus/subtitles" => |bytes: &[u8]| survives("a.srt", bytes);
    rst in "corpus/rst" => |bytes: &[u8]| survives("a.rst", bytes);
    asciidoc in "corpus/asciidoc" => |bytes: &[u8]| survives("a.adoc", bytes);
    org in "corpus/org" => |bytes: &[u8]| survives("a.org", bytes);
    docx in "corpus/docx" => |bytes: &[u8]| survives("a.docx", bytes);
    pptx in "corpus/pptx" => |bytes: &[u8]| survives("a.pptx", bytes);
    xlsx in "corpus/xlsx" => |bytes: &[u8]| survives("a.xlsx", bytes);
    odt in "corpus/odt" => |bytes: &[u8]| survives("a.odt", bytes);
    ods in "corpus/ods" => |bytes: &[u8]| survives("a.ods", bytes);
    odp in "corpus/odp" => |bytes: &[u8]| survives("a.odp", bytes);
    epub in "corpus/epub" => |bytes: &[u8]| survives("a.epub", bytes);
    pdf in "corpus/pdf" => |bytes: &[u8]| survives("a.pdf", bytes);
    parquet in "corpus/parquet" => |bytes: &[u8]| survives("a.parquet", bytes);
    picture in "corpus/picture" => |bytes: &[u8]| survives("a.png", bytes);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn handles_any_bytes(name in prop::sample::select(&NAMES[..]), bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        survives(name, &bytes);
    }

    #[test]
    fn handles_any_text(name in prop::sample::select(&NAMES[..]), text in "\\PC{0,200}|[ \\n\\r\\t#>*`|_:\\[\\]()!.,;\"'0-9a-c检-]{0,200}") {
        survives(name, text.as_bytes());
    }

    #[test]
    fn handles_any_markdown(pieces in prop::collection::vec(prop::sample::select(&[
        "# ", "- ", "1. ", "> ", "    ", "\t", "\n", "\n\n", "\r\n", "```\n", "| a | b |\n", "|---|---|\n", "|", "[x](y)",
        "[a][b]", "\n[b]: /c\n", "[^1]", "\n[^1]: note\n", "![alt](i.png)", "**", "`", "<b>", "\n<div>\n", "</div>", "---\n",
        "key: value\n", "===\n", "\\", "&amp;", "文字", "word", "[[wiki]]", "<http://x.y>", "- [ ] ", "~~", "\u{a0}", "<!--", "-->",
        "\n<table><tr><td colspan=3 rowspan=2>", "\n<td>", "</table>\n\n", "<a href=x>",
    ][..]), 0..60)) {
        survives("a.md", pieces.concat().as_bytes());
    }

    #[test]
    fn handles_any_html(pieces in prop::collection::vec(prop::sample::select(&[
        "<p>", "</p>", "<div>", "</div>", "<table>", "</table>", "<tr>", "<td>", "<th>", "</td>", "<td colspan=3>", "<th rowspan=2>",
        "<td rowspan=0 colspan=99999>", "<ul>", "</ul>", "<ol start=3>", "</ol>", "<li>", "</li>", "<a href='x y'>", "</a>", "<b>", "</b>",
        "<pre>", "</pre>", "<br>", "<h1>", "</h1>", "<h2>", "<main>", "</main>", "<article>", "<nav>", "</nav>", "<header>", "</header>",
        "<title>", "</title>", "<script>", "</script>", "<span hidden>", "</span>", "<img alt='x'>", "<svg/>", "<svg>", "</svg>", "<math>",
        "<template>", "</template>", "<select>", "<option>", "<caption>", "<figcaption>", "<body>", "<frameset>", "<form>", "</form>",
        "word", " ", "\n", "文字", "\u{a0}", "&lt;", "<!--", "-->", "<thead>", "<tbody>", "<button>", "<textarea>", "<p/>", "<plaintext>",
    ][..]), 0..80)) {
        survives("a.html", pieces.concat().as_bytes());
    }

    #[test]
    fn handles_any_json(pieces in prop::collection::vec(prop::sample::select(&[
        "{", "}", "[", "]", ",", ":", "\n", "\"id\"", "\"text\"", "\"title\"", "\"a\"", "1", "null", "true", "{\"id\":1,\"text\":\"x\"}",
        "{\"id\":\"1~2\",\"text\":\"y\"}", "{\"a\":{\"b\":[1,2]}}", "{\"text\":\" \"}", "\"检\"", "[{\"id\":1,\"text\":\"x\"},{\"id\":1,\"text\":\"y\"}]",
    ][..]), 0..30), name in prop::sample::select(&["a.json", "a.jsonl"][..])) {
        survives(name, pieces.concat().as_bytes());
    }

    #[test]
    fn no_word_is_dropped(name in prop::sample::select(&["a.txt", "a.md"][..]), text in "([a-z文字]{1,6}( |\n|\r\n|\n\n|   ){1,2}){1,40}") {
        let parsed = parse(name, text.as_bytes(), &Limits::default(), &NoTools).unwrap();
        check(&parsed);
        let document = &parsed.documents[0];
        let covered: Vec<&str> = document
            .blocks
            .iter()
            .flat_map(|block| block.span.of(&document.text).unwrap().split_whitespace())
            .collect();
        prop_assert_eq!(covered, text.split_whitespace().collect::<Vec<_>>());
    }

    #[test]
    fn handles_any_office_file(pieces in prop::collection::vec(prop::sample::select(OFFICE), 0..60), kind in prop::sample::select(&[
        ("a.docx", "word/document.xml"), ("a.pptx", "ppt/slides/slide1.xml"), ("a.xlsx", "xl/worksheets/sheet1.xml"),
        ("a.odt", "content.xml"), ("a.ods", "content.xml"), ("a.odp", "content.xml"),
    ][..])) {
        let (name, part) = kind;
        let (open, close) = match name {
            "a.docx" => ("<document><body>", "</body></document>"),
            "a.pptx" => ("<sld><cSld><spTree>", "</spTree></cSld></sld>"),
            "a.xlsx" => ("<worksheet><sheetData>", "</sheetData></worksheet>"),
            "a.odt" => ("<d><body><text>", "</text></body></d>"),
            "a.ods" => ("<d><body><spreadsheet><table name='T'>", "</table></spreadsheet></body></d>"),
            _ => ("<d><body><presentation><page>", "</page></presentation></body></d>"),
        };
        let part_text = format!("{open}{}{close}", pieces.concat());
        let rel = |kind: &str, target: &str| format!("<Relationships><Relationship Id='r1' Type='x/{kind}' Target='{target}'/></Relationships>");
        let bytes = packed(&[
            (part, &part_text),
            ("ppt/presentation.xml", "<p><sldIdLst><sldId id='1' r:id='r1'/></sldIdLst></p>"),
            ("ppt/_rels/presentation.xml.rels", &rel("slide", "slides/slide1.xml")),
            ("xl/workbook.xml", "<w><sheets><sheet name='S' r:id='r1'/></sheets></w>"),
            ("xl/_rels/workbook.xml.rels", &rel("worksheet", "worksheets/sheet1.xml")),
            ("word/_rels/document.xml.rels", &rel("image", "media/i.png")),
            ("word/media/i.png", "GIF89a"),
        ]);
        survives(name, &bytes);
    }

    #[test]
    fn handles_damaged_archives(at in 0usize..400, byte: u8, cut in 0usize..400) {
        let mut bytes = packed(&[("word/document.xml", "<document><body><p><r><t>word</t></r></p></body></document>")]);
        if let Some(place) = bytes.get_mut(at) {
            *place = byte;
        }
        survives("a.docx", &bytes);
        bytes.truncate(cut);
        survives("a.docx", &bytes);
    }
}

/// Pieces of Office files of any kind.
const OFFICE: &[&str] = &[
    "<p>",
    "</p>",
    "<r>",
    "</r>",
    "<t>word </t>",
    "<r><t>字 </t></r>",
    "<tbl>",
    "</tbl>",
    "<tr>",
    "</tr>",
    "<tc>",
    "</tc>",
    "<tcPr><gridSpan val='3'/><vMerge/></tcPr>",
    "<tcPr><vMerge val='restart'/></tcPr>",
    "<pPr><numPr><numId val='1'/></numPr></pPr>",
    "<rPr><vanish/></rPr>",
    "<hyperlink r:id='r1'>",
    "</hyperlink>",
    "<fldChar fldCharType='begin'/>",
    "<fldChar fldCharType='end'/>",
    "<drawing><blip r:embed='r1'/></drawing>",
    "<txbxContent>",
    "</txbxContent>",
    "<sp>",
    "</sp>",
    "<txBody>",
    "</txBody>",
    "<spPr><xfrm><off x='1' y='2'/><ext cx='-3' cy='4'/></xfrm></spPr>",
    "<graphicFrame><graphic><graphicData>",
    "<grpSp>",
    "</grpSp>",
    "<tc gridSpan='2' rowSpan='3'>",
    "<tc hMerge='1'/>",
    "<tc vMerge='1'/>",
    "<row r='2'>",
    "<row hidden='1'>",
    "</row>",
    "<c r='B2'><v>1</v></c>",
    "<c t='s'><v>9</v></c>",
    "<c r='XFD1048576' t='str'><v>far</v></c>",
    "<c t='inlineStr'><is><t>in</t></is></c>",
    "<c><f>A1</f></c>",
    "<mergeCell ref='A1:C9'/>",
    "<mergeCell ref='B2:XFD1048576'/>",
    "<cols><col min='1' max='2' hidden='1'/></cols>",
    "<text:p>",
    "</text:p>",
    "<text:h outline-level='99'>",
    "</text:h>",
    "<list>",
    "</list>",
    "<list-item>",
    "</list-item>",
    "<table>",
    "</table>",
    "<table-row number-rows-repeated='4294967295'>",
    "<table-row>",
    "</table-row>",
    "<table-cell><p>x</p></table-cell>",
    "<table-cell value-type='float' value='1.5' number-columns-repeated='999999999'/>",
    "<table-cell number-columns-spanned='2' number-rows-spanned='2'><p>y</p></table-cell>",
    "<covered-table-cell/>",
    "<covered-table-cell number-columns-repeated='4294967295'/>",
    "<frame x='1cm' y='1cm' width='2cm' height='1e30cm'><text-box><p>z</p></text-box></frame>",
    "<annotation><p>note</p></annotation>",
    "<note><note-citation>1</note-citation><note-body><p>n</p></note-body></note>",
    "<s c='99999'/>",
    "<a href='http://x'>link</a>",
    "plain",
    " ",
    "\n",
    "&amp;",
    "&none;",
    "<oMath><f><num><r><t>1</t></r></num><den/></f></oMath>",
    "<x",
    "<!--",
    "-->",
];

#[test]
fn errors_cross_a_process_boundary() {
    let limits = Limits { max_bytes: 9, ..Limits::default() };
    for bytes in [&b""[..], b"%PDF", b"a\0", b"{", b" ", b"0123456789"] {
        for name in NAMES {
            let Err(error) = parse(name, bytes, &limits, &NoTools) else { continue };
            let json = serde_json::to_string(&error).unwrap();
            assert_eq!(serde_json::from_str::<ParseError>(&json).unwrap(), error);
        }
    }
}
