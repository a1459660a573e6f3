//! Reads Markdown files as blocks with spans in the file's own text; HTML blocks are replaced by
//! their visible text.
//!
//! A list item is one block up to its first nested list, table, code or quotation, each of which is
//! a block of its own. Headings keep their marks; tables keep their delimiter line.

mod raw_html;

use std::ops::Range;

use pikerag_knowledge::{Block, BlockKind, Document, Link, Span, Table};
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::document::blocks::{add_block, one_line, trimmed};
use crate::document::file::TextFile;
use crate::document::front_matter;
use crate::document::links::is_followed;
use pikerag_unpack::Problems;
use raw_html::RawHtml;

/// Reads Markdown; the title is that of the front matter, else the first heading of level 1.
pub(crate) fn read(mut file: TextFile, problems: &mut Problems) -> Document {
    let text = std::mem::take(&mut file.text);
    let (metadata, start) = front_matter::split(&text);
    let mut reader = Reader::new(&text, RawHtml::new(text.len(), file.limits));
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_WIKILINKS;
    let body = text.get(start..).unwrap_or_default();
    for (event, range) in Parser::new_ext(body, options).into_offset_iter() {
        reader.event(event, &(range.start + start..range.end + start));
    }
    reader.end_html();
    reader.close();
    let Reader { blocks, links, title, html, .. } = reader;
    let (text, blocks, links) = html.into_text(&text, blocks, links, problems);
    let title = metadata.get("title").and_then(|title| one_line(title)).or(title);
    let mut document = file.document(title, text, blocks, links);
    document.metadata = metadata;
    document.metadata.remove("title");
    document
}

struct Reader<'a> {
    text: &'a str,
    blocks: Vec<Block>,
    links: Vec<Link>,
    /// The block that receives text.
    open: Option<Open>,
    /// The table that receives text, before any block.
    table: Option<Rows>,
    html: RawHtml,
    in_html: bool,
    /// The depth inside code, whose block is already recorded.
    verbatim: usize,
    /// Plain text of the first heading of level 1, while it is read.
    heading: Option<String>,
    title: Option<String>,
}

struct Open {
    kind: BlockKind,
    span: Span,
    /// Whether it is an item or a footnote, whose inner paragraphs belong to it.
    contains: bool,
}

