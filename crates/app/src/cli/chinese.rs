//! Gives the command line its Chinese help, from a table by command and argument.

use std::collections::BTreeMap;

use clap::builder::{PossibleValue, PossibleValuesParser, Resettable};
use clap::{Arg, Command};

/// The words, a line each: `index = …` for a command, `index --with = …` for its argument, `index --with=graph = …` for a
/// value of that. `*` in place of the command stands for all commands with this argument.
const TABLE: &str = include_str!("help.zh.txt");

/// The key of the program itself.
const ROOT: &str = "pikerag";
/// The key of the text below the program's help.
const AFTER: &str = "pikerag after";
/// clap's own subcommand, whose subcommands repeat all others.
const HELP: &str = "help";

/// The purpose of a command line in Chinese.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// Parsing, and help on a terminal. The help contains defaults and possible values.
    Parser,
    /// Completions and manual pages. Generators add defaults and possible values.
    Generators,
}

/// The command line with Chinese help, to parse arguments with.
pub(super) fn parser(command: Command) -> Command {
    Table::read().worded(built(command), ROOT, Purpose::Parser)
}

/// The command line with Chinese help, for completions and manual pages.
pub(crate) fn for_generators(command: Command) -> Command {
    Table::read().worded(built(command), ROOT, Purpose::Generators)
}

/// clap adds `help` and `--help` when it builds a command, so their words can only be replaced afterwards.
fn built(mut command: Command) -> Command {
    command.build();
    command
}

/// The words by key.
struct Table(BTreeMap<&'static str, &'static str>);

impl Table {
    fn read() -> Self {
        Self(TABLE.lines().filter_map(|line| line.split_once(" = ")).collect())
    }

    fn of_command(&self, path: &str) -> Option<&'static str> {
        self.0.get(path).copied()
    }

    /// The words of an argument of a command, or of a value of the argument.
    fn of_argument(&self, path: &str, name: &str) -> Option<&'static str> {
        let own = self.0.get(format!("{path} {name}").as_str());
        own.or_else(|| self.0.get(format!("* {name}").as_str())).copied()
    }

    fn worded(&self, mut command: Command, path: &str, purpose: Purpose) -> Command {
        if let Some(about) = self.of_command(path) {
            command = command.about(about);
        }
        if command.get_after_help().is_some()
            && let Some(after) = self.of_command(AFTER)
        {
            command = command.after_help(after.replace("\\n", "\n"));
        }
        command = command.mut_args(|argument| self.worded_argument(argument, path, purpose));
        command = command.mut_subcommands(|sub| match (sub.get_name(), path) {
            (HELP, _) => {
                self.worded(sub, path, purpose).about(self.of_command(HELP).unwrap_or_default())
            }
            (name, ROOT) => {
                let path = name.to_owned();
                self.worded(sub, &path, purpose)
            }
            (name, _) => {
                let path = format!("{path} {name}");
                self.worded(sub, &path, purpose)
            }
        });
        match purpose {
            Purpose::Parser => {
                let usage = usage(&command.render_usage().to_string());
                let template = template(&command);
                command.override_usage(usage).help_template(template)
            }
            Purpose::Generators => command,
        }
    }

    fn worded_argument(&self, argument: Arg, path: &str, purpose: Purpose) -> Arg {
        let name = name(&argument);
        let Some(help) = self.of_argument(path, &name) else { return argument };
        let about = |value: &PossibleValue| {
            value.get_help()?;
            self.of_argument(path, &format!("{name}={}", value.get_name()))
        };
        let values = argument.get_possible_values();
        match purpose {
            Purpose::Generators => {
                let described = |value: &PossibleValue| {
                    let known = value.clone();
                    about(value).map_or(known.clone(), |about| known.help(about))
                };
                let described: Vec<PossibleValue> = values.iter().map(described).collect();
                let argument = argument.help(help).long_help(Resettable::Reset);
                match described.is_empty() {
                    true => argument,
                    false => argument.value_parser(PossibleValuesParser::new(described)),
                }
            }
            Purpose::Parser => {
                let default = default(&argument);
                let names: Vec<&str> = values.iter().map(PossibleValue::get_name).collect();
                let list = match names.is_empty() {
                    true => String::new(),
                    false => format!(" [可选值：{}]", names.join("、")),
                };
                let short = format!("{help}{default}{list}");
                let described: Vec<String> = values
                    .iter()
                    .filter_map(|value| {
                        Some(format!("\n- {}：{}", value.get_name(), about(value)?))
                    })
                    .collect();
                let argument = argument.hide_default_value(true).hide_possible_values(true);
                match described.is_empty() {
                    true => argument.help(short).long_help(Resettable::Reset),
                    false => argument
                        .help(short)
                        .long_help(format!("{help}{default}\n\n可选值：{}", described.concat())),
                }
            }
        }
    }
}

