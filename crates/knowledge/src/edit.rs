//! Turns an edited passage into corrections: the smallest ones that occur once in the document.

use std::ops::Range;

use crate::correction::{Correction, Misfit, places};
use crate::document::{Block, BlockKind, Document, Span};

/// The most characters of context that one step adds on a side: a sentence without spaces is not
/// added whole.
const STEP: usize = 12;
/// The most words of context on a side. If they are not enough, the whole paragraph or cell is the
/// context: each further word would cost a pass over the document.
const WORDS: usize = 64;

impl Document {
    /// The corrections that turn the passage under `span` into `new`, in the order in which they
    /// must be applied; none if the texts differ in white space at their ends only. `sample` gives
    /// the author, the time and the fragment.
    ///
    /// Lines are compared with lines, and cells with cells, if both texts have the same number of
    /// them. Otherwise the edit must lie within one paragraph or cell. It must not split a paragraph.
    ///
    /// # Errors
    /// [`Misfit`] of [`Document::correct`].
    pub fn edits(
        &self,
        span: Span,
        new: &str,
        sample: &Correction,
    ) -> Result<Vec<Correction>, Misfit> {
        let old = self.text.get(span.start..span.end).ok_or(Misfit::NotThere)?;
        let mut edited = self.clone();
        let mut corrections = Vec::new();
        // The last difference first, so that the places of the others stay.
        for (place, new) in differences(old, new).into_iter().rev() {
            let place = span.start + place.start..span.start + place.end;
            let (old, new) = edited.with_context(&place, new, &self.text)?;
            if old.trim() == new.trim() {
                continue;
            }
            let is_code = |block: &&Block| matches!(block.kind, BlockKind::Code);
            if has_empty_line(&new)
                && !has_empty_line(&old)
                && !edited.block_around(&place).is_some_and(|block| is_code(&block))
            {
                return Err(Misfit::Across);
            }
            let correction = Correction { old, new, ..sample.clone() };
            edited.correct(&correction)?;
            corrections.push(correction);
        }
        Ok(corrections)
    }

    /// The old and the new text at a place, with the context that makes the old one unique, also in
    /// the `earlier` text: so each correction can be taken back alone.
    fn with_context(
        &self,
        place: &Range<usize>,
        new: &str,
        earlier: &str,
    ) -> Result<(String, String), Misfit> {
        let bounds = self.bounds(place).ok_or(Misfit::Across)?;
        let text = |range: Range<usize>| self.text.get(range).unwrap_or_default();
        let mut around = place.clone();
        let mut n_words = 0;
        loop {
            // A word on each side, so that no white space is at an end, where it is trimmed.
            let wider = match n_words < WORDS {
                true => wider(&self.text, &around, &bounds),
                false => bounds.clone(),
            };
            n_words += 1;
            let is_widest = wider == around;
            around = wider;
            let old = text(around.clone());
            let times = match old.trim() {
                "" => 0,
                old => places(&self.text, old).count().max(places(earlier, old).count()),
            };
            if times == 1 {
                let new =
                    [text(around.start..place.start), new, text(place.end..around.end)].concat();
                return Ok((old.trim().to_owned(), new.trim().to_owned()));
            }
            if is_widest {
                return Err(if times == 0 { Misfit::Empty } else { Misfit::Unclear(times) });
            }
        }
    }

    /// The block around a place; in a table, the cell. `None` if the place crosses several blocks.
    fn bounds(&self, place: &Range<usize>) -> Option<Range<usize>> {
        let block = self.block_around(place)?;
        let bounds = block.span.start..block.span.end;
        if !matches!(block.kind, BlockKind::Table(_)) {
            return Some(bounds);
        }
        let is_end = |c: char| matches!(c, '|' | '\n' | '\t');
        let before = self.text.get(bounds.start..place.start)?;
        let after = self.text.get(place.end..bounds.end)?;
        let start = before.rfind(is_end).map_or(bounds.start, |at| bounds.start + at + 1);
        let end = after.find(is_end).map_or(bounds.end, |at| place.end + at);
        Some(start..end)
    }

