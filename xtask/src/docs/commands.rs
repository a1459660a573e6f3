//! Writes the help of all commands (docs/reference/commands.md).

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;

use super::help::{flag, output, section};

const OPTIONS: &str = "Options:";

/// A heading and the help of each command; the options of all commands once, at the top.
pub(super) fn commands(program: &Path) -> Result<String> {
    let help = output(program, &["--help"])?;
    let options = section(&help, OPTIONS);
    let shared: BTreeSet<&str> = options.iter().filter_map(|line| flag(line)).collect();
    let mut text = block("Options of every command", options.join("\n").trim_end());
    for name in subcommands(&help) {
        add(program, &shared, &[name], &mut text)?;
    }
    Ok(text)
}

fn add(program: &Path, shared: &BTreeSet<&str>, path: &[&str], text: &mut String) -> Result<()> {
    let arguments: Vec<&str> = path.iter().copied().chain(["--help"]).collect();
    let help = output(program, &arguments)?;
    *text += &block(&format!("`pikerag {}`", path.join(" ")), &own_help(&help, shared));
    for name in subcommands(&help) {
        let path: Vec<&str> = path.iter().copied().chain([name]).collect();
        add(program, shared, &path, text)?;
    }
    Ok(())
}

fn block(heading: &str, text: &str) -> String {
    format!("### {heading}\n\n```text\n{text}\n```\n\n")
}

fn subcommands(help: &str) -> Vec<&str> {
    let lines = section(help, "Commands:").into_iter();
    let names = lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names.filter(|name| !name.is_empty() && *name != "help").collect()
}

/// The help without the options of all commands, and without `help` among the subcommands.
fn own_help(help: &str, shared: &BTreeSet<&str>) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut is_left_out = false;
    for line in help.lines() {
        if let Some(flag) = flag(line) {
            is_left_out = shared.contains(flag);
        } else if !line.is_empty() && !line.starts_with(' ') || line.starts_with("  help ") {
            is_left_out = line.starts_with("  help ");
        }
        let is_repeated = line.is_empty() && kept.last().is_none_or(|last| last.is_empty());
        if !is_left_out && !is_repeated {
            kept.push(line);
        }
    }
    while kept.last().is_some_and(|line| line.is_empty() || *line == OPTIONS) {
        kept.pop();
    }
    kept.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::{own_help, subcommands};

    #[test]
    fn shared_options_are_left_out() {
        let help = "Does\n\nUsage: a b\n\nOptions:\n      --own <N>\n          Own\n\n  -v, --verbose...\n          More\n\n";
        let shared = ["--verbose"].into();
        assert_eq!(
            own_help(help, &shared),
            "Does\n\nUsage: a b\n\nOptions:\n      --own <N>\n          Own"
        );
        let help = "Does\n\nCommands:\n  make  Makes\n  help  Print\n        more\n\nOptions:\n  -v, --verbose...  More\n";
        assert_eq!(own_help(help, &shared), "Does\n\nCommands:\n  make  Makes");
        assert_eq!(subcommands(help), ["make"]);
    }
}
