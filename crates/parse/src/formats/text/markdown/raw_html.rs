//! Reads the HTML blocks of a Markdown file as web pages; their visible text replaces them.
//!
//! A `<table>` becomes a table, and hidden text is dropped.

use std::ops::Range;

use pikerag_knowledge::{Block, BlockKind, Link, ProblemFact, Span};

use crate::Limits;
use crate::formats::web::html::{self, Budget, Passage};
use pikerag_unpack::Problems;

/// The HTML blocks of a file. Consecutive blocks are read as one, because a blank line ends a block
/// inside a table.
#[derive(Debug)]
pub(super) struct RawHtml {
    /// HTML that may continue, and its place.
    open: Option<(String, Range<usize>)>,
    read: Vec<Inserted>,
    budget: Budget,
    max_depth: usize,
    flattened: bool,
}

/// Text that replaces HTML.
#[derive(Debug)]
struct Inserted {
    passage: Passage,
    instead_of: Range<usize>,
    /// The number of the file's blocks and links before it.
    after_blocks: usize,
    after_links: usize,
}

impl RawHtml {
    /// For a file of `size` bytes.
    pub(super) fn new(size: usize, limits: &Limits) -> Self {
        let budget = Budget::new(size, limits.max_cells);
        Self { open: None, read: Vec::new(), budget, max_depth: limits.max_depth, flattened: false }
    }

    /// Begins an HTML block at this place; [`RawHtml::push`] adds its lines.
    pub(super) fn begin(&mut self, range: &Range<usize>) {
        match &mut self.open {
            Some((text, place)) => {
                text.push('\n');
                place.end = range.end;
            }
            None => self.open = Some((String::new(), range.clone())),
        }
    }

    /// Adds a line of the block, without the marks of the list or quotation around it.
    pub(super) fn push(&mut self, line: &str) {
        if let Some((text, _)) = &mut self.open {
            text.push_str(line);
        }
    }

    /// Reads the open HTML, which comes after these blocks and links. Returns the first heading of
    /// level 1 in it.
    pub(super) fn end(&mut self, blocks: &[Block], links: &[Link]) -> Option<String> {
        let (text, instead_of) = self.open.take()?;
        let passage = html::passage(&text, self.max_depth, &mut self.budget);
        self.flattened |= passage.flattened;
        let heading = passage.first_heading();
        let (after_blocks, after_links) = (blocks.len(), links.len());
        self.read.push(Inserted { passage, instead_of, after_blocks, after_links });
        heading
    }

    /// The file with the visible text of its HTML: text, blocks and links with their new places.
    pub(super) fn into_text(
        self,
        text: &str,
        blocks: Vec<Block>,
        links: Vec<Link>,
        problems: &mut Problems,
    ) -> (String, Vec<Block>, Vec<Link>) {
        if self.flattened {
            problems.add("", ProblemFact::ReadFlat { depth: self.max_depth });
        }
        if self.budget.cut {
            problems.add("", ProblemFact::CellsSkipped);
        }
        let mut whole = Whole { text: String::with_capacity(text.len()), ..Whole::default() };
        let (mut blocks, mut links) = (blocks.into_iter(), links.into_iter());
        let (mut copied, mut n_blocks, mut n_links) = (0, 0, 0);
        for Inserted { passage, instead_of, after_blocks, after_links } in self.read {
            let shift = Shift { from: copied, to: whole.text.len() };
            whole
                .blocks
                .extend(blocks.by_ref().take(after_blocks - n_blocks).map(|b| block(b, shift)));
            whole.links.extend(links.by_ref().take(after_links - n_links).map(|l| link(l, shift)));
            (n_blocks, n_links) = (after_blocks, after_links);
            whole.text.push_str(text.get(copied..instead_of.start).unwrap_or_default());
            let html = text.get(instead_of.clone()).unwrap_or_default();
            let Passage { text: shown, blocks: inner, links: leads, .. } = passage;
            let shift = Shift { from: 0, to: whole.text.len() };
            whole.text.push_str(&shown);
            whole.blocks.extend(inner.into_iter().map(|inner| block(inner, shift)));
            whole.links.extend(leads.into_iter().map(|lead| link(lead, shift)));
            copied = instead_of.start + html.trim_end().len();
        }
        let shift = Shift { from: copied, to: whole.text.len() };
        whole.blocks.extend(blocks.map(|b| block(b, shift)));
        whole.links.extend(links.map(|l| link(l, shift)));
        whole.text.push_str(text.get(copied..).unwrap_or_default());
        (whole.text, whole.blocks, whole.links)
    }
}

#[derive(Default)]
struct Whole {
    text: String,
    blocks: Vec<Block>,
    links: Vec<Link>,
}

/// Moves places from `from` to `to`.
#[derive(Clone, Copy)]
struct Shift {
    from: usize,
    to: usize,
}

impl Shift {
    fn span(self, span: Span) -> Span {
        let moved = |at: usize| at.saturating_sub(self.from) + self.to;
        Span { start: moved(span.start), end: moved(span.end) }
    }
}

fn block(mut block: Block, shift: Shift) -> Block {
    block.span = shift.span(block.span);
    if let BlockKind::Table(table) = &mut block.kind {
        table.lines.iter_mut().for_each(|line| *line = shift.span(*line));
    }
    block
}

fn link(mut link: Link, shift: Shift) -> Link {
    link.span = shift.span(link.span);
    link
}
