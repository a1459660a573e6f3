//! Lists the benchmarks and runs them. docs/bench/README.md describes their measurements.

use std::path::Path;

use anyhow::{Context, Result, bail};
use toml::{Table, Value};

use crate::program::{cargo, run, target_folder, tool};

pub(crate) const HELP: &str = "\
usage: cargo xtask bench --list               lists the benchmarks
       cargo xtask bench                      runs every benchmark that generates its data
       cargo xtask bench NAME [ARGUMENT…]     runs one of them with these arguments

Benchmarks in Rust run by `cargo bench`. Scripts in `bench/` receive a release build of pikerag as
their first argument. Name the folder of the data as the next: `cargo xtask bench speed DATA`.";

/// A benchmark and how to run it.
#[derive(Debug, PartialEq, Eq)]
struct Bench {
    name: String,
    /// Its subject, from the first line of its file.
    about: String,
    runner: Runner,
}

#[derive(Debug, PartialEq, Eq)]
enum Runner {
    /// `cargo bench` in this package.
    Cargo(String),
    /// `bench/NAME.py`.
    Python,
}

pub(crate) fn bench(root: &Path, arguments: &[&str]) -> Result<()> {
    let benches = find(root)?;
    match arguments {
        ["--list"] => {
            for Bench { name, about, .. } in &benches {
                println!("{name:<12} {about}");
            }
            Ok(())
        }
        [] => {
            for bench in &benches {
                match bench.runner {
                    Runner::Cargo(_) => start(root, bench, &[])?,
                    Runner::Python => println!("note: {} left out, it needs data", bench.name),
                }
            }
            Ok(())
        }
        [name, given @ ..] => match benches.iter().find(|bench| bench.name == *name) {
            Some(bench) => start(root, bench, given),
            None => bail!("no such benchmark: `{name}`\n{HELP}"),
        },
    }
}

fn start(root: &Path, bench: &Bench, given: &[&str]) -> Result<()> {
    let name = bench.name.as_str();
    match &bench.runner {
        Runner::Cargo(package) => {
            let mut work = cargo(root, &["bench", "--package", package, "--bench", name]);
            if !given.is_empty() {
                work.arg("--").args(given);
            }
            run(name, work)
        }
        Runner::Python => {
            run("build", cargo(root, &["build", "--release", "--package", "pikerag"]))?;
            let mut work = tool(root, "python3", &[&format!("bench/{name}.py")]);
            work.arg(target_folder(root)?.join("release/pikerag")).args(given);
            run(name, work)
        }
    }
}

/// All benchmarks: first those of the manifests, then the scripts, each sorted by name.
fn find(root: &Path) -> Result<Vec<Bench>> {
    let mut benches = Vec::new();
    for folder in listed(&root.join("crates"))? {
        let manifest = read(&folder.join("Cargo.toml"))?;
        for (package, name) in declared(&manifest)? {
            let file = folder.join("benches").join(&name);
            let file = if file.is_dir() { file.join("main.rs") } else { file.with_extension("rs") };
            let about = about(&read(&file)?);
            benches.push(Bench { name, about, runner: Runner::Cargo(package) });
        }
    }
    for script in listed(&root.join("bench"))? {
        if script.extension().is_some_and(|ending| ending == "py") {
            let name = script.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            benches.push(Bench { name, about: about(&read(&script)?), runner: Runner::Python });
        }
    }
    Ok(benches)
}

/// Package and name of each benchmark that a manifest declares.
fn declared(manifest: &str) -> Result<Vec<(String, String)>> {
    let manifest: Table = manifest.parse().context("cannot parse a manifest")?;
    let name = |table: &Value| Some(table.get("name")?.as_str()?.to_owned());
    let package = manifest.get("package").and_then(name).unwrap_or_default();
    let benches = manifest.get("bench").and_then(Value::as_array);
    let names = benches.into_iter().flatten().filter_map(name);
    Ok(names.map(|name| (package.clone(), name)).collect())
}

/// The subject of a file in Rust or Python: its first documentation line, up to a `?`.
fn about(text: &str) -> String {
    let lines = text.lines();
    let mut heading = lines.filter_map(|l| l.strip_prefix("//! ").or(l.strip_prefix("\"\"\"")));
    let heading = heading.next().unwrap_or_default();
    let heading = heading.trim_end_matches("\"\"\"");
    heading.split_inclusive('?').next().unwrap_or_default().to_owned()
}

/// The entries of a folder, sorted by name.
fn listed(folder: &Path) -> Result<Vec<std::path::PathBuf>> {
    let entries = std::fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let entries = entries.with_context(|| format!("cannot list {}", folder.display()))?;
    let mut paths: Vec<_> = entries.into_iter().map(|entry| entry.path()).collect();
    paths.sort();
    Ok(paths)
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Runner, about, declared, find};

    #[test]
    fn a_manifest_declares_benchmarks() {
        let manifest = "[package]\nname = \"a\"\n[[bench]]\nname = \"b\"\nharness = false\n\
                        [[bench]]\nname = \"c\"\n[[test]]\nname = \"d\"\n";
        let pair = |name: &str| ("a".to_owned(), name.to_owned());
        assert_eq!(declared(manifest).unwrap(), [pair("b"), pair("c")]);
        assert_eq!(declared("[package]\nname = \"a\"\n").unwrap(), []);
    }

    #[test]
    fn the_subject_is_the_first_documentation_line() {
        for (text, subject) in [
            ("//! How fast? Like this.\n//! And so on.\n", "How fast?"),
            ("#!/usr/bin/env python3\n\"\"\"How well?\n\nSo.\n\"\"\"\n", "How well?"),
            ("\"\"\"How much?\"\"\"\n", "How much?"),
            ("\"\"\"Measures the speed.\"\"\"\n", "Measures the speed."),
            ("fn main() {}\n", ""),
        ] {
            assert_eq!(about(text), subject);
        }
    }

    #[test]
    fn the_benchmarks_of_this_project_are_found() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let found = find(root).unwrap();
        assert!(found.iter().all(|bench| !bench.about.is_empty()), "{found:#?}");
        let by = |name: &str| &found.iter().find(|bench| bench.name == name).unwrap().runner;
        assert_eq!(*by("base"), Runner::Cargo("pikerag-store".to_owned()));
        assert_eq!(*by("hostile"), Runner::Python);
    }
}
