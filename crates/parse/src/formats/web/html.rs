//! Reads a web page without its navigation, scripts and hidden text.
//!
//! The document's text is a rendering of the page: blocks joined by a blank line.

mod content;
mod tree;
mod writer;

use ego_tree::NodeRef;
use pikerag_knowledge::{Block, BlockKind, Document, Link, ProblemFact};
use scraper::Node;

use crate::ParseError;
use crate::document::blocks::one_line;
use crate::document::file::TextFile;
use content::Keep;
use pikerag_unpack::Problems;
use writer::Writer;

/// A main part with less than this share (1/5) of the page's text is not the main part.
const MAIN_SHARE: usize = 5;

/// A page with more letters has content of its own, even if it sends its readers elsewhere.
const LONGEST_REDIRECT: usize = 160;
/// What a page says that has a single link, to its new place.
const MOVED: [&str; 12] = [
    "this page has moved",
    "this page has been moved",
    "this page is now at",
    "this document has moved",
    "the document has moved",
    "object moved to",
    "you are being redirected",
    "页面已移至",
    "页面已迁移",
    "页面已搬到",
    "正在跳转",
    "自动跳转",
];

/// Reads a page: its `main` or `article` parts if they hold most of it, else its body.
pub(crate) fn read(file: &TextFile, problems: &mut Problems) -> Result<Document, ParseError> {
    let page = tree::read(&file.text, file.limits.max_depth);
    if page.flattened {
        problems.add("", ProblemFact::ReadFlat { depth: file.limits.max_depth });
    }
    let root = page.html.tree.root();
    let rendered = best_rendering(file, root);
    if rendered.cut {
        problems.add("", ProblemFact::CellsRead { most: file.limits.max_cells });
    }
    let head = content::head_of(root);
    if let Some(to) = redirect(&rendered, head.redirects_to) {
        return Err(ParseError::Redirect { name: file.name.to_owned(), to });
    }
    if rendered.text.is_empty() {
        return Err(ParseError::NothingInside { name: file.name.to_owned() });
    }
    let title =
        head.title.or_else(|| first_heading(&rendered.blocks, &rendered.text).and_then(one_line));
    let mut document = file.document(title, rendered.text, rendered.blocks, rendered.links);
    document.metadata = head.metadata;
    Ok(document)
}

/// The page that a page without content of its own sends its readers to.
fn redirect(rendered: &Writer, sends_to: Option<String>) -> Option<String> {
    let letters = rendered.text.chars().filter(|c| !c.is_whitespace()).count();
    if LONGEST_REDIRECT < letters {
        return None;
    }
    sends_to.or_else(|| {
        let [link] = rendered.links.as_slice() else { return None };
        let text = rendered.text.to_lowercase();
        let is_moved = MOVED.iter().any(|words| text.contains(words));
        is_moved.then(|| link.target.clone())
    })
}

/// Takes the larger rendering if a part turns out to be almost empty, so that no page is lost.
fn best_rendering(file: &TextFile, root: NodeRef<'_, Node>) -> Writer {
    let body = render(file, &[root], Keep::Content);
    let parts = content::main_parts(root);
    if !parts.is_empty() {
        let main = render(file, &parts, Keep::Content);
        if body.text.len() <= main.text.len() * MAIN_SHARE && !main.text.is_empty() {
            return main;
        }
    }
    if body.text.is_empty() { render(file, &[root], Keep::Visible) } else { body }
}

fn render(file: &TextFile, parts: &[NodeRef<'_, Node>], keep: Keep) -> Writer {
    let mut writer = Writer::new(keep, file.text.len(), file.limits.max_cells);
    for part in parts {
        writer.write(*part);
        writer.close();
    }
    writer
}

/// The visible content of HTML inside another text.
#[derive(Debug)]
pub(crate) struct Passage {
    pub(crate) text: String,
    pub(crate) blocks: Vec<Block>,
    pub(crate) links: Vec<Link>,
    /// Whether elements were nested too deep and are read flat.
    pub(crate) flattened: bool,
}

impl Passage {
    /// The first heading of level 1, on one line.
    pub(crate) fn first_heading(&self) -> Option<String> {
        first_heading(&self.blocks, &self.text).and_then(one_line)
    }
}

/// The remaining budget of all passages of a text.
#[derive(Debug)]
pub(crate) struct Budget {
    cells: usize,
    repeats: usize,
    /// Whether cells were skipped because there were too many.
    pub(crate) cut: bool,
}

impl Budget {
    /// The budget for a text of `size` bytes.
    pub(crate) fn new(size: usize, max_cells: usize) -> Self {
        Self { cells: max_cells, repeats: writer::repeats(size), cut: false }
    }
}

/// Reads HTML inside another text; empty if nothing of it is visible.
pub(crate) fn passage(html: &str, max_depth: usize, budget: &mut Budget) -> Passage {
    let page = tree::read(html, max_depth);
    let mut writer = Writer::new(Keep::Content, 0, budget.cells);
    for keep in [Keep::Content, Keep::Visible] {
        if writer.text.is_empty() {
            writer = Writer::new(keep, 0, budget.cells);
            writer.repeats_left = budget.repeats;
            writer.write(page.html.tree.root());
            writer.close();
        }
    }
    budget.cells = writer.cells_left;
    budget.repeats = writer.repeats_left;
    budget.cut |= writer.cut;
    let Writer { mut text, mut blocks, mut links, .. } = writer;
    // There may be hundreds of thousands of them.
    text.shrink_to_fit();
    blocks.shrink_to_fit();
    links.shrink_to_fit();
    Passage { text, blocks, links, flattened: page.flattened }
}

/// The first heading of level 1.
fn first_heading<'a>(blocks: &[Block], text: &'a str) -> Option<&'a str> {
    let is_first = |block: &&Block| matches!(block.kind, BlockKind::Heading { level: 1 });
    blocks.iter().find(is_first).and_then(|block| block.span.of(text))
}

