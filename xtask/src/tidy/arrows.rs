//! Checks the dependencies between our crates (the arrows of the paper's Figure 2), and of reserved
//! libraries.

use std::collections::BTreeMap;

use toml::{Table, Value};

use super::{Finding, Tree};

/// Our crates, by folder, with the crates that each may depend on. Tests may depend on any.
///
/// The crates of [`FOR_TESTS`] are on the right of no line.
const ARROWS: [(&str, &[&str]); 31] = [
    ("knowledge", &[]),
    ("language", &[]),
    ("narrate", &["knowledge", "language"]),
    ("prompt", &["knowledge", "language"]),
    ("layout", &["knowledge"]),
    ("unpack", &["knowledge"]),
    ("parse", &["knowledge", "layout", "unpack"]),
    ("extract", &["knowledge", "language", "prompt"]),
    ("reason", &["knowledge", "language", "prompt"]),
    ("retrieve", &["knowledge", "language"]),
    ("scan", &["knowledge"]),
    ("store", &["knowledge", "language", "scan"]),
    ("postgres", &["knowledge", "language", "scan", "store"]),
    ("models", &["knowledge", "language"]),
    ("weights", &["knowledge"]),
    ("records", &["knowledge", "language", "prompt"]),
    ("typing", &["knowledge", "language"]),
    ("tables", &["knowledge", "language", "typing"]),
    ("indexing", &["knowledge", "language", "prompt", "parse", "extract", "records", "typing"]),
    ("sources", &["knowledge", "parse", "indexing"]),
    (
        "methods",
        &[
            "knowledge",
            "language",
            "narrate",
            "prompt",
            "extract",
            "records",
            "tables",
            "retrieve",
            "reason",
        ],
    ),
    ("baselines", &["knowledge", "language", "narrate", "prompt", "retrieve", "reason", "methods"]),
    ("eval", &["knowledge", "language", "narrate", "prompt", "methods", "baselines"]),
    ("train", &["knowledge", "language", "prompt", "retrieve", "methods", "eval"]),
    ("engine", ALL_BUT_INTERFACES),
    ("server", &["engine"]),
    ("app", &["engine", "server"]),
    ("doubles", &["knowledge"]),
    ("contract", &["knowledge", "language"]),
    ("test-support", &[]),
    ("xtask", &[]),
];

const ALL_BUT_INTERFACES: &[&str] = &[
    "knowledge",
    "language",
    "narrate",
    "prompt",
    "layout",
    "unpack",
    "parse",
    "extract",
    "reason",
    "retrieve",
    "scan",
    "store",
    "postgres",
    "models",
    "weights",
    "records",
    "typing",
    "tables",
    "indexing",
    "sources",
    "methods",
    "baselines",
    "eval",
    "train",
];

/// Crates that only tests use, as dev-dependencies.
const FOR_TESTS: [&str; 3] = ["doubles", "contract", "test-support"];

/// Third-party crates that only some of ours may depend on.
const RESERVED: [(&str, &[&str]); 9] = [
    ("reqwest", &["models", "app"]), // Only `models` sends HTTP requests, and `app` sends traces.
    ("rusqlite", &["store", "parse"]), // Only `store` stores data with SQL; `parse` reads databases.
    ("tokio-postgres", &["postgres", "sources"]), // The other store; `sources` reads databases of others.
    ("tantivy", &["store"]),                      // Only `store` keeps indexes.
    ("clap", &["app"]),                           // Only the command line has flags.
    ("indicatif", &["app"]),                      // Only the command line draws on a terminal.
    ("axum", &["server"]),                        // Only the server accepts HTTP.
    ("rlimit", &["engine"]),                      // Only the engine limits processes.
    ("anyhow", &["app", "xtask"]),                // Libraries return typed errors.
];

