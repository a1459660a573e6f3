//! Reads the text of shapes.

use pikerag_knowledge::BlockKind;

use super::Reader;
use crate::document::writing::LinkedText;
use crate::formats::office::math;
use pikerag_unpack::xml::Element;

impl<'x> Reader<'_, '_> {
    /// Writes a title as a heading on one line.
    pub(super) fn title(&mut self, body: Element<'x>) {
        let (text, _) = self.joined(body, " ");
        let text = LinkedText { text: text.text.replace(['\n', '\u{b}'], " "), ..text };
        let is_shown = !self.writing.place.hidden && !text.text.trim().is_empty();
        if self.title.is_none() && is_shown {
            self.title = Some(text.text.clone());
        }
        self.writing.piece(BlockKind::Heading { level: 1 }, &text);
    }

    /// Writes a heading for a slide without a title, so that its text does not join the previous
    /// slide.
    pub(super) fn untitled(&mut self) {
        let number = self.writing.place.page.unwrap_or_default();
        self.writing.plain(BlockKind::Heading { level: 1 }, &format!("Slide {number}"));
    }

    /// Writes paragraphs; in a content placeholder they are items, unless they specify otherwise.
    pub(super) fn body(&mut self, body: Element<'x>, is_content: bool) {
        let paragraphs: Vec<Element> = body.all("p").collect();
        let filled =
            paragraphs.iter().filter(|paragraph| !paragraph.text().trim().is_empty()).count();
        let mut numbers: Vec<usize> = Vec::new();
        for paragraph in paragraphs {
            let (text, _) = self.paragraph(paragraph);
            if text.text.trim().is_empty() {
                continue;
            }
            let properties = paragraph.child("pPr");
            let has = |name| properties.is_some_and(|properties| properties.child(name).is_some());
            let level: usize = properties.and_then(|it| it.number("lvl")).unwrap_or(0).min(8);
            numbers.truncate(level + 1);
            numbers.resize(level + 1, 0);
            let marker = if has("buAutoNum") {
                let start = properties.and_then(|it| it.child("buAutoNum")?.number("startAt"));
                let number = numbers.last_mut();
                number.map(|number| {
                    *number =
                        if *number == 0 { start.unwrap_or(1) } else { number.saturating_add(1) };
                    format!("{number}. ")
                })
            } else {
                if let Some(number) = numbers.last_mut() {
                    *number = 0;
                }
                let is_item = has("buChar") || has("buBlip") || is_content && 1 < filled;
                (is_item && !has("buNone")).then(|| "- ".to_owned())
            };
            match marker {
                Some(marker) => self.writing.piece(BlockKind::Item, &with_marker(&marker, text)),
                None => self.writing.piece(BlockKind::Paragraph, &text),
            }
        }
    }

    /// The text of a cell, and whether all of it is bold.
    pub(super) fn cell(&mut self, cell: Element<'x>) -> (LinkedText, bool) {
        cell.child("txBody").map(|body| self.joined(body, "\n")).unwrap_or_default()
    }

    fn joined(&mut self, body: Element<'x>, separator: &str) -> (LinkedText, bool) {
        let mut joined = LinkedText::default();
        let mut is_bold = true;
        for paragraph in body.all("p") {
            let (text, bold) = self.paragraph(paragraph);
            is_bold &= bold;
            let separator = if joined.text.is_empty() { "" } else { separator };
            let text = with_marker(separator, text);
            let shift = joined.text.len();
            joined.push(&text.text);
            joined.links.extend(
                text.links.into_iter().map(|(from, to, target)| (from + shift, to + shift, target)),
            );
        }
        (joined, is_bold)
    }

    fn paragraph(&mut self, paragraph: Element<'x>) -> (LinkedText, bool) {
        let mut text = LinkedText::default();
        let mut is_bold = true;
        for run in paragraph.elements() {
            let properties = run.child("rPr");
            match run.name() {
                "r" | "fld" => {
                    if run.attr("type").as_deref() == Some("slidenum") {
                        continue;
                    }
                    let words = run.child("t").map(Element::text).unwrap_or_default();
                    let words = match properties.and_then(|it| it.number::<i32>("baseline")) {
                        None | Some(0) => words,
                        Some(shift) => math::raised(&words, 0 < shift),
                    };
                    is_bold &=
                        words.trim().is_empty() || properties.is_some_and(|it| it.is_on("b"));
                    let link = properties.and_then(|it| it.child("hlinkClick")?.attr("r:id"));
                    match link.and_then(|id| self.relations.address(&id)) {
                        Some(target) => text.push_link(&words, target),
                        None => text.push(&words),
                    }
                }
                "br" => text.push("\n"),
                "pPr" | "endParaRPr" => {}
                _ => {
                    let inner = run.descendants().filter(|inner| inner.name() == "oMath");
                    inner.for_each(|formula| text.push(&format!("${}$", math::linear(formula))));
                }
            }
        }
        (text, is_bold)
    }
}

/// Adds a marker before text.
fn with_marker(marker: &str, text: LinkedText) -> LinkedText {
    let shift = marker.len();
    let links = text.links.into_iter().map(|(from, to, target)| (from + shift, to + shift, target));
    LinkedText { text: format!("{marker}{}", text.text), links: links.collect() }
}
