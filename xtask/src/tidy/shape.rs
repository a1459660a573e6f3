//! Checks that each Rust file opens with a `//!` sentence and is short enough for one subject.

use super::rust::{above_tests, is_test_file};
use super::{Finding, Tree, has_ending};

const MOST_LINES: usize = 400;
const EXCUSE: &str = "// tidy: long because ";

/// Every Rust file begins with a `//!` line and has at most 400 lines above its tests, unless one
/// of its first ten lines is `// tidy: long because …`.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.iter().filter(|(path, _)| is_ours(path)) {
        let mut find = |line, problem| findings.push(Finding { path: path.clone(), line, problem });
        if !text.starts_with("//! ") {
            find(
                1,
                "the first line is not a `//!` sentence that names the file's subject".to_owned(),
            );
        }
        let n_lines = if is_test_file(path) { 0 } else { above_tests(text).lines().count() };
        if MOST_LINES < n_lines && !text.lines().take(10).any(is_excuse) {
            let problem = format!(
                "{n_lines} lines above the tests: split the file, or write `{EXCUSE}…` on top"
            );
            find(MOST_LINES + 1, problem);
        }
    }
    findings
}

fn is_ours(path: &str) -> bool {
    has_ending(path, "rs") && (path.starts_with("crates/") || path.starts_with("xtask/"))
}

fn is_excuse(line: &str) -> bool {
    line.strip_prefix(EXCUSE).is_some_and(|reason| !reason.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::findings;

    #[test]
    fn finds_a_file_without_an_opening_sentence() {
        let found = findings(
            check,
            &[
                ("crates/a/src/lib.rs", "use b;\n//! Late.\n"),
                ("xtask/src/main.rs", ""),
                ("crates/a/src/b.rs", "//! What?\n"),
                ("tools/c.rs", "fn c() {}\n"),
                ("crates/a/Cargo.toml", ""),
            ],
        );
        assert_found(
            &found,
            &["crates/a/src/lib.rs:1: the first", "xtask/src/main.rs:1: the first"],
        );
    }

    #[test]
    fn finds_a_file_that_is_too_long() {
        let lines = |n: usize| format!("//! What?\n{}", "x\n".repeat(n - 1));
        let tests = format!("{}#[cfg(test)]\nmod tests {{\n{}}}\n", lines(400), "y\n".repeat(300));
        let excused = format!("//! What?\n// tidy: long because of a table\n{}", lines(400));
        let hollow = format!("//! What?\n// tidy: long because \n{}", lines(400));
        let found = findings(
            check,
            &[
                ("crates/a/src/excused.rs", &excused),
                ("crates/a/src/full.rs", &lines(400)),
                ("crates/a/src/hollow.rs", &hollow),
                ("crates/a/src/long.rs", &lines(401)),
                ("crates/a/src/tested.rs", &tests),
                ("crates/a/src/b/tests.rs", &lines(401)),
            ],
        );
        assert_found(
            &found,
            &["crates/a/src/hollow.rs:401: 402", "crates/a/src/long.rs:401: 401 lines"],
        );
    }

    fn assert_found(found: &[String], wanted: &[&str]) {
        assert_eq!(found.len(), wanted.len(), "{found:#?}");
        assert!(found.iter().zip(wanted).all(|(f, w)| f.starts_with(w)), "{found:#?}");
    }
}
