//! Generates hostile Office files: archives and XML that unpack to too much, refer to the network,
//! or declare false sizes.

use std::io::{Cursor, Write};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::bomb::Packed;
use super::{File, TRAPS};

const WORD: &str = "word/document.xml";
const TYPES: &str = "http://schemas.openxmlformats.org/package/2006/content-types";
const RELATIONS: &str = "http://schemas.openxmlformats.org/package/2006/relationships";
const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const TEXT: &str = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
const SHEET: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";

/// Name and content of an entry of an archive.
type Entry = (String, Vec<u8>);

pub(super) fn files() -> Vec<File> {
    let mut files = documents();
    files.extend(archives());
    files.extend(sheets());
    files.into_iter().map(|(name, bytes)| (name.to_owned(), bytes)).collect()
}

/// Files with hostile document XML.
fn documents() -> Vec<(&'static str, Vec<u8>)> {
    let [trap, _] = TRAPS;
    let entity = |target: &str| format!("<!DOCTYPE d [<!ENTITY x SYSTEM \"{target}\">]>");
    let mut laughs = "<!DOCTYPE d [<!ENTITY l0 \"lol\">".to_owned();
    for n in 1..10 {
        laughs += &format!("<!ENTITY l{n} \"{}\">", format!("&l{};", n - 1).repeat(10));
    }
    laughs += "]>";
    let attributes: String = (0..80_000).map(|n| format!(" a{n}=\"1\"")).collect();
    let names: String = (0..200_000).map(|n| format!(" xmlns:n{n}=\"u{n}\"")).collect();
    vec![
        ("fine.docx", document("", &paragraph("Cranes lift loads."))),
        ("entity-file.docx", document(&entity("file:///etc/passwd"), &paragraph("&x;"))),
        (
            "entity-http.docx",
            document(&entity(&format!("http://127.0.0.1:{trap}/entity")), &paragraph("&x;")),
        ),
        ("laughs.docx", document(&laughs, &paragraph("&l9;"))),
        (
            "deep.docx",
            document("", &format!("{}{}", "<w:p>".repeat(200_000), "</w:p>".repeat(200_000))),
        ),
        ("attributes.docx", document("", &format!("<w:p{attributes}/>"))),
        ("namespaces.docx", document("", &format!("<w:p{names}/>"))),
    ]
}

