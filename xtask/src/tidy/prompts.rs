//! Checks that every text of a prompt that shipped stays available, because kept runs are replayed with it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use anyhow::{Context, Result, bail, ensure};
use sha2::{Digest, Sha256};

use super::rust::above_tests;
use super::{Finding, Tree, has_ending};

/// Lists the texts of prompts and of their examples. The program reads it, too.
pub(crate) const LOCK: &str = "crates/prompt/prompts.lock";

const HEADER: &str = "\
# The texts of prompts that answer questions: SHA-256, version, path. `cargo xtask prompts` writes this file.
";

/// Files and folders with prompts that no replay asks with, each with the reason.
const ELSEWHERE: [(&str, &str); 15] = [
    ("crates/eval/", "evaluations"),
    ("crates/train/", "training data"),
    ("crates/indexing/", "indexing"),
    ("crates/extract/src/prompts/chunk_end.md", "indexing"),
    ("crates/extract/src/prompts/entities.md", "indexing"),
    ("crates/extract/src/prompts/forward.md", "indexing"),
    ("crates/extract/src/prompts/section.md", "indexing"),
    ("crates/extract/src/prompts/tag_chunk.md", "indexing"),
    ("crates/extract/src/prompts/tag_classes.md", "indexing"),
    ("crates/extract/src/prompts/tag_factors.md", "indexing"),
    ("crates/extract/src/prompts/tag_pairs.md", "indexing"),
    ("crates/records/src/prompts/records.md", "indexing"),
    ("crates/records/src/prompts/schema.md", "`pikerag records propose`"),
    ("crates/methods/src/prompts/fill.md", "it is asked after a run has ended"),
    ("crates/methods/src/prompts/standalone.md", "it is asked before a run begins"),
];

/// The list of texts: for each path the hash and the version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lock(pub(crate) BTreeMap<String, Locked>);

/// A text that shipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Locked {
    pub(crate) hash: String,
    /// From 1.
    pub(crate) version: u32,
}

impl Locked {
    pub(crate) fn new(text: &str, version: u32) -> Self {
        Self { hash: hash(text), version }
    }
}

impl Lock {
    pub(crate) fn read(tree: &Tree) -> Result<Self> {
        let text = tree.get(LOCK).map(String::as_str).unwrap_or_default();
        let mut locked = BTreeMap::new();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let columns: Vec<&str> = line.split(' ').collect();
            let [hash, version, path] = columns.as_slice() else {
                bail!("{LOCK}: `{line}` is not `SHA-256 VERSION PATH`");
            };
            let version: u32 = version.parse().with_context(|| format!("{LOCK}: `{line}`"))?;
            ensure!(0 < version, "{LOCK}: `{line}`: versions begin with 1");
            locked.insert((*path).to_owned(), Locked { hash: (*hash).to_owned(), version });
        }
        Ok(Self(locked))
    }

    pub(crate) fn text(&self) -> String {
        let mut text = HEADER.to_owned();
        for (path, Locked { hash, version }) in &self.0 {
            let _ = writeln!(text, "{hash} {version} {path}"); // Writing to a string cannot fail.
        }
        text
    }

    /// The texts that differ from the listed ones, and those that are gone.
    pub(crate) fn changed<'l>(&'l self, tree: &Tree) -> Vec<(&'l str, &'l Locked, Change)> {
        let changed = self.0.iter().filter_map(|(path, locked)| match tree.get(path) {
            None => Some((path.as_str(), locked, Change::Gone)),
            Some(text) if hash(text) != locked.hash => {
                Some((path.as_str(), locked, Change::Reworded))
            }
            Some(_) => None,
        });
        changed.collect()
    }

    /// Paths of texts that are not listed.
    pub(crate) fn unlisted(&self, tree: &Tree) -> Vec<String> {
        let paths = tree.keys().filter(|path| counts(path) && !self.0.contains_key(*path));
        paths.cloned().collect()
    }
}

/// The difference between a listed text and its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Gone,
    Reworded,
}

/// Whether a path is the text of a prompt that answers questions, or an earlier one.
fn counts(path: &str) -> bool {
    let is_prompt = path.starts_with("crates/")
        && path.contains("/src/")
        && path.contains("/prompts/")
        && has_ending(path, "md");
    is_prompt && !ELSEWHERE.iter().any(|(elsewhere, _)| path.starts_with(elsewhere))
}

