//! Arguments of `serve` and `keys`.

use std::num::NonZeroU32;

use clap::{Args, Subcommand};
use pikerag_engine::keys::Scope;

use super::{Filters, dollars, named};

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// The address to listen on; `server.host`, else this machine alone. Another one needs a key.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) host: Option<String>,
    /// The port; `server.port`, else 8686. 0 takes a free one.
    #[arg(long, value_name = "N")]
    pub(crate) port: Option<u16>,
    /// Print the `OpenAPI` document of the server, and end.
    #[arg(long)]
    pub(crate) openapi: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Keys {
    #[command(subcommand)]
    pub(crate) verb: KeysVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeysVerb {
    /// Make a key. It is printed once, and only a digest of it is kept. From the first one on, every request needs a key.
    Make(MakeKey),
    /// List the keys, without what is secret of them, and what was spent with each.
    List,
    /// Take a key back: it opens nothing from then on.
    Revoke {
        /// Its identifier, as `list` says it.
        #[arg(value_name = "ID")]
        id: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct MakeKey {
    /// Whose it is, or what for.
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// What it may be used for.
    #[arg(long, value_parser = named::<Scope>(), default_value = "read")]
    pub(crate) scope: Scope,
    /// The bases that it opens, by the names of `server.bases`; again for another. Else all.
    #[arg(long = "opens", value_name = "BASE")]
    pub(crate) bases: Vec<String>,
    #[command(flatten)]
    pub(crate) filters: Filters,
    /// What may be spent on chat models with it, in US dollars, over all its life.
    #[arg(long, value_name = "USD", value_parser = dollars)]
    pub(crate) cap_usd: Option<f64>,
    /// Requests in a minute, at most.
    #[arg(long, value_name = "N")]
    pub(crate) per_minute: Option<NonZeroU32>,
}