/// Files with hostile archives.
fn archives() -> Vec<(&'static str, Vec<u8>)> {
    let [trap, _] = TRAPS;
    let with = |more: Vec<Entry>| {
        let mut entries = parts(WORD, "wordprocessingml.document.main");
        entries.push((WORD.to_owned(), body("", &paragraph("x")).into_bytes()));
        entries.extend(more);
        zipped(&entries)
    };
    let slips = ["../../../../tmp/PIKERAG-SLIP", "/tmp/PIKERAG-SLIP-2", "word\\..\\..\\SLIP-3"];
    let template = format!(
        "<Relationships xmlns=\"{RELATIONS}\"><Relationship Id=\"r9\" Type=\"{OFFICE}/attachedTemplate\" \
         Target=\"http://127.0.0.1:{trap}/t.dotm\" TargetMode=\"External\"/></Relationships>"
    );
    let fine = document("", &paragraph("Cranes lift loads."));
    let mut lying = fine.clone();
    // The uncompressed size, in the first entry of the directory at the end.
    let entry = lying.windows(4).position(|part| part == b"PK\x01\x02").unwrap();
    lying[entry + 24..entry + 28].copy_from_slice(&0xFFFF_FFF0_u32.to_le_bytes());
    let (open, close) =
        body("", "|").split_once('|').map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    let bomb =
        Packed::new(format!("{open}{}", paragraph("a")).as_bytes(), b' ', 512, close.as_bytes());
    vec![
        ("slip.docx", with(slips.map(|name| (name.to_owned(), b"x".to_vec())).into())),
        ("template.docx", with(vec![("word/_rels/document.xml.rels".to_owned(), template.into())])),
        (
            "many.docx",
            with((0..100_000).map(|n| (format!("word/media/{n}.bin"), Vec::new())).collect()),
        ),
        ("lying.docx", lying),
        ("cut.docx", fine[..fine.len() / 2].to_vec()),
        ("old.docx", [b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".as_slice(), &[0; 2_000]].concat()),
        ("bomb.docx", bombed(&parts(WORD, "wordprocessingml.document.main"), WORD, &bomb)),
    ]
}

/// Files with hostile workbooks.
fn sheets() -> Vec<(&'static str, Vec<u8>)> {
    let none = format!("<sst xmlns=\"{SHEET}\" count=\"0\" uniqueCount=\"0\"></sst>");
    let cell = "<row r=\"1\"><c r=\"A1\"><v>42</v></c></row>";
    let far = "<row r=\"1048576\"><c r=\"XFD1048576\"><v>1</v></c></row>";
    let shared = "<c r=\"A1\" t=\"s\"><v>0</v></c>";
    let strings = |attributes: &str, text: &str| {
        format!("<sst xmlns=\"{SHEET}\" {attributes}><si><t>{text}</t></si></sst>")
    };
    let formula = "<row r=\"1\"><c r=\"A1\"><f>cmd|' /C calc'!A0</f><v>0</v></c></row>";
    let (open, close) =
        worksheet("|").split_once('|').map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    let bomb = Packed::new(format!("{open}{cell}").as_bytes(), b' ', 512, close.as_bytes());
    vec![
        ("fine.xlsx", workbook(cell, &none)),
        ("far.xlsx", workbook(&format!("{cell}{far}"), &none)),
        (
            "repeated.xlsx",
            workbook(
                &format!("<row r=\"1\">{}</row>", shared.repeat(12_000)),
                &strings("count=\"12000\" uniqueCount=\"1\"", &"A".repeat(1 << 20)),
            ),
        ),
        (
            "unique.xlsx",
            workbook(
                &format!("<row r=\"1\">{shared}</row>"),
                &strings("count=\"1\" uniqueCount=\"4294967295\"", "x"),
            ),
        ),
        ("formula.xlsx", workbook(formula, &none)),
        ("bomb.xlsx", bombed(&workbook_parts(&none), "xl/worksheets/sheet1.xml", &bomb)),
    ]
}

fn paragraph(text: &str) -> String {
    format!("<w:p><w:r><w:t>{text}</w:t></w:r></w:p>")
}

fn body(before: &str, paragraphs: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?>{before}<w:document xmlns:w=\"{TEXT}\"><w:body>{paragraphs}</w:body></w:document>"
    )
}

fn document(before: &str, paragraphs: &str) -> Vec<u8> {
    let mut entries = parts(WORD, "wordprocessingml.document.main");
    entries.push((WORD.to_owned(), body(before, paragraphs).into_bytes()));
    zipped(&entries)
}

fn worksheet(rows: &str) -> String {
    format!("<worksheet xmlns=\"{SHEET}\"><sheetData>{rows}</sheetData></worksheet>")
}

fn workbook(rows: &str, strings: &str) -> Vec<u8> {
    let mut entries = workbook_parts(strings);
    entries.push(("xl/worksheets/sheet1.xml".to_owned(), worksheet(rows).into_bytes()));
    zipped(&entries)
}

/// All parts of a workbook except its sheet.
fn workbook_parts(strings: &str) -> Vec<Entry> {
    let mut entries = parts("xl/workbook.xml", "spreadsheetml.sheet.main");
    let book = format!(
        "<workbook xmlns=\"{SHEET}\" xmlns:r=\"{OFFICE}\"><sheets><sheet name=\"S\" sheetId=\"1\" r:id=\"r1\"/></sheets></workbook>"
    );
    let relations = format!(
        "<Relationships xmlns=\"{RELATIONS}\">\
         <Relationship Id=\"r1\" Type=\"{OFFICE}/worksheet\" Target=\"worksheets/sheet1.xml\"/>\
         <Relationship Id=\"r2\" Type=\"{OFFICE}/sharedStrings\" Target=\"sharedStrings.xml\"/></Relationships>"
    );
    for (name, text) in [
        ("xl/workbook.xml", book.as_str()),
        ("xl/_rels/workbook.xml.rels", &relations),
        ("xl/sharedStrings.xml", strings),
    ] {
        entries.push((name.to_owned(), text.as_bytes().to_vec()));
    }
    entries
}

/// The parts that identify a document and point to its main part.
fn parts(main: &str, kind: &str) -> Vec<Entry> {
    let types = format!(
        "<?xml version=\"1.0\"?><Types xmlns=\"{TYPES}\">\
         <Default Extension=\"rels\" ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>\
         <Default Extension=\"xml\" ContentType=\"application/xml\"/>\
         <Override PartName=\"/{main}\" ContentType=\"application/vnd.openxmlformats-officedocument.{kind}+xml\"/></Types>"
    );
    let relations = format!(
        "<?xml version=\"1.0\"?><Relationships xmlns=\"{RELATIONS}\">\
         <Relationship Id=\"r1\" Type=\"{OFFICE}/officeDocument\" Target=\"{main}\"/></Relationships>"
    );
    vec![
        ("[Content_Types].xml".to_owned(), types.into_bytes()),
        ("_rels/.rels".to_owned(), relations.into_bytes()),
    ]
}

fn zipped(entries: &[Entry]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        writer.start_file(name.as_str(), SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// An archive of these entries and a bomb, whose compressed bytes are inserted directly.
fn bombed(entries: &[Entry], name: &str, bomb: &Packed) -> Vec<u8> {
    let whole = zipped(entries);
    // The order: the entries unchanged, the bomb, the directory with one line more, the end record.
    let end = whole.windows(4).rposition(|part| part == b"PK\x05\x06").unwrap();
    let number = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| whole[at + i]));
    let (length, at) = (number(end + 12), number(end + 16));
    let sizes = [
        bomb.crc.to_le_bytes(),
        (bomb.deflated.len() as u32).to_le_bytes(),
        (bomb.size as u32).to_le_bytes(),
        // The length of the name, and no extra field.
        (name.len() as u32).to_le_bytes(),
    ]
    .concat();
    // Version 2.0, no flags, deflated, a day in 1980.
    let kind = [20_u16, 0, 8, 0, 33].map(u16::to_le_bytes).concat();
    let mut file = whole[..at as usize].to_vec();
    file.extend([b"PK\x03\x04", kind.as_slice(), &sizes, name.as_bytes(), &bomb.deflated].concat());
    let directory = file.len() as u32;
    file.extend(&whole[at as usize..(at + length) as usize]);
    let line = [
        b"PK\x01\x02".as_slice(),
        &20_u16.to_le_bytes(),
        &kind,
        &sizes,
        // No comment, first disk, no attributes.
        &[0; 10],
        &at.to_le_bytes(),
        name.as_bytes(),
    ]
    .concat();
    file.extend(&line);
    let count = (entries.len() as u16 + 1).to_le_bytes();
    file.extend([b"PK\x05\x06".as_slice(), &[0; 4], &count, &count].concat());
    file.extend((length + line.len() as u32).to_le_bytes());
    file.extend(directory.to_le_bytes());
    file.extend([0; 2]);
    file
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Read};

    use super::super::bomb::Packed;
    use super::{bombed, parts};

    #[test]
    fn an_archive_with_a_bomb_is_an_archive() {
        let bomb = Packed::new(b"<a>", b' ', 1, b"</a>");
        let file = bombed(&parts("x.xml", "x"), "x.xml", &bomb);
        let mut archive = zip::ZipArchive::new(Cursor::new(file)).unwrap();
        assert_eq!(archive.len(), 3);
        let mut text = String::new();
        archive.by_name("x.xml").unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text.len(), (1 << 20) + 7);
        assert!(archive.by_name("_rels/.rels").is_ok());
    }
}
