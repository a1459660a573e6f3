//! Arguments of `delete`, `original` and `trust`, and the paths that several commands take.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Paths {
    /// Files and folders, or databases: `postgres://HOST/DATABASE`.
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Trust {
    /// The file. Default: that of --config or `PIKERAG_CONFIG`, else `pikerag.toml` in this folder. Trust it again after
    /// each change.
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// List the trusted files.
    #[arg(long, conflicts_with_all = ["file", "remove"])]
    pub(crate) list: bool,
    /// Stop trusting the file.
    #[arg(long)]
    pub(crate) remove: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Delete {
    #[command(flatten)]
    pub(crate) paths: Paths,
    /// Also remove the model calls and runs with their text, and overwrite the freed space.
    #[arg(long)]
    pub(crate) forget: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Original {
    /// The file, by its name at the time of indexing.
    #[arg(value_name = "PATH")]
    pub(crate) path: PathBuf,
    /// The file to write. Default: standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}