/// The key of an argument: `--with`, `-k`, or `<paths>` for a positional argument.
fn name(argument: &Arg) -> String {
    match (argument.get_long(), argument.get_short()) {
        (Some(long), _) => format!("--{long}"),
        (None, Some(short)) => format!("-{short}"),
        (None, None) => format!("<{}>", argument.get_id()),
    }
}

/// The default value of an argument, as its help shows it.
fn default(argument: &Arg) -> String {
    let defaults = argument.get_default_values().iter().map(|value| value.to_string_lossy());
    let defaults: Vec<_> = defaults.filter(|value| !value.is_empty()).collect();
    match argument.get_action().takes_values() && !defaults.is_empty() {
        true => format!(" [默认值：{}]", defaults.join(" ")),
        false => String::new(),
    }
}

/// clap's line of usage, with Chinese names of its own placeholders.
pub(super) fn usage(rendered: &str) -> String {
    let usage = rendered.trim().trim_start_matches("Usage:").trim_start();
    usage.replace("[OPTIONS]", "[选项]").replace("COMMAND", "命令").replace("\n       ", "\n      ")
}

/// The parts of a command's help, with Chinese headings.
fn template(command: &Command) -> String {
    let mut template = "{about-with-newline}\n用法：{usage}".to_owned();
    if command.get_subcommands().any(|sub| !sub.is_hide_set()) {
        template += "\n\n命令：\n{subcommands}";
    }
    if command.get_positionals().next().is_some() {
        template += "\n\n参数：\n{positionals}";
    }
    if command.get_arguments().any(|argument| !argument.is_positional()) {
        template += "\n\n选项：\n{options}";
    }
    template + "{after-help}"
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory;

    use super::*;
    use crate::cli::Arguments;

    /// The keys of a command, its arguments and their values, without those of hidden commands.
    fn keys(command: &Command, path: &str, keys: &mut BTreeSet<String>) {
        keys.insert(path.to_owned());
        for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
            let name = name(argument);
            keys.insert(format!("{path} {name}"));
            let values = argument.get_possible_values();
            let described = values.iter().filter(|value| value.get_help().is_some());
            keys.extend(described.map(|value| format!("{path} {name}={}", value.get_name())));
        }
        let subs = command.get_subcommands();
        for sub in subs.filter(|sub| !sub.is_hide_set() && sub.get_name() != HELP) {
            let below = if path == ROOT { String::new() } else { format!("{path} ") };
            self::keys(sub, &format!("{below}{}", sub.get_name()), keys);
        }
    }

    /// The row of the table that gives the words of a key.
    fn row<'a>(table: &'a Table, key: &str) -> Option<&'a str> {
        let shared = key.rfind(" -").or_else(|| key.rfind(" <"));
        let shared = shared.and_then(|at| key.get(at..)).map(|name| format!("*{name}"));
        let rows = |key: &str| table.0.keys().find(|row| **row == key).copied();
        rows(key).or_else(|| rows(&shared?))
    }

    #[test]
    fn every_command_argument_and_value_has_chinese_words() {
        let table = Table::read();
        assert_eq!(table.0.len(), TABLE.lines().count(), "a line without ` = `, or a key twice");
        let mut all = BTreeSet::from([AFTER.to_owned(), HELP.to_owned()]);
        keys(&built(Arguments::command()), ROOT, &mut all);
        let missing: Vec<&String> = all.iter().filter(|key| row(&table, key).is_none()).collect();
        assert!(missing.is_empty(), "without Chinese words: {missing:#?}");
        let used: BTreeSet<&str> = all.iter().filter_map(|key| row(&table, key)).collect();
        let stale: Vec<_> = table.0.keys().filter(|key| !used.contains(**key)).collect();
        assert!(stale.is_empty(), "of no argument: {stale:#?}");
        for (key, words) in &table.0 {
            let is_chinese = words.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
            assert!(
                is_chinese && !words.ends_with('。') || *key == ROOT || *key == AFTER,
                "{key}: {words}"
            );
        }
    }

    /// The help of a command and of all below it. Only the first one has the global options.
    fn help(command: &mut Command, all: &mut String) {
        all.push_str("\n════════\n");
        let is_root = command.get_name() == ROOT;
        let hide = |argument: Arg| {
            let is_shared = argument.is_global_set() || argument.get_id() == HELP;
            if is_shared && !is_root { argument.hide(true) } else { argument }
        };
        let shown = command.clone().mut_args(hide).render_long_help().to_string();
        all.push_str(shown.trim_end());
        let subs = command.get_subcommands_mut();
        for sub in subs.filter(|sub| !sub.is_hide_set() && sub.get_name() != HELP) {
            help(sub, all);
        }
    }

    #[test]
    fn chinese_help() {
        let mut all = String::new();
        help(&mut parser(Arguments::command().term_width(100)), &mut all);
        insta::assert_snapshot!(all);
    }
}
