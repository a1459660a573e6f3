//! Corrects passages of a file that were read wrongly. Everything around a correction keeps its
//! place on the page.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Millis;
use crate::document::{BlockKind, Document, Span, Table};

/// A passage that was read wrongly, with its correct text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Correction {
    /// The document's place inside its file; empty for the file itself.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub fragment: String,
    /// The text as it was read; it occurs once in the document.
    pub old: String,
    /// The correct text; empty to remove the passage.
    pub new: String,
    /// The author of the correction.
    pub by: String,
    /// The time of the correction.
    #[schema(value_type = u64)]
    pub at: Millis,
}

/// Why a correction cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misfit {
    /// The passage to correct is empty.
    #[error("what is to be mended holds no word")]
    Empty,
    /// The text was read differently, or the file has changed.
    #[error("this passage is not in the reading")]
    NotThere,
    /// It occurs N times.
    #[error("this passage stands there {0} times: name more of what is around it")]
    Unclear(usize),
    /// It crosses paragraphs, headings, tables, lines of a table, or cells.
    #[error("this passage goes over several paragraphs or cells: mend each by itself")]
    Across,
}

impl Document {
    /// Applies a correction. Spans, boxes and cells are adjusted: later text moves, and the
    /// corrected piece keeps its place on the page. A piece without any remaining word is removed.
    ///
    /// # Errors
    /// [`Misfit`]; the document is unchanged.
    pub fn correct(&mut self, correction: &Correction) -> Result<(), Misfit> {
        let old = correction.old.trim();
        if old.is_empty() {
            return Err(Misfit::Empty);
        }
        let places: Vec<usize> = places(&self.text, old).collect();
        let start = match places.as_slice() {
            [] => return Err(Misfit::NotThere),
            [start] => *start,
            many => return Err(Misfit::Unclear(many.len())),
        };
        let gone = Span { start, end: start + old.len() };
        let holds = |span: Span| span.start <= gone.start && gone.end <= span.end;
        let block = self.blocks.iter_mut().find(|block| holds(block.span)).ok_or(Misfit::Across)?;
        let is_line = !matches!(block.kind, BlockKind::Paragraph | BlockKind::Code);
        let new = match is_line {
            true => correction.new.split_whitespace().collect::<Vec<_>>().join(" "),
            false => correction.new.trim().to_owned(),
        };
        if let BlockKind::Table(table) = &mut block.kind {
            if !table.lines.iter().any(|line| holds(*line)) {
                return Err(Misfit::Across);
            }
            cell_with(table, old)
                .ok_or(Misfit::Across)
                .map(|cell| *cell = cell.replacen(old, &new, 1))?;
        }
        self.text.replace_range(start..gone.end, &new);
        let moved = |span: &mut Span| *span = span.after(gone, new.len());
        for block in &mut self.blocks {
            moved(&mut block.span);
            block.boxes.iter_mut().for_each(|own| moved(&mut own.span));
            block.boxes.retain(|own| own.span.start < own.span.end);
            if let BlockKind::Table(table) = &mut block.kind {
                table.lines.iter_mut().for_each(moved);
            }
        }
        self.links.iter_mut().for_each(|link| moved(&mut link.span));
        let text = &self.text;
        self.blocks.retain(|block| {
            text.get(block.span.start..block.span.end).is_some_and(|text| !text.trim().is_empty())
        });
        Ok(())
    }
}

/// The places of a passage in a text. They may overlap: two *the* are in three *the* twice.
pub(crate) fn places<'a>(text: &'a str, passage: &'a str) -> impl Iterator<Item = usize> + 'a {
    let step = passage.chars().next().map_or(1, char::len_utf8);
    let next = move |from: usize| {
        let found = text.get(from..)?.find(passage).filter(|_| !passage.is_empty())?;
        Some(from + found)
    };
    std::iter::successors(next(0), move |at| next(at + step))
}

/// The only cell that contains the passage.
fn cell_with<'a>(table: &'a mut Table, old: &str) -> Option<&'a mut String> {
    let rows = table.rows.iter_mut().flatten();
    let mut cells = table.header.iter_mut().chain(rows).filter(|cell| cell.contains(old));
    let found = cells.next()?;
    cells.next().is_none().then_some(found)
}

