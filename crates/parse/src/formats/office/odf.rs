//! Reads `OpenDocument` texts and presentations (ODF 1.3 part 3).

mod body;
mod inline;
mod lists;
mod slides;
mod styles;
mod table;

use std::collections::{BTreeMap, HashSet};

use pikerag_knowledge::{Document, Image, ProblemFact};

use crate::Format;
use crate::ParseError;
use crate::document::blocks::one_line;
use crate::document::file::Input;
use crate::document::writing::Writing;
use lists::Lists;
use pikerag_unpack::Problems;
use pikerag_unpack::archive::{Archive, resolve};
use pikerag_unpack::image_header::shown_type;
use pikerag_unpack::xml::{Event, Events, Tag, Tree, decode};
use styles::Styles;

/// The most bytes of all kept pictures.
pub(crate) const LARGEST_IMAGES: usize = 64 << 20;

/// The state of reading a document.
struct Reader<'a, 'p> {
    archive: &'a mut Archive<'p>,
    problems: &'a mut Problems,
    styles: Styles,
    lists: Lists,
    writing: Writing,
    /// The first title or, in a presentation, the first title of a slide.
    title: Option<String>,
    /// Pictures written so far, and the bytes that remain for further ones.
    seen: HashSet<String>,
    images_left: usize,
}

/// Reads an `OpenDocument` text, or a presentation with a page per slide.
pub(crate) fn read(
    input: &Input,
    format: Format,
    problems: &mut Problems,
) -> Result<Document, ParseError> {
    let mut archive = Archive::open(input.name, input.bytes, problems)?;
    let text = content(input, &mut archive, problems)?;
    let tree = Tree::read(&text, "content.xml", problems);
    let common = archive.entry("styles.xml", problems).unwrap_or_default();
    let common = decode(&common);
    let common = Tree::read(&common, "styles.xml", problems);
    let Some(root) = tree.root() else {
        return Err(input.malformed("an OpenDocument file", "`content.xml` is empty"));
    };
    let mut reader = Reader {
        archive: &mut archive,
        problems,
        styles: Styles::read([common.root(), Some(root)]),
        lists: Lists::read([common.root(), Some(root)]),
        writing: Writing::new(input.limits.max_cells),
        title: None,
        seen: HashSet::new(),
        images_left: LARGEST_IMAGES,
    };
    for body in root.child("body").into_iter().flat_map(pikerag_unpack::xml::Element::elements) {
        match format {
            Format::Odp => reader.slides(body),
            _ => reader.blocks(body),
        }
    }
    let Reader { writing, title, .. } = reader;
    if writing.cut {
        problems.add("", ProblemFact::CellsAllowed { most: input.limits.max_cells });
    }
    let metadata = metadata(&mut archive, problems);
    let stated = metadata.get("title").cloned();
    let title = match format {
        Format::Odp => stated.or(title),
        _ => title.or(stated),
    };
    let mut document = input.document(title, writing);
    document.metadata = metadata;
    Ok(document)
}

/// The part with the document itself.
pub(crate) fn content(
    input: &Input,
    archive: &mut Archive,
    problems: &mut Problems,
) -> Result<String, ParseError> {
    if let Some(manifest) = archive.entry("META-INF/manifest.xml", problems)
        && decode(&manifest).contains("encryption-data")
    {
        return Err(ParseError::Unsupported {
            name: input.name.to_owned(),
            seen: "an encrypted OpenDocument file".to_owned(),
            hint: "open it with its password and save it without one".to_owned(),
        });
    }
    let Some(bytes) = archive.entry("content.xml", problems) else {
        let reason = "`content.xml` is missing or damaged";
        return Err(input.malformed("an OpenDocument file", reason));
    };
    Ok(decode(&bytes).into_owned())
}

