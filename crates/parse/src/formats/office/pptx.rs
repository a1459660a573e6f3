//! Reads presentations slide by slide: a slide is a page, its title a heading; its notes and
//! comments follow (ECMA-376 part 1, `PresentationML`).

mod comments;
mod shapes;
mod text;

use pikerag_knowledge::{BlockKind, Document, ProblemFact};

use crate::ParseError;
use crate::document::file::Input;
use crate::document::writing::{Place, Writing};
use crate::formats::office::drawing::paragraphs;
use crate::formats::office::ooxml::{Package, Relations};
use comments::Authors;
use pikerag_unpack::Problems;
use pikerag_unpack::xml::{Element, Tree};
use shapes::Frame;

/// The most slides of a file.
const MOST_SLIDES: usize = 10_000;
/// A slide's size in EMU if the file gives none.
const USUAL_SIZE: (f64, f64) = (9_144_000.0, 6_858_000.0);

/// The state of reading a presentation.
struct Reader<'a, 'p> {
    package: &'a mut Package<'p>,
    problems: &'a mut Problems,
    writing: Writing,
    /// The relations of the current slide.
    relations: Relations,
    /// Width and height of slides in EMU.
    size: (f64, f64),
    /// Footers written so far; each appears once.
    footers: Vec<String>,
    /// Title of the first slide that has one.
    title: Option<String>,
}

/// Reads a presentation, a page per slide.
pub(crate) fn read(input: &Input, problems: &mut Problems) -> Result<Document, ParseError> {
    let mut package = Package::open(input, problems)?;
    let main = package.main("ppt/presentation.xml", problems);
    let Some(text) = package.part(&main, problems) else {
        let reason = format!("`{main}` is missing or damaged");
        return Err(input.malformed("a PowerPoint presentation", reason));
    };
    let tree = Tree::read(&text, &main, problems);
    let relations = package.relations(&main, problems);
    let authors = Authors::read(&mut package, &relations, problems);
    let root = tree.root();
    let slides = root.and_then(|root| root.child("sldIdLst"));
    let slides: Vec<String> = slides
        .into_iter()
        .flat_map(|slides| slides.all("sldId"))
        .filter_map(|slide| Some(relations.part(&slide.attr("r:id")?)?.to_owned()))
        .collect();
    let size = root.and_then(|root| root.child("sldSz"));
    let size = size.and_then(|size| Some((size.number("cx")?, size.number("cy")?)));
    let mut reader = Reader {
        package: &mut package,
        problems,
        writing: Writing::new(input.limits.max_cells),
        relations: Relations::default(),
        size: size.unwrap_or(USUAL_SIZE),
        footers: Vec::new(),
        title: None,
    };
    if MOST_SLIDES < slides.len() {
        reader.problems.add("", ProblemFact::SlidesLeftOut { most: MOST_SLIDES });
    }
    for (number, slide) in slides.iter().take(MOST_SLIDES).enumerate() {
        reader.slide(slide, number + 1, &authors);
    }
    let Reader { writing, title, .. } = reader;
    if writing.cut {
        problems.add("", ProblemFact::CellsAllowed { most: input.limits.max_cells });
    }
    let metadata = package.metadata(problems);
    // PowerPoint sets this title if the author gave none.
    let given = metadata.get("title").filter(|title| !title.starts_with("PowerPoint"));
    let mut document = input.document(given.cloned().or(title), writing);
    document.metadata = metadata;
    Ok(document)
}

impl Reader<'_, '_> {
    fn slide(&mut self, part: &str, number: usize, authors: &Authors) {
        let place = format!("slide {number}");
        let Some(text) = self.package.part(part, self.problems) else {
            return self.problems.add(place, ProblemFact::PartMissing);
        };
        let tree = Tree::read(&text, &place, self.problems);
        let Some(slide) = tree.root() else { return };
        self.relations = self.package.relations(part, self.problems);
        let hidden = slide.attr("show").is_some() && !slide.is_on("show");
        let page = Place { page: u32::try_from(number).ok(), area: None, hidden };
        self.writing.place = page;
        let frames = self.frames();
        if let Some(shapes) = slide.path(&["cSld", "spTree"]) {
            self.shapes(shapes, &frames);
        }
        self.writing.place = page;
        for notes in self.relations.of_kind("notesSlide") {
            self.notes(&notes);
        }
        for comments in self.relations.of_kind("comments") {
            authors.write(self.package, &comments, &mut self.writing, self.problems);
        }
    }

