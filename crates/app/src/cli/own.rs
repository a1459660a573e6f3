//! Arguments that the program gives to the processes that it starts of itself.

use std::path::PathBuf;

use clap::Args;

#[derive(Clone, Debug, Args)]
pub(crate) struct ParseChild {
    /// Unpack an archive.
    #[arg(long)]
    pub(crate) unpack: bool,
    /// Draw this page, from 1.
    #[arg(long)]
    pub(crate) page: Option<u32>,
    /// Width, in pixels.
    #[arg(long, default_value_t = 0)]
    pub(crate) width: u32,
    /// The file's name.
    #[arg(long)]
    pub(crate) name: String,
    /// Address space, in MiB.
    #[arg(long)]
    pub(crate) memory: u64,
    /// Processor time, in seconds.
    #[arg(long)]
    pub(crate) cpu: u64,
    /// Largest size of the file, in bytes.
    #[arg(long)]
    pub(crate) bytes: usize,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct RunLimited {
    /// Address space, in MiB.
    #[arg(long)]
    pub(crate) memory: u64,
    /// Processor time, in seconds.
    #[arg(long)]
    pub(crate) cpu: u64,
    /// Largest file that it may write, in MiB.
    #[arg(long)]
    pub(crate) file: u64,
    /// The program and its arguments.
    #[arg(last = true, required = true)]
    pub(crate) command: Vec<PathBuf>,
}
