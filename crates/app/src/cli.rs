//! Which words does the command line know?

mod ask;
mod feedback;
mod installed;
mod keep;
mod look;
mod misuse;
mod own;
mod requests;
mod runs;
mod serve;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand};
use pikerag_engine::knowledge::{Condition, Structure};
use pikerag_engine::parts::Search as SearchBy;
use pikerag_engine::settings::Chunking;
use strum::{EnumMessage, VariantArray};

pub(crate) use self::ask::{Ask, Classify};
pub(crate) use self::feedback::{Feedback, FeedbackVerb, Judged};
pub(crate) use self::installed::Installed;
pub(crate) use self::keep::{Delete, Original, Paths, Trust};
pub(crate) use self::look::{
    Graph, GraphCommand, GraphExport, Methods, Propose, Records, SchemaCommand, Sql, Tables, Tags,
    TagsVerb,
};
use self::misuse::misuse;
pub(crate) use self::own::{ParseChild, RunLimited};
pub(crate) use self::runs::{Runs, RunsVerb};
pub(crate) use self::serve::{Keys, KeysVerb, MakeKey, Serve};

/// Turns documents into an inspectable knowledge base and answers hard questions over it, with the
/// reasoning shown, each claim traced to its source, and the bill known beforehand.
#[derive(Debug, Parser)]
#[command(
    version,
    after_help = "Exit codes: 0 done; 1 failed; 2 wrong usage; 3 done in part (files left out, calls failed); \
                  4 budget spent; 130 or 143 stopped by a signal.\nSettings: flag, then environment, then pikerag.toml, then default."
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Folder of the knowledge base; environment: `PIKERAG_BASE`.
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) base: Option<PathBuf>,
    /// Settings file; `pikerag.toml` here, if there is one (see `pikerag trust`); environment: `PIKERAG_CONFIG`.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Print JSON for machines.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Use no language model and no network, whatever is configured.
    #[arg(long, global = true)]
    pub(crate) offline: bool,
    /// Answer every model call from the record, none from the network.
    #[arg(long, global = true, conflicts_with = "offline")]
    pub(crate) replay: bool,
    /// Hard cap on what this run may spend, in US dollars.
    #[arg(long, global = true, value_name = "USD", value_parser = dollars)]
    pub(crate) budget: Option<f64>,
    /// Hard cap on the tokens of this run.
    #[arg(long, global = true, value_name = "N")]
    pub(crate) budget_tokens: Option<u64>,
    /// Hard cap on the model calls of this run.
    #[arg(long, global = true, value_name = "N")]
    pub(crate) budget_calls: Option<u64>,
    /// Model calls in flight.
    #[arg(long, global = true, value_name = "N")]
    pub(crate) in_flight: Option<NonZeroUsize>,
    /// Log more: -v what is done, -vv also requests.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

impl Arguments {
    /// The words of the command line, where they make sense.
    pub(crate) fn heard() -> Result<Self, clap::Error> {
        let arguments = Self::try_parse()?;
        match misuse(&arguments.command) {
            Some(misuse) => Err(Self::command().error(ErrorKind::ValueValidation, misuse)),
            None => Ok(arguments),
        }
    }
}

/// An amount that can be held: `nan` would be below no cap.
fn dollars(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(dollars) if dollars.is_finite() && 0.0 <= dollars => Ok(dollars),
        _ => Err("it is an amount in US dollars, at least 0".to_owned()),
    }
}