    /// The places of placeholders in the slide's layout and master, for slides that do not set
    /// them.
    fn frames(&mut self) -> Vec<Frame> {
        let mut frames = Vec::new();
        let Some(layout) = self.relations.of_kind("slideLayout").into_iter().next() else {
            return frames;
        };
        let master = self.package.relations(&layout, self.problems).of_kind("slideMaster");
        for part in std::iter::once(layout).chain(master) {
            let Some(text) = self.package.part(&part, self.problems) else { continue };
            let tree = Tree::read(&text, &part, self.problems);
            let shapes = tree.root().and_then(|root| root.path(&["cSld", "spTree"]));
            frames.extend(
                shapes.into_iter().flat_map(|shapes| shapes.all("sp")).filter_map(Frame::of),
            );
        }
        frames
    }

    fn notes(&mut self, part: &str) {
        let Some(text) = self.package.part(part, self.problems) else { return };
        let tree = Tree::read(&text, part, self.problems);
        let shapes = tree.root().and_then(|root| root.path(&["cSld", "spTree"]));
        let bodies = shapes.into_iter().flat_map(|shapes| shapes.all("sp")).filter(is_body);
        let mut label = "Notes: ";
        for text in bodies.flat_map(paragraphs) {
            self.writing.plain(BlockKind::Paragraph, &format!("{label}{}", text.trim()));
            label = "";
        }
    }
}

/// Whether a shape is the text of notes, not the picture of the slide or its number.
fn is_body(shape: &Element) -> bool {
    let placeholder = shape.path(&["nvSpPr", "nvPr", "ph"]);
    let kind = placeholder.and_then(|placeholder| placeholder.attr("type"));
    !matches!(kind.as_deref(), Some("sldImg" | "sldNum" | "hdr" | "ftr" | "dt"))
}

#[cfg(test)]
mod tests {
    use crate::test_support::{packed, run};

