//! Writes the blocks of a Word body.

use pikerag_knowledge::{BlockKind, ProblemFact};

use super::Reader;
use super::paragraph::{After, Para};
use super::styles::Role;
use crate::document::writing::LinkedText;
use crate::formats::office::drawing;
use crate::formats::office::ooxml::Picture;
use pikerag_unpack::xml::Element;

impl<'x> Reader<'_, '_> {
    /// Writes all content of a body, a layout cell, or a text box.
    pub(super) fn blocks(&mut self, parent: Element<'x>) {
        for child in parent.elements() {
            match child.name() {
                "p" => self.block(child),
                "tbl" => self.table(child),
                "del" | "moveFrom" | "sectPr" | "sdtPr" | "sdtEndPr" | "tcPr" => {}
                "altChunk" => {
                    self.problems.add("", ProblemFact::EmbeddedDocument);
                }
                _ => self.blocks(child),
            }
        }
    }

    fn block(&mut self, element: Element<'x>) {
        let (role, is_item, para) = self.paragraph(element);
        let Para { visible, hidden, after, .. } = para;
        let text = visible.text.trim();
        if role == Role::Title && self.title.is_none() && !text.is_empty() {
            self.title = Some(text.to_owned());
        }
        let kind = match role {
            Role::Title => BlockKind::Heading { level: 1 },
            Role::Heading(level) => BlockKind::Heading { level },
            Role::Caption => BlockKind::Caption,
            Role::Code => BlockKind::Code,
            Role::Text if is_item => BlockKind::Item,
            Role::Text => BlockKind::Paragraph,
        };
        self.writing.piece(kind, &visible);
        self.write_hidden(&hidden);
        self.write_after(after);
    }

    pub(super) fn write_hidden(&mut self, hidden: &str) {
        let before = std::mem::replace(&mut self.writing.place.hidden, true);
        self.writing.plain(BlockKind::Paragraph, hidden);
        self.writing.place.hidden = before;
    }

    /// Writes the attachments of a paragraph.
    pub(super) fn write_after(&mut self, after: Vec<After<'x>>) {
        for after in after {
            match after {
                After::Box(content) => self.blocks(content),
                After::Picture(text, id) => {
                    let Some(part) = self.relations.part(&id) else { continue };
                    match self.package.image(part, self.problems) {
                        Picture::Shown(image) => self.writing.figure(&text, Some(image)),
                        Picture::Unshown => self.writing.figure(&text, None),
                        Picture::Again => {}
                    }
                }
                After::Graphic(id) => {
                    let Some(part) = self.relations.part(&id) else { continue };
                    drawing::graphic(self.package, part, &mut self.writing, self.problems);
                }
                After::Note(kind, id) => self.write_note(kind, &id),
            }
        }
    }

    fn write_note(&mut self, kind: &'static str, id: &str) {
        let Some(note) = self.notes.get(&(kind, id.to_owned())).copied() else { return };
        let relations = self.notes_relations.remove(kind).unwrap_or_default();
        let outer = std::mem::replace(&mut self.relations, relations);
        let (text, hidden) = self.flat(note);
        let relations = std::mem::replace(&mut self.relations, outer);
        self.notes_relations.insert(kind, relations);
        let mut piece = LinkedText::from(
            match kind {
                "comment" => match note.attr("author").filter(|author| !author.trim().is_empty()) {
                    Some(author) => format!("Comment by {author}: "),
                    None => "Comment: ".to_owned(),
                },
                _ => format!("[{id}] "),
            }
            .as_str(),
        );
        if text.text.trim().is_empty() {
            return self.write_hidden(&hidden);
        }
        let lead = text.text.len() - text.text.trim_start().len();
        let shift = piece.text.len();
        piece.push(text.text.trim_start());
        for (start, end, target) in text.links {
            if lead <= start {
                piece.links.push((start - lead + shift, end - lead + shift, target));
            }
        }
        self.writing.piece(BlockKind::Paragraph, &piece);
        self.write_hidden(&hidden);
    }

    /// All visible and all hidden text in it, with paragraphs separated by line breaks. Attachments
    /// are skipped, except text boxes.
    pub(super) fn flat(&mut self, parent: Element<'_>) -> (LinkedText, String) {
        let mut flat = super::table::Flat::default();
        self.flatten(parent, &mut flat);
        (flat.text, flat.hidden)
    }
}