/// The metadata in the document, with the title under `title`.
pub(crate) fn metadata(archive: &mut Archive, problems: &mut Problems) -> BTreeMap<String, String> {
    let mut metadata = BTreeMap::new();
    let Some(bytes) = archive.entry("meta.xml", problems) else { return metadata };
    let text = decode(&bytes);
    let tree = Tree::read(&text, "meta.xml", problems);
    let meta = tree.root().and_then(|root| root.child("meta"));
    for element in meta.into_iter().flat_map(pikerag_unpack::xml::Element::elements) {
        let key = match element.name() {
            "initial-creator" => "author",
            "creation-date" => "created",
            "date" => "modified",
            "keyword" => "keywords",
            name @ ("title" | "subject" | "description" | "language") => name,
            _ => continue,
        };
        if let Some(value) = one_line(&element.text()) {
            metadata
                .entry(key.to_owned())
                .and_modify(|all: &mut String| {
                    all.push_str(", ");
                    all.push_str(&value);
                })
                .or_insert_with(|| value.clone());
        }
    }
    metadata
}

/// Writes the embedded objects of a spreadsheet, such as charts, and its pictures.
pub(crate) fn embedded(
    hrefs: &[String],
    archive: &mut Archive,
    images_left: &mut usize,
    writing: &mut Writing,
    problems: &mut Problems,
) {
    let mut reader = Reader {
        archive,
        problems,
        styles: Styles::default(),
        lists: Lists::default(),
        writing: std::mem::take(writing),
        title: None,
        seen: HashSet::new(),
        images_left: *images_left,
    };
    for href in hrefs {
        if reader.object(href) {
            continue;
        }
        if let Some(image) = reader.image(href) {
            reader.writing.figure("", Some(image));
        }
    }
    *images_left = reader.images_left;
    *writing = reader.writing;
}

/// The text of the element that was opened last, one line per paragraph; embedded objects go to
/// `hrefs`.
pub(crate) fn text_and_objects(events: &mut Events, hrefs: &mut Vec<String>) -> String {
    flatten(events, |tag| {
        if matches!(tag.name(), "object" | "image") {
            hrefs.extend(tag.attr("href").map(std::borrow::Cow::into_owned));
        }
    })
}

/// The text of the element that was opened last, one line per paragraph.
pub(crate) fn flat_text(events: &mut Events) -> String {
    flatten(events, |_| ())
}

fn flatten(events: &mut Events, mut see: impl FnMut(&Tag)) -> String {
    let mut text = String::new();
    let mut depth = 1;
    while depth > 0 {
        match events.next() {
            Some(Event::Open(tag)) => match tag.name() {
                "creator" | "date" | "desc" | "title" => events.pass_over(),
                name => {
                    depth += 1;
                    see(&tag);
                    match name {
                        "p" | "h" if !text.is_empty() => text.push('\n'),
                        "s" | "tab" => text.push(' '),
                        "line-break" => text.push('\n'),
                        _ => {}
                    }
                }
            },
            Some(Event::Close) => depth -= 1,
            Some(Event::Text(piece)) => text.push_str(&piece),
            None => break,
        }
    }
    text
}

impl Reader<'_, '_> {
    /// A picture in the file; `None` if it is outside the file or of an unsupported kind.
    fn image(&mut self, href: &str) -> Option<Image> {
        let bytes = self.archive.entry(&resolve("", href), self.problems)?;
        let media_type = shown_type(&bytes)?;
        match self.images_left.checked_sub(bytes.len()) {
            Some(left) => self.images_left = left,
            None => {
                self.problems.add(href, ProblemFact::PictureOverLimit);
                return None;
            }
        }
        Some(Image { media_type: media_type.to_owned(), bytes })
    }
}

#[cfg(test)]
mod tests {
    use crate::test_support::{packed, run};