    fn block_around(&self, place: &Range<usize>) -> Option<&Block> {
        let holds = |span: Span| span.start <= place.start && place.end <= span.end;
        self.blocks.iter().find(|block| holds(block.span))
    }
}

/// Whether a text has an empty line, which separates paragraphs.
fn has_empty_line(text: &str) -> bool {
    text.lines().any(|line| line.trim().is_empty())
}

/// The place with one more word, or a part of a long one, on each side.
fn wider(text: &str, place: &Range<usize>, bounds: &Range<usize>) -> Range<usize> {
    let before = text.get(bounds.start..place.start).unwrap_or_default();
    let after = text.get(place.end..bounds.end).unwrap_or_default();
    place.start - bytes_of_word(before.chars().rev())..place.end + bytes_of_word(after.chars())
}

/// The bytes of the white space and the word that come first.
fn bytes_of_word(chars: impl Iterator<Item = char>) -> usize {
    let (mut bytes, mut n_of_word) = (0, 0);
    for c in chars {
        if 0 < n_of_word && (c.is_whitespace() || n_of_word == STEP) {
            break;
        }
        n_of_word += usize::from(!c.is_whitespace());
        bytes += c.len_utf8();
    }
    bytes
}

/// The places in `old` that differ, in order, each with its new text.
fn differences<'a>(old: &str, new: &'a str) -> Vec<(Range<usize>, &'a str)> {
    let mut found = Vec::new();
    for (of_line, old, new) in paired(old, new, '\n') {
        for (of_cell, old, new) in paired(old, new, '|') {
            if old == new {
                continue;
            }
            let (before, after) = same_ends(old, new);
            let start = of_line + of_cell;
            let place = start + before..start + old.len() - after;
            found.push((place, new.get(before..new.len() - after).unwrap_or_default()));
        }
    }
    found
}

/// The parts of both texts side by side, each with its place in `old`; the whole texts if they have
/// different numbers of parts.
fn paired<'a, 'b>(old: &'a str, new: &'b str, separator: char) -> Vec<(usize, &'a str, &'b str)> {
    let olds: Vec<&str> = old.split_inclusive(separator).collect();
    let news: Vec<&str> = new.split_inclusive(separator).collect();
    if olds.len() != news.len() {
        return vec![(0, old, new)];
    }
    let mut pairs = Vec::new();
    let mut at = 0;
    for (old, new) in olds.into_iter().zip(news) {
        pairs.push((at, old, new));
        at += old.len();
    }
    pairs
}

