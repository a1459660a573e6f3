//! Reads `deny.toml`: only the settings of cargo-deny that we use. A key without an effect is an
//! error.

use anyhow::{Context, Result};
use serde::Deserialize;

/// `deny.toml`. Meanings: <https://embarkstudios.github.io/cargo-deny/checks/cfg.html>.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rules {
    pub(super) graph: Graph,
    pub(super) licenses: Licenses,
    pub(super) bans: Bans,
    pub(super) sources: Sources,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Graph {
    pub(super) targets: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Licenses {
    pub(super) allow: Vec<String>,
    #[serde(default)]
    pub(super) exceptions: Vec<Exception>,
    #[expect(dead_code, reason = "there is no other level")]
    unused_allowed_license: Level,
}

/// Licences that are allowed for one crate.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Exception {
    #[serde(rename = "crate")]
    pub(super) name: String,
    pub(super) allow: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Bans {
    #[expect(dead_code, reason = "there is no other level")]
    wildcards: Level,
    #[serde(default)]
    pub(super) allow_wildcard_paths: bool,
    #[expect(dead_code, reason = "there is no other level")]
    multiple_versions: Level,
    #[serde(default)]
    pub(super) skip: Vec<Skip>,
}

/// A version that is not counted as a second one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Skip {
    /// `name@version`.
    #[serde(rename = "crate")]
    pub(super) package: String,
    pub(super) reason: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Sources {
    #[expect(dead_code, reason = "there is no other level")]
    unknown_registry: Level,
    #[expect(dead_code, reason = "there is no other level")]
    unknown_git: Level,
    pub(super) allow_registry: Vec<String>,
}

/// The severity of a finding. We allow no warnings.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Level {
    Deny,
}

pub(super) fn read(text: &str) -> Result<Rules> {
    toml::from_str(text).context("cannot parse deny.toml")
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn keys_without_effect_and_warnings_are_refused() {
        let text = include_str!("../../../deny.toml");
        read(text).unwrap();
        for (from, to, complaint) in [
            ("[licenses]", "[licenses]\nclarify = []", "unknown field `clarify`"),
            ("wildcards = \"deny\"", "wildcards = \"warn\"", "unknown variant `warn`"),
            ("[sources]", "[bans.build]\n[sources]", "unknown field `build`"),
        ] {
            let changed = text.replace(from, to);
            assert_ne!(changed, text);
            let error = format!("{:#}", read(&changed).unwrap_err());
            assert!(error.contains(complaint), "{error}");
        }
    }
}
