//! What is the layout of a Markdown file? Its blocks, each with its span in the file's own text; what
//! HTML blocks show stands there in place of them.
//!
//! A list item is one block up to its first nested list, table, code or quotation, each of which
//! is a block of its own. Headings keep their marks; tables keep their delimiter line.

mod raw_html;

use std::ops::Range;

use pikerag_knowledge::{Block, BlockKind, Document, Link, Span, Table};
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::document::blocks::{add_block, one_line, trimmed};
use crate::document::file::TextFile;
use crate::document::front_matter;
use crate::document::links::is_followed;
use crate::problems::Problems;
use raw_html::RawHtml;

/// Reads Markdown; the title is the front matter's, else the first heading of level 1.
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
    /// The block that text goes to.
    open: Option<Open>,
    /// The table that text goes to, before any block.
    table: Option<Rows>,
    html: RawHtml,
    in_html: bool,
    /// Inside code, whose block is known already.
    verbatim: usize,
    /// Plain text of the first heading of level 1, while it is read.
    heading: Option<String>,
    title: Option<String>,
}

struct Open {
    kind: BlockKind,
    span: Span,
    /// An item or a footnote: the paragraphs inside belong to it.
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
                // What indents a line comes as text.
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

    /// Text: grows the table's cell or the open block, or opens a paragraph.
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
        // The parser pads short rows to the width of the header; we do not keep the padding.
        for row in &mut rows {
            let width = row.iter().rposition(|cell| !cell.is_empty()).map_or(0, |last| last + 1);
            row.truncate(width);
        }
        let mut table = Table { header: Vec::new(), rows, lines };
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
mod tests {
    use pikerag_knowledge::BlockKind;
    use proptest::prelude::*;

    use crate::test_support::{run, run_within};
    use crate::{Limits, NoTools, parse};

