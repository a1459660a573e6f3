//! Refuses large files, because a clone must stay small, and weights or data are committed by
//! mistake.

use std::path::Path;

use super::{Finding, Tree};

/// The largest size of a file, in bytes.
const MOST_BYTES: u64 = 2 << 20;

/// Files that may be larger, each with its reason.
const LISTED: [(&str, &str); 0] = [];

/// No file of the tree is above 2 MiB unless it is listed.
pub(super) fn check(root: &Path, tree: &Tree) -> Vec<Finding> {
    let size = |path: &String| std::fs::metadata(root.join(path)).map_or(0, |file| file.len());
    tree.keys().filter_map(|path| finding(path, size(path), &LISTED)).collect()
}

fn finding(path: &str, bytes: u64, listed: &[(&str, &str)]) -> Option<Finding> {
    if bytes <= MOST_BYTES || listed.iter().any(|(known, _)| *known == path) {
        return None;
    }
    let problem = format!(
        "{bytes} bytes, at most {MOST_BYTES} are allowed: remove the file, or list it with its \
         reason in xtask/src/tidy/size.rs"
    );
    Some(Finding { path: path.to_owned(), line: 1, problem })
}

#[cfg(test)]
mod tests {
    use super::{MOST_BYTES, finding};

    #[test]
    fn large_files_are_refused_unless_they_are_listed() {
        let listed = [("data.bin", "a test reads it")];
        assert_eq!(finding("data.bin", MOST_BYTES + 1, &listed), None);
        assert_eq!(finding("small.bin", MOST_BYTES, &[]), None);
        let found = finding("weights.bin", MOST_BYTES + 1, &listed).unwrap().to_string();
        assert!(found.starts_with("weights.bin:1: 2097153 bytes, at most 2097152"), "{found}");
    }
}
