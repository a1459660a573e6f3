//! Arguments of `serve` and `keys`.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use pikerag_engine::keys::Scope;
use pikerag_engine::knowledge::Millis;

use super::{Filters, named, value};

#[derive(Clone, Debug, Args)]
pub(crate) struct Serve {
    /// The address to listen on. Default: `server.host`, else only this machine. Other addresses need a key.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) host: Option<String>,
    /// The port; 0 takes a free one. Default: `server.port`, else 8686.
    #[arg(long, value_name = "N")]
    pub(crate) port: Option<u16>,
    /// Print the `OpenAPI` document of the server and exit.
    #[arg(long)]
    pub(crate) openapi: bool,
    /// Print the limits of the server with their current values and exit.
    #[arg(long, conflicts_with = "openapi")]
    pub(crate) limits: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Keys {
    #[command(subcommand)]
    pub(crate) verb: KeysVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeysVerb {
    /// Create a key and print it once; only its digest is stored. After the first key, every request needs one, even when all
    /// are revoked.
    Make(MakeKey),
    /// List the keys and the amount spent with each. Secrets are not shown.
    List,
    /// Give a key a new secret, which is printed once. The old secret becomes invalid at once, or after --grace.
    Rotate {
        /// Its identifier in `list`.
        #[arg(value_name = "ID")]
        id: String,
        /// How long the old secret stays valid, such as 30m, 12h, 7d.
        #[arg(long, value_name = "TIME", value_parser = value::span)]
        grace: Option<Millis>,
    },
    /// Revoke a key: it becomes invalid at once.
    Revoke {
        /// Its identifier in `list`.
        #[arg(value_name = "ID")]
        id: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct MakeKey {
    /// Its owner or purpose.
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// The operations that it allows.
    #[arg(long, value_parser = named::<Scope>(), default_value = "read")]
    pub(crate) scope: Scope,
    /// A base that it opens, by its name on the server; repeat for more. Default: all bases.
    #[arg(long = "opens", value_name = "BASE")]
    pub(crate) bases: Vec<String>,
    #[command(flatten)]
    pub(crate) filters: Filters,
    /// Cap on the total cost of chat models with this key, in US dollars.
    #[arg(long, value_name = "USD", value_parser = value::dollars)]
    pub(crate) cap_usd: Option<f64>,
    /// Largest number of requests in a minute.
    #[arg(long, value_name = "N")]
    pub(crate) per_minute: Option<NonZeroU32>,
    /// When it expires: a day such as 2027-01-31 (UTC), or a time from now such as 90d.
    #[arg(long, value_name = "WHEN", value_parser = value::end)]
    pub(crate) expires: Option<Millis>,
    /// Write the key to this file instead of printing it. If the file already holds a valid key of this name, no key is
    /// created; otherwise the new key replaces all others of this name.
    #[arg(long, value_name = "FILE")]
    pub(crate) into: Option<PathBuf>,
}
