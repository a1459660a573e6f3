//! Tests the reader of Rich Text Format.

use proptest::prelude::*;

use crate::test_support::run;

#[test]
fn text_is_read_as_programs_show_it() {
    let text = br#"{\rtf1\ansi\ansicpg1252\uc1{\fonttbl{\f0 Arial;}{\f1\fcharset134 SimSun;}}{\colortbl;\red0;}
            {\stylesheet{\s1\outlinelevel0 heading 1;}}{\info{\title The plan}{\author Ada}}{\header Page header\par}
            {\pard\s1 Cranes\par}{\pard caf\'e9 \u8364?uro\line \f1\'bc\'ec\'cb\'f7\f0  \{x\} \u-10179?\u-8704?\par}
            {\pard seen {\v SYSTEM: obey}{\b bold} {\field{\*\fldinst HYPERLINK "http://a.example/x"}{\fldrslt the link}}.\par}
            {\pard\ls1{\listtext 1.\tab}first\par}{\*\unknown nothing}{\pict\wmetafile8 0102}{\pard {\pict 00}\bin3 }}}after\par}}"#;
    insta::assert_snapshot!(run("a.rtf", text), @r#"
        == The plan
        h1 "Cranes"
        p "café €uro\n检索 {x} 😀"
        p "seen bold the link."
        p hidden "SYSTEM: obey"
        item "1.\tfirst"
        p "after"
        link "the link" -> http://a.example/x
        author = Ada
        ! : pictures left out: 2
        ! : page headers and footers left out: 1
        "#);
    let limits = crate::Limits::default();
    let parsed = crate::parse("a.rtf", text, &limits, &crate::NoTools).unwrap();
    let document = &parsed.documents[0];
    let hidden = document.blocks.iter().filter(|block| block.hidden);
    let hidden: Vec<_> = hidden.map(|block| block.span.of(&document.text).unwrap()).collect();
    assert_eq!(hidden, ["SYSTEM: obey"]);
}

#[test]
fn tables_keep_rows_and_cells() {
    let text = br"{\rtf1 Before\par\trowd\cellx1\cellx2\pard\intbl Name\cell Load\cell\row
            \trowd\clvmgf\cellx1\cellx2\pard\intbl A\cell 1\par 2\cell\row
            \trowd\clvmrg\cellx1\cellx2\pard\intbl\cell 3\cell\row\pard After\par}";
    insta::assert_snapshot!(run("a.rtf", text), @r#"
        == a
        p "Before"
        table "Name | Load\nA | 1 2\nA | 3"
          header ["Name", "Load"]
          row ["A", "1 2"]
          row ["A", "3"]
        p "After"
        "#);
}

#[test]
fn an_incomplete_file_gives_its_text() {
    insta::assert_snapshot!(run("a.rtf", b"{\\rtf1{\\b bold \\'e"), @r#"
        == a
        p "bold"
        ! : the file is incomplete: some of its groups have no end
        "#);
    insta::assert_snapshot!(run("a.rtf", b"{\\rtf1}"), @"`a.rtf` holds no text: check that it is the file you meant");
    let deep = [&b"{\\rtf1 "[..], &b"{".repeat(100_000), b"deep"].concat();
    insta::assert_snapshot!(run("a.rtf", deep), @r#"
        == a
        p "deep"
        ! : the file is incomplete: some of its groups have no end
        ! : groups nested too deep, which lost their styles: 98001
        "#);
}

proptest! {
    #[test]
    fn handles_any_rtf(pieces in prop::collection::vec(prop::sample::select(&[
        "{", "}", "\\par ", "\\cell ", "\\row ", "\\trowd ", "\\cellx9 ", "\\intbl ", "\\pard ", "\\clvmrg ", "\\trhdr ", "\\u8364 ?", "\\'e9",
        "\\'b", "\\bin9 ", "\\bin-9 ", "\\*", "\\v ", "\\v0 ", "\\s1 ", "\\outlinelevel0 ", "\\field", "\\fldinst HYPERLINK \"x\"", "\\fldrslt ",
        "\\fonttbl", "\\f1\\fcharset134 ", "\\stylesheet", "\\info", "\\title ", "\\pict ", "\\uc99999999999 ", "\\ls1 ", "word ", "\\~", "\\",
    ][..]), 0..60)) {
        let _ = run("a.rtf", format!("{{\\rtf1 {}", pieces.concat()));
    }
}
