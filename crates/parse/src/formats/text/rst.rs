//! Reads reStructuredText files.

use std::collections::BTreeMap;

use pikerag_knowledge::{BlockKind, Document};

use crate::document::blocks::one_line;
use crate::document::file::TextFile;
use crate::document::writing::LinkedText;
use crate::formats::text::markup::{Header, MarkupBuilder, links};
use pikerag_unpack::Problems;

/// Reads sections, lists, tables of both kinds, literal blocks and links. The content of directives
/// is read; comments are skipped.
pub(crate) fn read(file: &TextFile, _problems: &mut Problems) -> Document {
    let lines: Vec<&str> = file.text.lines().collect();
    let mut builder = MarkupBuilder::new(file, inline);
    let mut metadata = BTreeMap::new();
    // Marks of sections in the order of their level: the character, and whether a line is above the
    // title.
    let mut marks: Vec<(char, bool)> = Vec::new();
    let mut at = 0;
    while let Some(&line) = lines.get(at) {
        let next = |n: usize| lines.get(at + n).copied().unwrap_or_default();
        if let Some(n) = simple_table(&mut builder, lines.get(at..).unwrap_or_default()) {
            at += n;
        } else if let Some((mark, n, title)) = section(line, next(1), next(2)) {
            let known = marks.iter().position(|known| *known == mark);
            let level = known.unwrap_or_else(|| {
                marks.push(mark);
                marks.len() - 1
            });
            let level = u8::try_from(level + 1).unwrap_or(6).min(6);
            builder.piece(BlockKind::Heading { level }, title);
            at += n;
        } else if line.trim_start().starts_with("+-") {
            let rest = lines.get(at..).unwrap_or_default();
            let n =
                rest.iter().take_while(|line| line.trim_start().starts_with(['+', '|'])).count();
            grid_table(&mut builder, rest.get(..n).unwrap_or_default());
            at += n;
        } else if let Some(directive) = line.trim_start().strip_prefix(".. ") {
            at += 1 + explicit(&mut builder, &lines, at, directive);
        } else if let Some((key, value)) = field(line).filter(|_| builder.writing.blocks.len() <= 1)
        {
            metadata.insert(key, value);
            at += 1;
        } else if is_rule(line) {
            builder.end();
            at += 1;
        } else if let Some(text) = line.trim_end().strip_suffix("::") {
            let text = if text.ends_with(' ') || text.is_empty() {
                text.to_owned()
            } else {
                format!("{text}:")
            };
            builder.line(&text);
            builder.end();
            at += 1 + literal(&mut builder, &lines, at);
        } else {
            builder.line(line);
            at += 1;
        }
    }
    let mut document = builder.finish(file, None);
    document.metadata = metadata;
    document
}

/// A line of one punctuation character, as below titles.
fn is_rule(line: &str) -> bool {
    let line = line.trim_end();
    let mut characters = line.chars();
    let first = characters.next();
    3 <= line.len()
        && first.is_some_and(|c| c.is_ascii_punctuation())
        && characters.all(|c| Some(c) == first)
}

/// A title with a rule below it, and optionally one above: its mark, its lines, its text.
fn section<'a>(
    line: &'a str,
    next: &'a str,
    third: &'a str,
) -> Option<((char, bool), usize, &'a str)> {
    let mark = |rule: &str| rule.chars().next();
    if is_rule(line) && !next.trim().is_empty() && third.trim_end() == line.trim_end() {
        return Some(((mark(line)?, true), 3, next.trim()));
    }
    // Below a short title, two characters are enough.
    let is_below = is_rule(next)
        || (next.trim_end().len() == 2 && is_rule(&format!("{0}{0}", next.trim_end())));
    let is_title = !line.trim().is_empty() && !line.starts_with([' ', '\t']) && !is_rule(line);
    // Wide characters count double.
    let fits = line.trim().chars().count() <= next.trim_end().chars().count();
    (is_title && is_below && fits).then_some(((mark(next)?, false), 2, line.trim()))
}

/// `:Author: Ada`.
fn field(line: &str) -> Option<(String, String)> {
    let (key, value) = line.strip_prefix(':')?.split_once(": ")?;
    let is_key = !key.is_empty() && key.len() <= 40 && !key.contains(['`', ':']);
    Some((key.to_lowercase(), one_line(value)?)).filter(|_| is_key)
}