/// The bytes that both texts have in common at the beginning, and at the end of the rest.
fn same_ends(old: &str, new: &str) -> (usize, usize) {
    fn same(pairs: impl Iterator<Item = (char, char)>) -> usize {
        pairs.take_while(|(old, new)| old == new).map(|(c, _)| c.len_utf8()).sum()
    }
    let before = same(old.chars().zip(new.chars()));
    let rest = |text: &str| text.chars().rev().collect::<Vec<_>>();
    let (old, new) =
        (rest(old.get(before..).unwrap_or_default()), rest(new.get(before..).unwrap_or_default()));
    (before, same(old.into_iter().zip(new)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::document::{Chunking, Table};

    const TEXT: &str = "Title\nThe crane lifts forty tons. The crane is red.\nThe hoist is red.\n\
        | order | port |\n| Z-1 | Hambvrg |\n起重机可吊四十吨。";

    fn document() -> Document {
        let of = |part: &str| {
            let start = TEXT.find(part).unwrap();
            Span { start, end: start + part.len() }
        };
        let table = Table {
            header: vec!["order".to_owned(), "port".to_owned()],
            rows: vec![vec!["Z-1".to_owned(), "Hambvrg".to_owned()]],
            lines: vec![of("| order | port |\n"), of("| Z-1 | Hambvrg |\n")],
            key: 0,
        };
        let blocks = vec![
            Block::new(BlockKind::Heading { level: 1 }, of("Title")),
            Block::new(BlockKind::Paragraph, of("The crane lifts forty tons. The crane is red.")),
            Block::new(BlockKind::Paragraph, of("The hoist is red.")),
            Block::new(BlockKind::Table(table), of("| order | port |\n| Z-1 | Hambvrg |\n")),
            Block::new(BlockKind::Paragraph, of("起重机可吊四十吨。")),
        ];
        Document {
            fragment: String::new(),
            title: "Title".to_owned(),
            media_type: "text/plain".to_owned(),
            text: TEXT.to_owned(),
            blocks,
            links: Vec::new(),
            images: Vec::new(),
            chunking: Chunking::Free,
            metadata: BTreeMap::new(),
        }
    }

    fn sample() -> Correction {
        let empty = String::new;
        Correction { fragment: empty(), old: empty(), new: empty(), by: "ada".to_owned(), at: 7 }
    }

    fn edits(new: &str) -> Result<Vec<Correction>, Misfit> {
        document().edits(Span { start: 0, end: TEXT.len() }, new, &sample())
    }

    #[test]
    fn corrections_of_an_edit_make_the_new_text() {
        for (old, new, n) in [
            ("forty", "fifty", 1),
            ("lifts forty", "lifts well over forty", 1),
            ("The crane is red", "The crane is blue", 1),
            ("hoist is red", "hoist is blue", 1),
            (" The crane is red.", "", 1),
            ("The crane lifts", "A crane lifts", 1),
            ("Hambvrg", "Hamburg", 1),
            ("| Z-1 | Hambvrg |", "| Z-2 | Hamburg |", 2),
            ("四十", "五十", 1),
            ("Title", "Cranes", 1),
        ] {
            let wanted = TEXT.replacen(old, new, 1);
            let corrections = edits(&wanted).unwrap_or_else(|error| panic!("{old}: {error}"));
            assert_eq!(corrections.len(), n, "{old}: {corrections:?}");
            let mut edited = document();
            for correction in &corrections {
                assert_eq!((correction.by.as_str(), correction.at), ("ada", 7));
                edited.correct(correction).unwrap();
            }
            assert_eq!(edited.text, wanted, "{old}");
        }
    }

    #[test]
    fn edits_of_several_paragraphs_are_made_one_by_one() {
        let wanted = TEXT.replace("red", "blue");
        let corrections = edits(&wanted).unwrap();
        assert_eq!(corrections.len(), 2);
        // Each can be taken back alone.
        for correction in &corrections {
            document().correct(correction).unwrap();
        }
        let joined = TEXT.replacen("red.\nThe", "red, the", 1);
        assert_eq!(edits(&joined), Err(Misfit::Across));
        let split = TEXT.replacen("tons. The", "tons.\n\nThe", 1);
        assert_eq!(edits(&split), Err(Misfit::Across));
        assert_eq!(edits(TEXT), Ok(Vec::new()));
        assert_eq!(edits(&format!("{TEXT}\n")), Ok(Vec::new()));
    }

    #[test]
    fn far_context_is_the_whole_paragraph() {
        let before = format!("begin {}", "the ".repeat(WORDS + 6));
        let mut long = document();
        long.text = format!("{before}{}end", "the ".repeat(2 * WORDS));
        let span = Span { start: 0, end: long.text.len() };
        long.blocks = vec![Block::new(BlockKind::Paragraph, span)];
        let new = long.text.replacen(&before, &format!("{before}new "), 1);
        let corrections = long.edits(span, &new, &sample()).unwrap();
        assert_eq!(corrections.len(), 1);
        assert_eq!(corrections[0].old, long.text);
        long.correct(&corrections[0]).unwrap();
        assert_eq!(long.text, new);
    }

    #[test]
    fn a_passage_that_is_twice_in_the_document_is_refused() {
        let mut twice = document();
        twice.text = "The hoist.\nThe hoist.".to_owned();
        twice.blocks = [(0, 10), (11, 21)]
            .map(|(start, end)| Block::new(BlockKind::Paragraph, Span { start, end }))
            .to_vec();
        let came = twice.edits(Span { start: 0, end: 10 }, "The crane.", &sample());
        assert_eq!(came, Err(Misfit::Unclear(2)));
    }
}
