//! Runs the steps that every change must pass, cheapest first. CI runs the same steps.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Instant;

use anyhow::Result;

use crate::deny::deny;
use crate::docs;
use crate::program::{cargo, is_installed, run, target_folder, timed, tool};
use crate::tidy::tidy;
use crate::web;

/// The extent of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Everything that CI checks.
    Whole,
    /// Without doctests and documentation: each links or renders every crate once more.
    WithoutDocs,
}

/// Runs all steps and stops at the first that fails.
pub(crate) fn check(root: &Path, extent: Extent) -> Result<()> {
    let began = Instant::now();
    let cargo = |arguments: &[&str]| cargo(root, arguments);

    run("fmt", cargo(&["fmt", "--all", "--", "--check"]))?;
    timed("tidy", "the project's own rules", || tidy(root))?;
    if web::has_node(root) {
        let scratch = target_folder(root)?;
        timed("web", "the page", || web::check(root, &scratch))?;
    } else {
        println!("note: web left out, Node.js 20.19 or later and npm are not installed");
    }
    timed("deny", "licences, versions and sources of dependencies", || deny(root))?;
    let clippy = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
    run("clippy", cargo(&clippy))?;
    let left_out = target_folder(root)?.join("left-out.txt");
    let tests = if is_installed(cargo(&["nextest", "--version"])) {
        // Tests wait for servers and programs a fifth of their time, so one more than there are
        // processors runs.
        let threads = (thread::available_parallelism()?.get() + 1).to_string();
        cargo(&["nextest", "run", "--workspace", "--no-fail-fast", "--test-threads", &threads])
    } else {
        println!("note: cargo-nextest is not installed, `cargo test` is used instead");
        cargo(&["test", "--workspace", "--lib", "--bins", "--tests", "--no-fail-fast"])
    };
    run_tests(tests, &left_out)?;
    timed("pages", "the generated parts of the documents", || docs::check(root))?;
    if extent == Extent::Whole {
        run("doctests", cargo(&["test", "--workspace", "--doc"]))?;
        let mut docs = cargo(&["doc", "--workspace", "--no-deps"]);
        docs.env("RUSTDOCFLAGS", "-D warnings");
        run("docs", docs)?;
    }
    run_if_installed("typos", tool(root, "typos", &["--version"]), tool(root, "typos", &[]))?;
    run_if_installed("machete", cargo(&["machete", "--version"]), cargo(&["machete"]))?;
    let left_out = report_left_out(&left_out)?;
    println!("\nall good, {left_out}after {:.1} s", began.elapsed().as_secs_f64());
    Ok(())
}

/// Runs the tests. They write the names of left-out tests to a file, because the output of passing
/// tests is not shown.
fn run_tests(mut tests: Command, left_out: &Path) -> Result<()> {
    if let Some(folder) = left_out.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(left_out, "")?;
    tests.env("PIKERAG_LEFT_OUT", left_out);
    run("tests", tests)
}

/// Prints each left-out test, and returns a note with their number.
fn report_left_out(list: &Path) -> Result<String> {
    let list = fs::read_to_string(list)?;
    let mut lines: Vec<&str> = list.lines().collect();
    lines.sort_unstable();
    lines.dedup();
    for line in &lines {
        println!("{line}");
    }
    Ok(match lines.len() {
        0 => String::new(),
        n => format!("but for {n} tests or parts of tests LEFT OUT (above), "),
    })
}

/// Runs a tool that CI does not compile, if it is installed.
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
    use super::{report_left_out, run_if_installed, run_tests};
    use crate::program::tool;

    #[test]
    fn left_out_tests_are_listed() {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("target/left-out.txt");
        let script = "for n in b a b; do echo LEFT OUT: $n >> $PIKERAG_LEFT_OUT; done";
        run_tests(tool(folder.path(), "sh", &["-c", script]), &list).unwrap();
        assert_eq!(
            report_left_out(&list).unwrap(),
            "but for 2 tests or parts of tests LEFT OUT (above), "
        );
        run_tests(tool(folder.path(), "true", &[]), &list).unwrap();
        assert_eq!(report_left_out(&list).unwrap(), "");
    }

    #[test]
    fn a_missing_tool_is_a_note() {
        let absent = || tool(".".as_ref(), "no-such-tool-anywhere", &["--version"]);
        run_if_installed("absent", absent(), absent()).unwrap();
    }
}
