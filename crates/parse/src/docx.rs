//! What does a Word document say? Its body in order; notes and comments behind the paragraph that they
//! belong to (ECMA-376 part 1, `WordprocessingML`).
//!
//! Page numbers are not in the file: Word finds them when it draws. Headers and footers come last.

mod body;
mod numbering;
mod paragraph;
mod styles;
mod table;

use std::collections::HashMap;

use pikerag_knowledge::{BlockKind, Document};

use crate::ParseError;
use crate::file::Input;
use crate::ooxml::{Package, Relations};
use crate::problems::Problems;
use crate::writing::Writing;
use crate::xml::{Element, Tree};
use numbering::Numbering;
pub(crate) use numbering::format_number;
use paragraph::Field;
use styles::Styles;

/// A body as it is read.
struct Reader<'a, 'p> {
    package: &'a mut Package<'p>,
    problems: &'a mut Problems,
    /// Where the part leads that is being read.
    relations: Relations,
    styles: Styles,
    numbering: Numbering,
    /// Footnotes, endnotes and comments by kind and identifier.
    notes: &'a HashMap<(&'static str, String), Element<'a>>,
    writing: Writing,
    /// Fields that are open: they may reach over paragraphs.
    fields: Vec<Field>,
    /// The first paragraph of the style `Title`.
    title: Option<String>,
}

/// Reads a document.
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
    let [styles, numbering, footnotes, endnotes, comments] =
        ["styles", "numbering", "footnotes", "endnotes", "comments"].map(&mut side);
    let styles = Styles::read(styles, problems);
    let numbering = Numbering::read(numbering, problems);
    let [footnotes, endnotes, comments] = [&footnotes, &endnotes, &comments]
        .map(|part| part.as_ref().map(|(text, name)| Tree::read(text, name, problems)));
    let mut notes = HashMap::new();
    for (kind, name, tree) in [
        ("footnote", "footnote", &footnotes),
        ("endnote", "endnote", &endnotes),
        ("comment", "comment", &comments),
    ] {
        let all = tree.iter().filter_map(Tree::root).flat_map(|root| root.all(name));
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
        writing: Writing::new(input.limits.max_cells),
        fields: Vec::new(),
        title: None,
    };
    reader.blocks(body);
    reader.margins();
    let Reader { writing, title, .. } = reader;
    if writing.cut {
        problems
            .add("", format!("tables have more than the {} cells allowed", input.limits.max_cells));
    }
    let metadata = package.metadata(problems);
    let title = title.or_else(|| metadata.get("title").cloned());
    let mut document = input.document(title, writing);
    document.metadata = metadata;
    Ok(document)
}

impl Reader<'_, '_> {
    /// Headers and footers: each text once, marked as what it is. Bare page numbers are left out.
    fn margins(&mut self) {
        let mut seen = Vec::new();
        for (kind, label) in [("header", "Header"), ("footer", "Footer")] {
            for part in self.relations.of_kind(kind) {
                let Some(text) = self.package.part(&part, self.problems) else { continue };
                let tree = Tree::read(&text, &part, self.problems);
                let Some(root) = tree.root() else { continue };
                let text = self.flat(root).text.split_whitespace().collect::<Vec<_>>().join(" ");
                if !text.chars().any(char::is_alphabetic) || seen.contains(&text) {
                    continue;
                }
                self.writing.plain(BlockKind::Paragraph, &format!("{label}: {text}"));
                seen.push(text);
            }
        }
    }
}
