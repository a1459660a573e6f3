//! Runs the project's tasks: `cargo xtask check` is the whole CI, `cargo xtask tidy` checks the
//! project's own rules. Other commands measure, fuzz, begin a method, write pages, pack a
//! release and test the training recipe.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line tool that reports its steps"
)]

use std::env;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

mod bench;
mod check;
mod deny;
mod dist;
mod docs;
mod fuzz;
mod new_method;
mod program;
mod prompts;
mod tidy;
mod train;
mod web;

const USAGE: &str = "\
usage: cargo xtask check [--fast]   the whole CI; --fast leaves out doctests and docs
       cargo xtask tidy             the project's own rules only
       cargo xtask deny             licences, versions and sources of dependencies only
       cargo xtask docs [--check]   writes the generated parts of the documents, or checks them
       cargo xtask new-method NAME  writes the files of a new method
       cargo xtask bench            runs benchmarks
       cargo xtask fuzz             runs the property tests for a time
       cargo xtask prompts          keeps the texts of reworded prompts for replays
       cargo xtask dist             builds and packs a release
       cargo xtask wheel            builds a wheel, for pip
       cargo xtask web [--check]    builds the page, or checks that the committed one is current
       cargo xtask train-check      tests the training recipe, in minutes
       cargo xtask COMMAND --help   more on one of the last eight, or docs";

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
    if let Some(help) = help(&arguments) {
        println!("{help}");
        return Ok(());
    }
    match arguments.as_slice() {
        ["check"] => check::check(&root()?, check::Extent::Whole),
        ["check", "--fast"] => check::check(&root()?, check::Extent::WithoutDocs),
        ["deny"] => deny::deny(&root()?),
        ["tidy"] => tidy::tidy(&root()?),
        ["bench", arguments @ ..] => bench::bench(&root()?, arguments),
        ["fuzz", arguments @ ..] => fuzz::fuzz(&root()?, arguments),
        ["docs", arguments @ ..] => docs::docs(&root()?, arguments),
        ["prompts", arguments @ ..] => prompts::prompts(&root()?, arguments),
        ["new-method", name] => new_method::new_method(&root()?, name),
        ["dist", arguments @ ..] => dist::dist(&root()?, arguments),
        ["wheel", arguments @ ..] => dist::wheel(&root()?, arguments),
        ["train-check", arguments @ ..] => train::check(&root()?, arguments),
        ["web"] => web::build(&root()?),
        ["web", "--check"] => web::check(&root()?, &program::target_folder(&root()?)?),
        _ => bail!("no such task: `{}`\n{USAGE}", arguments.join(" ")),
    }
}

/// The help text of a command, if the arguments ask for it.
fn help(arguments: &[&str]) -> Option<&'static str> {
    match arguments {
        ["help" | "--help" | "-h"] => Some(USAGE),
        ["bench", "--help" | "-h"] => Some(bench::HELP),
        ["docs", "--help" | "-h"] => Some(docs::HELP),
        ["fuzz", "--help" | "-h"] => Some(fuzz::HELP),
        ["new-method"] | ["new-method", "--help" | "-h"] => Some(new_method::HELP),
        ["prompts", "--help" | "-h"] => Some(prompts::HELP),
        ["dist", "--help" | "-h"] => Some(dist::HELP),
        ["wheel", "--help" | "-h"] => Some(dist::WHEEL_HELP),
        ["web", "--help" | "-h"] => Some(web::HELP),
        ["train-check", "--help" | "-h"] => Some(train::HELP),
        _ => None,
    }
}

/// The workspace's folder, from the variable that Cargo sets for this program.
fn root() -> Result<PathBuf> {
    let xtask = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let root = xtask.as_deref().and_then(|xtask| xtask.parent());
    root.map(PathBuf::from).context("run this program as `cargo xtask`")
}
