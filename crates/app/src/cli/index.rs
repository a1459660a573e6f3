//! Arguments of `index` and `estimate`.

use clap::Args;
use pikerag_engine::FileGlob;
use pikerag_engine::knowledge::Structure;
use pikerag_engine::settings::Chunking;

use super::{Paths, named};

#[derive(Debug, Args)]
pub(crate) struct Index {
    #[command(flatten)]
    pub(crate) paths: Paths,
    /// Remove files from the base that no longer exist in the given folders, and tables that are gone from the given
    /// databases.
    #[arg(long)]
    pub(crate) prune: bool,
    /// Repeat requests that models refused or answered unreadably in earlier runs (`status` lists them).
    #[arg(long)]
    pub(crate) retry_refused: bool,
    #[command(flatten)]
    pub(crate) choice: Choice,
    #[command(flatten)]
    pub(crate) with: Besides,
}

#[derive(Debug, Args)]
pub(crate) struct Estimate {
    #[command(flatten)]
    pub(crate) paths: Paths,
    #[command(flatten)]
    pub(crate) choice: Choice,
    #[command(flatten)]
    pub(crate) with: Besides,
}

#[derive(Debug, Args)]
pub(crate) struct Choice {
    /// Take files from folders that would be left out, such as `*.js`; repeat for several. Globs as in
    /// .gitignore, relative to the given folder.
    #[arg(long, value_name = "GLOB")]
    pub(crate) include: Vec<FileGlob>,
    /// Leave files and folders out, such as `/drafts/`; repeat for several. Counts before `--include`.
    #[arg(long, value_name = "GLOB")]
    pub(crate) exclude: Vec<FileGlob>,
    /// Take source code from folders.
    #[arg(long)]
    pub(crate) source_code: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Besides {
    /// Also build the entity graph (for graphrag-local, graphrag-global), the tree of summaries (for
    /// raptor), or tags. Later runs maintain them.
    #[arg(long, value_delimiter = ',', value_name = "STRUCTURES", value_parser = named::<Structure>())]
    pub(crate) with: Vec<Structure>,
    /// Stop maintaining these structures; existing data is kept.
    #[arg(long, value_delimiter = ',', value_name = "STRUCTURES", value_parser = named::<Structure>())]
    pub(crate) without: Vec<Structure>,
    /// How to find the ends of chunks.
    #[arg(long, value_parser = named::<Chunking>(), value_name = "HOW")]
    pub(crate) chunking: Option<Chunking>,
}
