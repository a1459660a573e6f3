//! Builds documents of light markup languages: lines become pieces, marks identify items, and links
//! lie between marks.

use pikerag_knowledge::{BlockKind, Document};

use crate::document::blocks::one_line;
use crate::document::file::TextFile;
use crate::document::links::is_followed;
use crate::document::writing::{LinkedText, Writing};

/// Collects pieces line by line.
pub(crate) struct MarkupBuilder {
    pub(crate) writing: Writing,
    lines: Vec<String>,
    kind: BlockKind,
    /// Converts the marks of links in a text.
    inline: fn(&str) -> LinkedText,
}

impl MarkupBuilder {
    pub(crate) fn new(file: &TextFile, inline: fn(&str) -> LinkedText) -> Self {
        let writing = Writing::new(file.limits.max_cells);
        Self { writing, lines: Vec::new(), kind: BlockKind::Paragraph, inline }
    }

    /// Adds a line to the open piece; a blank line ends it.
    pub(crate) fn line(&mut self, line: &str) {
        if line.trim().is_empty() {
            return self.end();
        }
        if let Some((mark, text)) = item(line) {
            self.end();
            self.kind = BlockKind::Item;
            self.lines.push(format!("{mark} {text}"));
            return;
        }
        self.lines.push(line.trim().to_owned());
    }

    /// Writes the open piece, if there is one.
    pub(crate) fn end(&mut self) {
        let kind = std::mem::replace(&mut self.kind, BlockKind::Paragraph);
        let text = std::mem::take(&mut self.lines).join("\n");
        self.writing.piece(kind, &(self.inline)(&text));
    }

    /// Ends the open piece and writes another; program text keeps its marks.
    pub(crate) fn piece(&mut self, kind: BlockKind, text: &str) {
        self.end();
        match kind {
            BlockKind::Code => self.writing.plain(kind, text),
            kind => self.writing.piece(kind, &(self.inline)(text)),
        }
    }

    /// Writes a table whose first row is its header if the markup says so.
    pub(crate) fn table(&mut self, mut rows: Vec<Vec<String>>, header: Header) {
        self.end();
        for cell in rows.iter_mut().flatten() {
            *cell = (self.inline)(cell).text;
        }
        match header {
            Header::First if 1 < rows.len() => {
                let header = rows.remove(0);
                self.writing.table(header, rows);
            }
            _ => self.writing.table(Vec::new(), rows),
        }
    }

    /// The document; without a title, the first heading of the highest level is its title.
    pub(crate) fn finish(mut self, file: &TextFile, title: Option<String>) -> Document {
        self.end();
        let Writing { text, blocks, links, .. } = self.writing;
        let is_top = |kind: &BlockKind| matches!(kind, BlockKind::Heading { level: 1 });
        let top = blocks.iter().find(|block| is_top(&block.kind));
        let top = top.and_then(|block| block.span.of(&text)).and_then(one_line);
        file.document(title.or(top), text, blocks, links)
    }
}

/// Whether the markup says that the first row is a header.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Header {
    First,
    None,
}

/// The mark and the text of a line that begins an item: `- x`, `* x`, `1. x`, `(a) x`.
fn item(line: &str) -> Option<(&str, &str)> {
    let (mark, text) = line.trim_start().split_once(' ')?;
    let is_bullet = !mark.is_empty()
        && mark.len() <= 6
        && (mark.chars().all(|c| c == '*')
            || mark.chars().all(|c| c == '.')
            || matches!(mark, "-" | "+" | "•"));
    let inside = mark.strip_prefix('(').unwrap_or(mark).strip_suffix(['.', ')']);
    let is_number = inside.is_some_and(|inside| {
        let digits = inside.chars().all(|c| c.is_ascii_digit()) && inside.len() <= 4;
        !inside.is_empty() && (digits || inside == "#")
    });
    (is_bullet || is_number).then(|| (mark, text.trim()))
}

/// Replaces the text between two marks by the result of `read`: a text and a target.
pub(crate) fn links(
    text: &str,
    marks: (&str, &str),
    read: impl Fn(&str) -> Option<(String, String)>,
) -> LinkedText {
    let mut linked = LinkedText::default();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(marks.0) {
        let found =
            after.split_once(marks.1).and_then(|(inside, after)| Some((read(inside)?, after)));
        let Some(((name, target), after)) = found else {
            linked.push(before);
            linked.push(marks.0);
            rest = after;
            continue;
        };
        linked.push(before);
        match is_followed(&target) {
            true => linked.push_link(&name, &target),
            false => linked.push(&name),
        }
        rest = after;
    }
    linked.push(rest);
    linked
}