/// The indented lines below line `at`, with blank ones between them.
fn indented<'a>(lines: &[&'a str], at: usize) -> Vec<&'a str> {
    let depth = |line: &str| line.len() - line.trim_start().len();
    let base = lines.get(at).map_or(0, |line| depth(line));
    let rest = lines.get(at + 1..).unwrap_or_default();
    let mut found: Vec<&str> = rest
        .iter()
        .copied()
        .take_while(|line| line.trim().is_empty() || base < depth(line))
        .collect();
    while found.last().is_some_and(|line| line.trim().is_empty()) {
        found.pop();
    }
    found
}

/// The literal block below a paragraph that ends in `::`.
fn literal(builder: &mut MarkupBuilder, lines: &[&str], at: usize) -> usize {
    let block = indented(lines, at);
    builder.piece(BlockKind::Code, &block.join("\n"));
    block.len()
}

/// Reads a line that begins with two dots; returns the number of further lines that it consumes.
fn explicit(builder: &mut MarkupBuilder, lines: &[&str], at: usize, directive: &str) -> usize {
    builder.end();
    let Some((name, argument)) = directive.split_once("::") else {
        let is_note = directive.starts_with('[');
        if is_note {
            builder.line(directive);
            return 0;
        }
        // A target, or a comment with all indented lines below it.
        return if directive.starts_with('_') { 0 } else { indented(lines, at).len() };
    };
    let argument = argument.trim();
    match name.trim() {
        "code-block" | "code" | "sourcecode" | "parsed-literal" | "literalinclude" | "math" => {
            literal(builder, lines, at)
        }
        "image" | "figure" => {
            let options = indented(lines, at);
            let alternative = options.iter().find_map(|line| line.trim().strip_prefix(":alt:"));
            builder.writing.figure(alternative.unwrap_or_default(), None);
            options.iter().take_while(|line| line.trim().starts_with(':')).count()
        }
        "raw" | "toctree" | "contents" | "include" | "index" | "highlight" => {
            indented(lines, at).len()
        }
        name if name.starts_with('|') => 0,
        "table" | "list-table" | "csv-table" => {
            builder.piece(BlockKind::Caption, argument);
            0
        }
        _ => {
            // The following text is a paragraph, indented or not.
            builder.line(argument);
            0
        }
    }
}

/// Columns begin at the `+` of a grid's rule.
fn grid_table(builder: &mut MarkupBuilder, lines: &[&str]) {
    let Some(first) = lines.first() else { return };
    let corners: Vec<usize> =
        first.trim_end().char_indices().filter(|(_, c)| *c == '+').map(|(at, _)| at).collect();
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut open: Vec<String> = Vec::new();
    let mut header = Header::None;
    for line in lines {
        if line.trim_start().starts_with('+') {
            if !open.is_empty() {
                rows.push(std::mem::take(&mut open));
            }
            if line.contains("+=") && rows.len() == 1 {
                header = Header::First;
            }
            continue;
        }
        let characters: Vec<char> = line.chars().collect();
        open.resize(corners.len().saturating_sub(1), String::new());
        // A cell that spans columns continues where there is no bar.
        let mut column = 0;
        for (number, pair) in corners.windows(2).enumerate() {
            let &[from, to] = pair else { continue };
            if characters.get(from) == Some(&'|') {
                column = number;
            }
            let from = if characters.get(from) == Some(&'|') { from + 1 } else { from };
            let end = to.min(characters.len());
            let piece: String =
                characters.get(from.min(end)..end).unwrap_or_default().iter().collect();
            if let Some(cell) = open.get_mut(column) {
                cell.push_str(piece.trim_end());
                if characters.get(to) == Some(&'|') {
                    cell.push(' ');
                }
            }
        }
    }
    if !open.is_empty() {
        rows.push(open);
    }
    builder.table(rows, header);
}