/// A default of so many.
pub(crate) fn at_least(n: usize) -> NonZeroUsize {
    NonZeroUsize::new(n).unwrap_or(NonZeroUsize::MIN)
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Write a commented settings file.
    Init,
    /// Let a settings file that lies here say where requests go, with which keys, and what is started.
    Trust(Trust),
    /// Read files and folders into the knowledge base.
    Index(Index),
    /// Answer a question.
    Ask(Ask),
    /// Say of which class a question is, and why, without answering it.
    Classify(Classify),
    /// List what was asked, show it again, walk it again, decide it otherwise, compare.
    Runs(Runs),
    /// Say whether an answer is right, or what is; list, take back and hand on what was said.
    Feedback(Feedback),
    /// List the methods of `ask`, or say what one takes and costs.
    Methods(Methods),
    /// Find chunks, each with how its score came about.
    Search(Search),
    /// Say what the base holds, what is left to do, and which files are gone.
    Status,
    /// List the files that the base is made of, and whether they are there.
    Files,
    /// Say what indexing would cost, without paying.
    Estimate(Estimate),
    /// Remove files and all that derives from them.
    Delete(Delete),
    /// Write the base to one new file, also while others write to it.
    Backup {
        /// The file; it must not be there yet.
        #[arg(value_name = "FILE")]
        to: PathBuf,
    },
    /// Make a base of a backup, where there is none.
    Restore {
        /// The backup, or the folder of another base.
        #[arg(value_name = "FILE")]
        from: PathBuf,
    },
    /// Give back a file as it was read when it was indexed.
    Original(Original),
    /// Check that the base is whole: database, full text, vector codes. Exit code 1 where something is damaged.
    Check {
        /// Make again what is derived from the database and damaged; what was paid for is not touched.
        #[arg(long)]
        repair: bool,
    },
    /// Write the whole graph as JSON lines.
    Export(Export),
    /// Show what reading makes of a file: its pieces, pages, tables, and what could not be read.
    Parse(Parse),
    /// Say what the graph consists of, show a node with its neighbours, or export it.
    Graph(Graph),
    /// List typed records.
    Records(Records),
    /// List the typed tables that documents hold, or the columns of one.
    Tables(Tables),
    /// Run a SELECT over the typed tables.
    Sql(Sql),
    /// Draft declarations of typed records from what the base holds.
    Schema {
        #[command(subcommand)]
        command: SchemaCommand,
    },
    /// Look at tags, and edit their classes and pairs.
    Tags(Tags),
    /// Serve the base to programs: REST, and the protocols of `OpenAI`, Ollama, Dify and MCP.
    Serve(Serve),
    /// Serve the base to an assistant over standard input and output (Model Context Protocol).
    Mcp,
    /// Make, list and take back the keys that a server asks for.
    Keys(Keys),
    /// Check settings, weights, endpoints and the programs that help to read files.
    Doctor,
    /// Measure methods on a set of questions.
    Eval(Eval),
    #[command(flatten)]
    Installed(Installed),
    /// Parses one file from standard input under limits (used by the program itself).
    #[command(hide = true, name = "parse-child")]
    ParseChild(ParseChild),
    /// Becomes another program under limits (used by the program itself).
    #[command(hide = true, name = "run-limited")]
    RunLimited(RunLimited),
}

#[derive(Debug, Args)]
pub(crate) struct Index {
    #[command(flatten)]
    pub(crate) paths: Paths,
    /// Remove from the base what is certainly gone from the given folders.
    #[arg(long)]
    pub(crate) prune: bool,
    /// Ask again what models refused, or did not answer readably, in earlier runs (`status` lists it).
    #[arg(long)]
    pub(crate) retry_refused: bool,
    #[command(flatten)]
    pub(crate) with: Besides,
}

#[derive(Debug, Args)]
pub(crate) struct Estimate {
    #[command(flatten)]
    pub(crate) paths: Paths,
    #[command(flatten)]
    pub(crate) with: Besides,
}

#[derive(Debug, Args)]
pub(crate) struct Besides {
    /// Build also: the entity graph (for graphrag-local, graphrag-global), the tree of summaries (for
    /// raptor), tags. Later runs keep up what was built once.
    #[arg(long, value_delimiter = ',', value_name = "WHAT", value_parser = named::<Structure>())]
    pub(crate) with: Vec<Structure>,
    /// Keep up no longer what an earlier run or the settings ask for; what there is of it stays as it is.
    #[arg(long, value_delimiter = ',', value_name = "WHAT", value_parser = named::<Structure>())]
    pub(crate) without: Vec<Structure>,
    /// Who decides where chunks end.
    #[arg(long, value_parser = named::<Chunking>(), value_name = "HOW")]
    pub(crate) chunking: Option<Chunking>,
}

#[derive(Debug, Args)]
pub(crate) struct Search {
    /// What to look for, in quotes.
    #[arg(required = true, value_name = "QUERY")]
    pub(crate) query: Vec<String>,
    /// How to look.
    #[arg(long, value_parser = named::<SearchBy>(), default_value = "auto")]
    pub(crate) by: SearchBy,
    /// How many to show.
    #[arg(short, default_value_t = at_least(8))]
    pub(crate) k: NonZeroUsize,
    /// How many of the hits the reranker of `[rerank]` puts in its order, at most; 0 for none. Else as
    /// `rerank.first` says.
    #[arg(long, value_name = "N")]
    pub(crate) rerank: Option<usize>,
    #[command(flatten)]
    pub(crate) filters: Filters,
}

