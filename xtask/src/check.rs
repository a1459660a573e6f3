//! What has to pass before a change is done? The same steps here as in CI, cheapest first.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::Result;

use crate::deny::deny;
use crate::program::{cargo, is_installed, run, timed, tool};
use crate::tidy::tidy;

/// How much to check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// What CI checks.
    Whole,
    /// The same without doctests and documentation: each links or renders every crate once more.
    WithoutDocs,
}

/// Runs all steps and ends at the first that fails.
pub(crate) fn check(root: &Path, extent: Extent) -> Result<()> {
    let began = Instant::now();
    let cargo = |arguments: &[&str]| cargo(root, arguments);

    run("fmt", cargo(&["fmt", "--all", "--", "--check"]))?;
    timed("tidy", "the project's own rules", || tidy(root))?;
    timed("deny", "licences, versions and sources of dependencies", || deny(root))?;
    let clippy = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
    run("clippy", cargo(&clippy))?;
    if is_installed(cargo(&["nextest", "--version"])) {
        run("tests", cargo(&["nextest", "run", "--workspace"]))?;
    } else {
        println!("note: cargo-nextest is not installed, `cargo test` takes its place");
        run("tests", cargo(&["test", "--workspace", "--lib", "--bins", "--tests"]))?;
    }
    if extent == Extent::Whole {
        run("doctests", cargo(&["test", "--workspace", "--doc"]))?;
        let mut docs = cargo(&["doc", "--workspace", "--no-deps"]);
        docs.env("RUSTDOCFLAGS", "-D warnings");
        run("docs", docs)?;
    }
    run_if_installed("typos", tool(root, "typos", &["--version"]), tool(root, "typos", &[]))?;
    run_if_installed("machete", cargo(&["machete", "--version"]), cargo(&["machete"]))?;
    println!("\nall good, after {:.1} s", began.elapsed().as_secs_f64());
    Ok(())
}

/// Tools that CI does not compile.
fn run_if_installed(name: &str, version: Command, work: Command) -> Result<()> {
    if is_installed(version) {
        run(name, work)
    } else {
        println!("note: {name} left out, it is not installed");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::run_if_installed;
    use crate::program::tool;

    #[test]
    fn a_missing_tool_is_a_note() {
        let absent = || tool(".".as_ref(), "no-such-tool-anywhere", &["--version"]);
        run_if_installed("absent", absent(), absent()).unwrap();
    }
}
