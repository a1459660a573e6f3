//! Reads Word documents: the body in order, with notes and comments after their paragraph (ECMA-376
//! part 1, `WordprocessingML`).
//!
//! Page numbers are not in the file, because Word computes them when it draws. Headers and footers
//! come last.

mod body;
mod numbering;
mod paragraph;
mod styles;
mod table;

use std::collections::HashMap;

use pikerag_knowledge::{BlockKind, Document, ProblemFact};

use crate::ParseError;
use crate::document::file::Input;
use crate::document::writing::Writing;
use crate::formats::office::ooxml::{Package, Relations};
use numbering::Numbering;
use paragraph::Field;
use pikerag_unpack::Problems;
use pikerag_unpack::xml::{Element, Tree};
use styles::Styles;

/// The state of reading a body.
struct Reader<'a, 'p> {
    package: &'a mut Package<'p>,
    problems: &'a mut Problems,
    /// The relations of the part that is read.
    relations: Relations,
    styles: Styles,
    numbering: Numbering,
    /// Footnotes, endnotes and comments by kind and identifier.
    notes: &'a HashMap<(&'static str, String), Element<'a>>,
    /// The relations of notes, by kind.
    notes_relations: HashMap<&'static str, Relations>,
    writing: Writing,
    /// Open fields; they may span paragraphs.
    fields: Vec<Field>,
    /// The first paragraph of the style `Title`.
    title: Option<String>,
}

/// Reads a Word document. Its title is the first paragraph of the style `Title`, else that of its
/// metadata.
pub(crate) fn read(input: &Input, problems: &mut Problems) -> Result<Document, ParseError> {
    let mut package = Package::open(input, problems)?;
    let main = package.main("word/document.xml", problems);
    let Some(text) = package.part(&main, problems) else {
        return Err(input.malformed("a Word document", format!("`{main}` is missing or damaged")));
    };
    let tree = Tree::read(&text, &main, problems);
    let Some(body) = tree.root().and_then(|root| root.child("body")) else {
        return Err(input.malformed("a Word document", format!("`{main}` has no body")));
    };
    let relations = package.relations(&main, problems);
    let mut side = |kind: &str| {
        let part = relations.of_kind(kind).into_iter().next()?;
        Some((package.part(&part, problems)?, part))
    };
    let [styles, numbering, footnote_part, endnote_part, comment_part] =
        ["styles", "numbering", "footnotes", "endnotes", "comments"].map(&mut side);
    let styles = Styles::read(styles, problems);
    let numbering = Numbering::read(numbering, problems);
    let [footnotes, endnotes, comments] = [&footnote_part, &endnote_part, &comment_part]
        .map(|part| part.as_ref().map(|(text, name)| Tree::read(text, name, problems)));
    let mut notes = HashMap::new();
    let mut notes_relations = HashMap::new();
    let parts = [&footnote_part, &endnote_part, &comment_part];
    for (kind, part, tree) in
        [("footnote", &footnotes), ("endnote", &endnotes), ("comment", &comments)]
            .into_iter()
            .zip(parts)
            .map(|((kind, tree), part)| (kind, part, tree))
    {
        if let Some((_, part)) = part {
            notes_relations.insert(kind, package.relations(part, problems));
        }
        let all = tree.iter().filter_map(Tree::root).flat_map(|root| root.all(kind));
        for note in all {
            notes.insert((kind, note.attr("id").unwrap_or_default().into_owned()), note);
        }
    }
    let mut reader = Reader {
        package: &mut package,
        problems,
        relations,
        styles,
        numbering,
        notes: &notes,
        notes_relations,
        writing: Writing::new(input.limits.max_cells),
        fields: Vec::new(),
        title: None,
    };
    reader.blocks(body);
    reader.margins();
    let Reader { writing, title, .. } = reader;
    if writing.cut {
        problems.add("", ProblemFact::CellsAllowed { most: input.limits.max_cells });
    }
    let metadata = package.metadata(problems);
    let title = title.or_else(|| metadata.get("title").cloned());
    let mut document = input.document(title, writing);
    document.metadata = metadata;
    Ok(document)
}

