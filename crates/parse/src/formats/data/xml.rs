//! Reads XML files of unknown kind: records become rows or lines of names and values, all other
//! text becomes paragraphs.

use pikerag_knowledge::{BlockKind, Document, ProblemFact};

use crate::ParseError;
use crate::document::blocks::one_line;
use crate::document::file::{Input, TextFile};
use crate::document::writing::Writing;
use crate::formats::book::jats;
use crate::formats::web::html;
use pikerag_unpack::Problems;
use pikerag_unpack::xml::{Child, Element, Tree, decode};

/// The most columns of a table of records.
const MOST_COLUMNS: usize = 100;
/// A longer value, in characters, is text, not an entry of a record.
const LONGEST_VALUE: usize = 300;

/// Reads a file. JATS articles and web pages get their own readers, other files are read by their
/// structure.
pub(crate) fn read(input: &Input, problems: &mut Problems) -> Result<Document, ParseError> {
    let text = decode(input.bytes);
    let tree = Tree::read(&text, "", problems);
    let root = tree.root().ok_or_else(|| input.malformed("XML", "it has no element"))?;
    let page = match root.name() {
        "html" => Some(text.clone().into_owned()),
        "article" if root.child("front").is_some() => Some(jats::page_of(root)),
        _ => None,
    };
    if let Some(text) = page {
        let (name, format, limits) = (input.name, input.format, input.limits);
        let title = input.document(None, Writing::default()).title;
        let file = TextFile { name, title, format, text, encoding: None, limits };
        let mut document = html::read(&file, problems)?;
        if root.name() == "article" {
            document.metadata = jats::metadata(root);
        }
        return Ok(document);
    }
    let mut writing = Writing::new(input.limits.max_cells);
    write(&mut writing, root, 1);
    if writing.cut {
        problems.add("", ProblemFact::CellsRead { most: input.limits.max_cells });
    }
    let title = root.elements().find(|element| matches!(element.name(), "title" | "name"));
    let title = title.filter(|title| is_leaf(*title)).and_then(|title| one_line(&title.text()));
    Ok(input.document(title, writing))
}

/// Writes an element. Its recursion is bounded by the depth of the tree.
fn write(writing: &mut Writing, element: Element, level: u8) {
    let has_text = element.children().any(|child| match child {
        Child::Text(text) => !text.trim().is_empty(),
        Child::Element(_) => false,
    });
    if has_text || is_leaf(element) {
        let kind = match element.name() {
            "title" | "heading" | "head" => BlockKind::Heading { level: level.min(6) },
            "item" | "li" | "listitem" => BlockKind::Item,
            "code" | "pre" | "programlisting" => BlockKind::Code,
            _ => BlockKind::Paragraph,
        };
        match kind {
            BlockKind::Code => writing.plain(kind, &element.text()),
            _ => writing.plain(kind, &spaced(element)),
        }
        return;
    }
    if let Some((header, rows)) = records(element) {
        writing.table(header, rows);
        return;
    }
    if let Some(lines) = record(element) {
        writing.plain(BlockKind::Paragraph, &lines);
        return;
    }
    for inside in element.elements() {
        write(writing, inside, level.saturating_add(1).min(6));
    }
}

fn is_leaf(element: Element) -> bool {
    element.elements().next().is_none()
}

