//! Tests the training recipe: exports and their readers, a short training, the served model.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::program::{cargo, run, target_folder, tool};

pub(crate) const HELP: &str = "\
usage: cargo xtask train-check                     builds pikerag and tests the training recipe with it
       cargo xtask train-check --binary PROGRAM    tests the recipe with this program

`bench/train_check.py` exports `examples/train`. TRL and LLaMA-Factory read the exports. SmolLM2 trains for four steps,
llama.cpp serves it, and its replies are counted. Prints seconds and peak memory of each step. The first run installs
6 GB of Python packages into the cache. Without a GPU it takes some minutes.";

/// Runs all steps; fails if one of them does.
pub(crate) fn check(root: &Path, arguments: &[&str]) -> Result<()> {
    let program = match arguments {
        [] => built(root)?,
        ["--binary", program] => std::path::absolute(program).context("no working folder")?,
        _ => bail!("{HELP}"),
    };
    let mut work = tool(root, "python3", &["bench/train_check.py", "--program"]);
    work.arg(program);
    run("train-check", work)
}

/// Builds the program here. A debug build suffices, because no model runs in it.
fn built(root: &Path) -> Result<PathBuf> {
    run("build", cargo(root, &["build", "--package", "pikerag"]))?;
    Ok(target_folder(root)?.join("debug/pikerag"))
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn unknown_arguments_show_the_usage() {
        let error = check(".".as_ref(), &["--program", "a"]).unwrap_err();
        assert!(error.to_string().starts_with("usage: cargo xtask train-check"), "{error}");
    }
}