/// Reads a table between rules of `=` in columns; returns the number of its lines, if it is one.
fn simple_table(builder: &mut MarkupBuilder, lines: &[&str]) -> Option<usize> {
    let is_border = |line: &str| {
        let line = line.trim();
        line.starts_with("==") && line.contains(' ') && line.chars().all(|c| matches!(c, '=' | ' '))
    };
    let border = lines.first().filter(|line| is_border(line))?;
    let starts: Vec<usize> = border
        .char_indices()
        .filter(|(at, c)| *c == '=' && (*at == 0 || border.get(at - 1..*at) == Some(" ")))
        .map(|(at, _)| at)
        .collect();
    let mut borders = 1;
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut header = Header::None;
    let mut n = 1;
    for line in lines.iter().skip(1) {
        n += 1;
        if is_border(line) {
            borders += 1;
            let is_last = lines.get(n).is_none_or(|next| next.trim().is_empty());
            if is_last {
                break;
            }
            if borders == 2 && !rows.is_empty() {
                // Lines above the second border form one header row.
                let whole = rows.drain(..).reduce(joined);
                rows.extend(whole);
                header = Header::First;
            }
            continue;
        }
        if line.trim().is_empty() || line.trim().chars().all(|c| matches!(c, '-' | ' ')) {
            continue;
        }
        let cells = cut(line, &starts);
        let goes_on = cells.first().is_some_and(String::is_empty) && 0 < borders;
        match rows.pop() {
            Some(above) if goes_on && !(header == Header::First && rows.is_empty()) => {
                rows.push(joined(above, cells));
            }
            above => {
                rows.extend(above);
                rows.push(cells);
            }
        }
    }
    (1 < borders).then(|| {
        builder.table(rows, header);
        n
    })
}

fn cut(line: &str, starts: &[usize]) -> Vec<String> {
    let characters: Vec<char> = line.chars().collect();
    let ends = starts.iter().skip(1).copied().chain([characters.len()]);
    let cell = |(from, to): (&usize, usize)| -> String {
        let to = to.max(*from).min(characters.len());
        characters
            .get((*from).min(to)..to)
            .unwrap_or_default()
            .iter()
            .collect::<String>()
            .trim()
            .to_owned()
    };
    starts.iter().zip(ends).map(cell).collect()
}

fn joined(above: Vec<String>, below: Vec<String>) -> Vec<String> {
    let both = above.into_iter().zip(below);
    both.map(|(above, below)| format!("{above} {below}").trim().to_owned()).collect()
}

/// `` `text <target>`_ ``.
fn inline(text: &str) -> LinkedText {
    links(text, ("`", "`_"), |inside| {
        let (name, target) = inside.strip_suffix('>')?.rsplit_once('<')?;
        let is_short = !inside.contains('`');
        is_short.then(|| (name.trim().to_owned(), target.trim().to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use crate::test_support::run;

    #[test]
    fn pieces_are_recognised_by_their_marks() {
        let text = "======\nCranes\n======\n\n:Author: Ada\n\nThey lift, see `the plan <http://a.example>`_::\n\n    code here\n\n      deeper\n\nKinds\n-----\n\n\
            * tower\n* mobile\n  with wheels\n\n.. comment\n   goes on\n\n.. note:: Mind the load.\n\n.. image:: a.png\n   :alt: a crane\n\n.. code-block:: rust\n\n   let x = 1;\n\nafter\n";
        insta::assert_snapshot!(run("a.rst", text), @r#"
        == Cranes
        h1 "Cranes"
        p "They lift, see the plan:"
        code "code here\n\n      deeper"
        h2 "Kinds"
        item "* tower"
        item "* mobile\nwith wheels"
        p "Mind the load."
        figure "a crane"
        code "let x = 1;"
        p "after"
        link "the plan" -> http://a.example
        author = Ada
        "#);
    }

    #[test]
    fn tables_of_both_kinds() {
        let text = "+-------+------+\n| Crane | Load |\n+=======+======+\n| A     | 5 t  |\n| tall  |      |\n+-------+------+\n| both columns |\n+-------+------+\n\n\
            =====  ====\nCrane  Load\n=====  ====\nA      5 t\n       more\nB      7 t\n=====  ====\n\nafter\n";
        insta::assert_snapshot!(run("a.rst", text), @r#"
        == a
        table "Crane | Load\nA tall | 5 t\nboth columns | "
          header ["Crane", "Load"]
          row ["A tall", "5 t"]
          row ["both columns", ""]
        table "Crane | Load\nA | 5 t more\nB | 7 t"
          header ["Crane", "Load"]
          row ["A", "5 t more"]
          row ["B", "7 t"]
        p "after"
        "#);
    }

    #[test]
    fn hostile_files_are_read() {
        let files = [
            "`".repeat(50_000),
            "::\n".repeat(20_000),
            ".. x\n".repeat(20_000),
            "=\n".repeat(20_000),
            "== ==\n".repeat(20_000),
            format!("{}\n{}", "+-".repeat(2_000), "|x\n".repeat(2_000)),
        ];
        for file in files {
            assert!(!run("a.rst", file).is_empty());
        }
    }
}
