//! Adds blocks in order, trimmed and without overlaps, and cleans titles and labels.

use pikerag_knowledge::{Block, BlockKind, Span};

/// Longest title or label, in characters.
const LONGEST: usize = 200;

/// Adds the part of `span` that is not blank and not covered yet.
pub(crate) fn add_block(blocks: &mut Vec<Block>, text: &str, kind: BlockKind, span: Span) {
    let covered = blocks.last().map_or(0, |block| block.span.end);
    let span = Span { start: span.start.max(covered), end: span.end };
    if let Some(span) = trimmed(text, span) {
        blocks.push(Block::new(kind, span));
    }
}

/// The span without white space at its ends; `None` if it is blank.
pub(crate) fn trimmed(text: &str, span: Span) -> Option<Span> {
    let part = span.of(text)?;
    let start = span.start + (part.len() - part.trim_start().len());
    let end = start + part.trim().len();
    (start < end).then_some(Span { start, end })
}

/// A title or label on one line, shortened; `None` if it is blank.
pub(crate) fn one_line(text: &str) -> Option<String> {
    let mut line = String::new();
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()) {
        if LONGEST * 4 < line.len() {
            break; // It already exceeds the longest title, and the rest would be cut off.
        }
        if !line.is_empty() && !word.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if let Some((end, _)) = line.char_indices().nth(LONGEST) {
        line.truncate(end);
        line.truncate(line.trim_end().len());
        line.push('…');
    }
    (!line.is_empty()).then_some(line)
}
