//! Lists the third-party packages of the program: crates by Cargo's metadata, and npm packages of
//! the page.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::program::{cargo, output_of, tool};

/// Packages that the page's build adds to `dependencies`: the runtime part of Svelte, and its
/// imports.
const RUNS_IN_THE_PAGE: [&str; 3] = ["svelte", "clsx", "esm-env"];

/// The program and its packages.
pub(super) struct Tree {
    /// Sorted by name and version, including our own crates.
    pub(super) packages: Vec<Package>,
    /// The needed packages of each, by their `reference`.
    pub(super) needs: BTreeMap<String, Vec<String>>,
}

/// A package of any kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Package {
    pub(super) name: String,
    pub(super) version: String,
    /// The licence that its manifest names.
    pub(super) license: Option<String>,
    pub(super) kind: Kind,
    /// The folder with the texts of its licences.
    pub(super) folder: PathBuf,
    /// SHA-256 of the registry's archive.
    pub(super) checksum: Option<String>,
    /// Whether the release contains it; otherwise it only helps to build.
    pub(super) is_inside: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// A crate of this workspace.
    Ours,
    /// A crate of a registry.
    Crate,
    /// A package of the page.
    Npm,
}

impl Package {
    /// A unique name of the package.
    pub(super) fn reference(&self) -> String {
        let Self { name, version, kind, .. } = self;
        match kind {
            Kind::Ours => format!("ours/{name}@{version}"),
            Kind::Crate => format!("pkg:cargo/{name}@{}", version.replace('+', "%2B")),
            Kind::Npm => format!("pkg:npm/{}@{version}", name.replace('@', "%40")),
        }
    }
}

/// The version of the program.
pub(super) fn version(tree: &Tree) -> Result<&str> {
    let ours = tree.packages.iter().find(|package| is_program(package));
    Ok(&ours.context("there is no package `pikerag`")?.version)
}

pub(super) fn is_program(package: &Package) -> bool {
    package.kind == Kind::Ours && package.name == "pikerag"
}

/// The packages of a build for this machine.
pub(super) fn tree(root: &Path) -> Result<Tree> {
    let rustc = output_of(tool(root, "rustc", &["--version", "--verbose"]))?;
    let host = rustc.lines().find_map(|line| line.strip_prefix("host: "));
    let host = host.context("rustc does not name its host")?;
    let arguments = ["metadata", "--format-version", "1", "--locked", "--filter-platform", host];
    let metadata = output_of(cargo(root, &arguments))?;
    let lock = read(&root.join("Cargo.lock"))?;
    let mut tree = crates(&metadata, &lock)?;
    let page = page(&read(&root.join("web/package-lock.json"))?, &root.join("web"))?;
    for package in &page {
        let server = tree.packages.iter().find(|package| package.name == "pikerag-server");
        let server = server.context("there is no package `pikerag-server`")?.reference();
        tree.needs.entry(server).or_default().push(package.reference());
    }
    tree.packages.extend(page);
    tree.packages.sort();
    Ok(tree)
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

/// The output of `cargo metadata`.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Listed>,
    resolve: Resolved,
}

#[derive(Deserialize)]
struct Listed {
    id: String,
    name: String,
    version: String,
    license: Option<String>,
    /// `None` for a package of the workspace.
    source: Option<String>,
    manifest_path: PathBuf,
}

#[derive(Deserialize)]
struct Resolved {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Need>,
}

#[derive(Deserialize)]
struct Need {
    pkg: String,
    dep_kinds: Vec<NeedKind>,
}

#[derive(Deserialize)]
struct NeedKind {
    /// `dev`, `build`, or `None` for a linked crate.
    kind: Option<String>,
}

