//! What does a presentation say? Slide by slide: a slide is a page, its title a heading; then its notes
//! and comments (ECMA-376 part 1, `PresentationML`).

mod comments;
mod order;
mod shapes;
mod text;

use pikerag_knowledge::{BlockKind, Document};

use crate::ParseError;
use crate::drawing::paragraphs;
use crate::file::Input;
use crate::ooxml::{Package, Relations};
use crate::problems::Problems;
use crate::writing::{Place, Writing};
use crate::xml::{Element, Tree};
use comments::Authors;
use shapes::Frame;

/// Most slides.
const MOST_SLIDES: usize = 10_000;
/// A slide's size in EMU where the file does not say.
const USUAL_SIZE: (f64, f64) = (9_144_000.0, 6_858_000.0);

/// A presentation as it is read.
struct Reader<'a, 'p> {
    package: &'a mut Package<'p>,
    problems: &'a mut Problems,
    writing: Writing,
    /// Where the slide leads that is being read.
    relations: Relations,
    /// Width and height of slides in EMU.
    size: (f64, f64),
    /// Footers that were written.
    footers: Vec<String>,
    /// Title of the first slide that has one.
    title: Option<String>,
}

/// Reads a presentation.
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
        let reason = format!("slides after the first {MOST_SLIDES} are left out");
        reader.problems.add("", reason);
    }
    for (number, slide) in slides.iter().take(MOST_SLIDES).enumerate() {
        reader.slide(slide, number + 1, &authors);
    }
    let Reader { writing, title, .. } = reader;
    if writing.cut {
        problems
            .add("", format!("tables have more than the {} cells allowed", input.limits.max_cells));
    }
    let metadata = package.metadata(problems);
    // PowerPoint itself fills in the title that nobody gave.
    let given = metadata.get("title").filter(|title| !title.starts_with("PowerPoint"));
    let mut document = input.document(given.cloned().or(title), writing);
    document.metadata = metadata;
    Ok(document)
}

impl Reader<'_, '_> {
    fn slide(&mut self, part: &str, number: usize, authors: &Authors) {
        let place = format!("slide {number}");
        let Some(text) = self.package.part(part, self.problems) else {
            return self.problems.add(place, "is missing or damaged");
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

    /// Where the placeholders of the slide's layout and master stand: a slide may leave that to them.
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

/// Is this the text of notes, not the picture of the slide or its number?
fn is_body(shape: &Element) -> bool {
    let placeholder = shape.path(&["nvSpPr", "nvPr", "ph"]);
    let kind = placeholder.and_then(|placeholder| placeholder.attr("type"));
    !matches!(kind.as_deref(), Some("sldImg" | "sldNum" | "hdr" | "ftr" | "dt"))
}