#[derive(Default)]
struct Rows {
    cells: Vec<Vec<String>>,
    lines: Vec<Span>,
    cell: String,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, html: RawHtml) -> Self {
        let (blocks, links) = (Vec::new(), Vec::new());
        Self {
            text,
            blocks,
            links,
            open: None,
            table: None,
            html,
            in_html: false,
            verbatim: 0,
            heading: None,
            title: None,
        }
    }

    fn event(&mut self, event: Event, range: &Range<usize>) {
        if self.in_html {
            match event {
                // The indentation of a line arrives as text.
                Event::Html(line) | Event::Text(line) => self.html.push(&line),
                Event::End(TagEnd::HtmlBlock) => self.in_html = false,
                _ => {}
            }
            return;
        }
        if !matches!(event, Event::Start(Tag::HtmlBlock)) {
            self.end_html();
        }
        match event {
            Event::Start(tag) => self.start(tag, range),
            Event::End(tag) => self.end(tag, range),
            Event::Text(text) | Event::Code(text) => self.inline(&text, range),
            Event::SoftBreak | Event::HardBreak => self.inline(" ", range),
            Event::Rule => self.close(),
            Event::Html(_)
            | Event::InlineHtml(_)
            | Event::FootnoteReference(_)
            | Event::TaskListMarker(_)
            | Event::InlineMath(_)
            | Event::DisplayMath(_) => self.inline("", range),
        }
    }

    fn start(&mut self, tag: Tag, range: &Range<usize>) {
        let all = Span { start: range.start, end: range.end };
        let none = Span { start: range.start, end: range.start };
        match tag {
            Tag::Heading { level, .. } => {
                self.begin(BlockKind::Heading { level: level as u8 }, all);
                if level == HeadingLevel::H1 && self.title.is_none() {
                    self.heading = Some(String::new());
                }
            }
            Tag::Paragraph => match &mut self.open {
                Some(open) if open.contains => open.span.end = open.span.end.max(all.end),
                _ => self.begin(BlockKind::Paragraph, all),
            },
            Tag::Item => self.contain(BlockKind::Item, none),
            Tag::FootnoteDefinition(_) => self.contain(BlockKind::Paragraph, none),
            Tag::CodeBlock(_) => {
                self.close();
                self.verbatim += 1;
                add_block(&mut self.blocks, self.text, BlockKind::Code, all);
            }
            Tag::HtmlBlock => {
                self.close();
                self.in_html = true;
                self.html.begin(range);
            }
            Tag::Table(_) => {
                self.close();
                self.table = Some(Rows::default());
            }
            Tag::TableHead | Tag::TableRow => {
                if let (Some(table), Some(line)) = (&mut self.table, trimmed(self.text, all)) {
                    table.cells.push(Vec::new());
                    table.lines.push(line);
                }
            }
            Tag::Link { dest_url, .. } => {
                if is_followed(&dest_url) && all.start < all.end {
                    self.links.push(Link { target: dest_url.into_string(), span: all });
                }
                self.inline("", range);
            }
            Tag::Image { .. } => self.inline("", range),
            Tag::TableCell
            | Tag::Emphasis
            | Tag::Strong
            | Tag::Strikethrough
            | Tag::Superscript
            | Tag::Subscript => {}
            Tag::BlockQuote(_)
            | Tag::List(_)
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::MetadataBlock(_) => self.close(),
        }
    }

    fn end(&mut self, tag: TagEnd, range: &Range<usize>) {
        match tag {
            TagEnd::Heading(_) => {
                self.close();
                if let Some(heading) = self.heading.take() {
                    self.title = one_line(&heading);
                }
            }
            TagEnd::Paragraph => {
                if self.open.as_ref().is_some_and(|open| !open.contains) {
                    self.close();
                }
            }
            TagEnd::CodeBlock => self.verbatim = self.verbatim.saturating_sub(1),
            TagEnd::TableCell => {
                if let Some(table) = &mut self.table
                    && let Some(row) = table.cells.last_mut()
                {
                    row.push(std::mem::take(&mut table.cell).trim().to_owned());
                }
            }
            TagEnd::Table => self.close_table(&Span { start: range.start, end: range.end }),
            TagEnd::Item
            | TagEnd::FootnoteDefinition
            | TagEnd::BlockQuote(_)
            | TagEnd::List(_)
            | TagEnd::DefinitionList
            | TagEnd::DefinitionListTitle
            | TagEnd::DefinitionListDefinition => self.close(),
            TagEnd::TableHead
            | TagEnd::TableRow
            | TagEnd::Emphasis
            | TagEnd::Strong
            | TagEnd::Strikethrough
            | TagEnd::Superscript
            | TagEnd::Subscript
            | TagEnd::Link
            | TagEnd::Image
            | TagEnd::HtmlBlock
            | TagEnd::MetadataBlock(_) => {}
        }
    }

    /// Adds text to the table's cell or the open block, or opens a paragraph.
    fn inline(&mut self, text: &str, range: &Range<usize>) {
        if let Some(heading) = &mut self.heading {
            heading.push_str(text);
        }
        if let Some(table) = &mut self.table {
            table.cell.push_str(text);
        } else if let Some(open) = &mut self.open {
            open.span.end = open.span.end.max(range.end);
        } else if self.verbatim == 0 {
            self.begin(BlockKind::Paragraph, Span { start: range.start, end: range.end });
        }
    }

    fn end_html(&mut self) {
        let heading = self.html.end(&self.blocks, &self.links);
        self.title = self.title.take().or(heading);
    }

    fn begin(&mut self, kind: BlockKind, span: Span) {
        self.close();
        self.open = Some(Open { kind, span, contains: false });
    }

    fn contain(&mut self, kind: BlockKind, span: Span) {
        self.close();
        self.open = Some(Open { kind, span, contains: true });
    }

    fn close(&mut self) {
        if let Some(open) = self.open.take() {
            add_block(&mut self.blocks, self.text, open.kind, open.span);
        }
    }

    fn close_table(&mut self, span: &Span) {
        let Some(Rows { cells: mut rows, lines, .. }) = self.table.take() else { return };
        let Some(end) = lines.last().map(|line| line.end) else { return };
        let start = lines.first().map_or(span.start, |line| line.start);
        // The parser pads short rows to the width of the header; the padding is removed.
        for row in &mut rows {
            let width = row.iter().rposition(|cell| !cell.is_empty()).map_or(0, |last| last + 1);
            row.truncate(width);
        }
        let mut table = Table { header: Vec::new(), rows, lines, key: 0 };
        if !table.rows.is_empty() {
            table.header = table.rows.remove(0);
            if table.header.is_empty() {
                table.lines.remove(0);
            }
        }
        add_block(&mut self.blocks, self.text, BlockKind::Table(table), Span { start, end });
    }
}

#[cfg(test)]
mod tests;
