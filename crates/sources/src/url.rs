//! Reads the address of a database, whose password is never shown.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use pikerag_indexing::DatabaseFault;
use pikerag_knowledge::uri::RELATION;
use tokio_postgres::Config;
use tokio_postgres::config::Host;

/// The other spelling of the beginning of an address.
const LONG: &str = "postgresql://";
const USUAL_PORT: u16 = 5432;
/// The time to connect, unless the address sets `connect_timeout`.
const TIMEOUT: Duration = Duration::from_secs(10);
const FORM: &str =
    "it must have the form postgres://USER@HOST/DATABASE, with special characters percent-encoded";

/// The address of a database as a user gives it, perhaps with a password: a secret, which `Debug`
/// hides and nothing prints.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl(String);

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DatabaseUrl(***)")
    }
}

impl DatabaseUrl {
    /// The address that a text gives; `None` if it is no address of a database, but a path.
    pub fn of(text: &str) -> Option<Self> {
        let text = text.trim();
        let after = |scheme: &str| {
            let is_it = text.get(..scheme.len())?.eq_ignore_ascii_case(scheme);
            is_it.then(|| text.get(scheme.len()..)).flatten()
        };
        let rest = after(RELATION).or_else(|| after(LONG))?;
        Some(Self(format!("{RELATION}{rest}")))
    }

    /// Whether the address holds a password.
    pub fn has_password(&self) -> bool {
        self.target().is_ok_and(|target| target.config.get_password().is_some())
    }

    /// The name of the database without account and password: `postgres://host/database`. The port
    /// is left out if it is the usual one.
    ///
    /// # Errors
    /// [`DatabaseFault::BadUrl`].
    pub fn identity(&self) -> Result<String, DatabaseFault> {
        self.target().map(|target| target.identity)
    }

    /// The parts of the address.
    pub(crate) fn target(&self) -> Result<Target, DatabaseFault> {
        let (head, query) = self.0.split_once('?').unwrap_or((&self.0, ""));
        // The rest of a password with a plain `@` would become a part of the host, which is shown.
        if 1 < self.0.matches('@').count() {
            return Err(bad(FORM));
        }
        let (mut kept, mut roots) = (Vec::new(), None);
        for part in query.split('&').filter(|part| !part.is_empty()) {
            match part.split_once('=') {
                Some(("sslrootcert", path)) => roots = Some(PathBuf::from(decoded(path)?)),
                // Certificates are always verified.
                Some(("sslmode", "verify-full" | "verify-ca")) => kept.push("sslmode=require"),
                Some(("sslmode", "allow")) => kept.push("sslmode=prefer"),
                _ => kept.push(part),
            }
        }
        let mut url = head.to_owned();
        if !kept.is_empty() {
            url.push('?');
            url.push_str(&kept.join("&"));
        }
        // The cause is left out, because it may contain a part of the address.
        let mut config: Config = url.parse().map_err(|_| bad(FORM))?;
        if config.get_hosts().is_empty() {
            // Databases at different addresses have different names.
            let addresses: Vec<String> =
                config.get_hostaddrs().iter().map(ToString::to_string).collect();
            for address in &addresses {
                config.host(address);
            }
            if addresses.is_empty() {
                config.host("localhost");
            }
        }
        if config.get_application_name().is_none() {
            config.application_name("pikerag");
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(TIMEOUT);
        }
        let database = config.get_dbname().or_else(|| config.get_user()).map(str::to_owned);
        let database = database.ok_or_else(|| bad("it names no database"))?;
        let server = server(&config);
        let identity = format!("{RELATION}{server}/{}", escaped(&database));
        Ok(Target { config, server, identity, database, roots })
    }
}

/// The parts of an address. It has no `Debug`, because it holds the password.
pub(crate) struct Target {
    pub(crate) config: Config,
    /// The host, with its port if that is not the usual one.
    pub(crate) server: String,
    /// The beginning of the names of all tables.
    pub(crate) identity: String,
    pub(crate) database: String,
    /// A file of certificates to trust instead of those of the system.
    pub(crate) roots: Option<PathBuf>,
}

impl Target {
    /// The name of a table in the base.
    pub(crate) fn name_of(&self, schema: &str, table: &str) -> String {
        format!("{}/{}.{}", self.identity, escaped(schema), escaped(table))
    }

    /// The account.
    pub(crate) fn user(&self) -> &str {
        self.config.get_user().unwrap_or("(that of the system)")
    }
}

fn bad(reason: &'static str) -> DatabaseFault {
    DatabaseFault::BadUrl { reason }
}