impl Reader<'_, '_> {
    /// Headers and footers: each text once, marked as such. Bare page numbers are skipped.
    fn margins(&mut self) {
        let mut seen = Vec::new();
        for (kind, label) in [("header", "Header"), ("footer", "Footer")] {
            for part in self.relations.of_kind(kind) {
                let Some(text) = self.package.part(&part, self.problems) else { continue };
                let tree = Tree::read(&text, &part, self.problems);
                let Some(root) = tree.root() else { continue };
                let (text, hidden) = self.flat(root);
                let text = text.text.split_whitespace().collect::<Vec<_>>().join(" ");
                if text.chars().any(char::is_alphabetic) && !seen.contains(&text) {
                    self.writing.plain(BlockKind::Paragraph, &format!("{label}: {text}"));
                    seen.push(text);
                }
                if !seen.contains(&hidden) {
                    self.write_hidden(&hidden);
                    seen.push(hidden);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::test_support::{packed, run};

    /// A document with this body; it has styles, lists, notes, comments and links.
    fn word(body: &str) -> String {
        let body = format!("<w:document><w:body>{body}</w:body></w:document>");
        let rel = |id: &str, kind: &str, target: &str, mode: &str| {
            format!("<Relationship Id='{id}' Type='http://x/{kind}' Target='{target}' {mode}/>")
        };
        let relations = [
            rel("s", "styles", "styles.xml", ""),
            rel("n", "numbering", "numbering.xml", ""),
            rel("f", "footnotes", "footnotes.xml", ""),
            rel("c", "comments", "comments.xml", ""),
            rel("h", "header", "header1.xml", ""),
            rel("i", "image", "media/i.png", ""),
            rel("g", "chart", "charts/c.xml", ""),
            rel("l", "hyperlink", "https://x.example/y", "TargetMode='External'"),
        ];
        let relations = format!("<Relationships>{}</Relationships>", relations.concat());
        run("report.docx", packed(&[
            ("word/document.xml", &body),
            ("word/_rels/document.xml.rels", &relations),
            ("word/styles.xml", "<styles>
                <style styleId='T'><name val='Title'/></style>
                <style styleId='H1'><name val='heading 1'/><pPr><numPr><numId val='2'/></numPr></pPr></style>
                <style styleId='berschrift2'><name val='heading 2'/><basedOn val='H1'/><pPr><numPr><ilvl val='1'/></numPr></pPr></style>
                <style styleId='Mine'><name val='Mine'/><basedOn val='berschrift2'/></style>
                <style styleId='C'><name val='caption'/></style></styles>"),
            ("word/numbering.xml", "<numbering>
                <abstractNum abstractNumId='0'><lvl ilvl='0'><start val='3'/><numFmt val='lowerRoman'/><lvlText val='(%1)'/></lvl><lvl><numFmt val='bullet'/></lvl></abstractNum>
                <abstractNum abstractNumId='1'><lvl><start val='1'/><numFmt val='decimal'/><lvlText val='%1'/></lvl><lvl><start val='1'/><numFmt val='decimal'/><lvlText val='%1.%2'/></lvl></abstractNum>
                <num numId='1'><abstractNumId val='0'/></num><num numId='2'><abstractNumId val='1'/></num></numbering>"),
            ("word/footnotes.xml", "<footnotes><footnote id='2'><p><r><t>A note.</t></r></p></footnote><footnote id='3'><p><r><t>Shown.</t></r><r><rPr><vanish/></rPr><t>hidden in a note</t></r></p></footnote></footnotes>"),
            ("word/comments.xml", "<comments><comment id='0' author='Ada'><p><r><t>Really?</t></r></p></comment></comments>"),
            ("word/header1.xml", "<hdr><p><r><t>Draft 7</t></r></p></hdr>"),
            ("word/media/i.png", "GIF89a"),
            ("word/charts/c.xml", "<chartSpace><chart><title><p><r><t>Cranes</t></r></p></title><plotArea><pieChart><ser>
                <tx><strRef><strCache><pt idx='0'><v>Load</v></pt></strCache></strRef></tx>
                <cat><strRef><strCache><pt idx='0'><v>A1</v></pt><pt idx='1'><v>A2</v></pt></strCache></strRef></cat>
                <val><numRef><numCache><pt idx='0'><v>5</v></pt><pt idx='1'><v>8</v></pt></numCache></numRef></val></ser></pieChart></plotArea></chart></chartSpace>"),
            ("docProps/core.xml", "<cp><dc:title>Untitled 1</dc:title><dc:creator>Ada</dc:creator></cp>"),
        ]))
    }

    fn text(text: &str) -> String {
        format!("<w:r><w:t>{text}</w:t></w:r>")
    }

    fn styled(style: &str, words: &str) -> String {
        format!("<w:p><w:pPr><w:pStyle w:val='{style}'/></w:pPr>{}</w:p>", text(words))
    }

    #[test]
    fn headings_and_lists_are_numbered() {
        let item = |level: u8, words: &str| {
            let list = format!("<w:numPr><w:ilvl w:val='{level}'/><w:numId w:val='1'/></w:numPr>");
            format!("<w:p><w:pPr>{list}</w:pPr>{}</w:p>", text(words))
        };
        let body = [
            styled("T", "Cranes"),
            styled("H1", "Safety"),
            styled("berschrift2", "Brakes"),
            styled("Mine", "Ropes"),
            styled("H1", "Loads"),
            item(0, "first"),
            item(1, "inner"),
            item(0, "second"),
        ];
        insta::assert_snapshot!(word(&body.concat()), @r#"
        == Cranes
        h1 "Cranes"
        h1 "1 Safety"
        h2 "1.1 Brakes"
        h2 "1.2 Ropes"
        h1 "2 Loads"
        item "(iii) first"
        item "- inner"
        item "(iv) second"
        p "Header: Draft 7"
        author = Ada
        title = Untitled 1
        "#);
    }

    #[test]
    fn paragraphs_keep_links_fields_and_marks() {
        let body = [
            "<w:p>",
            &text("See "),
            "<w:hyperlink r:id='l'>",
            &text("the manual"),
            "</w:hyperlink>",
            "<w:r><w:fldChar w:fldCharType='begin'/></w:r><w:r><w:instrText> HYPERLINK \"https://z.example\" </w:instrText></w:r>",
            "<w:r><w:fldChar w:fldCharType='separate'/></w:r>",
            &text(" or that"),
            "<w:r><w:fldChar w:fldCharType='end'/></w:r>",
            "<w:ins>",
            &text(", new"),
            "</w:ins><w:del><w:r><w:delText>, old</w:delText></w:r></w:del>",
            "<w:r><w:rPr><w:vanish/></w:rPr><w:t>ignore all of this</w:t></w:r>",
            "<w:r><w:footnoteReference w:id='2'/></w:r><w:r><w:commentReference w:id='0'/></w:r>",
            "<w:r><w:t>10</w:t></w:r><w:r><w:rPr><w:vertAlign w:val='superscript'/></w:rPr><w:t>6</w:t></w:r></w:p>",
            "<w:p><m:oMath><m:f><m:num><m:r><m:t>a</m:t></m:r></m:num><m:den><m:r><m:t>b</m:t></m:r></m:den></m:f></m:oMath></w:p>",
            "<w:p><w:r><mc:AlternateContent><mc:Choice><w:drawing><wps:txbx><w:txbxContent>",
            &styled("", "In a box"),
            "</w:txbxContent></wps:txbx></w:drawing></mc:Choice><mc:Fallback><w:pict><w:txbxContent>",
            &styled("", "In a box"),
            "</w:txbxContent></w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>",
            "<w:p><w:r><w:drawing><wp:docPr descr='A crane'/><a:blip r:embed='i'/></w:drawing></w:r></w:p>",
            &styled("C", "Figure 1: A crane"),
            "<w:p><w:r><w:drawing><c:chart r:id='g'/></w:drawing></w:r></w:p>",
        ];
        insta::assert_snapshot!(word(&body.concat()), @r#"
        == Untitled 1
        p "See the manual or that, new[2]10⁶"
        p hidden "ignore all of this"
        p "[2] A note."
        p "Comment by Ada: Really?"
        p "$\\frac{a}{b}$"
        p "In a box"
        figure "A crane"
        caption "Figure 1: A crane"
        caption "Cranes (pie chart)"
        table " | Load\nA1; Load: 5\nA2; Load: 8"
          header ["", "Load"]
          row ["A1", "5"]
          row ["A2", "8"]
        p "Header: Draft 7"
        link "the manual" -> https://x.example/y
        link " or that" -> https://z.example
        author = Ada
        title = Untitled 1
        "#);
    }

    #[test]
    fn hidden_text_in_notes_is_kept() {
        insta::assert_snapshot!(word("<w:p><w:r><w:t>Text</w:t><w:footnoteReference w:id='3'/></w:r></w:p>"), @r#"
        == Untitled 1
        p "Text[3]"
        p "[3] Shown."
        p hidden "hidden in a note"
        p "Header: Draft 7"
        author = Ada
        title = Untitled 1
        "#);
    }

    #[test]
    fn merged_cells_are_repeated() {
        let cell = |properties: &str, words: &str| {
            format!("<w:tc><w:tcPr>{properties}</w:tcPr><w:p>{}</w:p></w:tc>", text(words))
        };
        let row = |cells: &[String]| format!("<w:tr>{}</w:tr>", cells.concat());
        let inner = format!(
            "<w:tc><w:tbl>{}</w:tbl><w:p/></w:tc>",
            row(&[cell("", "in"), cell("", "side")])
        );
        let link = format!(
            "<w:tc><w:p><w:hyperlink r:id='l'>{}</w:hyperlink></w:p></w:tc>",
            text("a link")
        );
        let table = [
            row(&[cell("", "Name"), cell("", "Load"), cell("", "Note")]),
            row(&[cell("<w:vMerge w:val='restart'/>", "A1"), cell("", "5 t"), inner]),
            row(&[cell("<w:vMerge/>", ""), cell("<w:gridSpan w:val='2'/>", "none")]),
            row(&[cell("<w:gridSpan w:val='3'/>", "all of them")]),
            "<w:tr><w:trPr><w:del/></w:trPr></w:tr>".to_owned(),
            row(&[cell("", "A2"), cell("", "1 t"), link]),
        ];
        let layout = row(&[cell("", "Only the layout needs this.")]);
        let body = format!("<w:tbl>{}</w:tbl><w:tbl>{layout}</w:tbl>", table.concat());
        insta::assert_snapshot!(word(&body), @r#"
        == Untitled 1
        table "Name | Load | Note\nA1 | 5 t | in side\nA1 | none | none\nall of them\nA2 | 1 t | a link"
          header ["Name", "Load", "Note"]
          row ["A1", "5 t", "in side"]
          row ["A1", "none", "none"]
          row ["all of them"]
          row ["A2", "1 t", "a link"]
        p "Only the layout needs this."
        p "Header: Draft 7"
        link "a link" -> https://x.example/y
        author = Ada
        title = Untitled 1
        "#);
    }

    #[test]
    fn unreadable_parts_are_reported() {
        insta::assert_snapshot!(run("a.docx", packed(&[("word/other.xml", "<a/>")])), @"`a.docx` is not readable as a Word document: `word/document.xml` is missing or damaged; open it in its program and save it again; if it is plain text, rename it to .txt");
        insta::assert_snapshot!(word(&"<w:p>".repeat(300)), @r#"
        == Untitled 1
        p "Header: Draft 7"
        author = Ada
        title = Untitled 1
        ! word/document.xml: is invalid here, the rest was skipped: ill-formed document: expected `</w:p>`, but `</w:body>` was found, at byte 1529
        ! word/document.xml: 102 elements are nested deeper than 200: they are left out
        "#);
        insta::assert_snapshot!(word(""), @r#"
        == Untitled 1
        p "Header: Draft 7"
        author = Ada
        title = Untitled 1
        "#);
    }
}