    #[test]
    fn blocks_keep_their_place() {
        let text = "---\ntitle: 年报\nauthor: Ada\n---\n# Annual *report*\n\nFirst [line](b.md)\nsecond ![alt](i.png).\n\n\
            Setext\n------\n\n> quoted\n> twice\n\n```rust\nlet x = 1;\n```\n\n    indented\n\n***\nlast[^1]\n\n[^1]: A note.\n";
        insta::assert_snapshot!(run("x.md", text), @r##"
        == 年报
        h1 "# Annual *report*"
        p "First [line](b.md)\nsecond ![alt](i.png)."
        h2 "Setext\n------"
        p "quoted\n> twice"
        code "```rust\nlet x = 1;\n```"
        code "indented"
        p "last[^1]"
        p "[^1]: A note."
        link "[line](b.md)" -> b.md
        author = Ada
        "##);
    }

    #[test]
    fn each_item_is_a_block() {
        let text = "- one\n  goes on\n  - nested\n    1. deep\n  - [x] done\n- two\n\n  second paragraph\n\n  ```\n  code\n  ```\n  after\n";
        insta::assert_snapshot!(run("x.md", text), @r#"
        == x
        item "- one\n  goes on"
        item "- nested"
        item "1. deep"
        item "- [x] done"
        item "- two\n\n  second paragraph"
        code "```\n  code\n  ```"
        p "after"
        "#);
    }

    #[test]
    fn tables_keep_their_cells() {
        let text = "Before\n\n| 名称 | `b` |\n|---|---|\n| 1 | [x](y) |\n| 2 |\n\n| | |\n|-|-|\n| a | b |\n";
        insta::assert_snapshot!(run("x.md", text), @r#"
        == x
        p "Before"
        table "| 名称 | `b` |\n|---|---|\n| 1 | [x](y) |\n| 2 |"
          header ["名称", "b"]
          row ["1", "x"]
          row ["2"]
        table "| | |\n|-|-|\n| a | b |"
          header []
          row ["a", "b"]
        link "[x](y)" -> y
        "#);
    }

    #[test]
    fn links_lead_somewhere() {
        let text = "[a](../b.md \"t\") <https://x.y> [c][d] [[Page|name]] [e](#here) [f](javascript:alert) [g](data:x)\n\n[d]: /e\n";
        insta::assert_snapshot!(run("x.md", text), @r#"
        == x
        p "[a](../b.md \"t\") <https://x.y> [c][d] [[Page|name]] [e](#here) [f](javascript:alert) [g](data:x)"
        link "[a](../b.md \"t\")" -> ../b.md
        link "<https://x.y>" -> https://x.y
        link "[c][d]" -> /e
        link "[[Page|name]]" -> Page
        "#);
    }

    #[test]
    fn html_is_read_as_a_page_is() {
        let text = "before [a](b)\n\n<h1 align=center>Ducks</h1>\n<p hidden>secret</p>\n\n<script>hidden()</script>\n\n<!-- hidden -->\n\n<br>\n\n\
            x <b>bold</b>\n\n> <table>\n> <tr><th>Name<th>鸭\n>\n> <tr><td><a href=a.html>A &amp; B</a><td>1\n> </table>\n\n\
            - item\n\n  <ul><li>one</ul>\n  after [c](d)\n\n  end [e](f)\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n# Not the title\n";
        insta::assert_snapshot!(run("x.md", text), @r##"
        == Ducks
        p "before [a](b)"
        h1 "Ducks"
        p "x <b>bold</b>"
        table "Name | 鸭\nA & B | 1"
          header ["Name", "鸭"]
          row ["A & B", "1"]
        item "- item"
        item "- one"
        p "after [c](d)"
        p "end [e](f)"
        table "| a | b |\n|---|---|\n| 1 | 2 |"
          header ["a", "b"]
          row ["1", "2"]
        h1 "# Not the title"
        link "[a](b)" -> b
        link "A & B" -> a.html
        link "[e](f)" -> f
        "##);
    }

    /// A blank line ends a block of HTML in the midst of a table.
    #[test]
    fn html_goes_on_behind_a_blank_line() {
        let text = "<table>\n\n<tr><th>a<th>b\n\n<tr><td>1<td>2\n\n</table>\n\n<div>\n\nMarkdown\n\n</div>\n<table><tr><td>no<td>end";
        let documents =
            parse("x.md", text.as_bytes(), &Limits::default(), &NoTools).unwrap().documents;
        assert!(!documents[0].text.contains('<'), "{}", documents[0].text);
        insta::assert_snapshot!(run("x.md", text), @r#"
        == x
        table "a | b\n1 | 2"
          header ["a", "b"]
          row ["1", "2"]
        p "Markdown"
        table "no | end"
          header []
          row ["no", "end"]
        "#);
    }

    /// What indents a line of HTML is no text of its own, wherever the block stands.
    #[test]
    fn indented_html_is_read_too() {
        for indent in ["", " ", "  ", "   "] {
            let text =
                format!("Before.\n\n{indent}<p align=center>Important words</p>\n\nAfter.\n");
            let read = run("a.md", text);
            assert!(read.contains("p \"Important words\"") && read.contains("After."), "{read}");
        }
        for (text, shown) in [
            (
                "<table>\n\n  <tr><td>alpha<td>beta</tr>\n\n  <tr><td>1<td>2</tr>\n</table>\n\nend\n",
                "alpha | beta",
            ),
            ("- <div>\n\thello world\n\t</div>\n- last\n", "hello world"),
            (">\t<div>\n>\thello world</div>\n", "hello world"),
        ] {
            let read = run("a.md", text);
            assert!(read.contains(shown), "{text}: {read}");
        }
    }

    proptest! {
        /// However HTML and Markdown are mixed, indented and left open: each word is there, once.
        #[test]
        fn no_word_is_lost_or_doubled(lines in prop::collection::vec(prop::sample::select(MIXED), 1..14)) {
            let (mut text, mut n) = (String::new(), 0);
            for line in lines {
                for part in line.split_inclusive('W') {
                    match part.strip_suffix('W') {
                        Some(before) => {
                            n += 1;
                            text.extend([before, "w", &n.to_string(), "z"]);
                        }
                        None => text += part,
                    }
                }
                text.push('\n');
            }
            let Ok(parsed) = parse("a.md", text.as_bytes(), &Limits::default(), &NoTools) else {
                prop_assert_eq!(n, 0, "{}", text);
                return Ok(());
            };
            let document = &parsed.documents[0];
            let shown: String = (document.blocks.iter())
                .map(|block| block.span.of(&document.text).unwrap().to_owned() + "\n")
                .collect();
            for n in 1..=n {
                prop_assert_eq!(shown.matches(&format!("w{n}z")).count(), 1, "w{}z of {}", n, text);
            }
        }
    }

    const MIXED: &[&str] = &[
        "<div>",
        "</div>",
        "<table>",
        "<tr>",
        "<td>",
        "</td>",
        "<!-- c -->",
        "<p>",
        "</p>",
        "W",
        "W W",
        "",
        "- W",
        "> W",
        "| W | W |\n|---|---|\n| W | W |",
        "  W",
        "\tW",
        "    W",
        "<li>W",
        "1. W",
        "# W",
        "```\nW\n```",
        "<b>W</b>",
        "W <i>W",
        ">\t<div>",
        "- <div>",
        "\t<td>W",
        "   <p>W</p>",
        "[^1]: W",
        "[W](x)",
        "<a href=x>W</a>",
        "***",
        "W\n---",
    ];

    /// All tables of a file share its limits: none may cost what all of them may.
    #[test]
    fn html_is_limited() {
        let limits = Limits { max_cells: 5, max_depth: 8, ..Limits::default() };
        let table = "<table><tr><td>a<td>b<tr><td>c<td>d</table>\n\nbetween\n\n";
        let text = table.repeat(2) + &"<div>".repeat(12) + "deep";
        insta::assert_snapshot!(run_within("x.md", text, &limits), @r#"
        == x
        table "a | b\nc | d"
          header []
          row ["a", "b"]
          row ["c", "d"]
        p "between"
        table "a"
          header []
          row ["a"]
        p "between"
        p "deep"
        ! : elements nested deeper than 8 are read flat
        ! : rows of tables were skipped: there are more cells than the limit allows
        "#);
        let table = "<table><tr><td colspan=100>word<tr><td>x<td>y</table>\n\n# h\n\n";
        let text = table.repeat(200);
        let size = text.len();
        let documents =
            parse("x.md", text.as_bytes(), &Limits::default(), &NoTools).unwrap().documents;
        let cells: usize = (documents[0].blocks.iter())
            .filter_map(|block| match &block.kind {
                BlockKind::Table(table) => Some(table.rows.iter().map(Vec::len).sum::<usize>()),
                _ => None,
            })
            .sum();
        assert!(cells < size, "{size} bytes became {cells} cells");
    }

    /// Slow parsing would show here: each is quadratic in some Markdown parser.
    #[test]
    fn hostile_files_end_soon() {
        let files = [
            format!("{} x", ">".repeat(50_000)),
            format!("{}x", "`".repeat(100_000)),
            format!("{}{}", "[".repeat(20_000), "](".repeat(20_000)),
            format!("|{}\n|{}\n{}", "a|".repeat(10_000), "-|".repeat(10_000), "|\n".repeat(1_000)),
            (0..500)
                .map(|depth| format!("{}- x\n", " ".repeat(depth)))
                .collect::<Vec<_>>()
                .concat(),
            "<div>\n\n".repeat(20_000) + "x",
            "<div>\n\nx\n\n".repeat(5_000),
            "<table><tr><td>\n\nx\n\n".repeat(5_000),
        ];
        for file in files {
            assert!(!run("x.md", file).is_empty());
        }
    }
}
