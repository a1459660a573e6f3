//! `completions` and `man`: what shells and `man` know of the program, made of its own command line.

use std::path::Path;

use anyhow::Context;
use clap::CommandFactory;
use clap_complete::Shell;
use serde_json::json;

use super::inspect::write_to;
use crate::cli::Arguments;
use crate::output::{note, say_json};

const NAME: &str = env!("CARGO_PKG_NAME");

pub(super) fn completions(shell: Shell) -> anyhow::Result<u8> {
    let mut script = Vec::new(); // It panics where it cannot write: a pipe may be closed.
    clap_complete::generate(shell, &mut shown(), NAME, &mut script);
    write_to(None, |out| Ok(out.write_all(&script)?))?;
    Ok(0)
}

pub(super) fn man(folder: Option<&Path>, json: bool) -> anyhow::Result<u8> {
    let Some(folder) = folder else {
        let page = clap_mangen::Man::new(shown().disable_help_subcommand(true));
        write_to(None, |mut out| Ok(page.render(&mut out)?))?;
        return Ok(0);
    };
    let told = folder.display();
    std::fs::create_dir_all(folder).with_context(|| format!("{told} cannot be made"))?;
    clap_mangen::generate_to(shown(), folder)
        .with_context(|| format!("no pages can be written to {told}"))?;
    if json {
        return say_json(&json!({ "written_to": folder }));
    }
    note(&format!("the pages are in {told}"));
    Ok(0)
}

/// The command line without what the program tells itself: generators take hidden commands along.
fn shown() -> clap::Command {
    let whole = Arguments::command();
    let shown = whole.get_subcommands().filter(|command| !command.is_hide_set()).cloned();
    clap::Command::default()
        .name(NAME)
        .version(env!("CARGO_PKG_VERSION"))
        .about(whole.get_about().cloned().unwrap_or_default())
        .after_help(whole.get_after_help().cloned().unwrap_or_default())
        .subcommand_required(true)
        .args(whole.get_arguments().cloned())
        .subcommands(shown)
}
