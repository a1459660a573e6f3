//! Arguments of `serve` and `keys`.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use pikerag_engine::keys::{Scope, now};
use pikerag_engine::knowledge::Millis;

use super::{Filters, dollars, named};

#[derive(Clone, Debug, Args)]
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
    /// Make a key. It is printed once, and only a digest of it is kept. From the first one on, every request needs a key,
    /// even after the last one is revoked.
    Make(MakeKey),
    /// List the keys, without what is secret of them, and what was spent with each.
    List,
    /// Give a key another secret, which is printed once. The old one opens nothing from then on, or after a while.
    Rotate {
        /// Its identifier, as `list` says it.
        #[arg(value_name = "ID")]
        id: String,
        /// For how long the old secret stays good: such as 30m, 12h, 7d.
        #[arg(long, value_name = "TIME", value_parser = span)]
        grace: Option<Millis>,
    },
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
    /// From when on it opens nothing: a day such as 2027-01-31 (UTC), or a time from now such as 90d.
    #[arg(long, value_name = "WHEN", value_parser = end)]
    pub(crate) expires: Option<Millis>,
    /// Write the key to this file instead of printing it. Where the file holds a good key of this name already, none is made;
    /// else the new key takes the place of all others of this name.
    #[arg(long, value_name = "FILE")]
    pub(crate) into: Option<PathBuf>,
}

/// A time in milliseconds: `30m`, `12h`, `7d`.
fn span(text: &str) -> Result<Millis, String> {
    let units = [('m', 60_000), ('h', 3_600_000), ('d', 86_400_000)];
    let found = units.iter().find_map(|(unit, millis)| {
        text.strip_suffix(*unit)?.parse::<Millis>().ok()?.checked_mul(*millis)
    });
    found.ok_or_else(|| "it is a number with m, h or d behind it, such as 30m, 12h, 7d".to_owned())
}

/// When a key ends.
fn end(text: &str) -> Result<Millis, String> {
    if let Ok(span) = span(text) {
        return Ok(now().saturating_add(span));
    }
    let day = text.parse::<Date>().and_then(|day| day.to_zoned(TimeZone::UTC));
    let day =
        day.map_err(|_| "it is a day such as 2027-01-31, or a time such as 90d".to_owned())?;
    match Millis::try_from(day.timestamp().as_millisecond()) {
        Ok(end) if now() < end => Ok(end),
        _ => Err("it is over already".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_ends_on_a_day_or_after_a_time() {
        assert_eq!(span("90m").unwrap(), 5_400_000);
        assert_eq!(end("2200-01-31").unwrap(), 7_260_710_400_000);
        assert!(now() + 86_399_000 < end("1d").unwrap());
        for wrong in ["", "d", "7", "-7d", "2001-01-01", "soon", "99999999999999999d"] {
            assert!(end(wrong).is_err(), "{wrong}");
        }
    }
}