/// The manifests of `crates/*` and `xtask` contain no dependency that the tables forbid.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut manifests = BTreeMap::new();
    for (path, text) in tree {
        let Some(folder) = folder(path) else { continue };
        match text.parse::<Table>() {
            Ok(manifest) => drop(manifests.insert(folder, (path, text, manifest))),
            Err(error) => findings.push(Finding {
                path: path.clone(),
                line: 1,
                problem: format!("not a manifest: {}", error.message()),
            }),
        }
    }
    let ours: BTreeMap<&str, &str> = manifests
        .iter()
        .filter_map(|(folder, (_, _, manifest))| Some((package_name(manifest)?, *folder)))
        .collect();
    for (folder, (path, text, manifest)) in &manifests {
        let problems = match lookup(&ARROWS, folder) {
            Some(allowed) => problems(folder, allowed, manifest, &ours),
            None => {
                vec![(String::new(), format!("crate `{folder}` is not in the table of arrows"))]
            }
        };
        for (dependency, problem) in problems {
            let line = text.lines().position(|l| l.starts_with(&dependency)).unwrap_or(0) + 1;
            findings.push(Finding { path: (*path).clone(), line, problem });
        }
    }
    findings
}

/// The dependencies that break a rule, with the rule.
fn problems(
    folder: &str,
    allowed: &[&str],
    manifest: &Table,
    ours: &BTreeMap<&str, &str>,
) -> Vec<(String, String)> {
    let mut problems = Vec::new();
    for (key, package) in dependencies(manifest) {
        if let Some(target) = ours.get(package)
            && !allowed.contains(target)
        {
            let problem = match FOR_TESTS.contains(target) {
                true => format!("`{target}` is for tests: name it under `dev-dependencies`"),
                false => format!("`{folder}` must not depend on `{target}`"),
            };
            problems.push((key.to_owned(), problem));
        }
        if let Some(holders) = lookup(&RESERVED, package)
            && !holders.contains(&folder)
        {
            let holders = holders.join("` and `");
            let problem = format!("only `{holders}` may depend on `{package}`, not `{folder}`");
            problems.push((key.to_owned(), problem));
        }
    }
    problems
}

/// The dependencies' names and package names, without `dev-dependencies`.
fn dependencies(manifest: &Table) -> Vec<(&str, &str)> {
    let targets = manifest.get("target").and_then(Value::as_table);
    let per_target = targets.into_iter().flat_map(Table::values).filter_map(Value::as_table);
    let mut found = Vec::new();
    for tables in std::iter::once(manifest).chain(per_target) {
        for kind in ["dependencies", "build-dependencies"] {
            for (key, value) in tables.get(kind).and_then(Value::as_table).into_iter().flatten() {
                let package = value.get("package").and_then(Value::as_str);
                found.push((key.as_str(), package.unwrap_or(key)));
            }
        }
    }
    found
}

/// `crates/store/Cargo.toml` → `store`.
fn folder(path: &str) -> Option<&str> {
    let folder = path.strip_suffix("/Cargo.toml")?;
    match folder.strip_prefix("crates/") {
        Some(name) if !name.contains('/') => Some(name),
        _ => (folder == "xtask").then_some(folder),
    }
}

fn package_name(manifest: &Table) -> Option<&str> {
    manifest.get("package")?.get("name")?.as_str()
}

