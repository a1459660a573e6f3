//! Defines `[server]`: the address of a server, the bases that it serves, and its limits.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pikerag_postgres::Location;
use serde::Deserialize;

use super::{RefusedValue, SettingsError};

/// The name of the settings' base on a server with several bases.
pub const DEFAULT_BASE: &str = "default";
/// The database of keys in the user's state folder.
pub(crate) const USUAL_KEYS: &str = "keys.sqlite";

/// The address of `pikerag serve`, the bases that it serves, and its limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerSettings {
    /// The address that it listens on.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// Its address from outside, without a slash at its end; links to passages begin with it.
    pub public_url: Option<String>,
    /// The names that browsers may use besides its address: allowed values of `Host`.
    pub names: Vec<String>,
    /// Pages of other addresses that may call it: allowed values of `Origin`.
    pub origins: Vec<String>,
    /// The database of keys; `None` if there is no place for one.
    pub keys: Option<PathBuf>,
    /// The audit file, with a line of JSON for each request; `None` writes to the log only.
    pub audit: Option<PathBuf>,
    /// Further bases, by the names that requests use.
    pub bases: BTreeMap<String, PathBuf>,
    /// The folder of the bases that are made over REST; `None` is a folder beside the base.
    pub bases_folder: Option<PathBuf>,
    /// The most bases that can be made over REST.
    pub bases_limit: usize,
    /// Folders that are watched, by the base that indexes them.
    pub watch: BTreeMap<String, Vec<PathBuf>>,
    /// The folder with reports of `eval` to show; `None` shows none.
    pub evaluations: Option<PathBuf>,
    /// The most bytes of a request's body; uploaded files have their own limit.
    pub body_bytes: usize,
    /// The most requests that run at a time, streams included.
    pub requests: usize,
    /// The most questions that are answered at a time.
    pub runs: usize,
    /// The most questions that wait for an answer to begin.
    pub runs_waiting: usize,
    /// The most bytes of a question or a query.
    pub question_bytes: usize,
    /// The longest time that shutting down may take.
    pub grace: Duration,
    /// How long a stopping server still accepts connections, while `/ready` fails: a part of `grace`,
    /// at most half of it.
    pub drain: Duration,
    /// The wrong keys from one address that are answered per minute.
    pub wrong_keys: u32,
    /// The most passages that one request may have reranked.
    pub rerank_limit: usize,
    /// Whether the server runs jobs; otherwise `pikerag worker` does.
    pub run_jobs: bool,
}

/// The most parallel runs. Each holds a snapshot of its base, and a process has 160 of them, a
/// quarter of which is for searches.
pub(crate) const MOST_RUNS: usize = 120;
/// The questions that wait at most, for each parallel run.
pub(crate) const WAITING_PER_RUN: usize = 4;

/// Whether a further base may have this name: letters, digits, `-` and `_` of ASCII, and not the
/// name of the settings' base.
pub fn is_base_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    !name.is_empty() && name.chars().all(is_plain) && name != DEFAULT_BASE
}

/// `[server]` as it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ServerTable {
    pub(super) host: Option<String>,
    pub(super) port: Option<u16>,
    pub(super) public_url: Option<String>,
    pub(super) names: Vec<String>,
    pub(super) origins: Vec<String>,
    pub(super) keys: Option<PathBuf>,
    pub(super) audit: Option<PathBuf>,
    pub(super) bases: BTreeMap<String, PathBuf>,
    pub(super) bases_folder: Option<PathBuf>,
    pub(super) bases_limit: Option<usize>,
    pub(super) watch: BTreeMap<String, Vec<PathBuf>>,
    pub(super) evaluations: Option<PathBuf>,
    pub(super) body_mib: Option<usize>,
    pub(super) requests: Option<usize>,
    pub(super) runs: Option<usize>,
    pub(super) runs_waiting: Option<usize>,
    pub(super) question_kib: Option<usize>,
    pub(super) grace_seconds: Option<u64>,
    pub(super) drain_seconds: Option<u64>,
    pub(super) wrong_keys: Option<u32>,
    pub(super) rerank_limit: Option<usize>,
    pub(super) run_jobs: Option<bool>,
}

