//! Finds references to a text that is not in the project.

use super::{Finding, Tree};

/// Sections of an unpublished paper: a comment must state the idea, or name a published paper.
const ABSENT: [&str; 1] = [concat!("SPEC", " §")];

/// No line cites one.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree {
        for (line, words) in (1..).zip(text.lines()) {
            if let Some(absent) = ABSENT.iter().find(|absent| words.contains(*absent)) {
                let problem =
                    format!("`{absent}` cites a text that is not here: state the idea itself");
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
    fn finds_references_to_absent_texts() {
        let text = format!("//! What?\n// As in {}4.\n// As in KAR³ §4.\n", ABSENT[0]);
        assert_eq!(
            findings(check, &[("crates/a/src/b.rs", &text), ("README.md", "A SPEC, § 4\n")]),
            [format!(
                "crates/a/src/b.rs:2: `{}` cites a text that is not here: state the idea itself",
                ABSENT[0]
            )]
        );
    }
}
