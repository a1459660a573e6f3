//! Arguments of `completions`, `man` and `health`, which an installation needs.

use std::path::PathBuf;

use clap::Subcommand;
use clap_complete::Shell;

#[derive(Debug, Subcommand)]
pub(crate) enum Installed {
    /// Print completions for a shell.
    Completions {
        /// The shell.
        #[arg(value_enum, value_name = "SHELL")]
        shell: Shell,
    },
    /// Print the manual page, or write the pages of all commands.
    Man {
        /// Folder for the pages; it is created if missing. Default: the page of `pikerag` is printed.
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
    /// Check whether the server on this machine accepts requests. Exit code 1 if it does not.
    Health {
        /// Its port. Default: `server.port`, else 8686.
        #[arg(long, value_name = "N")]
        port: Option<u16>,
    },
}
