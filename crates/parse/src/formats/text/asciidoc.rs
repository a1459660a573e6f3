//! Reads `AsciiDoc` files.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::str::Lines;

use pikerag_knowledge::{BlockKind, Document, ProblemFact};

use crate::document::blocks::one_line;
use crate::document::file::TextFile;
use crate::document::writing::LinkedText;
use crate::formats::text::markup::{Header, MarkupBuilder, links};
use pikerag_unpack::Problems;

/// Reads sections, lists, tables, blocks, captions and links; attributes and comments are skipped.
pub(crate) fn read(file: &TextFile, problems: &mut Problems) -> Document {
    let mut builder = MarkupBuilder::new(file, inline);
    let mut metadata = BTreeMap::new();
    let mut n_columns = None;
    let mut lines = file.text.lines().peekable();
    while let Some(line) = lines.next() {
        let trimmed = line.trim();
        if let Some((level, title)) = section(line) {
            builder.piece(BlockKind::Heading { level }, title);
        } else if trimmed == "|===" {
            table(&mut builder, &mut lines, n_columns.take(), problems);
        } else if trimmed.starts_with('|') {
            let mut rows = vec![row_of(trimmed)];
            while let Some(row) =
                lines.next_if(|line| line.trim_start().starts_with('|') && line.trim() != "|===")
            {
                rows.push(row_of(row.trim()));
            }
            builder.table(rows, Header::First);
        } else if trimmed == "////" {
            builder.end();
            lines.by_ref().find(|line| line.trim() == "////");
        } else if is_code(trimmed) {
            builder.end();
            let code: Vec<&str> =
                lines.by_ref().take_while(|line| line.trim() != trimmed).collect();
            builder.piece(BlockKind::Code, &code.join("\n"));
        } else if let Some(image) = trimmed.strip_prefix("image::") {
            builder.end();
            let inside =
                image.split_once('[').map_or("", |(_, inside)| inside.trim_end_matches(']'));
            let alternative = inside.split(',').next().filter(|text| !text.contains('='));
            builder.writing.figure(alternative.unwrap_or_default(), None);
        } else if let Some(caption) = caption(trimmed) {
            builder.piece(BlockKind::Caption, caption);
        } else if let Some(attributes) = attributes(trimmed) {
            builder.end();
            n_columns = n_columns.or_else(|| columns(attributes));
        } else if let Some((key, value)) = attribute(trimmed) {
            metadata.extend(value.map(|value| (key.to_owned(), value)));
        } else if is_delimiter(trimmed) || trimmed.starts_with("//") || trimmed == "+" {
            builder.end();
        } else {
            builder.line(line);
        }
    }
    let mut document = builder.finish(file, None);
    document.metadata = metadata;
    document
}

fn section(line: &str) -> Option<(u8, &str)> {
    let marks = line.chars().take_while(|c| *c == '=').count();
    let title = line.get(marks..)?.strip_prefix(' ')?;
    let level = u8::try_from(marks).ok().filter(|level| (1..=6).contains(level))?;
    Some((level, title.trim()))
}

fn is_code(line: &str) -> bool {
    matches!(line, "----" | "....") || line.starts_with("```")
}

/// Whether a line delimits a block whose text is read as usual.
fn is_delimiter(line: &str) -> bool {
    let is = |c: char| 4 <= line.len() && line.chars().all(|other| other == c);
    ['=', '*', '_', '+'].into_iter().any(is) || matches!(line, "--" | "'''" | "<<<" | "---")
}

/// The caption in `.Title of what follows`.
fn caption(line: &str) -> Option<&str> {
    line.strip_prefix('.').filter(|text| !text.starts_with(['.', ' ']) && !text.is_empty())
}

/// `[source,rust]`, but not `[link]` in running text.
fn attributes(line: &str) -> Option<&str> {
    let inside = line.strip_prefix('[')?.strip_suffix(']')?;
    (!inside.contains(['[', ']']) || inside.starts_with('[')).then_some(inside)
}

/// `:author: Ada`; the value only if it describes the document.
fn attribute(line: &str) -> Option<(&str, Option<String>)> {
    let (key, value) = line.strip_prefix(':')?.split_once(':')?;
    let is_key =
        !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || "-_!".contains(c));
    let is_kept =
        matches!(key, "author" | "date" | "revdate" | "description" | "keywords" | "lang");
    is_key.then(|| (key, one_line(value).filter(|_| is_kept)))
}

/// The number of columns of `[cols="1,2,3"]` or `[cols="3*"]`.
fn columns(attributes: &str) -> Option<usize> {
    let (_, value) = attributes.split_once("cols")?;
    let value = value.trim_start().strip_prefix('=')?.trim_start();
    let quoted = value.strip_prefix('"').and_then(|value| value.split('"').next());
    let list = quoted.unwrap_or_else(|| value.split(',').next().unwrap_or_default());
    let count = |column: &str| match column.trim().split_once('*') {
        Some((n, _)) => n.parse::<usize>().unwrap_or(1).min(1_000),
        None => 1,
    };
    Some(list.split(',').map(count).sum())
}