fn server(config: &Config) -> String {
    let ports = config.get_ports();
    let name = |(place, host): (usize, &Host)| {
        let port = ports.get(place).or_else(|| ports.first()).copied().unwrap_or(USUAL_PORT);
        let host = match host {
            Host::Tcp(host) if host.contains(':') => format!("[{}]", host.to_lowercase()),
            Host::Tcp(host) => escaped_host(host),
            Host::Unix(_) => "localhost".to_owned(),
        };
        if port == USUAL_PORT { host } else { format!("{host}:{port}") }
    };
    config.get_hosts().iter().enumerate().map(name).collect::<Vec<_>>().join(",")
}

/// A host without characters that would end its part of a name.
fn escaped_host(host: &str) -> String {
    let ends = |c: char| "/?#%@".contains(c) || c.is_whitespace() || c.is_control();
    host.to_lowercase().replace(ends, "_")
}

/// A name of a database, schema or table without characters that separate the parts of a name.
/// Letters of all scripts stay readable.
fn escaped(name: &str) -> String {
    let mut text = String::new();
    for c in name.chars() {
        match c {
            '%' | '/' | '?' | '#' | '.' => text.push_str(&format!("%{:02X}", u32::from(c))),
            c if c.is_whitespace() || c.is_control() => {
                for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                    text.push_str(&format!("%{byte:02X}"));
                }
            }
            c => text.push(c),
        }
    }
    text
}

fn decoded(text: &str) -> Result<String, DatabaseFault> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let digit = |byte: u8| char::from(byte).to_digit(16);
        let code = match (first, tail) {
            (b'%', [high, low, ..]) => digit(*high).zip(digit(*low)),
            _ => None,
        };
        match code {
            Some((high, low)) => {
                bytes.push((high * 16 + low) as u8);
                rest = tail.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    String::from_utf8(bytes).map_err(|_| bad(FORM))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(text: &str) -> String {
        let url = DatabaseUrl::of(text).unwrap();
        url.identity().unwrap_or_else(|fault| fault.to_string())
    }

    #[test]
    fn a_database_is_named_without_account_and_password() {
        let same = "postgres://db.example/shop";
        for text in [
            "postgres://db.example/shop",
            "postgresql://reader:s%40cret@DB.example:5432/shop?sslmode=verify-full",
            "postgres://reader@db.example/shop?connect_timeout=3",
            "Postgres://reader@db.example/shop",
        ] {
            assert_eq!(identity(text), same, "{text}");
        }
        assert_eq!(identity("postgres://reader:x@h:6432/a%2Fb"), "postgres://h:6432/a%2Fb");
        assert_eq!(identity("postgres://reader@h"), "postgres://h/reader");
        assert_eq!(identity("postgres:///shop?host=/run/postgresql"), "postgres://localhost/shop");
        assert_eq!(identity("postgres://[::1]/店"), "postgres://[::1]/店");
        assert_eq!(identity("postgres:///shop?hostaddr=10.0.0.7"), "postgres://10.0.0.7/shop");
        let named = identity("postgres://h/shop?hostaddr=10.0.0.7");
        assert_eq!(named, "postgres://h/shop");
        assert_eq!(identity("postgres://a%0Ab%40c/shop"), "postgres://a_b_c/shop");
        assert!(DatabaseUrl::of("handbook/postgres.md").is_none());
    }

    #[test]
    fn nothing_shows_a_password() {
        for text in [
            "postgres://reader:canary@h/shop",
            "postgres://reader:canary@h/shop?canary=canary",
            "postgres://reader:canary@h:canary/shop",
            // Passwords whose special characters are not encoded.
            "postgres://reader:x@canary@h/shop",
            "postgres://reader:x@y/canary@h/shop",
            "postgres://reader:12?canary@h/shop",
            "postgres://reader:x@y?canary@h/shop",
            "postgres://reader:x?y@canary@h/shop",
            "postgres://reader:x?y@z/canary@h/shop",
            "POSTGRES://reader:canary@h/shop",
        ] {
            let url = DatabaseUrl::of(text).unwrap();
            let shown = format!("{url:?} {:?} {}", url.identity(), identity(text));
            assert!(!shown.contains("canary"), "{shown}");
        }
        assert!(DatabaseUrl::of("postgres://a:b@h/c").unwrap().has_password());
        assert!(!DatabaseUrl::of("postgres://a@h/c").unwrap().has_password());
    }

    #[test]
    fn names_of_tables_keep_their_parts_apart() {
        let target = DatabaseUrl::of("postgres://h/shop").unwrap().target().unwrap();
        assert_eq!(target.name_of("public", "staff"), "postgres://h/shop/public.staff");
        assert_eq!(target.name_of("a.b", "员工 \"x\""), "postgres://h/shop/a%2Eb.员工%20\"x\"");
    }
}