    #[test]
    fn a_text() {
        let content = "<office:document-content><office:automatic-styles>
            <style:style style:name='P1' style:family='paragraph' style:parent-style-name='Title'/>
            <style:style style:name='T1' style:family='text'><style:text-properties text:display='none'/></style:style>
            <style:style style:name='T2' style:family='text'><style:text-properties style:text-position='super 58%'/></style:style>
            <text:list-style style:name='L1'><text:list-level-style-number text:level='1' style:num-format='a' style:num-suffix=')'/><text:list-level-style-bullet text:level='2'/></text:list-style>
            </office:automatic-styles><office:body><office:text>
            <text:tracked-changes><text:changed-region><text:deletion><text:p>deleted</text:p></text:deletion></text:changed-region></text:tracked-changes>
            <text:p text:style-name='P1'>Cranes</text:p><text:h text:outline-level='2'>Safety</text:h>
            <text:p>See   <text:a xlink:href='https://x.example'>the<text:s text:c='2'/>manual</text:a>, 10<text:span text:style-name='T2'>6</text:span> kg<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>A note.</text:p></text:note-body></text:note><text:span text:style-name='T1'>ignore this</text:span>.<office:annotation><dc:creator>Ada</dc:creator><dc:date>2024</dc:date><text:p>Really?</text:p></office:annotation></text:p>
            <text:list text:style-name='L1'><text:list-item><text:p>first</text:p><text:list><text:list-item><text:p>inner</text:p></text:list-item></text:list></text:list-item><text:list-item><text:p>second</text:p></text:list-item></text:list>
            <table:table><table:table-header-rows><table:table-row><table:table-cell><text:p>Name</text:p></table:table-cell><table:table-cell><text:p>Load</text:p></table:table-cell></table:table-row></table:table-header-rows>
            <table:table-row><table:table-cell table:number-rows-spanned='2'><text:p>A1</text:p></table:table-cell><table:table-cell><text:p>5</text:p></table:table-cell></table:table-row>
            <table:table-row><table:covered-table-cell/><table:table-cell><text:p>8</text:p></table:table-cell></table:table-row></table:table>
            <text:p><draw:frame><draw:image xlink:href='Pictures/i.png'/><svg:desc>A crane</svg:desc></draw:frame></text:p>
            <text:p><draw:frame><draw:object xlink:href='./Object 1'/><draw:image xlink:href='./ObjectReplacements/Object 1'/></draw:frame></text:p>
            <text:section text:display='none'><text:p>Not shown.</text:p></text:section>
            </office:text></office:body></office:document-content>";
        let chart = "<d><office:body><office:chart><chart:chart chart:class='chart:bar'><chart:title><text:p>Loads</text:p></chart:title><chart:plot-area/><table:table>
            <table:table-header-rows><table:table-row><table:table-cell><text:p/></table:table-cell><table:table-cell><text:p>t</text:p></table:table-cell></table:table-row></table:table-header-rows>
            <table:table-rows><table:table-row><table:table-cell><text:p>A1</text:p></table:table-cell><table:table-cell><text:p>5</text:p></table:table-cell></table:table-row></table:table-rows>
            </table:table></chart:chart></office:chart></office:body></d>";
        let styles = "<s><office:styles><style:style style:name='Title' style:family='paragraph'/></office:styles></s>";
        let meta = "<m><office:meta><meta:initial-creator>Ada</meta:initial-creator><meta:keyword>a</meta:keyword><meta:keyword>b</meta:keyword></office:meta></m>";
        let bytes = packed(&[
            ("content.xml", content),
            ("styles.xml", styles),
            ("meta.xml", meta),
            ("Pictures/i.png", "GIF89a"),
            ("Object 1/content.xml", chart),
        ]);
        insta::assert_snapshot!(run("report.odt", bytes), @r#"
        == Cranes
        h1 "Cranes"
        h2 "Safety"
        p "See the  manual, 10⁶ kg[1]."
        p hidden "ignore this"
        p "[1] A note."
        p "Comment by Ada: Really?"
        item "a) first"
        item "- inner"
        item "b) second"
        table "Name | Load\nA1 | 5\nA1 | 8"
          header ["Name", "Load"]
          row ["A1", "5"]
          row ["A1", "8"]
        figure "A crane"
        caption "Loads (bar chart)"
        table " | t\nA1; t: 5"
          header ["", "t"]
          row ["A1", "5"]
        p hidden "Not shown."
        link "the  manual" -> https://x.example
        author = Ada
        keywords = a, b
        "#);
    }

    #[test]
    fn hidden_text_in_cells_and_notes_is_kept() {
        let hidden = |words: &str| format!("<text:span text:style-name='T1'>{words}</text:span>");
        let cell =
            |words: &str| format!("<table:table-cell><text:p>{words}</text:p></table:table-cell>");
        let content = format!(
            "<d><office:automatic-styles><style:style style:name='T1' style:family='text'><style:text-properties text:display='none'/></style:style></office:automatic-styles><office:body><office:text>
            <table:table><table:table-row>{}{}</table:table-row><table:table-row>{}{}</table:table-row></table:table>
            <text:p>Text<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>A note.{}</text:p></text:note-body></text:note></text:p>
            </office:text></office:body></d>",
            cell("Name"),
            cell("Load"),
            cell(&format!("A1{}", hidden("in a cell"))),
            cell("5"),
            hidden("in a note")
        );
        insta::assert_snapshot!(run("report.odt", packed(&[("content.xml", &content)])), @r#"
        == report
        table "Name | Load\nA1 | 5"
          header ["Name", "Load"]
          row ["A1", "5"]
        p hidden "in a cell"
        p "Text[1]"
        p "[1] A note."
        p hidden "in a note"
        "#);
    }

    #[test]
    fn slides() {
        let content = "<office:document-content><office:automatic-styles><style:style style:name='dp2' style:family='drawing-page'><style:drawing-page-properties presentation:visibility='hidden'/></style:style></office:automatic-styles>
            <office:body><office:presentation>
            <draw:page draw:style-name='dp1'><draw:frame svg:x='10cm' svg:y='5cm' svg:width='5cm' svg:height='1cm'><draw:text-box><text:p>right</text:p></draw:text-box></draw:frame>
              <draw:custom-shape svg:x='1cm' svg:y='5cm' svg:width='5cm' svg:height='1cm'><text:p>left</text:p></draw:custom-shape>
              <draw:frame presentation:class='title' svg:x='1cm' svg:y='1cm' svg:width='20cm' svg:height='2cm'><draw:text-box><text:p>Cranes</text:p></draw:text-box></draw:frame>
              <presentation:notes><draw:frame presentation:class='notes'><draw:text-box><text:p>Speak slowly.</text:p></draw:text-box></draw:frame></presentation:notes></draw:page>
            <draw:page draw:style-name='dp2'><draw:frame><draw:text-box><text:p>not shown</text:p></draw:text-box></draw:frame></draw:page>
            </office:presentation></office:body></office:document-content>";
        insta::assert_snapshot!(run("deck.odp", packed(&[("content.xml", content)])), @r#"
        == Cranes
        h1 p1 [28 28 595 85] "Cranes"
        p p1 [28 142 170 170] "left"
        p p1 [283 142 425 170] "right"
        p p1 "Notes: Speak slowly."
        h1 p2 hidden "Slide 2"
        p p2 hidden "not shown"
        "#);
    }

    #[test]
    fn a_hidden_slide_gives_no_title() {
        let title = |words: &str, style: &str| {
            format!(
                "<draw:page draw:style-name='{style}'><draw:frame presentation:class='title'><draw:text-box><text:p>{words}</text:p></draw:text-box></draw:frame></draw:page>"
            )
        };
        let content = format!(
            "<d><office:automatic-styles><style:style style:name='dp2' style:family='drawing-page'><style:drawing-page-properties presentation:visibility='hidden'/></style:style></office:automatic-styles><office:body><office:presentation>{}{}</office:presentation></office:body></d>",
            title("Old", "dp2"),
            title("Cranes", "dp1")
        );
        insta::assert_snapshot!(run("deck.odp", packed(&[("content.xml", &content)])), @r#"
        == Cranes
        h1 p1 hidden "Old"
        h1 p2 "Cranes"
        "#);
    }

    #[test]
    fn encrypted_files_are_refused() {
        let manifest = "<manifest:manifest><manifest:file-entry><manifest:encryption-data/></manifest:file-entry></manifest:manifest>";
        insta::assert_snapshot!(run("a.odt", packed(&[("META-INF/manifest.xml", manifest), ("content.xml", "x")])), @"`a.odt` is an encrypted OpenDocument file: open it with its password and save it without one");
    }
}