/// Reads a table up to its closing mark. If the first line has several cells, each line is a row;
/// otherwise cells fill rows of `columns` cells.
fn table(
    builder: &mut MarkupBuilder,
    lines: &mut Peekable<Lines>,
    n_columns: Option<usize>,
    problems: &mut Problems,
) {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut is_closed = false;
    let mut before_blank = None;
    for line in lines.by_ref() {
        let line = line.trim();
        if line == "|===" {
            is_closed = true;
            break;
        }
        if line.is_empty() {
            before_blank = before_blank.or((!rows.is_empty()).then_some(rows.len()));
        } else if let Some(cell) =
            rows.last_mut().and_then(|row| row.last_mut()).filter(|_| !line.contains('|'))
        {
            cell.push(' ');
            cell.push_str(line);
        } else {
            rows.push(row_of(line));
        }
    }
    if !is_closed {
        problems.add("", ProblemFact::TableNotClosed);
    }
    let one_each = rows.iter().all(|row| row.len() == 1);
    if let Some(n) = n_columns.or(before_blank).filter(|n| one_each && 1 < *n) {
        let cells: Vec<String> = rows.into_iter().flatten().collect();
        rows = cells.chunks(n).map(<[String]>::to_vec).collect();
    }
    builder.table(rows, Header::First);
}

/// The cells of a line; text before a bar (`2+`, `a`) gives the width of its cell.
fn row_of(line: &str) -> Vec<String> {
    let mut cells: Vec<String> = line.split('|').map(|cell| cell.trim().to_owned()).collect();
    if 1 < cells.len() {
        cells.remove(0);
    }
    cells
}

/// `http://a.example[text]`, `link:b.adoc[text]`, `<<place,text>>`.
fn inline(text: &str) -> LinkedText {
    let text = ["link:", "xref:", "http://", "https://"].iter().fold(
        LinkedText::from(text),
        |linked, start| {
            if linked.links.is_empty() { starting(&linked.text, start) } else { linked }
        },
    );
    if !text.links.is_empty() {
        return text;
    }
    links(&text.text, ("<<", ">>"), |inside| {
        let (_, name) = inside.split_once(',').unwrap_or((inside, inside));
        (!inside.contains('\n')).then(|| (name.trim().to_owned(), String::new()))
    })
}

/// Links that begin with `start` and end in their text in brackets.
fn starting(text: &str, start: &str) -> LinkedText {
    let prefix = if start.starts_with("http") { start } else { "" };
    links(text, (start, "]"), |inside| {
        let (target, name) = inside.split_once('[')?;
        let is_target = !target.is_empty() && !target.contains(char::is_whitespace);
        let target = format!("{prefix}{target}");
        let name = if name.is_empty() { target.clone() } else { name.to_owned() };
        is_target.then_some((name, target))
    })
}

#[cfg(test)]
mod tests {
    use crate::test_support::run;

    #[test]
    fn pieces_are_recognised_by_their_marks() {
        let text = "= Cranes\n:author: Ada\n:toc:\n\nThey lift, see https://a.example/plan[the plan]. // no\n\n== Kinds\n// comment\n* tower\n** small\n. first\n\n\
            .A crane\nimage::a.png[the crane, width=1]\n\n[source,rust]\n----\nlet x = 1;\n----\n\nNOTE: Mind the load.\n";
        insta::assert_snapshot!(run("a.adoc", text), @r#"
        == Cranes
        h1 "Cranes"
        p "They lift, see the plan. // no"
        h2 "Kinds"
        item "* tower"
        item "** small"
        item ". first"
        caption "A crane"
        figure "the crane"
        code "let x = 1;"
        p "NOTE: Mind the load."
        link "the plan" -> https://a.example/plan
        author = Ada
        "#);
    }

    #[test]
    fn tables_by_line_and_by_cell() {
        let text = ".Loads\n|===\n|Crane |Load\n\n|A |5 t\n|B | more\n  of it\n|===\n\n[cols=\"1,1\"]\n|===\n|Crane\n|Load\n|A\n|5 t\n|===\n\n|x|y|\n|1|2|\n";
        insta::assert_snapshot!(run("a.adoc", text), @r#"
        == a
        caption "Loads"
        table "Crane | Load\nA | 5 t\nB | more of it"
          header ["Crane", "Load"]
          row ["A", "5 t"]
          row ["B", "more of it"]
        table "Crane | Load\nA | 5 t"
          header ["Crane", "Load"]
          row ["A", "5 t"]
        table "x | y\n1 | 2"
          header ["x", "y"]
          row ["1", "2"]
        "#);
    }

    #[test]
    fn hostile_files_are_read() {
        for file in [
            "<<".repeat(50_000),
            "|===\n".repeat(9_999),
            "https://[".repeat(20_000),
            "----\n".repeat(9_999),
        ] {
            assert!(!run("a.adoc", file).is_empty());
        }
    }
}