fn crates(metadata: &str, lock: &str) -> Result<Tree> {
    let metadata: Metadata =
        serde_json::from_str(metadata).context("cannot parse `cargo metadata`")?;
    let checksums = checksums(lock)?;
    let program = metadata.packages.iter().find(|p| p.name == "pikerag" && p.source.is_none());
    let program = program.context("there is no package `pikerag`")?;
    let nodes: BTreeMap<&str, &Node> =
        metadata.resolve.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
    let is_linked = |need: &Need| need.dep_kinds.iter().any(|kind| kind.kind.is_none());
    let is_needed = |need: &Need| {
        need.dep_kinds.iter().any(|kind| kind.kind.as_deref().is_none_or(|kind| kind == "build"))
    };
    let inside = reached(&program.id, &nodes, &is_linked);
    let needed = reached(&program.id, &nodes, &is_needed);
    let package = |manifest: &Listed| {
        let Listed { id, name, version, license, source, manifest_path } = manifest;
        Package {
            name: name.clone(),
            version: version.clone(),
            license: license.clone(),
            kind: if source.is_none() { Kind::Ours } else { Kind::Crate },
            folder: manifest_path.parent().unwrap_or(Path::new("")).to_owned(),
            checksum: checksums.get(&(name.clone(), version.clone())).cloned(),
            is_inside: inside.contains(id.as_str()),
        }
    };
    let packages: BTreeMap<&str, Package> = metadata
        .packages
        .iter()
        .filter(|manifest| needed.contains(manifest.id.as_str()))
        .map(|manifest| (manifest.id.as_str(), package(manifest)))
        .collect();
    let mut needs = BTreeMap::new();
    for (id, package) in &packages {
        let Some(node) = nodes.get(id) else { continue };
        let of_it = node.deps.iter().filter(|need| is_needed(need));
        let of_it = of_it.filter_map(|need| packages.get(need.pkg.as_str()));
        needs.insert(package.reference(), of_it.map(Package::reference).collect());
    }
    Ok(Tree { packages: packages.into_values().collect(), needs })
}

/// All packages that a package depends on.
fn reached<'a>(
    from: &'a str,
    nodes: &BTreeMap<&'a str, &'a Node>,
    follows: &dyn Fn(&Need) -> bool,
) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::from([from]);
    let mut open = vec![from];
    while let Some(id) = open.pop() {
        let Some(node) = nodes.get(id) else { continue };
        for need in node.deps.iter().filter(|need| follows(need)) {
            if found.insert(&need.pkg) {
                open.push(&need.pkg);
            }
        }
    }
    found
}

/// The checksums by name and version.
fn checksums(lock: &str) -> Result<BTreeMap<(String, String), String>> {
    #[derive(Deserialize)]
    struct Lock {
        package: Vec<Locked>,
    }
    #[derive(Deserialize)]
    struct Locked {
        name: String,
        version: String,
        checksum: Option<String>,
    }
    let lock: Lock = toml::from_str(lock).context("cannot parse Cargo.lock")?;
    let sums = lock.package.into_iter().filter_map(|p| Some(((p.name, p.version), p.checksum?)));
    Ok(sums.collect())
}

/// The packages that the page contains.
fn page(lock: &str, web: &Path) -> Result<Vec<Package>> {
    #[derive(Deserialize)]
    struct Lock {
        packages: BTreeMap<String, Locked>,
    }
    #[derive(Deserialize)]
    struct Locked {
        version: Option<String>,
        license: Option<String>,
        #[serde(default)]
        dev: bool,
    }
    let lock: Lock = serde_json::from_str(lock).context("cannot parse web/package-lock.json")?;
    let mut found = Vec::new();
    for (place, package) in lock.packages {
        // The first entry is the page itself.
        let Some(name) = place.strip_prefix("node_modules/") else { continue };
        if package.dev && !RUNS_IN_THE_PAGE.contains(&name) {
            continue;
        }
        found.push(Package {
            name: name.to_owned(),
            version: package.version.with_context(|| format!("{name} has no version"))?,
            license: package.license,
            kind: Kind::Npm,
            folder: web.join(&place),
            checksum: None,
            is_inside: true,
        });
    }
    let absent = RUNS_IN_THE_PAGE.iter().find(|name| !found.iter().any(|p| p.name == **name));
    ensure!(absent.is_none(), "web/package-lock.json has no {}", absent.unwrap_or(&""));
    Ok(found)
}

