//! Is the project in order? `cargo xtask check` runs the whole CI, `cargo xtask tidy` the rules
//! that no other tool knows.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line tool that reports its steps"
)]

use std::env;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

mod check;
mod deny;
mod program;
mod tidy;

const USAGE: &str = "\
usage: cargo xtask check [--fast]   the whole CI; --fast leaves out doctests and docs
       cargo xtask tidy             the project's own rules only
       cargo xtask deny             licences, versions and sources of dependencies only";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}"); // The chain of causes, without a backtrace.
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["check"] => check::check(&root()?, check::Extent::Whole),
        ["check", "--fast"] => check::check(&root()?, check::Extent::WithoutDocs),
        ["deny"] => deny::deny(&root()?),
        ["tidy"] => tidy::tidy(&root()?),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(())
        }
        _ => bail!("no such task: `{}`\n{USAGE}", arguments.join(" ")),
    }
}

/// The workspace's folder. Cargo names ours to the program that it runs.
fn root() -> Result<PathBuf> {
    let xtask = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let root = xtask.as_deref().and_then(|xtask| xtask.parent());
    root.map(PathBuf::from).context("start this program by `cargo xtask`")
}