/// Text with single spaces.
fn spaced(element: Element) -> String {
    element.text().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Children of one name that contain only values: a header and a row for each.
fn records(element: Element) -> Option<(Vec<String>, Vec<Vec<String>>)> {
    let name = element.elements().next()?.name();
    let mut header: Vec<String> = Vec::new();
    let mut rows = Vec::new();
    for record in element.elements() {
        if record.name() != name || is_leaf(record) {
            return None;
        }
        let mut row = vec![String::new(); header.len()];
        for value in record.elements() {
            if !is_leaf(value) {
                return None;
            }
            let column = header.iter().position(|column| column == value.name());
            let column = column.unwrap_or_else(|| {
                header.push(value.name().to_owned());
                row.push(String::new());
                header.len() - 1
            });
            if MOST_COLUMNS < header.len() {
                return None;
            }
            let text = spaced(value);
            match row.get_mut(column) {
                Some(cell) if cell.is_empty() => *cell = text,
                Some(cell) => {
                    cell.push_str("; ");
                    cell.push_str(&text);
                }
                None => {}
            }
        }
        rows.push(row);
    }
    for row in &mut rows {
        row.resize(header.len(), String::new());
    }
    (1 < rows.len() && 1 < header.len()).then_some((header, rows))
}

/// Children that contain only short values: a line for each.
fn record(element: Element) -> Option<String> {
    let mut lines = Vec::new();
    let mut first = None;
    let mut names_differ = false;
    for value in element.elements() {
        let text = spaced(value);
        if !is_leaf(value) || LONGEST_VALUE < text.chars().count() {
            return None;
        }
        names_differ |= *first.get_or_insert(value.name()) != value.name();
        if !text.is_empty() {
            lines.push(format!("{}: {text}", value.name()));
        }
    }
    names_differ.then(|| lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use crate::test_support::run;

    #[test]
    fn records_become_rows() {
        let text = "<?xml version='1.0'?><list><item><name>A &amp; B</name><load>5 t</load></item>\
            <item><name>C</name><year>1999</year><load/></item></list>";
        insta::assert_snapshot!(run("cranes.xml", text), @r#"
        == cranes
        table "name | load | year\nA & B | 5 t | \nC |  | 1999"
          header ["name", "load", "year"]
          row ["A & B", "5 t", ""]
          row ["C", "", "1999"]
        "#);
    }

    #[test]
    fn prose_becomes_paragraphs() {
        let text = "<book><title>Cranes</title><info><by>Ada</by><year>1999</year></info>\
            <part><title>Use</title><para>They <i>lift</i>\n loads.</para><code>a\n  b</code></part></book>";
        insta::assert_snapshot!(run("a.xml", text), @r#"
        == Cranes
        h2 "Cranes"
        p "by: Ada\nyear: 1999"
        h3 "Use"
        p "They lift loads."
        code "a\n  b"
        "#);
    }

    #[test]
    fn an_article_is_read_as_one() {
        let text = r#"<!DOCTYPE article SYSTEM "http://127.0.0.1/JATS.dtd"><article xmlns:xlink="x"><front><journal-meta><journal-title>J</journal-title></journal-meta>
            <article-meta><article-id pub-id-type="doi">10.1/x</article-id><title-group><article-title>On <italic>cranes</italic></article-title></title-group>
            <contrib-group><contrib><name><surname>Lovelace</surname><given-names>Ada</given-names></name></contrib></contrib-group>
            <abstract><p>Short.</p></abstract></article-meta></front><body><sec><title>Methods</title><p>We <bold>lift</bold> <xref>1</xref>,
            see <ext-link xlink:href="http://a.example">here</ext-link>.</p><sec><title>Deeper</title><list list-type="order"><list-item><p>one</p></list-item></list>
            <table-wrap><label>Table 1</label><caption><p>Loads</p></caption><table><thead><tr><th>Crane</th><th colspan="2">Load</th></tr></thead>
            <tbody><tr><td>A</td><td>1</td><td>2</td></tr></tbody></table></table-wrap><fig><label>Fig 1</label><caption><title>A crane</title></caption></fig></sec></sec></body>
            <back><ref-list><title>References</title><ref><label>1</label><element-citation><name><surname>Babbage</surname><given-names>C</given-names></name><year>1832</year></element-citation></ref></ref-list></back></article>"#;
        insta::assert_snapshot!(run("a.nxml", text), @r#"
        == On cranes
        h1 "On cranes"
        p "Ada Lovelace"
        h2 "Abstract"
        p "Short."
        h2 "Methods"
        p "We lift 1, see here."
        h3 "Deeper"
        item "1. one"
        caption "Table 1 Loads"
        table "Crane | Load | Load\nA | 1 | 2"
          header ["Crane", "Load", "Load"]
          row ["A", "1", "2"]
        caption "Fig 1 A crane"
        h2 "References"
        item "- 1 C Babbage 1832"
        link "here" -> http://a.example
        author = Ada Lovelace
        doi = 10.1/x
        journal = J
        "#);
    }

    #[test]
    fn no_entity_is_fetched_or_expanded() {
        let text = "<!DOCTYPE d [<!ENTITY x SYSTEM 'file:///etc/passwd'><!ENTITY l 'lol'>]><d>a &x; b &l; c</d>";
        insta::assert_snapshot!(run("a.xml", text), @r#"
        == a
        p "a &x; b &l; c"
        ! : 2 custom entities were not expanded
        "#);
    }

    #[test]
    fn broken_and_deep_files_are_cut_and_reported() {
        insta::assert_snapshot!(run("a.xml", "no element"), @"`a.xml` is not readable as XML: it has no element; open it in its program and save it again; if it is plain text, rename it to .txt");
        insta::assert_snapshot!(run("a.xml", "<a><b>x</b><c"), @r#"
        == a
        p "x"
        ! : is invalid here, the rest was skipped: syntax error: tag not closed: `>` not found before end of input, at byte 13
        "#);
        let deep = format!("<a><c>y</c>{}x", "<b>".repeat(100_000));
        assert!(run("a.xml", deep).contains("deeper"));
        let wide = format!("<a>{}</a>", "<b><c>1</c><d>2</d></b>".repeat(20_000));
        assert!(run("a.xml", wide).len() < 1_000_000);
    }
}