#[cfg(test)]
mod tests {
    use crate::Limits;
    use crate::test_support::{run, run_within};

    #[test]
    fn pages_that_only_redirect_are_left_out() {
        let refresh = |rest: &str| {
            format!(
                "<title>Cranes</title><meta http-equiv=Refresh content='0; URL=new.html'><p>{rest}"
            )
        };
        for page in [
            refresh(""),
            refresh("Please wait, or <a href=new.html>click here</a>."),
            "<h1>Cranes</h1><p>This page has moved: <a href=new.html>here</a>".to_owned(),
            "<p>页面已移至<a href=new.html>新地址</a>".to_owned(),
        ] {
            let expected = "`x.html` only redirects to new.html: index that page instead";
            assert_eq!(run("x.html", &page), expected, "{page}");
        }
        for page in [
            // A page with content, and one that only loads itself again.
            refresh(&"Cranes lift loads in harbours. ".repeat(9)),
            "<meta http-equiv=refresh content=300><p>Arrivals".to_owned(),
            "<p>The office has moved: <a href=map.html>map</a>".to_owned(),
        ] {
            assert!(run("x.html", &page).starts_with("== "), "{page}");
        }
    }

    #[test]
    fn a_page_is_read_without_its_frame() {
        let page = r#"<!doctype html><html lang="zh"><head><title> 鸭子 &amp; Ducks </title><meta name="Author" content="Ada">
            <style>p{}</style></head><body><header>Site</header><nav><a href=/>Home</a></nav>
            <h1>Ducks</h1>loose   text<p>A <b>bold</b> <a href="goose.html">goose<br>bird</a>.</p>
            <p hidden>secret</p><p style="Display : none">secret</p><b aria-hidden=true>secret</b>
            <ul><li>one<ul><li>nested</li></ul>tail</li><li><p>two</p><p>more</p></li></ul>
            <ol start=3><li>three<li value=7>seven<li>eight</ol>
            <figure><img src=a.png alt="A duck"><figcaption>Fig. 1</figcaption></figure>
            <pre>
fn main() {
    quack();
}
</pre><select><option>x</select><button>y</button><script>z</script><footer>© Site</footer>"#;
        insta::assert_snapshot!(run("x.html", page), @r#"
        == 鸭子 & Ducks
        h1 "Ducks"
        p "loose text"
        p "A bold goose\nbird."
        item "- one"
        item "- nested"
        p "tail"
        item "- two"
        p "more"
        item "3. three"
        item "7. seven"
        item "8. eight"
        p "A duck"
        caption "Fig. 1"
        code "fn main() {\n    quack();\n}"
        link "goose\nbird" -> goose.html
        author = Ada
        language = zh
        "#);
    }

    #[test]
    fn tables_repeat_spanning_cells() {
        let page = "<table><caption>Sales</caption><tr><th rowspan=2>Region</th><th colspan=2>2024</th></tr><tr><th>Q1</th><th>Q2</th></tr>\
            <tr><td colspan=3>Europe</td></tr><tr><td rowspan=2>UK</td><td>80</td><td><a href=a.html>95</a><ul><li>x<li>y</ul></td></tr>\
            <tr><td></td><td>7</td></tr></table>";
        insta::assert_snapshot!(run("x.html", page), @r#"
        == x
        caption "Sales"
        table "Region | 2024 Q1 | 2024 Q2\nEurope\nUK | 80 | 95 x y\nUK |  | 7"
          header ["Region", "2024 Q1", "2024 Q2"]
          row ["Europe", "Europe", "Europe"]
          row ["UK", "80", "95 x y"]
          row ["UK", "", "7"]
        link "95" -> a.html
        "#);
    }

    #[test]
    fn a_row_with_a_blank_cell_first_keeps_the_cells_of_rows_above() {
        let page =
            "<table><tr><td>a<td rowspan=0 colspan=4>b<tr><td colspan=3><tr><td>c<td>d</table>";
        insta::assert_snapshot!(run("x.html", page), @r#"
        == x
        table "a | b | b | b | b\n|  |  | b | b\nc | b | b | b | b | d"
          header []
          row ["a", "b", "b", "b", "b"]
          row ["", "", "", "b", "b"]
          row ["c", "b", "b", "b", "b", "d"]
        "#);
    }

    #[test]
    fn a_blank_header_names_nothing() {
        let page =
            "<table><thead><tr><th><th></thead><tr><td>a<td>b<tr><td><td><tr><td>c<td>d</table>";
        insta::assert_snapshot!(run("x.html", page), @r#"
        == x
        table "a | b\nc | d"
          header []
          row ["a", "b"]
          row ["c", "d"]
        "#);
    }

    #[test]
    fn a_header_of_rows_is_no_header_of_columns() {
        let page =
            "<table><tr><th>Year<th>Month<tr><th rowspan=3>2024<tr><td>May<tr><td>June</table>";
        insta::assert_snapshot!(run("x.html", page), @r#"
        == x
        table "Year | Month\n2024\n2024 | May\n2024 | June"
          header ["Year", "Month"]
          row ["2024"]
          row ["2024", "May"]
          row ["2024", "June"]
        "#);
    }

    #[test]
    fn a_table_for_layout_is_no_table() {
        let page = "<table><tr><td>menu<td><h2>Story</h2><p>text<table><tr><td>a<td>b<tr><td>c<td>d</table></table>";
        insta::assert_snapshot!(run("x.html", page), @r#"
        == x
        p "menu"
        h2 "Story"
        p "text"
        table "a | b\nc | d"
          header []
          row ["a", "b"]
          row ["c", "d"]
        "#);
    }

    #[test]
    fn main_is_preferred_unless_it_is_almost_empty() {
        insta::assert_snapshot!(run("x.html", "<div>teaser</div><main><header><h1>Story</h1><ul><li>Menu</ul></header>long e\u{ad}nough text</main>"), @r#"
        == Story
        h1 "Story"
        p "long enough text"
        "#);
        insta::assert_snapshot!(run("x.html", "<main></main><p>all the text</p>"), @r#"
        == x
        p "all the text"
        "#);
        insta::assert_snapshot!(run("x.html", "<article>x</article><p>all the other text of the page"), @r#"
        == x
        p "x"
        p "all the other text of the page"
        "#);
        insta::assert_snapshot!(run("x.html", "<nav><a href=a>only</a> navigation</nav>"), @r#"
        == x
        p "only navigation"
        link "only" -> a
        "#);
        insta::assert_snapshot!(run("x.html", "<script>nothing</script>"), @r"`x.html` holds no text: check that it is the file you meant");
    }

    #[test]
    fn xhtml_elements_close_themselves() {
        let page = "<?xml version='1.0'?><html><head><title>T</title><script src='x'/></head><body><div/><p>shown<a id='x'/></p></body></html>";
        insta::assert_snapshot!(run("x.xhtml", page), @r#"
        == T
        p "shown"
        "#);
    }

    #[test]
    fn deep_nesting_is_read_flat() {
        let limits = Limits { max_depth: 3, ..Limits::default() };
        insta::assert_snapshot!(run_within("x.html", "<div>a<div>b<div>c<div>d<section>e</section></div>f</div>g</div>h</div>i", &limits), @r#"
        == x
        p "a"
        p "b"
        p "c d e f"
        p "g"
        p "h"
        p "i"
        ! : elements nested deeper than 3 are read flat
        "#);
    }

    /// Each overflows the stack, or takes quadratic time or space, in a plain HTML parser.
    #[test]
    fn hostile_files_stay_small_and_deep_ones_are_read_flat() {
        let deep = format!("{}x", "<div>".repeat(100_000));
        assert!(run("x.html", &deep).contains("are read flat"));
        let files = [
            deep,
            format!("{}x", "<div/>".repeat(100_000)),
            format!("{}x", "<table><tr><td>".repeat(30_000)),
            format!("{}x", "<svg><g>".repeat(30_000)),
            format!("{}x", "<a href=x><p>".repeat(30_000)),
            format!(
                "<p>{}{}",
                (0..20_000).map(|n| format!("<b id={n}>")).collect::<Vec<_>>().concat(),
                "<p>x".repeat(20_000)
            ),
            format!(
                "<table>{}</table>",
                "<tr><td colspan=99999 rowspan=99999>x<td>y".repeat(2_000)
            ),
            format!(
                "<table><tr><td colspan=100 rowspan=100>{}{}</table>",
                "long ".repeat(200),
                "<tr><td>".repeat(200)
            ),
        ];
        for file in files {
            let size = file.len();
            let drawn = run("x.html", file);
            assert!(drawn.len() < size * 60, "{size} bytes became {}", drawn.len());
        }
    }
}
