//! Checks that every reader of model replies has a fuzz target, because models reply with anything.

use super::rust::{above_tests, is_word};
use super::{Finding, Tree, has_ending};

/// Each `impl Reply for X` in our crates is in a file that lists `X` under `fuzz_replies!`.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let ours =
        tree.iter().filter(|(path, _)| path.starts_with("crates/") && has_ending(path, "rs"));
    for (path, text) in ours {
        for (line, code) in (1..).zip(above_tests(text).lines()) {
            let Some(rest) = code.strip_prefix("impl Reply for ") else { continue };
            let name: String = rest.chars().take_while(|c| is_word(*c)).collect();
            if !is_tried(text, &name) {
                let problem = format!("`{name}` reads replies: list it in `fuzz_replies!` below");
                findings.push(Finding { path: path.clone(), line, problem });
            }
        }
    }
    findings
}

fn is_tried(text: &str, name: &str) -> bool {
    text.split("fuzz_replies! {").skip(1).any(|rest| {
        let block = rest.split('}').next().unwrap_or_default();
        block
            .split(',')
            .any(|entry| entry.split_once(": ").is_some_and(|(_, of)| of.trim() == name))
    })
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::findings;

    #[test]
    fn finds_a_reader_without_a_fuzz_target() {
        let tried = "impl Reply for A {\n}\nimpl Reply for B {\n}\n#[cfg(test)]\n\
                     pikerag_test_support::fuzz_replies! { reply_a: A, reply_b: B }\n";
        let untried = "\nimpl Reply for C {\n}\n";
        let in_tests = "#[cfg(test)]\nmod tests {\nimpl Reply for D {\n}\n}\n";
        assert_eq!(
            findings(
                check,
                &[
                    ("crates/a/src/a.rs", tried),
                    ("crates/a/src/c.rs", untried),
                    ("crates/a/src/d.rs", in_tests),
                ]
            ),
            ["crates/a/src/c.rs:2: `C` reads replies: list it in `fuzz_replies!` below"]
        );
    }
}
