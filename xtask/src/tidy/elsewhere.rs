//! Does a line send the reader to a text that is not here?

use super::{Finding, Tree};

/// Sections of a paper that was never published: a comment says the idea, or names the paper.
const ABSENT: [&str; 1] = [concat!("SPEC", " §")];

/// No line cites one.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree {
        for (line, words) in (1..).zip(text.lines()) {
            if let Some(absent) = ABSENT.iter().find(|absent| words.contains(*absent)) {
                let problem = format!("`{absent}` leads to no text: say what it says");
                findings.push(Finding { path: path.clone(), line, problem });
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::{ABSENT, check};
    use crate::tidy::findings;

    #[test]
    fn finds_what_no_reader_has() {
        let text = format!("//! What?\n// As in {}4.\n// As in KAR³ §4.\n", ABSENT[0]);
        assert_eq!(
            findings(check, &[("crates/a/src/b.rs", &text), ("README.md", "A SPEC, § 4\n")]),
            [format!("crates/a/src/b.rs:2: `{}` leads to no text: say what it says", ABSENT[0])]
        );
    }
}
