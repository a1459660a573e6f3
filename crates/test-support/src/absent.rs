//! Reports tests that cannot run because something is missing on this machine. In CI that is a failure,
//! unless this file lists a reason.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Things that may be missing even in CI, each with the reason.
const OPTIONAL: [(&str, &str); 8] = [
    ("data/", "data sets are under licences of their own"),
    ("papers/", "papers are under licences of their own"),
    ("weights", "the weights of the embedding model are a download"),
    ("a small language model", "its weights and its server are a download"),
    ("tesseract", "a third-party program that reads scans"),
    ("a PostgreSQL server", "a third-party program that tests start where its packages are"),
    ("libreoffice", "a third-party program that converts old formats"),
    ("permissions", "the superuser may read everything"),
];

/// The file that gets a line for each test that was left out. `cargo xtask check` sets it and
/// prints the file at its end, because the output of passing tests is not shown.
const LIST: &str = "PIKERAG_LEFT_OUT";

/// The path of optional data beside the project; without it, reports that a test is left out.
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

/// Reports that the running test, or a part of it, is left out because `what` is missing.
///
/// # Panics
/// In CI (`CI=true`), if `what` is not listed as optional.
#[expect(clippy::print_stderr, reason = "the person who runs the tests must see it")]
pub fn absent(what: &str, why: &str) {
    let thread = std::thread::current();
    let line = format!("LEFT OUT: {}: {what} {why}", thread.name().unwrap_or("a test"));
    eprintln!("{line}");
    if let Some(list) = std::env::var_os(LIST) {
        let mut list = OpenOptions::new().create(true).append(true).open(list).unwrap();
        writeln!(list, "{line}").unwrap();
    }
    let in_ci = std::env::var_os("CI").is_some_and(|value| value == "true");
    assert!(may_be_absent(what, in_ci), "{line}; with CI=true only listed things may be missing");
}

fn may_be_absent(what: &str, in_ci: bool) -> bool {
    !in_ci || OPTIONAL.iter().any(|(listed, _)| what.starts_with(listed))
}

#[cfg(test)]
mod tests {
    use super::may_be_absent;

    #[test]
    fn in_ci_only_listed_things_may_be_absent() {
        assert!(may_be_absent("a server", false));
        assert!(!may_be_absent("a server", true));
        assert!(may_be_absent("data/multihop/musique.corpus.jsonl", true));
    }
}
