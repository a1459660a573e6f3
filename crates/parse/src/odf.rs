//! What does an OpenDocument text or presentation say? (ODF 1.3 part 3)

mod body;
mod inline;
mod lists;
mod slides;
mod styles;
mod table;

use std::collections::{BTreeMap, HashSet};

use pikerag_knowledge::{Document, Image};

use crate::ParseError;
use crate::archive::{Archive, resolve};
use crate::file::Input;
use crate::format::Format;
use crate::layout::one_line;
use crate::ooxml::media_type;
use crate::problems::Problems;
use crate::writing::Writing;
use crate::xml::{Event, Events, Tree, decode};
use lists::Lists;
use styles::Styles;

/// Bytes of all pictures that are kept.
const LARGEST_IMAGES: usize = 64 << 20;

/// A document as it is read.
struct Reader<'a, 'p> {
    archive: &'a mut Archive<'p>,
    problems: &'a mut Problems,
    styles: Styles,
    lists: Lists,
    writing: Writing,
    /// The first title or, in a presentation, the first title of a slide.
    title: Option<String>,
    /// Pictures that were shown, and bytes that may still be.
    seen: HashSet<String>,
    images_left: usize,
}

/// Reads a text or presentation.
pub(crate) fn read(
    input: &Input,
    format: Format,
    problems: &mut Problems,
) -> Result<Document, ParseError> {
    let mut archive = Archive::open(input, problems)?;
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
    for body in root.child("body").into_iter().flat_map(|body| body.elements()) {
        match format {
            Format::Odp => reader.slides(body),
            _ => reader.blocks(body),
        }
    }
    let Reader { writing, title, .. } = reader;
    if writing.cut {
        problems
            .add("", format!("tables have more than the {} cells allowed", input.limits.max_cells));
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
    if let Some(manifest) = archive.entry("META-INF/manifest.xml", problems) {
        if decode(&manifest).contains("encryption-data") {
            return Err(ParseError::Unsupported {
                name: input.name.to_owned(),
                seen: "an encrypted OpenDocument file".to_owned(),
                hint: "open it with its password and save it without one".to_owned(),
            });
        }
    }
    let Some(bytes) = archive.entry("content.xml", problems) else {
        let reason = "`content.xml` is missing or damaged";
        return Err(input.malformed("an OpenDocument file", reason));
    };
    Ok(decode(&bytes).into_owned())
}

/// What the document says of itself; the title under `title`.
pub(crate) fn metadata(archive: &mut Archive, problems: &mut Problems) -> BTreeMap<String, String> {
    let mut metadata = BTreeMap::new();
    let Some(bytes) = archive.entry("meta.xml", problems) else { return metadata };
    let text = decode(&bytes);
    let tree = Tree::read(&text, "meta.xml", problems);
    let meta = tree.root().and_then(|root| root.child("meta"));
    for element in meta.into_iter().flat_map(|meta| meta.elements()) {
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

/// The text of the element that was opened last, a line per paragraph.
pub(crate) fn flat_text(events: &mut Events) -> String {
    let mut text = String::new();
    let mut depth = 1;
    while depth > 0 {
        match events.next() {
            Some(Event::Open(tag)) => match tag.name() {
                "creator" | "date" | "desc" | "title" => events.pass_over(),
                name => {
                    depth += 1;
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
    /// A picture in the file; none where it lies elsewhere or is of a kind that is not shown.
    fn image(&mut self, href: &str) -> Option<Image> {
        let bytes = self.archive.entry(&resolve("", href), self.problems)?;
        let media_type = media_type(&bytes)?;
        match self.images_left.checked_sub(bytes.len()) {
            Some(left) => self.images_left = left,
            None => {
                self.problems
                    .add(href, "the picture is left out: pictures are too many or too large");
                return None;
            }
        }
        Some(Image { media_type: media_type.to_owned(), bytes })
    }
}
