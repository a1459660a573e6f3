//! Writes the generated parts of the documents: the table of methods, and lists of their names.

use std::path::Path;

use anyhow::{Context, Result};

use crate::program::{cargo, output_of};

const BEGIN: &str = "<!-- methods:begin -->\n";
const END: &str = "<!-- methods:end -->";
/// The page with the whole table; the others list names.
const TABLE: &str = "docs/reference/methods.md";
const LISTS: [&str; 2] = ["README.md", "README.zh.md"];
/// The largest number of characters of a line.
const WIDTH: usize = 120;

/// Writes the program's description of its methods into the pages, between the marks.
pub(crate) fn docs(root: &Path) -> Result<()> {
    let arguments = ["run", "--quiet", "--package", "pikerag", "--", "methods", "--markdown"];
    let table = output_of(cargo(root, &arguments))?;
    let names = names(&table);
    let pages = [(TABLE, &table)].into_iter().chain(LISTS.map(|page| (page, &names)));
    for (page, region) in pages {
        let path = root.join(page);
        let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {page}"))?;
        let written =
            with_region(&text, region).with_context(|| format!("{page} has no {BEGIN}… {END}"))?;
        let is_behind = written != text;
        if is_behind {
            std::fs::write(&path, written).with_context(|| format!("cannot write {page}"))?;
        }
        println!("{page}: {}", if is_behind { "rewritten" } else { "unchanged" });
    }
    Ok(())
}

/// The page with new text between its marks; `None` without marks.
fn with_region(page: &str, region: &str) -> Option<String> {
    let (before, after) = page.split_once(BEGIN)?;
    let (_, after) = after.split_once(END)?;
    Some(format!("{before}{BEGIN}{region}{END}{after}"))
}

/// The names of the table's first column, in lines.
fn names(table: &str) -> String {
    let named = table.lines().filter_map(|row| row.strip_prefix("| `")?.split('`').next());
    let named: Vec<String> = named.map(|name| format!("`{name}`")).collect();
    let (mut lines, mut line) = (String::new(), String::new());
    for (place, name) in named.iter().enumerate() {
        let word = if place + 1 == named.len() { name.clone() } else { format!("{name},") };
        if !line.is_empty() && WIDTH <= line.len() + word.len() {
            lines += &line;
            lines.push('\n');
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line += &word;
    }
    lines + &line + "\n"
}

#[cfg(test)]
mod tests {
    use super::{names, with_region};

    #[test]
    fn only_the_text_between_the_marks_is_replaced() {
        let page = "# A\n<!-- methods:begin -->\nold\n<!-- methods:end -->\nB\n";
        let written = with_region(page, "new\n").unwrap();
        assert_eq!(written, "# A\n<!-- methods:begin -->\nnew\n<!-- methods:end -->\nB\n");
        assert_eq!(with_region(&written, "new\n").unwrap(), written);
        assert!(with_region("# A\n", "new\n").is_none());
    }

    #[test]
    fn names_in_lines() {
        let table = "| name | x |\n| --- | --- |\n| `a` | `no` |\n| `b-c` | |\n";
        assert_eq!(names(table), "`a`, `b-c`\n");
        let rows: Vec<String> = (0..40).map(|n| format!("| `method-{n}` | |")).collect();
        let lines = names(&rows.join("\n"));
        assert!(
            2 < lines.lines().count() && lines.lines().all(|line| line.len() <= 120),
            "{lines}"
        );
    }
}
