//! Reads the packages that the program is built from, and their sources.

use anyhow::{Context, Result};
use serde::Deserialize;

/// A package as `cargo metadata` describes it.
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
    /// The accepted versions.
    pub(super) req: String,
    /// Set if the dependency is a folder.
    pub(super) path: Option<String>,
}

/// The source of a package in the lock file.
#[derive(Debug, Deserialize)]
pub(super) struct Locked {
    pub(super) name: String,
    pub(super) version: String,
    /// `None` for a package of the workspace.
    pub(super) source: Option<String>,
}

/// The packages in the output of `cargo metadata`.
pub(super) fn packages(reply: &str) -> Result<Vec<Package>> {
    #[derive(Deserialize)]
    struct Metadata {
        packages: Vec<Package>,
    }
    let metadata = serde_json::from_str::<Metadata>(reply);
    Ok(metadata.context("cannot parse `cargo metadata`")?.packages)
}

/// The packages of `Cargo.lock`, for every target.
pub(super) fn sources(lock: &str) -> Result<Vec<Locked>> {
    #[derive(Deserialize)]
    struct Lock {
        package: Vec<Locked>,
    }
    Ok(toml::from_str::<Lock>(lock).context("cannot parse Cargo.lock")?.package)
}