#[cfg(test)]
pub(super) mod tests {
    use std::path::Path;

    use super::{Tree, crates, page};

    /// A program with a linked crate, a build dependency, and a dev-dependency.
    pub(in crate::dist) fn small() -> Tree {
        let package = |name: &str, source: &str, license: &str| {
            format!(
                r#"{{"id": "{name}", "name": "{name}", "version": "1.0.0+x", "license": {license},
                     "source": {source}, "manifest_path": "/{name}/Cargo.toml"}}"#
            )
        };
        let need = |name: &str, kind: &str| {
            format!(r#"{{"pkg": "{name}", "dep_kinds": [{{"kind": {kind}}}]}}"#)
        };
        let (ours, other) = ("null", r#""registry""#);
        let packages = [
            package("pikerag", ours, r#""Apache-2.0""#),
            package("linked", other, r#""MIT/Apache-2.0""#),
            package("builds", other, r#""MIT""#),
            package("below", other, "null"),
            package("tests", other, r#""MIT""#),
        ]
        .join(",");
        let of_program =
            [need("linked", "null"), need("builds", r#""build""#), need("tests", r#""dev""#)];
        let metadata = format!(
            r#"{{"packages": [{packages}], "resolve": {{"nodes": [
                {{"id": "pikerag", "deps": [{}]}}, {{"id": "linked", "deps": [{}]}},
                {{"id": "builds", "deps": []}}, {{"id": "below", "deps": []}}, {{"id": "tests", "deps": []}}]}}}}"#,
            of_program.join(","),
            need("below", "null"),
        );
        let lock = "[[package]]\nname = \"linked\"\nversion = \"1.0.0+x\"\nchecksum = \"ab\"\n\n[[package]]\nname = \"pikerag\"\nversion = \"1.0.0+x\"\n";
        let mut tree = crates(&metadata, lock).unwrap();
        tree.packages.sort();
        tree
    }

    #[test]
    fn dev_dependencies_are_left_out() {
        let tree = small();
        let listed: Vec<_> = tree
            .packages
            .iter()
            .map(|p| (p.reference(), p.is_inside, p.checksum.as_deref()))
            .collect();
        assert_eq!(
            listed,
            [
                ("pkg:cargo/below@1.0.0%2Bx".to_owned(), true, None),
                ("pkg:cargo/builds@1.0.0%2Bx".to_owned(), false, None),
                ("pkg:cargo/linked@1.0.0%2Bx".to_owned(), true, Some("ab")),
                ("ours/pikerag@1.0.0+x".to_owned(), true, None),
            ]
        );
        assert_eq!(
            tree.needs["ours/pikerag@1.0.0+x"],
            ["pkg:cargo/linked@1.0.0%2Bx", "pkg:cargo/builds@1.0.0%2Bx"]
        );
    }

    #[test]
    fn only_runtime_packages_of_the_page_count() {
        let lock = r#"{"packages": {
            "": {"version": "0.0.0"},
            "node_modules/@scope/chart": {"version": "2.0.0", "license": "MIT"},
            "node_modules/svelte": {"version": "5.0.0", "license": "MIT", "dev": true},
            "node_modules/clsx": {"version": "2.1.0", "license": "MIT", "dev": true},
            "node_modules/esm-env": {"version": "1.0.0", "license": "MIT", "dev": true},
            "node_modules/vite": {"version": "8.0.0", "license": "MIT", "dev": true}
        }}"#;
        let found = page(lock, Path::new("/web")).unwrap();
        let names: Vec<String> = found.iter().map(super::Package::reference).collect();
        assert_eq!(
            names,
            [
                "pkg:npm/%40scope/chart@2.0.0",
                "pkg:npm/clsx@2.1.0",
                "pkg:npm/esm-env@1.0.0",
                "pkg:npm/svelte@5.0.0"
            ]
        );
        let error = page(r#"{"packages": {}}"#, Path::new("/web")).unwrap_err();
        assert!(error.to_string().contains("svelte"), "{error}");
    }
}