    #[test]
    fn slides_are_pages() {
        let shape = |kind: &str, at: [u32; 4], body: &str| {
            let [x, y, cx, cy] = at.map(|points| points * 12_700);
            let frame =
                format!("<a:xfrm><a:off x='{x}' y='{y}'/><a:ext cx='{cx}' cy='{cy}'/></a:xfrm>");
            format!(
                "<p:sp><p:nvSpPr><p:cNvPr/><p:nvPr>{kind}</p:nvPr></p:nvSpPr><p:spPr>{frame}</p:spPr><p:txBody>{body}</p:txBody></p:sp>"
            )
        };
        let text = |words: &str| format!("<a:p><a:r><a:t>{words}</a:t></a:r></a:p>");
        let first = [
            shape("", [300, 100, 100, 50], &text("right")),
            shape("", [100, 100, 100, 50], &text("left")),
            shape("<p:ph type='title'/>", [100, 10, 300, 50], &text("Cranes")),
            "<p:sp><p:nvSpPr><p:nvPr><p:ph idx='1'/></p:nvPr></p:nvSpPr><p:txBody>
               <a:p><a:r><a:rPr><a:hlinkClick r:id='l'/></a:rPr><a:t>manual</a:t></a:r></a:p>
               <a:p><a:pPr><a:buAutoNum type='arabicPeriod'/></a:pPr><a:r><a:t>one</a:t></a:r></a:p></p:txBody></p:sp>".to_owned(),
            shape("", [900, 0, 50, 50], &text("off the slide")),
            shape("<p:ph type='sldNum'/>", [0, 500, 50, 20], &text("1")),
            "<p:graphicFrame><p:xfrm><a:off x='1270000' y='2540000'/><a:ext cx='127000' cy='127000'/></p:xfrm><a:graphic><a:graphicData><a:tbl><a:tblPr firstRow='1'/>
               <a:tr><a:tc><a:txBody><a:p><a:r><a:t>Name</a:t></a:r></a:p></a:txBody></a:tc><a:tc><a:txBody><a:p><a:r><a:t>Load</a:t></a:r></a:p></a:txBody></a:tc></a:tr>
               <a:tr><a:tc rowSpan='2'><a:txBody><a:p><a:r><a:t>A1</a:t></a:r></a:p></a:txBody></a:tc><a:tc><a:txBody><a:p><a:r><a:t>5</a:t></a:r></a:p></a:txBody></a:tc></a:tr>
               <a:tr><a:tc vMerge='1'/><a:tc><a:txBody><a:p><a:r><a:t>8</a:t></a:r></a:p></a:txBody></a:tc></a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>".to_owned(),
        ];
        let group = format!(
            "<p:grpSp><p:grpSpPr><a:xfrm><a:off x='1270000' y='0'/><a:ext cx='1270000' cy='1270000'/><a:chOff x='0' y='0'/><a:chExt cx='635000' cy='635000'/></a:xfrm></p:grpSpPr>{}</p:grpSp>",
            shape("", [10, 10, 10, 10], &text("in a group"))
        );
        let slide = |shapes: &str, show: &str| {
            format!("<p:sld {show}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>")
        };
        let rel = |id: &str, kind: &str, target: &str| {
            format!("<Relationship Id='{id}' Type='http://x/{kind}' Target='{target}'/>")
        };
        let shown = run(
            "deck.pptx",
            packed(&[
                (
                    "ppt/presentation.xml",
                    "<p:presentation><p:sldIdLst><p:sldId id='256' r:id='a'/><p:sldId id='257' r:id='b'/></p:sldIdLst><p:sldSz cx='9144000' cy='6858000'/></p:presentation>",
                ),
                (
                    "ppt/_rels/presentation.xml.rels",
                    &format!(
                        "<Relationships>{}{}{}</Relationships>",
                        rel("a", "slide", "slides/slide1.xml"),
                        rel("b", "slide", "slides/slide2.xml"),
                        rel("c", "commentAuthors", "commentAuthors.xml")
                    ),
                ),
                (
                    "ppt/commentAuthors.xml",
                    "<p:cmAuthorLst><p:cmAuthor id='0' name='Ada'/></p:cmAuthorLst>",
                ),
                ("ppt/slides/slide1.xml", &slide(&first.concat(), "")),
                (
                    "ppt/slides/_rels/slide1.xml.rels",
                    &format!(
                        "<Relationships>{}{}{}<Relationship Id='l' Type='x/hyperlink' Target='https://x.example' TargetMode='External'/></Relationships>",
                        rel("n", "notesSlide", "../notesSlides/n1.xml"),
                        rel("c", "comments", "../comments/c1.xml"),
                        rel("y", "slideLayout", "../slideLayouts/l1.xml")
                    ),
                ),
                (
                    "ppt/slideLayouts/l1.xml",
                    &slide(
                        "<p:sp><p:nvSpPr><p:nvPr><p:ph idx='1'/></p:nvPr></p:nvSpPr><p:spPr><a:xfrm><a:off x='1270000' y='3810000'/><a:ext cx='1270000' cy='127000'/></a:xfrm></p:spPr></p:sp>",
                        "",
                    ),
                ),
                (
                    "ppt/notesSlides/n1.xml",
                    &slide(&shape("<p:ph type='body'/>", [0; 4], &text("Speak slowly.")), ""),
                ),
                (
                    "ppt/comments/c1.xml",
                    "<p:cmLst><p:cm authorId='0' dt='2024-01-02'><p:text>Shorter?</p:text></p:cm></p:cmLst>",
                ),
                ("ppt/slides/slide2.xml", &slide(&group, "show='0'")),
            ]),
        );
        insta::assert_snapshot!(shown, @r#"
        == Cranes
        h1 p1 [100 10 400 60] "Cranes"
        p p1 [900 0 950 50] hidden "off the slide"
        p p1 [100 100 200 150] "left"
        p p1 [300 100 400 150] "right"
        table p1 [100 200 110 210] "Name | Load\nA1 | 5\nA1 | 8"
          header ["Name", "Load"]
          row ["A1", "5"]
          row ["A1", "8"]
        item p1 [100 300 200 310] "- manual"
        item p1 [100 300 200 310] "1. one"
        p p1 "Notes: Speak slowly."
        p p1 "Comment by Ada (2024-01-02): Shorter?"
        h1 p2 hidden "Slide 2"
        p p2 [120 20 140 40] hidden "in a group"
        link "manual" -> https://x.example
        "#);
    }

    #[test]
    fn a_hidden_slide_gives_no_title() {
        let slide = |words: &str, show: &str| {
            format!(
                "<p:sld {show}><p:cSld><p:spTree><p:sp><p:nvSpPr><p:nvPr><p:ph type='title'/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>{words}</a:t></a:r></a:p></p:txBody></p:sp></p:spTree></p:cSld></p:sld>"
            )
        };
        let shown = run(
            "deck.pptx",
            packed(&[
                (
                    "ppt/presentation.xml",
                    "<p:presentation><p:sldIdLst><p:sldId r:id='a'/><p:sldId r:id='b'/></p:sldIdLst></p:presentation>",
                ),
                (
                    "ppt/_rels/presentation.xml.rels",
                    "<Relationships><Relationship Id='a' Type='x/slide' Target='slides/a.xml'/><Relationship Id='b' Type='x/slide' Target='slides/b.xml'/></Relationships>",
                ),
                ("ppt/slides/a.xml", &slide("Old", "show='0'")),
                ("ppt/slides/b.xml", &slide("Cranes", "")),
            ]),
        );
        insta::assert_snapshot!(shown, @r#"
        == Cranes
        h1 p1 hidden "Old"
        h1 p2 "Cranes"
        "#);
    }
}