fn lookup<'a>(table: &[(&str, &'a [&'a str])], key: &str) -> Option<&'a [&'a str]> {
    table.iter().find(|(name, _)| *name == key).map(|(_, names)| *names)
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::findings;

    const KNOWLEDGE: (&str, &str) =
        ("crates/knowledge/Cargo.toml", "[package]\nname = \"pikerag-knowledge\"\n");
    const EVAL: (&str, &str) = ("crates/eval/Cargo.toml", "[package]\nname = \"pikerag-eval\"\n");

    #[test]
    fn finds_an_arrow_that_points_back() {
        let store = "[package]\nname = \"pikerag-store\"\n[dependencies]\n\
                     pikerag-knowledge.workspace = true\npikerag-eval.workspace = true\n";
        let renamed = "[package]\nname = \"pikerag-methods\"\n[target.'cfg(unix)'.dependencies]\n\
                       gold = { package = \"pikerag-eval\", path = \"../eval\" }\n";
        let found = findings(
            check,
            &[
                KNOWLEDGE,
                EVAL,
                ("crates/store/Cargo.toml", store),
                ("crates/methods/Cargo.toml", renamed),
            ],
        );
        assert_eq!(
            found,
            [
                "crates/methods/Cargo.toml:4: `methods` must not depend on `eval`",
                "crates/store/Cargo.toml:5: `store` must not depend on `eval`",
            ]
        );
    }

    #[test]
    fn interfaces_depend_on_the_engine_only() {
        let engine = "[package]\nname = \"pikerag-engine\"\n[dependencies]\n\
                      pikerag-knowledge.workspace = true\nclap.workspace = true\n";
        let app = "[package]\nname = \"pikerag\"\n[dependencies]\n\
                   pikerag-engine.workspace = true\npikerag-knowledge.workspace = true\n";
        let found = findings(
            check,
            &[KNOWLEDGE, ("crates/app/Cargo.toml", app), ("crates/engine/Cargo.toml", engine)],
        );
        assert_eq!(
            found,
            [
                "crates/app/Cargo.toml:5: `app` must not depend on `knowledge`",
                "crates/engine/Cargo.toml:5: only `app` may depend on `clap`, not `engine`",
            ]
        );
    }

    #[test]
    fn finds_a_reserved_crate() {
        let eval = "[package]\nname = \"pikerag-eval\"\n[dependencies]\nanyhow = \"1\"\n\
                    [build-dependencies]\nreqwest.workspace = true\n";
        let models = "[package]\nname = \"pikerag-models\"\n[dependencies]\n\
                      reqwest.workspace = true\nrusqlite = { workspace = true }\n";
        let found = findings(
            check,
            &[
                ("crates/eval/Cargo.toml", eval),
                ("crates/models/Cargo.toml", models),
                ("xtask/Cargo.toml", "[dependencies]\nanyhow = \"1\"\n"),
            ],
        );
        assert_eq!(
            found,
            [
                "crates/eval/Cargo.toml:4: only `app` and `xtask` may depend on `anyhow`, not `eval`",
                "crates/eval/Cargo.toml:6: only `models` and `app` may depend on `reqwest`, not `eval`",
                "crates/models/Cargo.toml:5: only `store` and `parse` may depend on `rusqlite`, not `models`",
            ]
        );
    }

    #[test]
    fn finds_doubles_outside_tests() {
        let doubles = ("crates/doubles/Cargo.toml", "[package]\nname = \"pikerag-doubles\"\n");
        let app =
            "[package]\nname = \"pikerag\"\n[dependencies]\npikerag-doubles.workspace = true\n";
        let store = "[dev-dependencies]\npikerag-doubles.workspace = true\n";
        let manifests =
            [doubles, ("crates/app/Cargo.toml", app), ("crates/store/Cargo.toml", store)];
        let found =
            ["crates/app/Cargo.toml:4: `doubles` is for tests: name it under `dev-dependencies`"];
        assert_eq!(findings(check, &manifests), found);
    }

    #[test]
    fn dev_dependencies_may_be_any_crate() {
        let store = "[dev-dependencies]\npikerag-eval.workspace = true\nanyhow = \"1\"\n";
        assert!(findings(check, &[EVAL, ("crates/store/Cargo.toml", store)]).is_empty());
    }

    #[test]
    fn finds_unlisted_crates_and_broken_manifests() {
        let found = findings(
            check,
            &[
                ("crates/magic/Cargo.toml", "[package]\nname = \"pikerag-magic\"\n"),
                ("crates/store/Cargo.toml", "[package"),
                ("crates/store/fuzz/Cargo.toml", "[dependencies]\nanyhow = \"1\"\n"),
            ],
        );
        assert!(found[0].starts_with("crates/store/Cargo.toml:1: not a manifest: "), "{found:#?}");
        assert_eq!(
            found[1..],
            ["crates/magic/Cargo.toml:1: crate `magic` is not in the table of arrows"]
        );
    }
}
