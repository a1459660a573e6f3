//! Gives the command line its Chinese help, from a table by command and argument.

use std::collections::BTreeMap;

use clap::builder::{PossibleValue, PossibleValuesParser};
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
            (HELP, _) => self
                .worded(sub, path, purpose)
                .about(self.of_command(HELP).unwrap_or_default()),
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
                    let bare = PossibleValue::new(value.get_name().to_owned());
                    about(value).map_or(bare.clone(), |about| bare.help(about))
                };
                let described: Vec<PossibleValue> = values.iter().map(described).collect();
                let argument = argument.help(help);
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
                    .filter_map(|value| Some(format!("\n- {}：{}", value.get_name(), about(value)?)))
                    .collect();
                let argument = argument.hide_default_value(true).hide_possible_values(true);
                match described.is_empty() {
                    true => argument.help(short),
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
