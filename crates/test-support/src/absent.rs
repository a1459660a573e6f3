//! What if a test needs something that this machine lacks? It says so where nobody overlooks it; in CI
//! that is a failure, unless it is listed here why it may be lacking.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

/// What may be absent even in CI, and why.
const OPTIONAL: [(&str, &str); 7] = [
    ("data/", "data sets are under licences of their own"),
    ("papers/", "papers are under licences of their own"),
    ("weights", "the weights of the embedding model are a download"),
    ("a small language model", "its weights and its server are a download"),
    ("tesseract", "a program of others, which reads scans"),
    ("libreoffice", "a program of others, which converts old formats"),
    ("permissions", "the superuser may read everything"),
];

/// Where a line goes for each test that was left out: `cargo xtask check` names the file and prints it
/// at its end, for the output of tests that pass is not shown.
const LIST: &str = "PIKERAG_LEFT_OUT";

/// A file or folder of the optional data beside the project; says that a test is left out without it.
#[must_use]
pub fn optional(path: &str) -> Option<PathBuf> {
    let full = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(path);
    match full.canonicalize() {
        Ok(full) => Some(full),
        Err(_) => {
            absent(path, "is not beside the project");
            None
        }
    }
}

/// Says that the running test, or a part of it, is left out for want of `what`.
///
/// # Panics
/// In CI (`CI=true`), where `what` is not listed as optional.
#[expect(clippy::print_stderr, reason = "whoever runs the tests has to see it")]
pub fn absent(what: &str, why: &str) {
    let thread = std::thread::current();
    let line = format!("LEFT OUT: {}: {what} {why}", thread.name().unwrap_or("a test"));
    eprintln!("{line}");
    if let Some(list) = std::env::var_os(LIST) {
        let mut list = OpenOptions::new().create(true).append(true).open(list).unwrap();
        writeln!(list, "{line}").unwrap();
    }
    let in_ci = std::env::var_os("CI").is_some_and(|value| value == "true");
    assert!(
        may_be_absent(what, in_ci),
        "{line}; with CI=true nothing is left out but what is listed"
    );
}

fn may_be_absent(what: &str, in_ci: bool) -> bool {
    !in_ci || OPTIONAL.iter().any(|(listed, _)| what.starts_with(listed))
}

#[cfg(test)]
mod tests {
    use super::may_be_absent;

    #[test]
    fn in_ci_only_what_is_listed_may_be_absent() {
        assert!(may_be_absent("a server", false));
        assert!(!may_be_absent("a server", true));
        assert!(may_be_absent("data/multihop/musique.corpus.jsonl", true));
    }
}
