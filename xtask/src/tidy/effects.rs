//! Finds effects outside their one allowed place: reading the environment, starting processes,
//! printing.

use super::rust::{above_tests, code_only, is_test_file, is_word};
use super::{Finding, Tree, has_ending};

/// The forbidden name, the place where it is allowed, and the reason.
const FORBIDDEN: [(&str, &str, &str); 10] = [
    ("std::env", SETTINGS, ENVIRONMENT),
    ("env::var", SETTINGS, ENVIRONMENT),
    ("env::var_os", SETTINGS, ENVIRONMENT),
    ("println!", APP, PRINTS),
    ("eprintln!", APP, PRINTS),
    ("print!", APP, PRINTS),
    ("eprint!", APP, PRINTS),
    ("Command::new", SANDBOX, PROCESSES),
    ("process::Command", SANDBOX, PROCESSES),
    ("tokio::process", SANDBOX, PROCESSES),
];

const SETTINGS: &str = "crates/engine/src/settings";
const SANDBOX: &str = "crates/engine/src/sandbox";
const APP: &str = "crates/app/src/";

const ENVIRONMENT: &str = "only `engine::settings` reads the environment";
const PROCESSES: &str = "only `engine::sandbox` starts processes";
const PRINTS: &str = "only `app` prints";

/// No forbidden name in our crates outside its allowed place; at most one finding per line. Tests,
/// benchmarks, comments and strings are exempt.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.iter().filter(|(path, _)| is_source(path)) {
        for (line, code) in (1..).zip(code_only(above_tests(text)).lines()) {
            let is_broken = |(name, place, _): &&(&str, &str, &str)| {
                !path.starts_with(place) && names(code, name)
            };
            if let Some((name, _, reason)) = FORBIDDEN.iter().find(is_broken) {
                let problem = format!("`{name}`: {reason}");
                findings.push(Finding { path: path.clone(), line, problem });
            }
        }
    }
    findings
}

/// Rust files in a crate's `src`: not `build.rs`, `examples`, or code for tests.
fn is_source(path: &str) -> bool {
    if path.starts_with("crates/test-support/") {
        return false;
    }
    let place = path.strip_prefix("crates/").and_then(|path| path.split_once('/'));
    let Some((_, rest)) = place else { return false };
    rest.starts_with("src/") && has_ending(rest, "rs") && !is_test_file(rest)
}

/// True if `name` occurs in `code` as a whole: `eprintln!` does not name `println!`.
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
    fn finds_effects_where_they_do_not_belong() {
        let lib = "//! What?\nuse std::env;\nfn a() {\n    let b = env::var(\"B\");\n    \
                   println!(\"{b:?}\");\n    eprint!(\"c\");\n    Command::new(\"ls\");\n}\n\
                   use std::process::Command;\n";
        assert_eq!(
            findings(check, &[("crates/a/src/b/c.rs", lib)]),
            [
                "crates/a/src/b/c.rs:2: `std::env`: only `engine::settings` reads the environment",
                "crates/a/src/b/c.rs:4: `env::var`: only `engine::settings` reads the environment",
                "crates/a/src/b/c.rs:5: `println!`: only `app` prints",
                "crates/a/src/b/c.rs:6: `eprint!`: only `app` prints",
                "crates/a/src/b/c.rs:7: `Command::new`: only `engine::sandbox` starts processes",
                "crates/a/src/b/c.rs:9: `process::Command`: only `engine::sandbox` starts processes",
            ]
        );
        let found = findings(
            check,
            &[
                ("crates/app/src/main.rs", lib),
                ("crates/engine/src/sandbox/child.rs", "use tokio::process::Command;\n"),
                ("crates/engine/src/settings/environment.rs", "std::env::vars_os();\n"),
            ],
        );
        let lines: Vec<_> = found.iter().filter_map(|line| line.split(':').nth(1)).collect();
        assert_eq!(lines, ["2", "4", "7", "9"], "{found:#?}");
    }

    #[test]
    fn ignores_code_that_does_not_ship() {
        let print = "fn a() { println!(\"{:?}\", std::env::args()) }\n";
        let tests = format!("//! What?\n#[cfg(test)]\nmod tests {{\n{print}}}\n");
        let found = findings(
            check,
            &[
                ("crates/a/benches/b.rs", print),
                ("crates/a/build.rs", print),
                ("crates/a/src/b/tests.rs", print),
                ("crates/test-support/src/a.rs", print),
                ("crates/a/src/lib.rs", &tests),
                ("crates/a/tests/b.rs", print),
                ("crates/app/src/output.rs", "fn a() { println!() }\n"),
                ("xtask/src/main.rs", print),
                ("crates/b/src/lib.rs", "/// Not `println!`.\nconst A: &str = \"std::env\";\n"),
                ("crates/c/src/lib.rs", "my_env::variable(); pretty_print!(); env!(\"A\");\n"),
            ],
        );
        assert_eq!(found, [""; 0]);
    }
}
