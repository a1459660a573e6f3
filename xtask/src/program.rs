//! Starts other programs and reads their output.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

/// Runs a step of another program, with its output on the screen.
pub(crate) fn run(name: &str, mut command: Command) -> Result<()> {
    let line = line(&command);
    timed(name, &line, || {
        let status = command.status().with_context(|| format!("cannot start `{line}`"))?;
        if !status.success() {
            bail!("`{line}` ended with {status}");
        }
        Ok(())
    })
}

/// Runs a step, and prints its name and its duration.
pub(crate) fn timed(name: &str, what: &str, step: impl FnOnce() -> Result<()>) -> Result<()> {
    println!("\n== {name}: {what}");
    let began = Instant::now();
    let outcome = step().with_context(|| format!("step `{name}` failed"));
    println!("== {name} took {:.1} s", began.elapsed().as_secs_f64());
    outcome
}

/// The standard output of a program; its errors go to the screen.
pub(crate) fn output_of(mut command: Command) -> Result<String> {
    let line = line(&command);
    let output = command.stderr(Stdio::inherit()).output();
    let output = output.with_context(|| format!("cannot start `{line}`"))?;
    if !output.status.success() {
        bail!("`{line}` ended with {}", output.status);
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{line}` printed no UTF-8"))
}

/// True if the program starts and succeeds.
pub(crate) fn is_installed(mut version: Command) -> bool {
    let status = version.stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// The same Cargo that runs this program, so that a `+toolchain` applies to every step.
pub(crate) fn cargo(root: &Path, arguments: &[&str]) -> Command {
    let program = env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    tool(root, &program, arguments)
}

pub(crate) fn tool(root: &Path, program: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root);
    command
}

/// The folder where Cargo builds.
pub(crate) fn target_folder(root: &Path) -> Result<PathBuf> {
    #[derive(Deserialize)]
    struct Metadata {
        target_directory: PathBuf,
    }
    let metadata = output_of(cargo(root, &["metadata", "--no-deps", "--format-version", "1"]))?;
    let metadata = serde_json::from_str::<Metadata>(&metadata);
    Ok(metadata.context("cannot parse `cargo metadata`")?.target_directory)
}

fn line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::{cargo, is_installed, output_of, run, tool};

    #[test]
    fn a_failing_step_names_itself_and_its_command() {
        let error = run("spelling", cargo(".".as_ref(), &["no-such-command"])).unwrap_err();
        let chain = format!("{error:#}");
        assert!(chain.starts_with("step `spelling` failed: `"), "{chain}");
        assert!(chain.contains("no-such-command` ended with exit"), "{chain}");
    }

    #[test]
    fn a_missing_program_is_an_error() {
        let absent = || tool(".".as_ref(), "no-such-tool-anywhere", &[]);
        assert!(!is_installed(absent()));
        let error = run("typing", absent()).unwrap_err();
        assert!(format!("{error:#}").contains("cannot start `no-such-tool-anywhere`"));
        let error = output_of(absent()).unwrap_err();
        assert!(error.to_string().contains("cannot start `no-such-tool-anywhere`"));
    }

    #[test]
    fn the_output_of_a_program_is_read() {
        let output = output_of(cargo(".".as_ref(), &["--version"])).unwrap();
        assert!(output.starts_with("cargo 1."), "{output}");
    }
}
