//! What can be said on the command line to look at what was distilled: tags, the graph, records; and at the
//! methods?

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use pikerag_engine::GraphFormat;

use super::{at_least, named};

#[derive(Debug, Args)]
pub(crate) struct Methods {
    /// Only this one, with its parameters.
    pub(crate) name: Option<String>,
    /// The table of docs/methods.md.
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
        /// How many to show.
        #[arg(short, default_value_t = at_least(50))]
        k: NonZeroUsize,
    },
    /// Pairs of a reader's word and the documents'.
    Pairs,
    /// Declare a class, or say anew what belongs to it; the next `index --with tags` looks for its tags.
    AddClass {
        /// Its name.
        name: String,
        /// What belongs to it, in a sentence.
        covers: String,
        /// Some of its tags.
        #[arg(long, value_delimiter = ',', value_name = "TAGS")]
        examples: Vec<String>,
    },
    /// Give a class another name; its tags stay.
    Rename {
        /// Its name.
        class: String,
        /// Its new name.
        name: String,
    },
    /// Drop a class with its tags for good, or the pair of COLLOQUIAL and PROFESSIONAL.
    Drop {
        /// Name of the class, or the reader's word.
        class: String,
        /// The documents' word of the pair.
        professional: Option<String>,
    },
    /// Declare that the documents call COLLOQUIAL by the name of PROFESSIONAL.
    Pair {
        /// The reader's word.
        colloquial: String,
        /// The documents' word.
        professional: String,
        /// Name of the class that both belong to.
        #[arg(long, default_value = "")]
        class: String,
    },
    /// Learn pairs from questions with their answers, in a format that `eval` reads. Needs a chat model.
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
    /// Show this node and what stands around it: an identifier, a document's path or title, the name of
    /// an entity.
    #[arg(long, value_name = "NODE")]
    pub(crate) of: Option<String>,
    /// How many edges away.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=6))]
    pub(crate) depth: u8,
}

#[derive(Debug, Subcommand)]
pub(crate) enum GraphCommand {
    /// Write the graph for other programs, or as a page to look at.
    Export(GraphExport),
}

#[derive(Debug, Args)]
pub(crate) struct GraphExport {
    /// JSON lines; GraphML (Gephi, NetworkX, yEd); or one page for a browser.
    #[arg(long, value_parser = named::<GraphFormat>(), default_value = "jsonl")]
    pub(crate) format: GraphFormat,
    /// The file to write; standard output, if none.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Only what stands around this node (html).
    #[arg(long, value_name = "NODE")]
    pub(crate) of: Option<String>,
    /// The most nodes of a page.
    #[arg(long, default_value_t = at_least(400), value_name = "N")]
    pub(crate) nodes: NonZeroUsize,
}

#[derive(Debug, Args)]
pub(crate) struct Records {
    /// Only records of this schema.
    #[arg(long, value_name = "NAME")]
    pub(crate) schema: Option<String>,
    /// As a table for spreadsheets.
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
    /// The most rows to show.
    #[arg(long, default_value_t = at_least(1_000), value_name = "N")]
    pub(crate) most: NonZeroUsize,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SchemaCommand {
    /// From the headers and values of tables and of documents' fields; with a chat model, from texts too.
    Propose(Propose),
}

#[derive(Debug, Args)]
pub(crate) struct Propose {
    /// Look only at these files and folders of the base.
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
}