impl ServerTable {
    /// `base` is the base of the settings: the keys of a base in a database are there by default, for all
    /// servers over it.
    pub(super) fn resolve(
        &self,
        state: Option<&Path>,
        base: &Path,
    ) -> Result<ServerSettings, SettingsError> {
        let beside = || match Location::is_address(base) {
            true => Some(base.to_owned()),
            false => Some(state?.join(USUAL_KEYS)),
        };
        let refuse = |key: &str, reason| SettingsError::Refused { key: key.to_owned(), reason };
        for name in self.bases.keys() {
            if !is_base_name(name) {
                let name = name.clone();
                return Err(refuse(
                    "server.bases",
                    RefusedValue::BadBaseName { name, reserved: DEFAULT_BASE },
                ));
            }
        }
        let is_known = |name: &&String| *name == DEFAULT_BASE || self.bases.contains_key(*name);
        if let Some(name) = self.watch.keys().find(|name| !is_known(name)) {
            let name = name.clone();
            return Err(refuse("server.watch", RefusedValue::UnknownBase { name }));
        }
        let public_url = self.public_url.as_deref().map(|url| url.trim_end_matches('/').to_owned());
        let is_web = |url: &String| url.starts_with("http://") || url.starts_with("https://");
        if public_url.as_ref().is_some_and(|url| !is_web(url)) {
            return Err(refuse("server.public_url", RefusedValue::NoWebAddress));
        }
        if let Some(origin) = self.origins.iter().find(|origin| !is_web(origin)) {
            let origin = origin.clone();
            return Err(refuse("server.origins", RefusedValue::NoOrigin { origin }));
        }
        let runs = self.runs.unwrap_or(64);
        if !(1..=MOST_RUNS).contains(&runs) {
            return Err(refuse("server.runs", RefusedValue::RunsOutOfRange { most: MOST_RUNS }));
        }
        let grace = Duration::from_secs(self.grace_seconds.unwrap_or(30).max(1));
        let drain = Duration::from_secs(self.drain_seconds.unwrap_or_default());
        Ok(ServerSettings {
            host: self.host.clone().unwrap_or_else(|| "127.0.0.1".to_owned()),
            port: self.port.unwrap_or(8686),
            public_url,
            names: self.names.clone(),
            origins: self.origins.clone(),
            keys: self.keys.clone().or_else(beside),
            audit: self.audit.clone(),
            bases: self.bases.clone(),
            bases_folder: self.bases_folder.clone(),
            bases_limit: self.bases_limit.unwrap_or(100),
            watch: self.watch.clone(),
            evaluations: self.evaluations.clone(),
            body_bytes: self.body_mib.unwrap_or(4).max(1) << 20,
            requests: self.requests.unwrap_or(1024).max(1),
            runs,
            runs_waiting: self.runs_waiting.unwrap_or(WAITING_PER_RUN * runs),
            question_bytes: self.question_kib.unwrap_or(32).max(1) << 10,
            grace,
            drain: drain.min(grace / 2),
            wrong_keys: self.wrong_keys.unwrap_or(10),
            rerank_limit: self.rerank_limit.unwrap_or(200),
            run_jobs: self.run_jobs.unwrap_or(true),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_in_the_database_of_the_base_unless_they_are_set() {
        let keys = |table: &ServerTable, base: &str| {
            let settings = table.resolve(Some(Path::new("/state")), Path::new(base)).unwrap();
            settings.keys.unwrap()
        };
        let (usual, address) = (ServerTable::default(), "postgres://db/pikerag?base=law");
        assert_eq!(keys(&usual, "bases/law"), Path::new("/state/keys.sqlite"));
        assert_eq!(keys(&usual, address), Path::new(address));
        let set = ServerTable { keys: Some("own.sqlite".into()), ..ServerTable::default() };
        assert_eq!(keys(&set, address), Path::new("own.sqlite"));
    }
}