/// Whether it is the text of an earlier version.
pub(crate) fn is_earlier(path: &str) -> bool {
    path.contains("/prompts/earlier/")
}

/// `methods/look` for `crates/methods/src/prompts/look.md`.
pub(crate) fn name(path: &str) -> Option<String> {
    let (package, rest) = path.strip_prefix("crates/")?.split_once('/')?;
    let (_, file) = rest.rsplit_once('/')?;
    Some(format!("{package}/{}", file.strip_suffix(".md")?))
}

/// The path of version `version` of a prompt: `…/prompts/earlier/look.1.md` for `…/prompts/look.md`.
pub(crate) fn earlier_path(path: &str, version: u32) -> Option<String> {
    let (folder, file) = path.rsplit_once('/')?;
    Some(format!("{folder}/earlier/{}.{version}.md", file.strip_suffix(".md")?))
}

fn hash(text: &str) -> String {
    let mut hash = String::new();
    for byte in Sha256::digest(text.as_bytes()) {
        let _ = write!(hash, "{byte:02x}"); // Writing to a string cannot fail.
    }
    hash
}

/// Every text is listed with its hash, no listed text differs, and Rust files include all earlier
/// versions under the prompt's own name. No two prompts have one name.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let finding = |path: &str, problem: String| Finding { path: path.to_owned(), line: 1, problem };
    let lock = match Lock::read(tree) {
        Ok(lock) => lock,
        Err(error) => return vec![finding(LOCK, format!("{error:#}"))],
    };
    let mut findings = Vec::new();
    for path in lock.unlisted(tree) {
        let problem = format!("this text is not in {LOCK}: run `cargo xtask prompts`");
        findings.push(finding(&path, problem));
    }
    for (path, locked, change) in lock.changed(tree) {
        let problem = match change {
            Change::Gone => format!("the file is gone, and {LOCK} lists it: put it back, or run `cargo xtask prompts`"),
            Change::Reworded if is_earlier(path) => {
                "this is not the text that shipped: put it back, because kept runs are replayed with it".to_owned()
            }
            Change::Reworded => format!(
                "this is not the text that shipped as version {}: run `cargo xtask prompts --keep REVISION` with a \
                 revision that has that text, so that kept runs are replayed with it; if no release has it, run \
                 `cargo xtask prompts --amend`",
                locked.version
            ),
        };
        findings.push(finding(path, problem));
    }
    // Only crates have prompts; this file mentions the call that it looks for.
    let is_crate = |path: &str| path.starts_with("crates/") && path.contains("/src/");
    let rust: Vec<(&str, &str)> = tree
        .iter()
        .filter(|(path, _)| has_ending(path, "rs") && is_crate(path))
        .map(|(path, text)| (path.as_str(), above_tests(text)))
        .collect();
    let mut names = BTreeSet::new();
    for (path, locked) in lock.0.iter().filter(|(path, _)| !is_earlier(path)) {
        let Some(name) = name(path) else { continue };
        let package = name.split('/').next().unwrap_or_default();
        let folder = format!("crates/{package}/");
        for version in 1..locked.version {
            let Some(earlier) = earlier_path(path, version) else { continue };
            let file = earlier.rsplit_once("/prompts/").map_or("", |(_, file)| file);
            let included = format!("prompts/{file}\"");
            let is_included =
                |(path, text): &(&str, &str)| path.starts_with(&folder) && text.contains(&included);
            if !tree.contains_key(&earlier) {
                let problem = format!("there is no `{earlier}`, the text of version {version}");
                findings.push(finding(path, problem));
            } else if !rust.iter().any(is_included) {
                let problem = format!(
                    "no Rust file includes it: add it to the prompt, `.with_earlier(\"{name}\", …)`"
                );
                findings.push(finding(&earlier, problem));
            }
        }
        if !names.insert(name.clone()) {
            findings.push(finding(path, format!("two prompts have the name `{name}`")));
        }
    }
    for (path, text) in rust {
        let uses = text.split(".with_earlier(").skip(1);
        for given in uses.filter_map(|after| after.trim_start().strip_prefix('"')) {
            let given = given.split('"').next().unwrap_or_default();
            if !names.contains(given) {
                let problem =
                    format!("`{given}` is no prompt of {LOCK}: the name is CRATE/TEMPLATE");
                findings.push(finding(path, problem));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::{LOCK, Lock, Locked, check, earlier_path, name};
    use crate::tidy::findings;

    const LOOK: &str = "crates/a/src/deep/prompts/look.md";
    const FIRST: &str = "crates/a/src/deep/prompts/earlier/look.1.md";
    const RUST: &str = "crates/a/src/deep/look.rs";

    fn lock(entries: &[(&str, &str, u32)]) -> String {
        let entry = |(path, text, version): &(&str, &str, u32)| {
            ((*path).to_owned(), Locked::new(text, *version))
        };
        Lock(entries.iter().map(entry).collect()).text()
    }

    #[test]
    fn listed_texts_prompts_of_indexing_and_this_file_are_in_order() {
        let listed = lock(&[(LOOK, "Second.", 2), (FIRST, "First.", 1)]);
        let code = "const P: Prompt = new()\n    .with_earlier(\n    \"a/look\", &[include_str!(\"prompts/earlier/look.1.md\")]);\n";
        let files = [
            (LOCK, listed.as_str()),
            (LOOK, "Second."),
            (FIRST, "First."),
            (RUST, code),
            ("crates/indexing/src/prompts/report.md", "any"),
            ("docs/prompts/look.md", "any"),
            ("xtask/src/tidy/prompts.rs", include_str!("prompts.rs")),
        ];
        assert_eq!(findings(check, &files), [""; 0]);
    }

    #[test]
    fn reworded_texts_must_be_kept() {
        let listed = lock(&[(LOOK, "Second.", 2), (FIRST, "First.", 1)]);
        let found = findings(
            check,
            &[(LOCK, listed.as_str()), (LOOK, "Third."), (FIRST, "1st."), (RUST, "no texts")],
        );
        assert_eq!(
            found,
            [
                format!(
                    "{FIRST}:1: this is not the text that shipped: put it back, because kept runs are replayed with it"
                ),
                format!(
                    "{LOOK}:1: this is not the text that shipped as version 2: run `cargo xtask prompts --keep REVISION` \
                     with a revision that has that text, so that kept runs are replayed with it; if no release has it, \
                     run `cargo xtask prompts --amend`"
                ),
                format!(
                    "{FIRST}:1: no Rust file includes it: add it to the prompt, `.with_earlier(\"a/look\", …)`"
                ),
            ]
        );
    }

    #[test]
    fn texts_without_a_line_lines_without_a_text_and_wrong_names_are_found() {
        let listed = lock(&[(LOOK, "Second.", 2), ("crates/a/src/prompts/look.md", "x", 1)]);
        let code = "const P: Prompt = new().with_earlier(\"a/lok\", &[]);\n";
        let found = findings(
            check,
            &[
                (LOCK, listed.as_str()),
                (LOOK, "Second."),
                ("crates/b/src/prompts/new.md", "x"),
                (RUST, code),
            ],
        );
        assert_eq!(
            found,
            [
                format!(
                    "crates/b/src/prompts/new.md:1: this text is not in {LOCK}: run `cargo xtask prompts`"
                ),
                format!(
                    "crates/a/src/prompts/look.md:1: the file is gone, and {LOCK} lists it: put it back, or run \
                     `cargo xtask prompts`"
                ),
                format!("{LOOK}:1: there is no `{FIRST}`, the text of version 1"),
                "crates/a/src/prompts/look.md:1: two prompts have the name `a/look`".to_owned(),
                format!("{RUST}:1: `a/lok` is no prompt of {LOCK}: the name is CRATE/TEMPLATE"),
            ]
        );
        assert_eq!(
            findings(check, &[(LOCK, "abc x path\n")]),
            [format!("{LOCK}:1: {LOCK}: `abc x path`: invalid digit found in string")]
        );
    }

    #[test]
    fn names_and_places_follow_from_the_path() {
        assert_eq!(name(LOOK).as_deref(), Some("a/look"));
        assert_eq!(earlier_path(LOOK, 1).as_deref(), Some(FIRST));
    }
}
