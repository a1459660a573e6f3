//! Tests the reader of Markdown.

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
    let text =
        "Before\n\n| 名称 | `b` |\n|---|---|\n| 1 | [x](y) |\n| 2 |\n\n| | |\n|-|-|\n| a | b |\n";
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
fn links_keep_their_targets() {
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

/// A blank line ends an HTML block inside a table.
#[test]
fn html_continues_after_a_blank_line() {
    let text = "<table>\n\n<tr><th>a<th>b\n\n<tr><td>1<td>2\n\n</table>\n\n<div>\n\nMarkdown\n\n</div>\n<table><tr><td>no<td>end";
    let documents = parse("x.md", text.as_bytes(), &Limits::default(), &NoTools).unwrap().documents;
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

/// The indentation of a line of HTML is not text, wherever the block is.
#[test]
fn indented_html_is_read_too() {
    for indent in ["", " ", "  ", "   "] {
        let text = format!("Before.\n\n{indent}<p align=center>Important words</p>\n\nAfter.\n");
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
    /// In any mixture of HTML and Markdown, indented or unclosed, each word appears once.
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

/// All tables of a file share its limits, so no table may use them up for each.
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
    let documents = parse("x.md", text.as_bytes(), &Limits::default(), &NoTools).unwrap().documents;
    let cells: usize = (documents[0].blocks.iter())
        .filter_map(|block| match &block.kind {
            BlockKind::Table(table) => Some(table.rows.iter().map(Vec::len).sum::<usize>()),
            _ => None,
        })
        .sum();
    assert!(cells < size, "{size} bytes became {cells} cells");
}

/// Each takes quadratic time in some Markdown parser.
#[test]
fn hostile_files_are_read() {
    let files = [
        format!("{} x", ">".repeat(50_000)),
        format!("{}x", "`".repeat(100_000)),
        format!("{}{}", "[".repeat(20_000), "](".repeat(20_000)),
        format!("|{}\n|{}\n{}", "a|".repeat(10_000), "-|".repeat(10_000), "|\n".repeat(1_000)),
        (0..500).map(|depth| format!("{}- x\n", " ".repeat(depth))).collect::<Vec<_>>().concat(),
        "<div>\n\n".repeat(20_000) + "x",
        "<div>\n\nx\n\n".repeat(5_000),
        "<table><tr><td>\n\nx\n\n".repeat(5_000),
    ];
    for file in files {
        assert!(!run("x.md", file).is_empty());
    }
}
