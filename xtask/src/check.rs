//! What has to pass before a change is done? The same steps here as in CI, cheapest first.

use std::env;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};

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
    // Without its settings, cargo-deny refuses every licence.
    if root.join("deny.toml").exists() {
        let work = ["deny", "check", "bans", "licenses", "sources"];
        run_if_installed("deny", cargo(&["deny", "--version"]), cargo(&work))?;
    } else {
        println!("note: deny left out, there is no deny.toml");
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

fn is_installed(mut version: Command) -> bool {
    let status = version.stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

fn run(name: &str, mut command: Command) -> Result<()> {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let line = words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
    timed(name, &line, || {
        let status = command.status().with_context(|| format!("cannot start `{line}`"))?;
        if !status.success() {
            bail!("`{line}` ended with {status}");
        }
        Ok(())
    })
}

fn timed(name: &str, what: &str, step: impl FnOnce() -> Result<()>) -> Result<()> {
    println!("\n== {name}: {what}");
    let began = Instant::now();
    let outcome = step().with_context(|| format!("step `{name}` failed"));
    println!("== {name} took {:.1} s", began.elapsed().as_secs_f64());
    outcome
}

/// The Cargo that runs us, so that a `+toolchain` holds for every step.
fn cargo(root: &Path, arguments: &[&str]) -> Command {
    let program = env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    tool(root, &program, arguments)
}

fn tool(root: &Path, program: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root);
    command
}

#[cfg(test)]
mod tests {
    use super::{cargo, is_installed, run, run_if_installed, tool};

    #[test]
    fn a_failing_step_names_itself_and_its_command() {
        let error = run("spelling", cargo(".".as_ref(), &["no-such-command"])).unwrap_err();
        let chain = format!("{error:#}");
        assert!(chain.starts_with("step `spelling` failed: `"), "{chain}");
        assert!(chain.contains("no-such-command` ended with exit"), "{chain}");
    }

    #[test]
    fn a_missing_tool_is_a_note() {
        let absent = || tool(".".as_ref(), "no-such-tool-anywhere", &["--version"]);
        assert!(!is_installed(absent()));
        run_if_installed("absent", absent(), absent()).unwrap();
    }

    #[test]
    fn a_missing_program_is_an_error() {
        let error = run("typing", tool(".".as_ref(), "no-such-tool-anywhere", &[])).unwrap_err();
        assert!(format!("{error:#}").contains("cannot start `no-such-tool-anywhere`"));
    }
}
