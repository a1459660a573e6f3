//! Declares the commands, arguments and options of the command line, with their English help.

mod ask;
mod chinese;
mod eval;
mod feedback;
mod index;
mod init;
mod installed;
mod keep;
mod look;
mod misuse;
mod models;
mod own;
mod refusal;
mod requests;
mod runs;
mod serve;
mod train;
mod value;
mod worker;

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use pikerag_engine::narrate::Language;
use strum::{EnumMessage, VariantArray};

pub(crate) use self::ask::{Ask, Classify, Filters, Search};
pub(crate) use self::chinese::for_generators;
pub(crate) use self::eval::Eval;
pub(crate) use self::feedback::{Feedback, FeedbackVerb, Judged};
use self::index::Choice;
pub(crate) use self::index::{Estimate, Index};
pub(crate) use self::init::Init;
pub(crate) use self::installed::Installed;
pub(crate) use self::keep::{Delete, Original, Paths, Trust};
pub(crate) use self::look::{
    Graph, GraphCommand, GraphExport, Methods, Propose, Records, SchemaCommand, Sql, Tables, Tags,
    TagsVerb,
};
use self::misuse::misuse;
pub(crate) use self::models::{Models, ModelsVerb};
pub(crate) use self::own::{ParseChild, RunLimited};
pub(crate) use self::refusal::Refusal;
pub(crate) use self::runs::{Runs, RunsVerb};
pub(crate) use self::serve::{Keys, KeysVerb, MakeKey, Serve};
pub(crate) use self::train::{Agree, Collect, Label, Train, TrainExport, TrainVerb};
pub(crate) use self::worker::Worker;
use crate::language;
use crate::output::Output;

/// Turns documents into an inspectable knowledge base and answers hard questions over it. Answers show their reasoning
/// and cite their sources; costs are estimated first.
#[derive(Debug, Parser)]
#[command(
    version,
    after_help = "Exit codes: 0 done; 1 failed; 2 wrong usage; 3 done in part (files left out, calls failed); \
                  4 budget spent; 130 or 143 stopped by a signal.\nSettings: flag, then environment, then pikerag.toml, then default."
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Folder of the knowledge base, or its address in PostgreSQL; environment: `PIKERAG_BASE`.
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) base: Option<PathBuf>,
    /// Settings file. Default: `pikerag.toml` in this folder, if it exists (see `pikerag trust`); environment:
    /// `PIKERAG_CONFIG`.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Print JSON for programs.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Language of help and messages; environment: `PIKERAG_LANG`, else the locale.
    #[arg(long, global = true, value_name = "LANG", value_parser = language::NAMES)]
    pub(crate) lang: Option<String>,
    /// Use no language model and no network, whatever is configured.
    #[arg(long, global = true)]
    pub(crate) offline: bool,
    /// Answer every model call from the ledger, without the network.
    #[arg(long, global = true, conflicts_with = "offline")]
    pub(crate) replay: bool,
    /// Hard cap on the cost of this run, in US dollars.
    #[arg(long, global = true, value_name = "USD", value_parser = value::dollars)]
    pub(crate) budget: Option<f64>,
    /// Hard cap on the tokens of this run.
    #[arg(long, global = true, value_name = "N")]
    pub(crate) budget_tokens: Option<u64>,
    /// Hard cap on the model calls of this run.
    #[arg(long, global = true, value_name = "N")]
    pub(crate) budget_calls: Option<u64>,
    /// Largest number of model calls at the same time.
    #[arg(long, global = true, value_name = "N")]
    pub(crate) in_flight: Option<NonZeroUsize>,
    /// Log more: -v logs each step, -vv also requests.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

impl Arguments {
    /// Parses the arguments of the program and checks that they fit together.
    pub(crate) fn parse_checked(given: Vec<OsString>, language: Language) -> Result<Self, Refusal> {
        let matches = command(language).try_get_matches_from(given)?;
        let arguments = Self::from_arg_matches(&matches)?;
        match misuse(&arguments.command) {
            Some(misuse) => Err(Refusal::Misuse(misuse)),
            None => Ok(arguments),
        }
    }

    /// The form and the language of the results; `usual` is the language that the environment sets.
    pub(crate) fn output(&self, usual: Language) -> Output {
        let language = self.lang.as_deref().map_or(usual, language::named);
        Output { json: self.json, language }
    }
}

/// The whole command line, with its help in one language.
fn command(language: Language) -> clap::Command {
    match language {
        Language::English => Arguments::command(),
        Language::Chinese => chinese::parser(Arguments::command()),
    }
}

