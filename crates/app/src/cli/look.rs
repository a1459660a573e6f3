//! Arguments of the commands that show the distilled data (tags, graph, records, tables) and the methods.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use pikerag_engine::GraphFormat;

use super::{at_least, named};

#[derive(Debug, Args)]
pub(crate) struct Methods {
    /// Show only this method, with its parameters.
    pub(crate) name: Option<String>,
    /// Print the table of docs/reference/methods.md.
    #[arg(long, conflicts_with_all = ["json", "name"])]
    pub(crate) markdown: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Tags {
    #[command(subcommand)]
    pub(crate) verb: Option<TagsVerb>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TagsVerb {
    /// The tags of a class, most frequent first.
    Show {
        /// Name of the class.
        class: String,
        /// Number of tags to show.
        #[arg(short, default_value_t = at_least(50))]
        k: NonZeroUsize,
    },
    /// List the synonyms: a word of readers and a word of the documents.
    Pairs,
    /// Declare a class of tags, or redefine it. The next `index --with tags` finds its tags.
    AddClass {
        /// Its name.
        name: String,
        /// Its meaning, in a sentence.
        covers: String,
        /// Some of its tags.
        #[arg(long, value_delimiter = ',', value_name = "TAGS")]
        examples: Vec<String>,
    },
    /// Rename a class; its tags are kept.
    Rename {
        /// Its name.
        class: String,
        /// Its new name.
        name: String,
    },
    /// Delete a class with its tags, or the synonyms COLLOQUIAL and PROFESSIONAL.
    Drop {
        /// Name of the class, or the word of readers.
        class: String,
        /// The word of the documents, to delete a pair of synonyms.
        professional: Option<String>,
    },
    /// Declare synonyms: readers say COLLOQUIAL, the documents say PROFESSIONAL.
    Pair {
        /// The word of readers.
        colloquial: String,
        /// The word of the documents.
        professional: String,
        /// Name of the class that both belong to.
        #[arg(long, default_value = "")]
        class: String,
    },
    /// Learn synonyms from questions with answers, in a format that `eval` reads. Needs a chat model.
    Learn {
        /// The file.
        file: PathBuf,
    },
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Graph {
    #[command(subcommand)]
    pub(crate) command: Option<GraphCommand>,
    /// Show this node and its neighbours. NODE is an identifier, the path or title of a document, or the name of an
    /// entity.
    #[arg(long, value_name = "NODE")]
    pub(crate) of: Option<String>,
    /// Largest distance, in edges.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=6))]
    pub(crate) depth: u8,
}

#[derive(Debug, Subcommand)]
pub(crate) enum GraphCommand {
    /// Write the graph for other programs, or as a page for a browser.
    Export(GraphExport),
}

#[derive(Debug, Args)]
pub(crate) struct GraphExport {
    /// Format of the file.
    #[arg(long, value_parser = named::<GraphFormat>(), default_value = "jsonl")]
    pub(crate) format: GraphFormat,
    /// The file to write. Default: standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Only this node and its neighbours (html).
    #[arg(long, value_name = "NODE")]
    pub(crate) of: Option<String>,
    /// Largest number of nodes on a page.
    #[arg(long, default_value_t = at_least(400), value_name = "N")]
    pub(crate) nodes: NonZeroUsize,
}

#[derive(Debug, Args)]
pub(crate) struct Records {
    /// Only records of this schema.
    #[arg(long, value_name = "NAME")]
    pub(crate) schema: Option<String>,
    /// Print CSV for spreadsheets.
    #[arg(long)]
    pub(crate) csv: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Tables {
    /// Show the columns of this table.
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Sql {
    /// The statement, in quotes: `SELECT region, sum(amount) FROM orders GROUP BY region`.
    #[arg(required = true, value_name = "SELECT")]
    pub(crate) statement: Vec<String>,
    /// Largest number of rows to show.
    #[arg(long, default_value_t = at_least(1_000), value_name = "N")]
    pub(crate) most: NonZeroUsize,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SchemaCommand {
    /// Draft them from the headers and values of tables and document fields; with a chat model, also from texts.
    Propose(Propose),
}

#[derive(Debug, Args)]
pub(crate) struct Propose {
    /// Use only these files and folders of the base.
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
}
