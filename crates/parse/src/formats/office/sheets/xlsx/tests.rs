//! Tests the reader of Excel workbooks.

use std::fmt::Write as _;

use crate::Limits;
use crate::test_support::{packed, run_within};

/// A workbook with these sheets: name, content, state.
fn book(sheets: &[(&str, &str, &str)], limits: &Limits) -> String {
    let mut names = String::new();
    let mut relations = "<Relationship Id='s' Type='x/sharedStrings' Target='strings.xml'/><Relationship Id='y' Type='x/styles' Target='styles.xml'/>".to_owned();
    let mut parts = Vec::new();
    for (number, (name, content, state)) in sheets.iter().enumerate() {
        write!(names, "<sheet name='{name}' sheetId='{number}' r:id='r{number}' state='{state}'/>")
            .unwrap();
        write!(
            relations,
            "<Relationship Id='r{number}' Type='x/worksheet' Target='worksheets/s{number}.xml'/>"
        )
        .unwrap();
        parts.push((
            format!("xl/worksheets/s{number}.xml"),
            format!("<worksheet>{content}</worksheet>"),
        ));
    }
    let workbook = format!("<workbook><sheets>{names}</sheets></workbook>");
    let relations = format!("<Relationships>{relations}</Relationships>");
    let mut entries = vec![
            ("xl/workbook.xml", workbook.as_str()),
            ("xl/_rels/workbook.xml.rels", &relations),
            ("xl/strings.xml", "<sst><si><t>Name</t></si><si><r><t>Bo</t></r><r><t>rn</t></r><rPh><t>x</t></rPh></si><si><t>Share</t></si></sst>"),
            ("xl/styles.xml", "<styleSheet><numFmts><numFmt numFmtId='164' formatCode='dd\\.mm\\.yyyy'/></numFmts><fonts><font/><font><b/></font></fonts>
                <cellXfs><xf/><xf numFmtId='164'/><xf numFmtId='10'/><xf fontId='1'/></cellXfs></styleSheet>"),
        ];
    entries.extend(parts.iter().map(|(name, content)| (name.as_str(), content.as_str())));
    run_within("book.xlsx", packed(&entries), limits)
}

/// Rows of texts; empty ones give no cells.
fn rows(first: usize, rows: &[&[&str]]) -> String {
    let mut sheet = String::new();
    for (number, row) in rows.iter().enumerate() {
        write!(sheet, "<row r='{}'>", first + number).unwrap();
        for (letter, text) in ('A'..).zip(row.iter()).filter(|(_, text)| !text.is_empty()) {
            write!(sheet, "<c r='{letter}{}' t='str'><v>{text}</v></c>", first + number).unwrap();
        }
        sheet.push_str("</row>");
    }
    sheet
}

#[test]
fn values_are_formatted_by_their_format() {
    let sheet = "<sheetData><row r='1'><c r='A1' t='s'><v>0</v></c><c r='B1' t='s'><v>1</v></c><c r='C1' t='s'><v>2</v></c><c r='D1' t='inlineStr'><is><t>Old</t></is></c></row>
            <row r='2'><c r='A2' t='str'><f>x</f><v>Ada</v></c><c r='B2' s='1'><v>5823</v></c><c r='C2' s='2'><v>0.125</v></c><c r='D2' t='b'><v>1</v></c></row>
            <row r='3'><c r='A3' t='e'><v>#N/A</v></c><c r='B3'><v>0.30000000000000004</v></c><c r='C3'><f>SUM(B2:B3)</f></c><c><v>7</v></c></row></sheetData>";
    insta::assert_snapshot!(book(&[("People", sheet, ""), ("Keys", &format!("<sheetData>{}</sheetData>", rows(1, &[&["secret"]])), "hidden")], &Limits::default()), @r##"
        == book
        h1 p1 "People"
        table p1 "Name | Born | Share | Old\nName: Ada; Born: 1915-12-10; Share: 12.50%; Old: TRUE\nName: #N/A; Born: 0.3; Share: =SUM(B2:B3); Old: 7"
          header ["Name", "Born", "Share", "Old"]
          row ["Ada", "1915-12-10", "12.50%", "TRUE"]
          row ["#N/A", "0.3", "=SUM(B2:B3)", "7"]
        h1 p2 hidden "Keys"
        p p2 hidden "secret"
        ! People: 1 formulas have no stored result: open and save it in Excel
        "##);
}

#[test]
fn tables_are_separated() {
    let sheet = [
        &rows(1, &[&["Sales by region"], &["Region", "2023", "2024"]]),
        &rows(3, &[&["North", "1", "2"], &["South", "3", "4"], &[], &["East", "5", "6"], &[], &[]]),
        &rows(
            9,
            &[
                &["Staff", "Born", "", "Machine", "Load"],
                &["Ada", "1815", "", "A1", "5"],
                &["Alan", "1912", "", "A2", "8"],
            ],
        ),
        &rows(13, &[&["All figures are estimates made by the staff listed above."]]),
    ]
    .map(String::as_str)
    .concat();
    insta::assert_snapshot!(book(&[("Sheet", &format!("<sheetData>{sheet}</sheetData>"), "")], &Limits::default()), @r#"
        == book
        h1 p1 "Sheet"
        caption p1 "Sales by region"
        table p1 "Region | 2023 | 2024\nRegion: North; 2023: 1; 2024: 2\nRegion: South; 2023: 3; 2024: 4\nRegion: East; 2023: 5; 2024: 6"
          header ["Region", "2023", "2024"]
          row ["North", "1", "2"]
          row ["South", "3", "4"]
          row ["East", "5", "6"]
        table p1 "Staff | Born\nStaff: Ada; Born: 1815\nStaff: Alan; Born: 1912"
          header ["Staff", "Born"]
          row ["Ada", "1815"]
          row ["Alan", "1912"]
        table p1 "Machine | Load\nMachine: A1; Load: 5\nMachine: A2; Load: 8"
          header ["Machine", "Load"]
          row ["A1", "5"]
          row ["A2", "8"]
        p p1 "All figures are estimates made by the staff listed above."
        "#);
}

#[test]
fn merged_and_hidden_cells() {
    let cells = rows(
        1,
        &[
            &["", "2023", "", "x"],
            &["Name", "Q1", "Q2", "x"],
            &["A1", "5", "8", "x"],
            &["A2", "6", "9", "x"],
        ],
    );
    let cells = cells.replace("<row r='4'>", "<row r='4' hidden='1'>");
    let sheet = format!(
        "<cols><col min='4' max='16384' hidden='1'/></cols><sheetData>{cells}</sheetData><mergeCells><mergeCell ref='B1:C1'/><mergeCell ref='A4:XFD1048576'/></mergeCells>"
    );
    insta::assert_snapshot!(book(&[("Sheet", &sheet, "")], &Limits::default()), @r#"
        == book
        h1 p1 "Sheet"
        table p1 "Name | 2023 Q1 | 2023 Q2\nName: A1; 2023 Q1: 5; 2023 Q2: 8"
          header ["Name", "2023 Q1", "2023 Q2"]
          row ["A1", "5", "8"]
        caption p1 hidden "x"
        caption p1 hidden "x"
        caption p1 hidden "x"
        table p1 hidden "A2 | 6 | 9 | x"
          header []
          row ["A2", "6", "9", "x"]
        "#);
}

#[test]
fn reversed_column_ranges_hide_nothing() {
    let cells = rows(1, &[&["a", "b", "c", "d", "e", "f"], &["1", "2", "3", "4", "5", "6"]]);
    let sheet =
        format!("<cols><col min='5' max='2' hidden='1'/></cols><sheetData>{cells}</sheetData>");
    insta::assert_snapshot!(book(&[("Sheet", &sheet, "")], &Limits::default()), @r#"
        == book
        h1 p1 "Sheet"
        table p1 "a | b | c | d | e | f\na: 1; b: 2; c: 3; d: 4; e: 5; f: 6"
          header ["a", "b", "c", "d", "e", "f"]
          row ["1", "2", "3", "4", "5", "6"]
        "#);
}

#[test]
fn far_cells_cost_nothing_and_too_many_are_cut() {
    let far = "<sheetData><row r='1'><c r='A1'><v>1</v></c></row><row r='1048576'><c r='XFD1048576'><v>2</v></c></row></sheetData>";
    insta::assert_snapshot!(book(&[("Far", far, "")], &Limits::default()), @r#"
        == book
        h1 p1 "Far"
        p p1 "1"
        p p1 "2"
        "#);
    let limits = Limits { max_cells: 4, ..Limits::default() };
    let sheet =
        format!("<sheetData>{}</sheetData>", rows(1, &[&["a", "b"], &["1", "2"], &["3", "4"]]));
    insta::assert_snapshot!(book(&[("Many", &sheet, ""), ("More", &sheet, "")], &limits), @r#"
        == book
        h1 p1 "Many"
        table p1 "a | b\na: 1; b: 2"
          header ["a", "b"]
          row ["1", "2"]
        h1 p2 "More"
        ! Many: the workbook has more cells than the limit allows: the rest was skipped
        "#);
    // A row and a column that cross have an extent of a billion cells.
    let mut cross = String::new();
    for row in 2..=2_000 {
        write!(cross, "<row r='{row}'><c r='A{row}'><v>1</v></c></row>").unwrap();
    }
    cross.insert_str(0, &format!("<row r='1'>{}</row>", "<c><v>1</v></c>".repeat(16_000)));
    assert!(
        book(&[("Cross", &format!("<sheetData>{cross}</sheetData>"), "")], &Limits::default())
            .len()
            < 400_000
    );
}
