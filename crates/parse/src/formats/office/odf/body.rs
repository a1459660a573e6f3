//! Writes the blocks of an `OpenDocument` body.

use pikerag_knowledge::BlockKind;

use super::Reader;
use super::inline::Para;
use super::table::Flat;
use crate::document::grid::RowStyle;
use crate::document::writing::LinkedText;
use pikerag_unpack::xml::Element;

impl<'x> Reader<'_, '_> {
    /// Writes all content of a body, a section, a frame or a layout cell.
    pub(super) fn blocks(&mut self, parent: Element<'x>) {
        for child in parent.elements() {
            match child.name() {
                "h" => self.heading(child),
                "p" => self.block(child, None),
                "list" => self.list(child),
                "table" => self.table(child),
                "tracked-changes"
                | "forms"
                | "sequence-decls"
                | "variable-decls"
                | "user-field-decls"
                | "index-title-template" => {}
                "section" => {
                    let before = self.writing.place.hidden;
                    self.writing.place.hidden |= child.attr("display").as_deref() == Some("none");
                    self.blocks(child);
                    self.writing.place.hidden = before;
                }
                "frame" | "custom-shape" | "note" | "annotation" | "rect" | "ellipse" | "line"
                | "connector" | "g" => {
                    self.write_attachment(child);
                }
                _ => self.blocks(child),
            }
        }
    }

    fn heading(&mut self, element: Element<'x>) {
        let level: usize = element.number("outline-level").unwrap_or(1);
        let number = match element.is_on("is-list-header") {
            true => String::new(),
            false => self.lists.heading(level),
        };
        let kind = BlockKind::Heading { level: level.clamp(1, 6) as u8 };
        let para = self.paragraph(element);
        self.write(kind, &number, para);
    }

    /// Writes a paragraph; `marker` is that of its item.
    fn block(&mut self, element: Element<'x>, marker: Option<&str>) {
        let style =
            self.styles.get("paragraph", &element.attr("text:style-name").unwrap_or_default());
        let para = self.paragraph(element);
        let kind = match (style.display_name.as_str(), marker) {
            ("title", _) => {
                let text = para.visible.text.trim();
                if self.title.is_none() && !text.is_empty() {
                    self.title = Some(text.to_owned());
                }
                BlockKind::Heading { level: 1 }
            }
            ("caption" | "illustration" | "figure" | "table" | "drawing", _) => BlockKind::Caption,
            ("preformatted text", _) => BlockKind::Code,
            (_, Some(_)) => BlockKind::Item,
            _ => BlockKind::Paragraph,
        };
        self.write(kind, marker.unwrap_or_default(), para);
    }

    fn write(&mut self, kind: BlockKind, marker: &str, para: Para<'x>) {
        let Para { visible, hidden, after, .. } = para;
        if !visible.text.trim().is_empty() {
            let lead = visible.text.len() - visible.text.trim_start().len();
            let mut text = LinkedText::from(marker);
            let shift = text.text.len();
            text.push(visible.text.trim_start());
            let links = visible.links.into_iter().filter(|(from, ..)| lead <= *from);
            text.links.extend(
                links.map(|(from, to, target)| (from - lead + shift, to - lead + shift, target)),
            );
            self.writing.piece(kind, &text);
        }
        self.write_hidden(&hidden);
        for attachment in after {
            self.write_attachment(attachment);
        }
    }

    pub(super) fn write_hidden(&mut self, hidden: &str) {
        let before = std::mem::replace(&mut self.writing.place.hidden, true);
        self.writing.plain(BlockKind::Paragraph, hidden);
        self.writing.place.hidden = before;
    }

    /// Writes a list; only the first paragraph of an item has its number.
    pub(super) fn list(&mut self, list: Element<'x>) {
        self.lists.begin(list);
        for item in
            list.elements().filter(|item| matches!(item.name(), "list-item" | "list-header"))
        {
            // An item with only a nested list has no number of its own.
            let has_own = item.elements().any(|child| matches!(child.name(), "p" | "h"));
            let mut marker = (has_own && item.name() == "list-item").then(|| self.lists.next(item));
            for child in item.elements() {
                match child.name() {
                    "p" => self.block(child, marker.take().as_deref()),
                    "h" => self.heading(child),
                    "list" => self.list(child),
                    _ => self.write_attachment(child),
                }
            }
        }
        self.lists.end();
    }

    /// Writes a frame, a shape, a note or a comment.
    pub(super) fn write_attachment(&mut self, element: Element<'x>) {
        match element.name() {
            "note" => {
                let mark = element.child("note-citation").map(Element::text).unwrap_or_default();
                self.write_note(
                    element.child("note-body").unwrap_or(element),
                    &format!("[{mark}] "),
                );
            }
            "annotation" => {
                let author = element.child("creator").map(Element::text).unwrap_or_default();
                let by = if author.trim().is_empty() {
                    String::new()
                } else {
                    format!(" by {}", author.trim())
                };
                self.write_note(element, &format!("Comment{by}: "));
            }
            "frame" => self.frame(element),
            "g" => element.elements().for_each(|inner| self.write_attachment(inner)),
            _ => self.blocks(element),
        }
    }

    /// Writes the paragraphs of a note as one paragraph.
    fn write_note(&mut self, element: Element<'x>, label: &str) {
        let mut flat = Flat::default();
        self.flatten(element, &mut flat);
        let text = flat.text.text.trim();
        if !text.is_empty() {
            self.writing.plain(BlockKind::Paragraph, &format!("{label}{text}"));
        }
        self.write_hidden(&flat.hidden);
    }

    /// Writes a frame: a text box, a table, a picture, or an object with its picture.
    fn frame(&mut self, frame: Element<'x>) {
        let words = |name: &str| {
            frame.child(name).map(Element::text).filter(|text| !text.trim().is_empty())
        };
        let alternative = words("desc").or_else(|| words("title")).unwrap_or_default();
        for child in frame.elements() {
            match child.name() {
                "text-box" => return self.blocks(child),
                "table" => return self.table(child),
                "object" if child.child("math").is_some() => {
                    let text = child.text();
                    return self.writing.plain(BlockKind::Paragraph, &text);
                }
                "object" => {
                    let href = child.attr("href").unwrap_or_default().into_owned();
                    if self.object(&href) {
                        return;
                    }
                }
                "image" => {
                    let href = child.attr("href").unwrap_or_default().into_owned();
                    if !self.seen.insert(href.clone()) {
                        return;
                    }
                    let image = self.image(&href);
                    return self.writing.figure(&alternative, image);
                }
                _ => {}
            }
        }
    }

    /// Writes the texts of an embedded chart or formula; `false` if there are none.
    pub(super) fn object(&mut self, href: &str) -> bool {
        let name = format!("{}/content.xml", pikerag_unpack::archive::resolve("", href));
        let Some(bytes) = self.archive.entry(&name, self.problems) else { return false };
        let text = pikerag_unpack::xml::decode(&bytes);
        let tree = pikerag_unpack::xml::Tree::read(&text, &name, self.problems);
        let Some(root) = tree.root() else { return false };
        if root.name() == "math" {
            let words = root.find("annotation").map_or_else(|| root.text(), Element::text);
            self.writing.plain(BlockKind::Paragraph, words.trim());
            return true;
        }
        let is_chart =
            |element: &Element| element.name() == "chart" && element.child("plot-area").is_some();
        let Some(chart) = root.descendants().find(is_chart) else { return false };
        let kind = chart.attr("class").unwrap_or_default();
        let kind = kind.rsplit(':').next().unwrap_or_default();
        let kind = if kind == "circle" { "pie" } else { kind };
        let title = chart.child("title").map(Element::text).unwrap_or_default();
        match title.trim() {
            "" => self.writing.plain(BlockKind::Caption, &format!("{kind} chart")),
            title => self.writing.plain(BlockKind::Caption, &format!("{title} ({kind} chart)")),
        }
        if let Some(table) = chart.child("table") {
            self.table_with(table, RowStyle::Named);
        }
        true
    }
}
