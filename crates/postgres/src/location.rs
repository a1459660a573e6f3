//! Reads addresses of bases in databases, which end in `base=` and the name of the base.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pikerag_knowledge::StoreError;
use tokio_postgres::Config;

use crate::error::{Context, ServerProblem};

/// The base that an address without `base=` names.
const USUAL: &str = "main";
/// How addresses of databases begin.
const BEGINS: [&str; 2] = ["postgres://", "postgresql://"];
/// The longest wait for a connection to one host.
const LONGEST_CONNECT: Duration = Duration::from_secs(10);
/// The longest time that a connection waits for a host that confirms no packet.
const LONGEST_SILENCE: Duration = Duration::from_mins(1);
/// The time before the first packet that checks a connection, if an address does not set it.
const UNSET_IDLE: Duration = Duration::from_hours(2);

/// The address of a base in a database.
#[derive(Clone, PartialEq, Eq)]
pub struct Location {
    /// The address of the database, with its password and without the base.
    database: String,
    base: String,
}

impl Location {
    /// Whether a path of settings is an address of a database. A path may have lost one of the two
    /// slashes.
    pub fn is_address(path: &Path) -> bool {
        path.to_str()
            .is_some_and(|text| BEGINS.iter().any(|begin| with_slashes(text).starts_with(begin)))
    }

    /// Reads an address.
    ///
    /// # Errors
    /// [`ServerProblem::Address`]
    pub fn parse(address: &str) -> Result<Self, StoreError> {
        let address = with_slashes(address);
        let (mut database, parameters) = match address.split_once('?') {
            Some((database, parameters)) => (database.to_owned(), parameters),
            None => (address.clone(), ""),
        };
        let (mut base, mut sign) = (USUAL.to_owned(), '?');
        for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
            match parameter.strip_prefix("base=") {
                Some(name) if !name.is_empty() => name.clone_into(&mut base),
                _ => {
                    database.push(sign);
                    database.push_str(parameter);
                    sign = '&';
                }
            }
        }
        let location = Self { database, base };
        location.config()?;
        Ok(location)
    }

    /// The address of another base in the same database.
    #[must_use]
    pub fn of_base(&self, base: &str) -> Self {
        Self { database: self.database.clone(), base: base.to_owned() }
    }

    /// The whole address. It contains the password: never show it.
    pub fn address(&self) -> String {
        let sign = if self.database.contains('?') { '&' } else { '?' };
        format!("{}{sign}base={}", self.database, self.base)
    }

    /// The name of the base within the database.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// The address of the database, which identifies its connections. It contains the password:
    /// never show it.
    pub fn database(&self) -> &str {
        &self.database
    }

    /// The address without its password, for people.
    pub fn shown(&self) -> String {
        let server = self.server();
        let sign = if server.contains('?') { '&' } else { '?' };
        format!("{server}{sign}base={}", self.base)
    }

    /// The same as a path, because a base is named by a path elsewhere.
    pub fn shown_path(&self) -> PathBuf {
        self.shown().into()
    }

    /// The address of the database without its password.
    pub(crate) fn server(&self) -> String {
        let (scheme, rest) = self.database.split_once("://").unwrap_or(("postgres", ""));
        let (place, parameters) = rest.split_once('?').unwrap_or((rest, ""));
        let place = match place.rsplit_once('@') {
            Some((account, place)) => {
                let user = account.split(':').next().unwrap_or_default();
                format!("{user}@{place}")
            }
            None => place.to_owned(),
        };
        let is_shown =
            |parameter: &&str| !parameter.is_empty() && !parameter.starts_with("password=");
        let parameters: Vec<&str> = parameters.split('&').filter(is_shown).collect();
        match parameters.is_empty() {
            true => format!("{scheme}://{place}"),
            false => format!("{scheme}://{place}?{}", parameters.join("&")),
        }
    }

    /// The parameters of a connection. A host that vanishes closes no connection, so a silent one ends
    /// after a minute, unless the address says otherwise.
    pub(crate) fn config(&self) -> Result<Config, StoreError> {
        let config = self.database.parse::<Config>();
        let mut config = config
            .map_err(|source| ServerProblem::Address { address: self.server(), source })
            .context("reading the address of the database")?;
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(LONGEST_CONNECT);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(LONGEST_SILENCE);
        }
        if config.get_keepalives_idle() == UNSET_IDLE {
            let (idle, interval) = (LONGEST_SILENCE / 3, LONGEST_SILENCE / 6);
            config.keepalives_idle(idle).keepalives_interval(interval).keepalives_retries(4);
        }
        Ok(config)
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.shown())
    }
}

/// The address with both slashes, one of which a path may have lost.
fn with_slashes(address: &str) -> String {
    for begin in BEGINS {
        let scheme = begin.trim_end_matches("//");
        if let Some(rest) = address.strip_prefix(scheme)
            && rest.starts_with('/')
        {
            return format!("{begin}{}", rest.trim_start_matches('/'));
        }
    }
    address.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_a_base_and_hides_its_password() {
        let address = "postgres://ada:secret@db:5433/pikerag?sslmode=require&base=law";
        let location = Location::parse(address).unwrap();
        assert_eq!(location.base(), "law");
        assert_eq!(location.database(), "postgres://ada:secret@db:5433/pikerag?sslmode=require");
        let shown = "postgres://ada@db:5433/pikerag?sslmode=require&base=law";
        assert_eq!(location.shown(), shown);
        assert_eq!(format!("{location:?}"), shown);
        assert_eq!(
            Location::parse("postgres:/db/pikerag").unwrap().shown(),
            "postgres://db/pikerag?base=main"
        );
    }

    #[test]
    fn a_connection_to_a_host_that_vanished_ends_after_a_minute() {
        let config = |address: &str| Location::parse(address).unwrap().config().unwrap();
        let usual = config("postgres://db/x?base=law");
        assert_eq!(usual.get_tcp_user_timeout(), Some(&LONGEST_SILENCE));
        let checks = usual.get_keepalives_interval().unwrap() * 4;
        assert_eq!(usual.get_keepalives_idle() + checks, LONGEST_SILENCE);
        let set = config("postgres://db/x?tcp_user_timeout=5&keepalives_idle=9&connect_timeout=3");
        assert_eq!(set.get_keepalives_idle(), Duration::from_secs(9));
        assert_ne!(set.get_tcp_user_timeout(), Some(&LONGEST_SILENCE));
        assert_eq!(set.get_connect_timeout(), Some(&Duration::from_secs(3)));
    }

    #[test]
    fn paths_are_no_addresses() {
        assert!(Location::is_address(Path::new("postgres://db/x")));
        assert!(Location::is_address(Path::new("postgresql:/db/x")));
        assert!(!Location::is_address(Path::new("postgres")));
        assert!(!Location::is_address(Path::new("bases/postgres:x")));
        assert!(Location::parse("postgres://db/x?port=none").is_err());
    }
}