impl Span {
    /// The span after `bytes` bytes have replaced the bytes of `gone`.
    fn after(self, gone: Self, bytes: usize) -> Self {
        let moved = |at: usize| at - gone.end + gone.start + bytes;
        let (within_start, within_end) = (gone.start, gone.start + bytes);
        let start = match self.start {
            at if at <= gone.start => at,
            at if gone.end <= at => moved(at),
            _ => within_start,
        };
        let end = match self.end {
            at if at <= gone.start => at,
            at if gone.end <= at => moved(at),
            _ => within_end,
        };
        Self { start, end }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::document::{Area, Block, Chunking, Link, PageBox};

    fn document() -> Document {
        let text = "Title\nThe crane 1ifts forty tons. See more.\n| order | port |\n| Z-1 | Hambvrg |\nThe end.";
        let of = |part: &str| {
            let start = text.find(part).unwrap();
            Span { start, end: start + part.len() }
        };
        let paragraph = of("The crane 1ifts forty tons. See more.");
        let area = Area { left: 1.0, top: 2.0, right: 3.0, bottom: 4.0 };
        let boxes = ["The crane 1ifts", " forty tons. See more."].map(|part| PageBox {
            span: of(part),
            page: Some(1),
            area,
        });
        let lines = vec![of("| order | port |\n"), of("| Z-1 | Hambvrg |\n")];
        let table = Table {
            header: vec!["order".to_owned(), "port".to_owned()],
            rows: vec![vec!["Z-1".to_owned(), "Hambvrg".to_owned()]],
            lines,
            key: 0,
        };
        Document {
            fragment: String::new(),
            title: "Title".to_owned(),
            media_type: "text/plain".to_owned(),
            text: text.to_owned(),
            blocks: vec![
                Block::new(BlockKind::Heading { level: 1 }, of("Title")),
                Block { boxes: boxes.to_vec(), ..Block::new(BlockKind::Paragraph, paragraph) },
                Block::new(BlockKind::Table(table), of("| order | port |\n| Z-1 | Hambvrg |\n")),
                Block::new(BlockKind::Paragraph, of("The end.")),
            ],
            links: vec![Link { target: "more.md".to_owned(), span: of("more") }],
            images: Vec::new(),
            chunking: Chunking::Free,
            metadata: BTreeMap::new(),
        }
    }

    fn correction(old: &str, new: &str) -> Correction {
        let (fragment, by) = (String::new(), "ada".to_owned());
        Correction { fragment, old: old.to_owned(), new: new.to_owned(), by, at: 0 }
    }

    fn under(document: &Document, span: Span) -> &str {
        document.text.get(span.start..span.end).unwrap()
    }

    #[test]
    fn places_may_overlap() {
        let of = |text, passage| places(text, passage).collect::<Vec<_>>();
        assert_eq!(of("the the the", "the the"), [0, 4]);
        assert_eq!(of("啊啊啊", "啊啊"), [0, 3]);
        assert_eq!((of("the", "hoist"), of("the", "")), (vec![], vec![]));
    }

    #[test]
    fn text_around_a_correction_keeps_its_words_and_its_place() {
        for (old, new) in [
            ("1ifts", "lifts"),
            ("1ifts", "lifts well over"),
            ("crane 1ifts forty", "winch pulls"),
            ("1ifts ", ""),
        ] {
            let mut corrected = document();
            corrected.correct(&correction(old, new)).unwrap();
            assert!(!corrected.text.contains("1ifts"));
            assert_eq!(under(&corrected, corrected.links[0].span), "more");
            assert_eq!(under(&corrected, corrected.blocks[3].span), "The end.");
            let paragraph = under(&corrected, corrected.blocks[1].span);
            assert!(
                paragraph.starts_with("The ") && paragraph.ends_with("See more."),
                "{paragraph}"
            );
            let boxes = &corrected.blocks[1].boxes;
            assert!(boxes.iter().all(|own| own.area.left.to_bits() == 1f32.to_bits()), "{boxes:?}");
            assert_eq!(boxes.last().unwrap().span.end, corrected.blocks[1].span.end);
            let BlockKind::Table(table) = &corrected.blocks[2].kind else { panic!() };
            assert_eq!(under(&corrected, table.lines[1]), "| Z-1 | Hambvrg |\n");
        }
    }

    #[test]
    fn a_cell_is_corrected_with_its_line() {
        let mut corrected = document();
        corrected.correct(&correction("Hambvrg", "Hamburg\nharbour")).unwrap();
        let BlockKind::Table(table) = &corrected.blocks[2].kind else { panic!() };
        assert_eq!(table.rows[0][1], "Hamburg harbour");
        assert_eq!(under(&corrected, table.lines[1]), "| Z-1 | Hamburg harbour |\n");
    }

    #[test]
    fn an_empty_correction_removes_the_block() {
        let mut corrected = document();
        corrected.correct(&correction("The end.", "")).unwrap();
        assert_eq!(corrected.blocks.len(), 3);
    }

    #[test]
    fn a_correction_that_does_not_fit_changes_nothing() {
        for (old, why) in [
            ("  ", Misfit::Empty),
            ("lifts", Misfit::NotThere),
            ("The", Misfit::Unclear(2)),
            ("tons. See more.\n| order", Misfit::Across),
            ("Z-1 | Hambvrg", Misfit::Across),
        ] {
            let mut same = document();
            let came = same.correct(&correction(old, "x"));
            assert_eq!((came, &same), (Err(why), &document()), "{old}");
        }
    }
}