/// A default value that is not 0.
pub(crate) fn at_least(n: usize) -> NonZeroUsize {
    NonZeroUsize::new(n).unwrap_or(NonZeroUsize::MIN)
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Write a commented settings file.
    Init(Init),
    /// Trust the settings file in this folder.
    Trust(Trust),
    /// Read files and folders into the knowledge base.
    Index(Index),
    /// Answer a question.
    Ask(Ask),
    /// Print the class of a question and the reasons, without answering it.
    Classify(Classify),
    /// List, show, replay, fork and compare runs.
    Runs(Runs),
    /// Accept, correct or reject answers; list, revoke, export and import feedback.
    Feedback(Feedback),
    /// List the methods of `ask`, or show the parameters and the cost of one.
    Methods(Methods),
    /// Find chunks, and show the parts of each score.
    Search(Search),
    /// Show the contents of the base, pending work and missing files.
    Status,
    /// List the files of the base, and whether they still exist.
    Files,
    /// Estimate the cost of indexing, without any paid call.
    Estimate(Estimate),
    /// Remove files and all data derived from them.
    Delete(Delete),
    /// Write the base to one new file; other processes may write meanwhile.
    Backup {
        /// The new file; it must not exist yet.
        #[arg(value_name = "FILE")]
        to: PathBuf,
    },
    /// Create a base from a backup, in a folder without a base.
    Restore {
        /// The backup, or the folder of another base.
        #[arg(value_name = "FILE")]
        from: PathBuf,
    },
    /// Copy a base to another folder or to a database; the original stays unchanged.
    Migrate {
        /// The folder of the base, or its address in a database.
        #[arg(value_name = "BASE")]
        from: PathBuf,
        /// The folder or address of the copy, where no base exists yet.
        #[arg(value_name = "BASE")]
        to: PathBuf,
    },
    /// Return the original bytes of an indexed file.
    Original(Original),
    /// Check the database, the full-text index and the vectors for damage. Exit code 1 if something is damaged.
    Check {
        /// Rebuild damaged indexes from the database. Paid results are not changed.
        #[arg(long)]
        repair: bool,
    },
    /// Write the whole graph as JSON lines.
    Export(Export),
    /// Show how a file is read: its pieces, pages, tables and problems.
    Parse(Parse),
    /// List the formats that are read, and whether the helper programs that some need are installed.
    Formats,
    /// Count the nodes and edges of the graph, show a node with its neighbours, or export the graph.
    Graph(Graph),
    /// List typed records.
    Records(Records),
    /// List the typed tables of the documents, or the columns of one table.
    Tables(Tables),
    /// Run a SELECT over the typed tables.
    Sql(Sql),
    /// Draft declarations of typed records from the base.
    Schema {
        #[command(subcommand)]
        command: SchemaCommand,
    },
    /// List tags, and edit their classes and synonyms.
    Tags(Tags),
    /// Serve the base over HTTP: the page, REST, and the protocols of `OpenAI`, Ollama, Dify and MCP.
    Serve(Serve),
    /// Run the jobs of all bases in the database of `--base` until a signal ends it, beside servers and other workers.
    Worker(Worker),
    /// Serve the base to an assistant over standard input and output (Model Context Protocol).
    Mcp,
    /// Create, list and revoke the access keys of the server.
    Keys(Keys),
    /// List, fetch, use, run, stop and remove open models of this machine.
    Models(Models),
    /// Check settings, weights, endpoints and helper programs for reading files.
    Doctor,
    /// Measure methods on a set of questions.
    Eval(Eval),
    /// Make training data for a decomposer of your own.
    Train(Train),
    #[command(flatten)]
    Installed(Installed),
    /// Parse one file from standard input under limits (used by the program itself).
    #[command(hide = true, name = "parse-child")]
    ParseChild(ParseChild),
    /// Become another program under limits (used by the program itself).
    #[command(hide = true, name = "run-limited")]
    RunLimited(RunLimited),
}

/// A parser of the names of an enum. The help of a name is the first paragraph of its documentation.
fn named<T>() -> impl TypedValueParser<Value = T>
where
    T: Copy + EnumMessage + FromStr + Into<&'static str> + Send + Sync + VariantArray,
    T::Err: std::error::Error + Send + Sync + 'static,
{
    let value = |value: &T| {
        let about = value.get_documentation().unwrap_or_default();
        let about = about.split("\n\n").next().unwrap_or_default().trim_end();
        PossibleValue::new((*value).into()).help(about.trim_end_matches('.').replace('\n', " "))
    };
    PossibleValuesParser::new(T::VARIANTS.iter().map(value)).try_map(|name| name.parse::<T>())
}

#[derive(Debug, Args)]
pub(crate) struct Export {
    /// The file to write. Default: standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Parse {
    /// The file.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

#[cfg(test)]
mod tests {
    use pikerag_engine::knowledge::Structure;

    use super::*;

    /// The help of a value is the first paragraph of its documentation, without the full stop.
    #[test]
    fn enums_are_arguments_with_their_help() {
        let command = Arguments::command();
        let index = command.find_subcommand("index").unwrap();
        let with = index.get_arguments().find(|argument| argument.get_id() == "with").unwrap();
        let shown: Vec<String> = with
            .get_possible_values()
            .iter()
            .map(|value| format!("{}: {}", value.get_name(), value.get_help().unwrap()))
            .collect();
        assert_eq!(
            shown,
            [
                "graph: Entities, relations, communities and their reports",
                "tree: Summaries over clusters of chunks, level by level. Needs an embedder and a chat model",
                "tags: Tags by class, which map a reader's words to the documents'. Needs a chat model",
            ]
        );
        let parsed = Arguments::try_parse_from(["pikerag", "index", "x", "--with", "tree,tags"]);
        let Command::Index(index) = parsed.unwrap().command else { panic!() };
        assert_eq!(index.with.with, [Structure::Tree, Structure::Tags]);
        assert!(Arguments::try_parse_from(["pikerag", "index", "x", "--with", "forest"]).is_err());
    }
}
