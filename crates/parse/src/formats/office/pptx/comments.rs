//! Reads the comments on slides with their authors, in the old form and in that of 2018, with
//! replies.

use std::collections::HashMap;

use pikerag_knowledge::BlockKind;

use crate::document::writing::Writing;
use crate::formats::office::drawing::paragraphs;
use crate::formats::office::ooxml::{Package, Relations};
use pikerag_unpack::Problems;
use pikerag_unpack::xml::{Element, Tree};

/// Names of comment authors, by identifier.
pub(super) struct Authors(HashMap<String, String>);

impl Authors {
    pub(super) fn read(
        package: &mut Package,
        relations: &Relations,
        problems: &mut Problems,
    ) -> Self {
        let mut authors = HashMap::new();
        for part in ["commentAuthors", "authors"].iter().flat_map(|kind| relations.of_kind(kind)) {
            let Some(text) = package.part(&part, problems) else { continue };
            let tree = Tree::read(&text, &part, problems);
            for author in tree.root().into_iter().flat_map(Element::elements) {
                let attr = |name| author.attr(name).unwrap_or_default().into_owned();
                authors.insert(attr("id"), attr("name"));
            }
        }
        Self(authors)
    }

    /// Writes the comments in a part.
    pub(super) fn write(
        &self,
        package: &mut Package,
        part: &str,
        writing: &mut Writing,
        problems: &mut Problems,
    ) {
        let Some(text) = package.part(part, problems) else { return };
        let tree = Tree::read(&text, part, problems);
        let is_comment = |element: &Element| matches!(element.name(), "cm" | "reply");
        for comment in tree.root().into_iter().flat_map(Element::descendants).filter(is_comment) {
            let words = match (comment.child("text"), comment.child("txBody")) {
                (Some(text), _) => text.text(),
                (None, Some(body)) => paragraphs(body).join("\n"),
                (None, None) => continue,
            };
            let author = comment.attr("authorId").and_then(|id| self.0.get(&*id));
            let author = author.map(|name| format!(" by {name}")).unwrap_or_default();
            let date = comment.attr("dt").or_else(|| comment.attr("created"));
            let date = date.map(|date| format!(" ({date})")).unwrap_or_default();
            if !words.trim().is_empty() {
                let text = format!("Comment{author}{date}: {}", words.trim());
                writing.plain(BlockKind::Paragraph, &text);
            }
        }
    }
}
