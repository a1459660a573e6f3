//! Which packages is the program built from, and where do they come from?

use anyhow::{Context, Result};
use serde::Deserialize;

/// A package as `cargo metadata` tells it.
#[derive(Debug, Deserialize)]
pub(super) struct Package {
    pub(super) name: String,
    pub(super) version: String,
    /// An SPDX expression.
    pub(super) license: Option<String>,
    pub(super) dependencies: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Dependency {
    pub(super) name: String,
    /// The versions that will do.
    pub(super) req: String,
    /// Set if the dependency is a folder.
    pub(super) path: Option<String>,
}

/// Where a package of the lock file is fetched from.
#[derive(Debug, Deserialize)]
pub(super) struct Locked {
    pub(super) name: String,
    pub(super) version: String,
    /// Nothing for a package of the workspace.
    pub(super) source: Option<String>,
}

/// The packages in the reply of `cargo metadata`.
pub(super) fn packages(reply: &str) -> Result<Vec<Package>> {
    #[derive(Deserialize)]
    struct Metadata {
        packages: Vec<Package>,
    }
    let metadata = serde_json::from_str::<Metadata>(reply);
    Ok(metadata.context("cannot make sense of `cargo metadata`")?.packages)
}

/// The packages of `Cargo.lock`, of every target.
pub(super) fn sources(lock: &str) -> Result<Vec<Locked>> {
    #[derive(Deserialize)]
    struct Lock {
        package: Vec<Locked>,
    }
    Ok(toml::from_str::<Lock>(lock).context("cannot make sense of Cargo.lock")?.package)
}
