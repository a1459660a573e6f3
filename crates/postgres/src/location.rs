//! Reads addresses of bases in databases, which end in `base=` and the name of the base.

use std::fmt;
use std::path::{Path, PathBuf};

use pikerag_knowledge::StoreError;
use tokio_postgres::Config;

use crate::error::{Context, ServerProblem};

/// The base that an address without `base=` names.
const USUAL: &str = "main";
/// How addresses of databases begin.
const BEGINS: [&str; 2] = ["postgres://", "postgresql://"];

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

    /// The parameters of a connection.
    pub(crate) fn config(&self) -> Result<Config, StoreError> {
        let config = self.database.parse::<Config>();
        config
            .map_err(|source| ServerProblem::Address { address: self.server(), source })
            .context("reading the address of the database")
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
    fn paths_are_no_addresses() {
        assert!(Location::is_address(Path::new("postgres://db/x")));
        assert!(Location::is_address(Path::new("postgresql:/db/x")));
        assert!(!Location::is_address(Path::new("postgres")));
        assert!(!Location::is_address(Path::new("bases/postgres:x")));
        assert!(Location::parse("postgres://db/x?port=none").is_err());
    }
}
