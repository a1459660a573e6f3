//! How is HTML parsed in linear time? The living standard's algorithm searches the stack of open
//! elements at every tag and reopens formatting elements in every paragraph, so hostile nesting
//! costs quadratic time or space. We stand between its tokenizer and its tree builder.

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

/// One start tag opens no more elements than this: `<td>` may imply `tbody` and `tr`.
const MOST_OPENED: usize = 4;
/// Handles that the tree builder holds apart from open elements: the document, its `head`, …
const NOT_NESTED: usize = 4;

/// A parsed page.
pub(super) struct Page {
    pub(super) html: Html,
    /// Elements nested too deep were left out; their text stands in the element around them.
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
    // The tokenizer pauses at the end of each script, for a browser to run it.
    while !matches!(tokenizer.feed(&input), TokenizerResult::Done) {}
    tokenizer.end();
    let Shallow { builder, flattened, .. } = tokenizer.sink;
    Page { html: builder.sink.finish(), flattened: flattened.get() }
}

/// Passes tokens on, but no start tag that would nest too deep.
struct Shallow {
    builder: TreeBuilder<NodeId, HtmlTreeSink>,
    max_depth: usize,
    /// Start tags that may pass before the stack has to be measured again.
    unmeasured: Cell<usize>,
    /// Elements left out whose end tags may still come.
    ignored: RefCell<Vec<LocalName>>,
    flattened: Cell<bool>,
}

impl TokenSink for Shallow {
    type Handle = NodeId;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<NodeId> {
        match token {
            Token::TagToken(mut tag) => {
                if is_formatting(&tag.name) {
                    // Nothing to us; and a plain element is not reopened in every paragraph.
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
            // XHTML's `<div/>` is taken at its word. Browsers leave it open: the text is the same.
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
        // Among the last few only: searching all of them would be quadratic again.
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

    /// In place of a tag, so that the words around it do not run together.
    fn space(&self, line: u64) -> TokenSinkResult<NodeId> {
        self.builder.process_token(Token::CharacterTokens(StrTendril::from(" ")), line)
    }

    fn pass(&self, tag: Tag, line: u64) -> TokenSinkResult<NodeId> {
        self.builder.process_token(Token::TagToken(tag), line)
    }

    /// Is there room for one more element? Counts open elements only as often as it must.
    fn is_shallow(&self) -> bool {
        if self.unmeasured.get() == 0 {
            let count = Count(Cell::new(0));
            self.builder.trace_handles(&count);
            let room = (self.max_depth + NOT_NESTED).saturating_sub(count.0.get());
            self.unmeasured.set(room.div_ceil(MOST_OPENED));
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

/// What the standard calls formatting elements; `a` is one too, but we need it, and it never holds
/// another of its kind.
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

/// Elements without content, and so without an end.
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

/// Whose content is not parsed: leaving one out would let its content out.
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
