//! Does a library do what only `app` may: read the environment, print, start a process?

use super::rust::{above_tests, code_only, is_test_file, is_word};
use super::{Finding, Tree, has_ending};

/// What not to write, and the reason.
const FORBIDDEN: [(&str, &str); 10] = [
    ("std::env", "settings are read in `app` and passed down as values"),
    ("env::var", "settings are read in `app` and passed down as values"),
    ("env::var_os", "settings are read in `app` and passed down as values"),
    ("println!", "only `app` prints"),
    ("eprintln!", "only `app` prints"),
    ("print!", "only `app` prints"),
    ("eprint!", "only `app` prints"),
    ("Command::new", "only `app` starts processes"),
    ("process::Command", "only `app` starts processes"),
    ("tokio::process", "only `app` starts processes"),
];

/// No forbidden name in the code of a library; at most one finding per line. Tests, benchmarks,
/// comments and strings may say what they like.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.iter().filter(|(path, _)| is_library(path)) {
        for (line, code) in (1..).zip(code_only(above_tests(text)).lines()) {
            if let Some((name, reason)) = FORBIDDEN.iter().find(|(name, _)| names(code, name)) {
                let problem = format!("`{name}` in a library: {reason}");
                findings.push(Finding { path: path.clone(), line, problem });
            }
        }
    }
    findings
}

/// Rust files in a crate's `src`: neither `build.rs` nor `examples`.
fn is_library(path: &str) -> bool {
    let place = path.strip_prefix("crates/").and_then(|path| path.split_once('/'));
    let Some((name, rest)) = place else { return false };
    let is_source = rest.starts_with("src/") && has_ending(rest, "rs");
    is_source && name != "app" && !is_test_file(rest)
}

/// True if `name` stands in `code` as a whole: `eprintln!` does not name `println!`.
fn names(code: &str, name: &str) -> bool {
    code.match_indices(name).any(|(at, _)| {
        let before = code.get(..at).unwrap_or_default();
        let after = code.get(at + name.len()..).unwrap_or_default();
        !before.ends_with(is_word) && (name.ends_with('!') || !after.starts_with(is_word))
    })
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::findings;

    #[test]
    fn finds_effects_in_libraries() {
        let lib = "//! What?\nuse std::env;\nfn a() {\n    let b = env::var(\"B\");\n    \
                   println!(\"{b:?}\");\n    eprint!(\"c\");\n    Command::new(\"ls\");\n}\n\
                   use std::process::Command;\n";
        assert_eq!(
            findings(check, &[("crates/a/src/b/c.rs", lib)]),
            [
                "crates/a/src/b/c.rs:2: `std::env` in a library: settings are read in `app` and passed down as values",
                "crates/a/src/b/c.rs:4: `env::var` in a library: settings are read in `app` and passed down as values",
                "crates/a/src/b/c.rs:5: `println!` in a library: only `app` prints",
                "crates/a/src/b/c.rs:6: `eprint!` in a library: only `app` prints",
                "crates/a/src/b/c.rs:7: `Command::new` in a library: only `app` starts processes",
                "crates/a/src/b/c.rs:9: `process::Command` in a library: only `app` starts processes",
            ]
        );
    }

    #[test]
    fn passes_what_does_not_ship() {
        let print = "fn a() { println!(\"{:?}\", std::env::args()) }\n";
        let tests = format!("//! What?\n#[cfg(test)]\nmod tests {{\n{print}}}\n");
        let found = findings(
            check,
            &[
                ("crates/a/benches/b.rs", print),
                ("crates/a/build.rs", print),
                ("crates/a/src/b/tests.rs", print),
                ("crates/a/src/lib.rs", &tests),
                ("crates/a/tests/b.rs", print),
                ("crates/app/src/main.rs", print),
                ("xtask/src/main.rs", print),
                ("crates/b/src/lib.rs", "/// Not `println!`.\nconst A: &str = \"std::env\";\n"),
                ("crates/c/src/lib.rs", "my_env::variable(); pretty_print!(); env!(\"A\");\n"),
            ],
        );
        assert_eq!(found, [""; 0]);
    }
}
