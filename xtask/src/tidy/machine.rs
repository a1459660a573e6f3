//! Finds names that only the author's machine has: its folders and its registries.

use super::{Finding, Tree};

/// This file must contain the strings that others must not.
const SELF: &str = "xtask/src/tidy/machine.rs";

/// Homes and work folders.
const FOLDERS: [&str; 4] = ["/work/", "/root/", "/home/", "/Users/"];

/// Hosts of package registries. The registry is a setting of the machine.
const HOSTS: [&str; 6] = [
    "index.crates.io",
    "static.crates.io",
    "pypi.org/simple",
    "files.pythonhosted.org",
    "registry.npmjs.org",
    "proxy.golang.org",
];

/// Settings that point a package manager to a registry.
const SETTINGS: [&str; 6] =
    ["index-url", "INDEX_URL", "replace-with", "GOPROXY", "registry+", "sparse+"];

/// The name of crates.io in `Cargo.lock`, whichever mirror served the crates.
const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// No line names such a folder, host or setting.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.iter().filter(|(path, _)| *path != SELF) {
        for (line, words) in (1..).zip(text.lines()) {
            let mut find = |problem| findings.push(Finding { path: path.clone(), line, problem });
            if let Some(folder) = FOLDERS.iter().find(|folder| names_folder(words, folder)) {
                find(format!("a path on one machine: `{folder}…`"));
            }
            let words = words.replace(CRATES_IO, "");
            let registry = HOSTS.iter().chain(&SETTINGS).find(|name| words.contains(*name));
            if let Some(name) = registry {
                find(format!("a package registry: `{name}`"));
            }
        }
    }
    findings
}

/// True if an absolute path begins here: not for `a/root/b`, `$HOME/work/` and `../home/`.
fn names_folder(words: &str, folder: &str) -> bool {
    words.match_indices(folder).any(|(at, _)| {
        let before = words.get(..at).unwrap_or_default();
        before.ends_with("file://")
            || before.ends_with(|c: char| c.is_whitespace() || "\"'`(<[=:,;|>".contains(c))
            || before.is_empty()
    })
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::findings;

    #[test]
    fn finds_paths_of_one_machine() {
        let text = "ok\ncd /work/main\nlet a = \"/root/x\";\nfile:///home/ada/x\nA=/Users/ada/b\n";
        assert_eq!(
            findings(check, &[("docs/a.md", text)]),
            [
                "docs/a.md:2: a path on one machine: `/work/…`",
                "docs/a.md:3: a path on one machine: `/root/…`",
                "docs/a.md:4: a path on one machine: `/home/…`",
                "docs/a.md:5: a path on one machine: `/Users/…`",
            ]
        );
    }

    #[test]
    fn finds_registries() {
        let found = findings(
            check,
            &[
                (".cargo/config.toml", "[source.crates-io]\nreplace-with = \"mirror\"\n"),
                (
                    ".ci/run",
                    "pip install --index-url http://mirror a\ncurl https://index.crates.io/a\n",
                ),
                ("Cargo.lock", "source = \"sparse+https://mirror/\"\n"),
            ],
        );
        assert_eq!(
            found,
            [
                ".cargo/config.toml:2: a package registry: `replace-with`",
                ".ci/run:1: a package registry: `index-url`",
                ".ci/run:2: a package registry: `index.crates.io`",
                "Cargo.lock:1: a package registry: `sparse+`",
            ]
        );
    }

    #[test]
    fn passes_other_paths_and_the_usual_lock_file() {
        let lock = "source = \"registry+https://github.com/rust-lang/crates.io-index\"\n";
        let text =
            "../home/a framework/root/b $HOME/work/c https://d.org/home/e https://crates.io\n";
        assert_eq!(findings(check, &[("Cargo.lock", lock), ("README.md", text)]), [""; 0]);
    }
}
