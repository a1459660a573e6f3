//! Writes a tree of elements as text, blocks and links, in one walk without recursion.

mod table;

use ego_tree::NodeRef;
use pikerag_knowledge::{Block, BlockKind, Link, Span};
use scraper::Node;
use scraper::node::Element;

use super::content::{Keep, is_left_out};
use crate::document::blocks::add_block;
use crate::document::links::is_followed;

/// The text so far, and the place of the walk in the tree.
pub(super) struct Writer {
    pub(super) text: String,
    pub(super) blocks: Vec<Block>,
    pub(super) links: Vec<Link>,
    /// Whether cells were skipped because there were too many.
    pub(super) cut: bool,
    /// The number of further cells allowed.
    pub(super) cells_left: usize,
    /// Bytes that repetitions of cells over rows or columns may still cost.
    pub(super) repeats_left: usize,
    pub(super) keep: Keep,
    /// Whether this is a cell: one line, no blocks.
    flat: bool,
    /// The start of the open block.
    open: Option<(BlockKind, usize)>,
    /// White space to write before the next letter.
    gap: Gap,
    /// The kinds of open elements; the innermost is the kind of the next block.
    kinds: Vec<Kind>,
    /// Numbers of the ordered lists around the walk; `None` for other lists.
    lists: Vec<Option<u64>>,
    preformatted: usize,
    /// The link around the walk, and the start of its text.
    link: Option<(String, Option<usize>)>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    None,
    Space,
    Line,
}

enum Kind {
    Plain(BlockKind),
    /// An item with its marker until that is written. After the first block of an item come
    /// paragraphs.
    Item(Option<String>),
}

impl Writer {
    /// Writes blocks for a page of `size` bytes.
    pub(super) fn new(keep: Keep, size: usize, max_cells: usize) -> Self {
        Self {
            text: String::new(),
            blocks: Vec::new(),
            links: Vec::new(),
            cut: false,
            cells_left: max_cells,
            repeats_left: repeats(size),
            keep,
            flat: false,
            open: None,
            gap: Gap::None,
            kinds: Vec::new(),
            lists: Vec::new(),
            preformatted: 0,
            link: None,
        }
    }

    /// Writes the one line of a cell.
    pub(super) fn flat(keep: Keep) -> Self {
        Self { flat: true, ..Self::new(keep, 0, 0) }
    }

    /// Writes a node and everything below it.
    pub(super) fn write(&mut self, root: NodeRef<'_, Node>) {
        let mut node = root;
        loop {
            let inside = if self.enter(node) { node.first_child() } else { None };
            if let Some(child) = inside {
                node = child;
                continue;
            }
            // Goes up to the next sibling of the node or of an ancestor.
            loop {
                self.leave(node);
                if node == root {
                    return;
                }
                if let Some(next) = node.next_sibling() {
                    node = next;
                    break;
                }
                let Some(parent) = node.parent() else { return };
                node = parent;
            }
        }
    }

    /// Writes a node's own part; returns whether its children must be written too.
    fn enter(&mut self, node: NodeRef<'_, Node>) -> bool {
        let element = match node.value() {
            Node::Text(text) => {
                self.letters(text);
                return false;
            }
            Node::Element(element) => element,
            Node::Document | Node::Fragment => return true,
            _ => return false,
        };
        if is_left_out(node, element, self.keep) {
            return false;
        }
        match element.name() {
            "br" => self.line_break(),
            "img" => self.letters(element.attr("alt").unwrap_or_default()),
            "table" if !self.flat => {
                self.close();
                return !table::write(self, node);
            }
            name if is_block(name) => {
                self.close();
                self.open_kind(element);
            }
            "a" => {
                self.link = element
                    .attr("href")
                    .filter(|target| is_followed(target))
                    .map(|target| (target.trim().to_owned(), None));
            }
            _ => {}
        }
        true
    }

