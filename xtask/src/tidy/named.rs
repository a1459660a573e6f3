//! Checks that tests and files exist that the tables of ARCHITECTURE.md and the reference pages
//! name.

use std::collections::BTreeMap;

use super::rust::is_word;
use super::{Finding, Tree, has_ending};

/// The pages whose tables name tests and files.
const PAGES: [&str; 4] = [
    "ARCHITECTURE.md",
    "docs/reference/papers.md",
    "docs/reference/invariants.md",
    "docs/reference/server-guarantees.md",
];

/// Columns that name tests, and files with them.
const TESTS: [&str; 2] = ["test", "kept by"];

/// Columns that name files only.
const FILES: [&str; 4] = ["file", "a question", "a file", "a model call"];

/// Every back-quoted file exists. Every back-quoted `name_of_a_test` is a function, in the file
/// that is named directly after it, if there is one.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let places: Vec<String> = tree.keys().map(|path| short(path)).collect();
    let functions = functions(tree);
    let mut findings = Vec::new();
    for path in PAGES {
        if let Some(page) = tree.get(path) {
            findings.extend(in_page(path, page, &places, &functions));
        }
    }
    findings
}

fn in_page(
    path: &str,
    page: &str,
    places: &[String],
    functions: &BTreeMap<&str, Vec<String>>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut header: Option<Vec<&str>> = None;
    for (line, words) in (1..).zip(page.lines()) {
        let Some(cells) = cells(words) else {
            header = None;
            continue;
        };
        let Some(header) = &header else {
            header = Some(cells);
            continue;
        };
        for (column, cell) in header.iter().zip(cells) {
            let mut problems = Vec::new();
            if TESTS.contains(column) || FILES.contains(column) {
                let files = codes(cell).into_iter().map(|(code, _)| code).filter(|c| is_file(c));
                let absent = files.filter(|file| !places.iter().any(|place| leads(file, place)));
                problems.extend(absent.map(|file| format!("there is no file `{file}`")));
            }
            if TESTS.contains(column) {
                problems.extend(tests(cell).into_iter().filter_map(|t| missing(t, functions)));
            }
            let finding = |problem| Finding { path: path.to_owned(), line, problem };
            findings.extend(problems.into_iter().map(finding));
        }
    }
    findings
}

/// `crates/store/src/sqlite/put.rs` → `/store/sqlite/put.rs`, the form that the tables use.
fn short(path: &str) -> String {
    format!("/{}", path.strip_prefix("crates/").unwrap_or(path).replacen("/src/", "/", 1))
}

/// The functions of all Rust files, with their files.
fn functions(tree: &Tree) -> BTreeMap<&str, Vec<String>> {
    let mut found: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (path, text) in tree.iter().filter(|(path, _)| has_ending(path, "rs")) {
        for (at, opening) in text.match_indices("fn ") {
            let after = text.get(at + opening.len()..).unwrap_or_default();
            let name = after.split(|c| !is_word(c)).next().unwrap_or_default();
            if !text.get(..at).unwrap_or_default().ends_with(is_word) {
                found.entry(name).or_default().push(short(path));
            }
        }
    }
    found
}

/// The cells of a row of a table.
fn cells(words: &str) -> Option<Vec<&str>> {
    let inside = words.trim().strip_prefix('|')?.strip_suffix('|')?;
    Some(inside.split(" | ").map(str::trim).collect())
}

/// The texts between backticks, each with the words up to the next.
fn codes(cell: &str) -> Vec<(&str, &str)> {
    let mut parts = cell.split('`').skip(1);
    let mut found = Vec::new();
    while let Some(code) = parts.next() {
        found.push((code, parts.next().unwrap_or_default()));
    }
    found
}

/// The names of tests in a cell, each with the file that is named for it.
fn tests(cell: &str) -> Vec<(&str, Option<&str>)> {
    let codes = codes(cell);
    let mut found = Vec::new();
    for (at, (code, after)) in codes.iter().enumerate() {
        let next = codes.get(at + 1).map(|(code, _)| *code).filter(|code| is_file(code));
        let file = next.filter(|_| !after.contains([',', ';']));
        if is_name(code) && (code.contains('_') || file.is_some()) {
            found.push((*code, file));
        }
    }
    found
}

fn is_name(code: &str) -> bool {
    code.starts_with(|c: char| c.is_ascii_lowercase())
        && code.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// `a/b.rs`, `layout.sql`, `graph/`.
fn is_file(code: &str) -> bool {
    let is_path = code.chars().all(|c| is_word(c) || "/.-".contains(c));
    let endings = ["rs", "py", "sql", "toml", "md"];
    is_path && (code.ends_with('/') || endings.iter().any(|ending| has_ending(code, ending)))
}

/// True if `file`, which may omit leading folders, is at `place` or a folder above it.
fn leads(file: &str, place: &str) -> bool {
    let file = format!("/{file}");
    if file.ends_with('/') { place.contains(&file) } else { place.ends_with(&file) }
}

fn missing(
    (name, file): (&str, Option<&str>),
    functions: &BTreeMap<&str, Vec<String>>,
) -> Option<String> {
    let Some(places) = functions.get(name) else {
        return Some(format!("there is no test `{name}`"));
    };
    let file = file.filter(|file| !places.iter().any(|place| leads(file, place)))?;
    let places = places.join("`, `");
    Some(format!("`{name}` is not in `{file}` but in `{places}`"))
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::findings;

    const CODE: (&str, &str) = ("crates/a/src/b/c.rs", "fn it_holds() {}\nfn verify<T>() {}\n");
    const MORE: (&str, &str) = ("crates/a/tests/d.rs", "#[test]\nfn it_walks() {}\n");

    fn found(page: &str) -> Vec<String> {
        let found = findings(check, &[CODE, MORE, ("ARCHITECTURE.md", page)]);
        found.iter().map(|line| line.replace("ARCHITECTURE.md:", "")).collect()
    }

    #[test]
    fn passes_existing_tests_and_files() {
        let page = "| paper | file | test |\n| --- | --- | --- |\n\
                    | `not_a_test` | `a/b/c.rs`: `gone_too`; `c.rs`, `b/` | `it_holds` (`b/c.rs`), `it_walks` (`a/tests/d.rs`) |\n\n\
                    | holds | kept by |\n| --- | --- |\n\
                    | all | `verify` in `c.rs`; `it_walks`, `it_holds` and its like (`c.rs`); `Rule`; one word: `alone` |\n\
                    \n`gone_as_well` (`gone.rs`)\n";
        assert_eq!(found(page), [""; 0]);
    }

    #[test]
    fn finds_missing_and_moved_tests_and_files() {
        let page = "| holds | kept by |\n| --- | --- |\n\
                    | a | `it_fell` (`c.rs`) |\n| b | `it_holds` (`a/tests/d.rs`) |\n| c | `hold.rs`, `x/` |\n";
        assert_eq!(
            found(page),
            [
                "3: there is no test `it_fell`",
                "4: `it_holds` is not in `a/tests/d.rs` but in `/a/b/c.rs`",
                "5: there is no file `hold.rs`",
                "5: there is no file `x/`",
            ]
        );
    }
}
