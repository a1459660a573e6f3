//! Arguments of what an installation needs: completions, manual pages, a look at whether a server answers.

use std::path::PathBuf;

use clap::Subcommand;
use clap_complete::Shell;

#[derive(Debug, Subcommand)]
pub(crate) enum Installed {
    /// Print completions for a shell.
    Completions {
        /// Which one.
        #[arg(value_enum, value_name = "SHELL")]
        shell: Shell,
    },
    /// Print the manual page, or write all pages: one for each command.
    Man {
        /// A folder for the pages; it is made where there is none. Else the page of `pikerag` itself is printed.
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
    /// Ask the server that runs on this machine whether it takes requests. Exit code 1 where it does not.
    Health {
        /// Its port; `server.port`, else 8686.
        #[arg(long, value_name = "N")]
        port: Option<u16>,
    },
}