    /// Ends the effects of [`Self::enter`], for elements that were not skipped.
    fn leave(&mut self, node: NodeRef<'_, Node>) {
        let Some(element) = node.value().as_element() else { return };
        if is_left_out(node, element, self.keep) {
            return;
        }
        match element.name() {
            "a" => self.close_link(),
            name if is_block(name) => {
                self.close();
                match name {
                    "ul" | "ol" | "menu" => {
                        self.lists.pop();
                    }
                    "pre" | "listing" | "xmp" | "plaintext" => {
                        self.preformatted = self.preformatted.saturating_sub(1);
                        self.kinds.pop();
                    }
                    "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "li" | "figcaption" | "caption" => {
                        self.kinds.pop();
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn open_kind(&mut self, element: &Element) {
        let kind = match element.name() {
            "h1" => BlockKind::Heading { level: 1 },
            "h2" => BlockKind::Heading { level: 2 },
            "h3" => BlockKind::Heading { level: 3 },
            "h4" => BlockKind::Heading { level: 4 },
            "h5" => BlockKind::Heading { level: 5 },
            "h6" => BlockKind::Heading { level: 6 },
            "figcaption" | "caption" => BlockKind::Caption,
            "pre" | "listing" | "xmp" | "plaintext" => {
                self.preformatted += 1;
                BlockKind::Code
            }
            "ul" | "menu" => return self.lists.push(None),
            "ol" => {
                let start = element.attr("start").and_then(|start| start.trim().parse().ok());
                return self.lists.push(Some(start.unwrap_or(1)));
            }
            "li" => {
                let marker = self.next_marker(element);
                return self.kinds.push(Kind::Item(Some(marker)));
            }
            _ => return,
        };
        self.kinds.push(Kind::Plain(kind));
    }

    /// `- `, or the next number of the ordered list.
    fn next_marker(&mut self, item: &Element) -> String {
        let Some(Some(number)) = self.lists.last_mut() else { return "- ".to_owned() };
        if let Some(value) = item.attr("value").and_then(|value| value.trim().parse().ok()) {
            *number = value;
        }
        let marker = format!("{number}. ");
        *number = number.saturating_add(1);
        marker
    }

    /// Writes text with white space collapsed, unless it is preformatted. Soft hyphens and other
    /// break hints are dropped: nobody searches for `Ex-\u{ad}am-\u{ad}ple`.
    fn letters(&mut self, text: &str) {
        for c in text.chars() {
            if matches!(c, '\u{ad}' | '\u{200b}' | '\u{feff}') {
                continue;
            }
            if !c.is_whitespace() {
                self.letter(c);
            } else if self.preformatted == 0 || self.flat {
                self.gap = self.gap.max(Gap::Space);
            } else if self.open.is_some() {
                self.text.push(c);
            }
        }
    }

    fn letter(&mut self, c: char) {
        if self.open.is_none() {
            self.open_block();
        } else if !self.text.is_empty() {
            match self.gap {
                Gap::None => {}
                Gap::Space => self.text.push(' '),
                Gap::Line => self.text.push('\n'),
            }
        }
        self.gap = Gap::None;
        if let Some((_, start @ None)) = &mut self.link {
            *start = Some(self.text.len());
        }
        self.text.push(c);
    }

    fn open_block(&mut self) {
        if self.flat {
            self.open = Some((BlockKind::Paragraph, 0));
            return;
        }
        self.part();
        let start = self.text.len();
        let kind = match self.kinds.last_mut() {
            Some(Kind::Plain(kind)) => kind.clone(),
            Some(Kind::Item(marker @ Some(_))) => {
                self.text.push_str(&marker.take().unwrap_or_default());
                BlockKind::Item
            }
            Some(Kind::Item(None)) | None => BlockKind::Paragraph,
        };
        self.open = Some((kind, start));
    }

    /// Writes the blank line between two blocks.
    pub(super) fn part(&mut self) {
        if !self.text.is_empty() {
            self.text.push_str("\n\n");
        }
    }

    /// One break ends a line; two end a paragraph.
    fn line_break(&mut self) {
        let heading = matches!(self.kinds.last(), Some(Kind::Plain(BlockKind::Heading { .. })));
        if 0 < self.preformatted && self.open.is_some() && !self.flat {
            self.text.push('\n');
        } else if self.flat || heading {
            self.gap = Gap::Space;
        } else if self.gap == Gap::Line {
            self.close();
        } else if self.open.is_some() {
            self.gap = Gap::Line;
        }
    }

    /// Ends the open block, if any.
    pub(super) fn close(&mut self) {
        if self.flat {
            self.gap = Gap::Space;
            return;
        }
        self.gap = Gap::None;
        if let Some((kind, start)) = self.open.take() {
            self.text.truncate(self.text.trim_end().len());
            let span = Span { start, end: self.text.len() };
            add_block(&mut self.blocks, &self.text, kind, span);
        }
    }

    fn close_link(&mut self) {
        if let Some((target, Some(start))) = self.link.take() {
            let end = self.text.trim_end().len();
            self.links.push(Link { target, span: Span { start, end } });
        }
    }
}

/// The bytes that repetitions of cells over rows or columns may cost in a text of `size` bytes.
pub(super) fn repeats(size: usize) -> usize {
    size.saturating_mul(4).saturating_add(1 << 12)
}

/// Elements that begin a new line. Table parts are included for layout tables; unknown elements
/// continue the line, as in browsers.
fn is_block(name: &str) -> bool {
    matches!(
        name,
        "address"
            | "article"
            | "aside"
            | "blockquote"
            | "body"
            | "caption"
            | "center"
            | "dd"
            | "details"
            | "dialog"
            | "dir"
            | "div"
            | "dl"
            | "dt"
            | "fieldset"
            | "figcaption"
            | "figure"
            | "footer"
            | "form"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "header"
            | "hgroup"
            | "hr"
            | "html"
            | "legend"
            | "li"
            | "listing"
            | "main"
            | "menu"
            | "nav"
            | "ol"
            | "p"
            | "plaintext"
            | "pre"
            | "search"
            | "section"
            | "summary"
            | "table"
            | "tbody"
            | "td"
            | "tfoot"
            | "th"
            | "thead"
            | "tr"
            | "ul"
            | "xmp"
    )
}
