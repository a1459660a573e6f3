//! Checks the project's rules that no compiler checks (STYLE.md, House rules).

use std::collections::BTreeMap;
use std::fmt;
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

mod arrows;
mod circles;
mod effects;
mod elsewhere;
mod links;
mod machine;
mod named;
pub(crate) mod prompts;
mod prose;
pub(crate) mod rust;
mod shape;
mod size;
mod targets;

/// The project's files: their text by their path from the root, with `/` on every system. Files
/// that are not UTF-8 have an empty text.
pub(crate) type Tree = BTreeMap<String, String>;

/// A broken rule and its place.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    path: String,
    /// Counted from 1.
    line: usize,
    problem: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}: {}", self.path, self.line, self.problem)
    }
}

/// Prints every broken rule; fails if there is one.
pub(crate) fn tidy(root: &Path) -> Result<()> {
    let tree = read(root)?;
    let rules = [
        shape::check,
        prose::check,
        arrows::check,
        effects::check,
        machine::check,
        links::check,
        named::check,
        elsewhere::check,
        circles::check,
        targets::check,
        prompts::check,
    ];
    let mut findings: Vec<Finding> = rules.iter().flat_map(|rule| rule(&tree)).collect();
    findings.extend(size::check(root, &tree));
    for finding in &findings {
        println!("{finding}");
    }
    if !findings.is_empty() {
        bail!("{} rules broken", findings.len());
    }
    println!("{} files are tidy", tree.len());
    Ok(())
}

/// Git's files and untracked files, so that a finding comes before the commit.
pub(crate) fn read(root: &Path) -> Result<Tree> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .context("cannot start `git ls-files`")?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`git ls-files` failed: {}", complaint.trim());
    let mut tree = Tree::new();
    for path in String::from_utf8_lossy(&output.stdout).split_terminator('\0') {
        match std::fs::read(root.join(path)) {
            Ok(bytes) => tree.insert(path.to_owned(), String::from_utf8(bytes).unwrap_or_default()),
            // Deleted, but still in the index; a folder is a submodule.
            Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::IsADirectory) => None,
            Err(error) => return Err(error).with_context(|| format!("cannot read {path}")),
        };
    }
    Ok(tree)
}

pub(crate) fn has_ending(path: &str, ending: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, found)| found == ending)
}

/// For the rules' tests: the findings in an invented tree, as they would be printed.
#[cfg(test)]
fn findings(rule: fn(&Tree) -> Vec<Finding>, files: &[(&str, &str)]) -> Vec<String> {
    let file = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
    rule(&files.iter().map(file).collect()).iter().map(ToString::to_string).collect()
}
