//! Parses HTML in linear time.
//!
//! The living standard's algorithm searches the stack of open elements at every tag and reopens
//! formatting elements in every paragraph, so hostile nesting costs quadratic time or space. This
//! module filters the tokens between the tokenizer and the tree builder.

use std::cell::{Cell, RefCell};

use ego_tree::NodeId;
use html5ever::interface::Tracer;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{
    BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts, TreeSink};
use html5ever::{LocalName, TokenizerResult, local_name};
use scraper::{Html, HtmlTreeSink};

/// The most elements that one start tag opens: `<td>` may imply `tbody` and `tr`.
const MOST_OPENED: usize = 4;
/// Handles of the tree builder besides open elements: the document, its `head`, …
const NOT_NESTED: usize = 4;

/// A parsed page.
pub(super) struct Page {
    pub(super) html: Html,
    /// Whether elements were nested too deep and skipped; their text belongs to the element around
    /// them.
    pub(super) flattened: bool,
}

/// Parses a page; elements nest at most about `max_depth` deep.
pub(super) fn read(text: &str, max_depth: usize) -> Page {
    let sink = HtmlTreeSink::new(Html::new_document());
    let shallow = Shallow {
        builder: TreeBuilder::new(sink, TreeBuilderOpts::default()),
        max_depth,
        unmeasured: Cell::new(0),
        ignored: RefCell::default(),
        flattened: Cell::new(false),
    };
    let tokenizer = Tokenizer::new(shallow, TokenizerOpts::default());
    let input = BufferQueue::default();
    input.push_back(StrTendril::from(text));
    // The tokenizer pauses at the end of each script, so that a browser can run it.
    while !matches!(tokenizer.feed(&input), TokenizerResult::Done) {}
    tokenizer.end();
    let Shallow { builder, flattened, .. } = tokenizer.sink;
    Page { html: builder.sink.finish(), flattened: flattened.get() }
}

/// Passes tokens on, except start tags that would nest too deep.
struct Shallow {
    builder: TreeBuilder<NodeId, HtmlTreeSink>,
    max_depth: usize,
    /// Start tags that may pass before the stack must be measured again.
    unmeasured: Cell<usize>,
    /// Skipped elements whose end tags may still come.
    ignored: RefCell<Vec<LocalName>>,
    flattened: Cell<bool>,
}

impl TokenSink for Shallow {
    type Handle = NodeId;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<NodeId> {
        match token {
            Token::TagToken(mut tag) => {
                if is_formatting(&tag.name) {
                    // Formatting has no meaning here, and a plain element is not reopened in every
                    // paragraph.
                    tag.name = local_name!("span");
                }
                match tag.kind {
                    TagKind::StartTag => self.start(tag, line),
                    TagKind::EndTag => self.end_tag(tag, line),
                }
            }
            token => self.builder.process_token(token, line),
        }
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

impl Shallow {
    fn start(&self, tag: Tag, line: u64) -> TokenSinkResult<NodeId> {
        if is_void(&tag.name) {
            return self.pass(tag, line);
        }
        if tag.self_closing {
            // XHTML's `<div/>` closes itself. Browsers leave it open: the text is the same.
            if !holds_raw_text(&tag.name) && self.is_shallow() {
                let end = Tag {
                    kind: TagKind::EndTag,
                    attrs: Vec::new(),
                    self_closing: false,
                    ..tag.clone()
                };
                let _ = self.pass(tag, line);
                let _ = self.pass(end, line);
            }
            return TokenSinkResult::Continue;
        }
        if holds_raw_text(&tag.name) || self.is_shallow() {
            return self.pass(tag, line);
        }
        self.flattened.set(true);
        self.ignored.borrow_mut().push(tag.name);
        self.space(line)
    }

    fn end_tag(&self, tag: Tag, line: u64) -> TokenSinkResult<NodeId> {
        let mut ignored = self.ignored.borrow_mut();
        // Searches only the last few; searching all of them would be quadratic again.
        let start = ignored.len().saturating_sub(self.max_depth);
        let recent = ignored.get(start..).unwrap_or_default();
        if let Some(at) = recent.iter().rposition(|name| *name == tag.name) {
            ignored.truncate(start + at);
            return self.space(line);
        }
        ignored.clear(); // The end of an element around them all.
        drop(ignored);
        self.pass(tag, line)
    }

    /// Adds a space in place of a tag, so that the words around it do not run together.
    fn space(&self, line: u64) -> TokenSinkResult<NodeId> {
        self.builder.process_token(Token::CharacterTokens(StrTendril::from(" ")), line)
    }

    fn pass(&self, tag: Tag, line: u64) -> TokenSinkResult<NodeId> {
        self.builder.process_token(Token::TagToken(tag), line)
    }

    /// Whether one more element is allowed; counts open elements only when needed.
    fn is_shallow(&self) -> bool {
        if self.unmeasured.get() == 0 {
            let count = Count(Cell::new(0));
            self.builder.trace_handles(&count);
            let free = (self.max_depth + NOT_NESTED).saturating_sub(count.0.get());
            self.unmeasured.set(free.div_ceil(MOST_OPENED));
        }
        let left = self.unmeasured.get().checked_sub(1);
        self.unmeasured.set(left.unwrap_or(0));
        left.is_some()
    }
}

struct Count(Cell<usize>);

impl Tracer for Count {
    type Handle = NodeId;

    fn trace_handle(&self, _: &NodeId) {
        self.0.set(self.0.get() + 1);
    }
}

/// The standard's formatting elements, except `a`: its links are needed, and it never contains
/// another `a`.
fn is_formatting(name: &str) -> bool {
    matches!(
        name,
        "b" | "big"
            | "code"
            | "em"
            | "font"
            | "i"
            | "nobr"
            | "s"
            | "small"
            | "strike"
            | "strong"
            | "tt"
            | "u"
    )
}

/// Elements without content, and therefore without an end tag.
fn is_void(name: &str) -> bool {
    matches!(
        name,
        "area"
            | "base"
            | "basefont"
            | "bgsound"
            | "br"
            | "col"
            | "embed"
            | "frame"
            | "hr"
            | "image"
            | "img"
            | "input"
            | "keygen"
            | "link"
            | "meta"
            | "param"
            | "source"
            | "track"
            | "wbr"
    )
}

/// Elements whose content is not parsed; skipping the tag would expose the content.
fn holds_raw_text(name: &str) -> bool {
    matches!(
        name,
        "script"
            | "style"
            | "title"
            | "textarea"
            | "xmp"
            | "iframe"
            | "noembed"
            | "noframes"
            | "noscript"
            | "plaintext"
    )
}
