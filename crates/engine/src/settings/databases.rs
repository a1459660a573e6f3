//! Reads `[[sources.database]]`: databases whose tables are indexed, by the variables that hold their
//! addresses.

use std::time::Duration;

use pikerag_sources::{Choice, DatabaseUrl, ReadLimits, TablePattern};
use serde::Deserialize;

use super::environment::Environment;
use super::{RefusedValue, SettingsError};

/// A database whose tables are indexed, and the tables to take. Several may mean one database: each
/// table follows the first that takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseSettings {
    /// The variable of the environment that holds the address.
    pub url_variable: String,
    /// The address; `None` if the variable is not set.
    pub url: Option<DatabaseUrl>,
    /// The tables, and how to follow their changes.
    pub choice: Choice,
    /// The limits on reading.
    pub limits: ReadLimits,
}

/// `[sources]` as it is written.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct SourcesTable {
    pub(super) database: Vec<DatabaseTable>,
}

/// `[[sources.database]]` as it is written.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DatabaseTable {
    url_variable: String,
    #[serde(default)]
    tables: Vec<String>,
    #[serde(default)]
    key: Vec<String>,
    changed: Option<String>,
    rows: Option<u64>,
    mib: Option<u64>,
    statement_seconds: Option<u64>,
}

pub(super) fn databases(
    table: &SourcesTable,
    environment: &Environment,
) -> Result<Vec<DatabaseSettings>, SettingsError> {
    table.database.iter().map(|database| resolved(database, environment)).collect()
}

fn resolved(
    table: &DatabaseTable,
    environment: &Environment,
) -> Result<DatabaseSettings, SettingsError> {
    let refuse = |key: &str, reason| SettingsError::Refused { key: key.to_owned(), reason };
    let url_variable = table.url_variable.trim().to_owned();
    let url = match environment.get(&url_variable) {
        None => None,
        // The value is not shown, because it may be another secret.
        Some(value) => {
            let url = DatabaseUrl::of(value).filter(|url| url.identity().is_ok());
            Some(url.ok_or_else(|| {
                let variable = url_variable.clone();
                refuse("sources.database.url_variable", RefusedValue::NoDatabase { variable })
            })?)
        }
    };
    let pattern = |text: &String| {
        text.parse::<TablePattern>().map_err(|_| {
            let pattern = text.clone();
            refuse("sources.database.tables", RefusedValue::NoTablePattern { pattern })
        })
    };
    let defaults = ReadLimits::default();
    Ok(DatabaseSettings {
        url,
        choice: Choice {
            tables: table.tables.iter().map(pattern).collect::<Result<_, _>>()?,
            key: table.key.clone(),
            changed: table.changed.clone(),
        },
        limits: ReadLimits {
            rows: table.rows.unwrap_or(defaults.rows),
            mib: table.mib.unwrap_or(defaults.mib),
            statement: table.statement_seconds.map_or(defaults.statement, Duration::from_secs),
        },
        url_variable,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, pairs: &[(&str, &str)]) -> Result<Vec<DatabaseSettings>, String> {
        let table: SourcesTable = toml::from_str(text).map_err(|error| error.to_string())?;
        let environment: Environment = pairs.iter().copied().collect();
        databases(&table, &environment).map_err(|error| error.to_string())
    }

    #[test]
    fn the_address_comes_from_the_environment() {
        let text = "[[database]]\nurl_variable = \"SHOP_URL\"\ntables = [\"public.*\", \"!log\"]\n\
                    key = [\"id\"]\nchanged = \"updated_at\"\nrows = 10\nstatement_seconds = 5\n";
        let url = "postgres://reader:canary@db.example/shop";
        let read = read(text, &[("SHOP_URL", url)]).unwrap();
        let [database] = read.as_slice() else { panic!() };
        let identity = database.url.as_ref().unwrap().identity().unwrap();
        assert_eq!(identity, "postgres://db.example/shop");
        assert!(!format!("{database:?}").contains("canary"));
        let tables: Vec<String> = database.choice.tables.iter().map(ToString::to_string).collect();
        assert_eq!(tables, ["public.*", "!log"]);
        assert_eq!(database.choice.changed.as_deref(), Some("updated_at"));
        let limits = &database.limits;
        let expected = (10, 256, Duration::from_secs(5));
        assert_eq!((limits.rows, limits.mib, limits.statement), expected);
    }

    #[test]
    fn a_variable_that_is_not_set_is_no_error_and_a_wrong_one_shows_no_value() {
        let text = "[[database]]\nurl_variable = \"SHOP_URL\"\n";
        assert_eq!(read(text, &[]).unwrap()[0].url, None);
        for value in ["canary", "https://canary", "postgres://a:canary@h:canary/b"] {
            let refused = read(text, &[("SHOP_URL", value)]).unwrap_err();
            assert!(refused.contains("SHOP_URL") && !refused.contains("canary"), "{refused}");
        }
    }

    #[test]
    fn unknown_settings_and_empty_patterns_are_refused() {
        assert!(read("[[database]]\nurl = \"postgres://h/b\"\n", &[]).is_err());
        let text = "[[database]]\nurl_variable = \"A\"\ntables = [\"public.\"]\n";
        assert!(read(text, &[]).unwrap_err().contains("public."));
    }
}