#[derive(Debug, Args)]
pub(crate) struct Filters {
    /// Look through nothing but what fits: `source=URI`, `folder=NAME`, `date>=2020-01-31`,
    /// `meta:NAME=VALUE`, `tag:CLASS=TAG`, `record:SCHEMA.FIELD>=VALUE`; with `|` between values of which
    /// any will do. Given again: all must fit.
    #[arg(long = "filter", value_name = "FILTER")]
    pub(crate) conditions: Vec<Condition>,
}

/// An enum by the names of its variants; the help of each is the first paragraph of its documentation.
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
    /// The file to write; standard output, if none.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Eval {
    /// Questions with their answers, in the neutral format or a published one; again for another
    /// data set.
    #[arg(long, value_name = "FILE", required_unless_present = "preset")]
    pub(crate) questions: Vec<PathBuf>,
    /// Files to index first, into a base of the run's own: one for all questions, or one for each
    /// (`-` for none). Without, the questions' own paragraphs are indexed, where they carry any;
    /// else the base of --base is used.
    #[arg(long, value_name = "PATH")]
    pub(crate) corpus: Vec<PathBuf>,
    /// Format of the questions, if their first record is not to tell: neutral, hotpotqa, 2wiki,
    /// musique, nq, triviaqa, webquestions, strategyqa, popqa, fever, lawbench,
    /// open-australian-legal-qa.
    #[arg(long, value_name = "NAME")]
    pub(crate) format: Option<String>,
    /// Methods by name, with parameters of their own if need be (`kar3:n=3:k=2`); the first is the
    /// one that the others are compared with. Else those of the preset, or kar3, hop-rag, naive-rag
    /// and naive-rag-hr.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub(crate) methods: Vec<String>,
    /// Compare searches instead of methods, without any answer: words, meaning, atoms, hybrid, hops,
    /// layers, joined, fused, with weights of their own if need be (`layers:spread=one-step:lambda=0.3`,
    /// `joined:hops.prior=1`). Tells which share of the gold evidence is among the first chunks.
    #[arg(long, value_delimiter = ',', value_name = "NAMES",
        conflicts_with_all = ["preset", "methods", "dry_run", "judge", "consistency", "perplexity"])]
    pub(crate) searches: Vec<String>,
    /// Repeat a table of the papers; `list` says which there are.
    #[arg(long, value_name = "NAME")]
    pub(crate) preset: Option<String>,
    /// Folder in which a preset finds its data sets.
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Let the model for `judge` say which answers are right (Acc).
    #[arg(long)]
    pub(crate) judge: bool,
    /// Let it say which answers stem from what was retrieved.
    #[arg(long)]
    pub(crate) consistency: bool,
    /// Measure how sure the model is that writes from what was retrieved.
    #[arg(long)]
    pub(crate) perplexity: bool,
    /// Only say what the run would cost.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Ask only so many questions of each data set, drawn with the seed.
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<NonZeroUsize>,
    /// Seed of the draw, the confidence intervals and the tests.
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// Questions asked at a time.
    #[arg(long, default_value_t = at_least(8))]
    pub(crate) concurrency: NonZeroUsize,
    /// Folder of the run: its bases, rows, answers and reports; `runs/PRESET` for a preset. A run
    /// goes on where it was left.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Forget earlier rows of this folder and ask all questions again.
    #[arg(long)]
    pub(crate) fresh: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Parse {
    /// The file.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The library's documentation is the help: its first paragraph, without the dot.
    #[test]
    fn enums_are_arguments_with_their_help() {
        let command = Arguments::command();
        let index = command.find_subcommand("index").unwrap();
        let with = index.get_arguments().find(|argument| argument.get_id() == "with").unwrap();
        let told: Vec<String> = with
            .get_possible_values()
            .iter()
            .map(|value| format!("{}: {}", value.get_name(), value.get_help().unwrap()))
            .collect();
        assert_eq!(
            told,
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
