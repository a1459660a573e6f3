//! Writes completions and manual pages from the declaration of the command line.

use std::path::Path;

use clap::CommandFactory;
use clap_complete::Shell;
use pikerag_engine::narrate::Language;
use serde_json::json;

use super::inspect::write_to;
use crate::cli::{Arguments, for_generators};
use crate::failure::Failure;
use crate::output::{Output, say_json};

const NAME: &str = env!("CARGO_PKG_NAME");

pub(super) fn completions(shell: Shell, language: Language) -> anyhow::Result<u8> {
    let mut script = Vec::new(); // The generator panics if it cannot write: a pipe may be closed.
    clap_complete::generate(shell, &mut worded(shown(), language), NAME, &mut script);
    write_to(None, |out| Ok(out.write_all(&script)?))?;
    Ok(0)
}

pub(super) fn man(folder: Option<&Path>, output: Output) -> anyhow::Result<u8> {
    let command = worded(shown().disable_help_subcommand(true), output.language);
    let Some(folder) = folder else {
        let page = clap_mangen::Man::new(command);
        write_to(None, |mut out| Ok(page.render(&mut out)?))?;
        return Ok(0);
    };
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::NoFolder(folder.to_owned()).of(error))?;
    clap_mangen::generate_to(command, folder)
        .map_err(|error| Failure::NoPages(folder.to_owned()).of(error))?;
    if output.json {
        return say_json(&json!({ "written_to": folder }));
    }
    let folder = folder.display();
    output.note(format!("the pages are in {folder}"), format!("手册页在 {folder} 中"));
    Ok(0)
}

fn worded(command: clap::Command, language: Language) -> clap::Command {
    match language {
        Language::English => command,
        Language::Chinese => for_generators(command),
    }
}

/// The command line without hidden commands, which generators would include.
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
