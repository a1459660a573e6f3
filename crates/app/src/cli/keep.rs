//! What do `delete`, `original`, `trust` and whatever is given paths take?

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Paths {
    /// Files and folders.
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Trust {
    /// The file; if none, that of --config or `PIKERAG_CONFIG`, else `pikerag.toml` here. A change of it has to be trusted again.
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// List the files that are trusted.
    #[arg(long, conflicts_with_all = ["file", "remove"])]
    pub(crate) list: bool,
    /// Trust the file no longer.
    #[arg(long)]
    pub(crate) remove: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Delete {
    #[command(flatten)]
    pub(crate) paths: Paths,
    /// Remove also the model calls and runs that hold their text, and overwrite what was freed.
    #[arg(long)]
    pub(crate) forget: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Original {
    /// The file, as it was called when it was indexed.
    #[arg(value_name = "PATH")]
    pub(crate) path: PathBuf,
    /// The file to write; standard output, if none.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}
