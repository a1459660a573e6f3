//! Reads Org files.

use std::collections::BTreeMap;

use pikerag_knowledge::{BlockKind, Document, ProblemFact};

use crate::document::blocks::one_line;
use crate::document::file::TextFile;
use crate::document::writing::LinkedText;
use crate::formats::text::markup::{Header, MarkupBuilder, links};
use pikerag_unpack::Problems;

/// Reads headlines, lists, tables, blocks and links; drawers and comments are skipped.
pub(crate) fn read(file: &TextFile, problems: &mut Problems) -> Document {
    let mut builder = MarkupBuilder::new(file, inline);
    let mut metadata = BTreeMap::new();
    let mut lines = file.text.lines().peekable();
    while let Some(line) = lines.next() {
        let trimmed = line.trim();
        let stars = line.chars().take_while(|c| *c == '*').count();
        if 0 < stars && line.get(stars..).is_some_and(|rest| rest.starts_with(' ')) {
            let level = u8::try_from(stars.min(6)).unwrap_or(6);
            builder.piece(BlockKind::Heading { level }, headline(trimmed));
        } else if trimmed.starts_with('|') {
            let mut rows = vec![trimmed];
            while let Some(row) = lines.next_if(|line| line.trim_start().starts_with('|')) {
                rows.push(row.trim());
            }
            table(&mut builder, &rows);
        } else if let Some(keyword) = trimmed.strip_prefix("#+") {
            let (key, value) = keyword.split_once(':').unwrap_or((keyword, ""));
            match key.to_ascii_lowercase().as_str() {
                "title" | "author" | "date" | "language" | "email" | "description" => {
                    if let Some(value) = one_line(value) {
                        metadata.insert(key.to_ascii_lowercase(), value);
                    }
                }
                "caption" => builder.piece(BlockKind::Caption, value.trim()),
                key if key.starts_with("begin_src") || key.starts_with("begin_example") => {
                    builder.end();
                    let mut code = String::new();
                    let mut is_closed = false;
                    for line in lines.by_ref() {
                        is_closed = line.trim().to_ascii_lowercase().starts_with("#+end_");
                        if is_closed {
                            break;
                        }
                        code.push_str(line);
                        code.push('\n');
                    }
                    if !is_closed {
                        problems.add("", ProblemFact::NotClosed { keyword: keyword.to_string() });
                    }
                    builder.piece(BlockKind::Code, &code);
                }
                _ => builder.end(),
            }
        } else if is_drawer(trimmed) {
            builder.end();
            // Up to `:END:`, which comes before the next headline, if at all.
            while let Some(line) = lines.next_if(|line| !line.starts_with("* ")) {
                if line.trim().eq_ignore_ascii_case(":end:") {
                    break;
                }
            }
        } else if trimmed != "#" && !trimmed.starts_with("# ") {
            builder.line(line);
        }
    }
    let title = metadata.remove("title");
    let mut document = builder.finish(file, title);
    document.metadata = metadata;
    document
}

/// A headline without stars, state and tags: `** TODO Text :tag:` → `Text`.
fn headline(line: &str) -> &str {
    let text = line.trim_start_matches('*').trim();
    let text = ["TODO ", "DONE "].iter().find_map(|state| text.strip_prefix(state)).unwrap_or(text);
    match text.rsplit_once(' ') {
        Some((before, tags)) if tags.len() > 2 && tags.starts_with(':') && tags.ends_with(':') => {
            before.trim_end()
        }
        _ => text,
    }
}

fn is_drawer(line: &str) -> bool {
    ["PROPERTIES", "LOGBOOK"].iter().any(|name| {
        line.strip_prefix(':')
            .and_then(|l| l.strip_suffix(':'))
            .is_some_and(|l| l.eq_ignore_ascii_case(name))
    })
}

/// A rule below the first row makes it the header.
fn table(builder: &mut MarkupBuilder, lines: &[&str]) {
    let is_rule = |line: &&str| line.starts_with("|-");
    let header = match lines.get(1) {
        Some(line) if is_rule(line) => Header::First,
        _ => Header::None,
    };
    let cells = |line: &str| -> Vec<String> {
        let inside = line.trim_start_matches('|');
        inside
            .strip_suffix('|')
            .unwrap_or(inside)
            .split('|')
            .map(|cell| cell.trim().to_owned())
            .collect()
    };
    let rows = lines.iter().filter(|line| !is_rule(line)).map(|line| cells(line)).collect();
    builder.table(rows, header);
}

/// `[[target][text]]` and `[[target]]`.
fn inline(text: &str) -> LinkedText {
    links(text, ("[[", "]]"), |inside| {
        let (target, name) = inside.split_once("][").unwrap_or((inside, inside));
        let target = target.strip_prefix("file:").unwrap_or(target);
        (!inside.contains('\n')).then(|| (name.to_owned(), target.to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use crate::test_support::run;

    #[test]
    fn pieces_are_recognised_by_their_marks() {
        let text = "#+TITLE: Cranes\n#+AUTHOR: Ada\n* TODO Use of cranes :work:\n:PROPERTIES:\n:ID: 1\n:END:\nThey lift,\nsee [[file:b.org][the plan]] and [[http://a.example]].\n\
            ** Kinds\n- tower\n- mobile\n  with wheels\n1. one\n# comment\n\n| Crane | Load |\n|-------+------|\n| A | 5 t |\n| B | 7 t |\n\n#+begin_src rust\nlet x = 1;\n#+end_src\nafter\n";
        insta::assert_snapshot!(run("a.org", text), @r#"
        == Cranes
        h1 "Use of cranes"
        p "They lift,\nsee the plan and http://a.example."
        h2 "Kinds"
        item "- tower"
        item "- mobile\nwith wheels"
        item "1. one"
        table "Crane | Load\nA | 5 t\nB | 7 t"
          header ["Crane", "Load"]
          row ["A", "5 t"]
          row ["B", "7 t"]
        code "let x = 1;"
        p "after"
        link "the plan" -> b.org
        link "http://a.example" -> http://a.example
        author = Ada
        "#);
    }

    #[test]
    fn unclosed_blocks_are_reported() {
        insta::assert_snapshot!(run("a.org", "#+begin_src\nx\n[[y\n"), @r#"
        == a
        code "x\n[[y"
        ! : `#+begin_src` is not closed
        "#);
    }
}
