//! How does a release come about? One archive with all that a user needs, and its checksum.

use std::collections::BTreeMap;
use std::env::consts::{ARCH, OS};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::program::{cargo, output_of, run, target_folder, timed, tool};

pub(crate) const HELP: &str = "\
usage: cargo xtask dist

Builds pikerag in release mode and packs it with LICENSE, README.md, the licences of its dependencies
and, if the program prints any, completions of shells. Writes `pikerag-VERSION-MACHINE.tar.gz` and its
SHA-256 sum beside it to `dist` in the target folder. The same commit gives the same archive as long as
the compiler gives the same program. Needs GNU tar, gzip and sha256sum.";

/// Files of the repository that go along.
const PAPERS: [&str; 3] = ["LICENSE", "README.md", "README.zh.md"];

/// Shells, and what their completions are called.
const SHELLS: [(&str, &str); 3] =
    [("bash", "pikerag.bash"), ("zsh", "_pikerag"), ("fish", "pikerag.fish")];

pub(crate) fn dist(root: &Path) -> Result<()> {
    run("build", cargo(root, &["build", "--release", "--locked", "--package", "pikerag"]))?;
    let target = target_folder(root)?;
    let packages = packages(root)?;
    let name = name(version(&packages).context("there is no package `pikerag`")?);
    let dist = target.join("dist");
    let folder = dist.join(&name);
    timed("collect", &folder.display().to_string(), || {
        collect(root, &target.join("release/pikerag"), &packages, &folder)
    })?;
    let time = output_of(tool(root, "git", &["log", "-1", "--format=%ct"]))?;
    let archive = format!("{name}.tar.gz");
    let [pack, press] = packing(&dist, &name, time.trim());
    run("pack", pack)?;
    run("press", press)?;
    let sum = output_of(tool(&dist, "sha256sum", &[&archive]))?;
    let sum_file = dist.join(format!("{archive}.sha256"));
    fs::write(&sum_file, &sum).with_context(|| format!("cannot write {}", sum_file.display()))?;
    println!("\n{}\n{}", dist.join(&archive).display(), sum.trim());
    Ok(())
}

/// A package as `cargo metadata` tells it.
#[derive(Debug, Deserialize)]
struct Package {
    name: String,
    version: String,
    license: Option<String>,
    /// Nothing for a package of the workspace.
    source: Option<String>,
    manifest_path: PathBuf,
}

/// The packages that are built for this machine.
fn packages(root: &Path) -> Result<Vec<Package>> {
    #[derive(Deserialize)]
    struct Metadata {
        packages: Vec<Package>,
    }
    let rustc = output_of(tool(root, "rustc", &["--version", "--verbose"]))?;
    let host = rustc.lines().find_map(|line| line.strip_prefix("host: "));
    let host = host.context("rustc does not name its host")?;
    let arguments = ["metadata", "--format-version", "1", "--locked", "--filter-platform", host];
    let metadata = serde_json::from_str::<Metadata>(&output_of(cargo(root, &arguments))?);
    Ok(metadata.context("cannot make sense of `cargo metadata`")?.packages)
}

fn version(packages: &[Package]) -> Option<&str> {
    let ours = packages.iter().find(|p| p.name == "pikerag" && p.source.is_none());
    ours.map(|package| package.version.as_str())
}

/// `pikerag-0.1.0-x86_64-linux`.
fn name(version: &str) -> String {
    format!("pikerag-{version}-{ARCH}-{OS}")
}

/// Fills the folder that is packed. What an earlier run left there goes.
fn collect(root: &Path, program: &Path, packages: &[Package], folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let put = |from: &Path, to: &str| {
        fs::copy(from, folder.join(to)).with_context(|| format!("cannot copy {}", from.display()))
    };
    put(program, "pikerag")?;
    for paper in PAPERS {
        put(&root.join(paper), paper)?;
    }
    let write = |to: &str, text: &str| {
        fs::write(folder.join(to), text).with_context(|| format!("cannot write {to}"))
    };
    let foreign = packages.iter().filter(|package| package.source.is_some());
    write("THIRD-PARTY.txt", &third_party(&foreign.map(notices).collect::<Result<Vec<_>>>()?))?;
    for (shell, file) in SHELLS {
        let said = Command::new(program).args(["completions", shell]).output();
        let said = said.with_context(|| format!("cannot start {}", program.display()))?;
        if said.status.success() {
            write(file, &String::from_utf8_lossy(&said.stdout))?;
        } else {
            println!("note: pikerag prints no completions for {shell}");
        }
    }
    Ok(())
}

/// A package in a line, and the texts of its licences and notices.
fn notices(package: &Package) -> Result<(String, Vec<String>)> {
    let Package { name, version, license, manifest_path, .. } = package;
    let folder = manifest_path.parent().context("a manifest is in no folder")?;
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let entries = entries.with_context(|| format!("cannot list {}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
    files.retain(|file| {
        file.is_file() && is_notice(&file.file_name().unwrap_or_default().to_string_lossy())
    });
    files.sort();
    let read = |file: &PathBuf| {
        fs::read(file)
            .map(|bytes| String::from_utf8_lossy(&bytes).trim().replace('\r', ""))
            .with_context(|| format!("cannot read {}", file.display()))
    };
    let line = format!("{name} {version} ({})", license.as_deref().unwrap_or("see below"));
    Ok((line, files.iter().map(read).collect::<Result<_>>()?))
}

/// `LICENSE-MIT`, `COPYING`, `NOTICE.md`, and so on.
fn is_notice(file: &str) -> bool {
    let file = file.to_ascii_uppercase();
    ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"]
        .iter()
        .any(|start| file.starts_with(start))
}

/// Every package, then every text once, below the packages that it belongs to.
fn third_party(packages: &[(String, Vec<String>)]) -> String {
    let mut text = "pikerag is built from these packages:\n\n".to_owned();
    let mut holders: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (line, notices) in packages {
        text.push_str(line);
        text.push('\n');
        for notice in notices {
            holders.entry(notice).or_default().push(line);
        }
    }
    let mut by_holders: Vec<(Vec<&str>, &str)> =
        holders.into_iter().map(|(notice, lines)| (lines, notice)).collect();
    by_holders.sort();
    for (lines, notice) in by_holders {
        text.extend(["\n", &"-".repeat(80), "\n", &lines.join("\n"), "\n\n", notice, "\n"]);
    }
    text
}

/// Packs a folder so that nothing but its content counts: neither who packs nor when.
fn packing(dist: &Path, name: &str, time: &str) -> [Command; 2] {
    let tar = format!("{name}.tar");
    let mtime = format!("--mtime=@{time}");
    let pack = ["--create", "--sort=name", "--owner=0", "--group=0", "--numeric-owner", &mtime];
    let mut pack = tool(dist, "tar", &pack);
    pack.args(["--mode=u+rw,go=rX", "--file", &tar, name]);
    [pack, tool(dist, "gzip", &["--force", "--no-name", "--best", &tar])]
}

#[cfg(test)]
mod tests {
    use super::{is_notice, name, packing, third_party};

    #[test]
    fn the_archive_says_what_it_is() {
        assert!(name("0.1.0").starts_with("pikerag-0.1.0-"));
    }

    #[test]
    fn notices_are_known_by_their_names() {
        for (file, is_one) in [
            ("LICENSE-MIT", true),
            ("license.txt", true),
            ("COPYING", true),
            ("NOTICE", true),
            ("UNLICENSE", true),
            ("Cargo.toml", false),
            ("README.md", false),
        ] {
            assert_eq!(is_notice(file), is_one, "{file}");
        }
    }

    #[test]
    fn each_text_stands_once() {
        let package = |line: &str, notices: &[&str]| {
            (line.to_owned(), notices.iter().map(ToString::to_string).collect())
        };
        let packages = [
            package("a 1 (MIT)", &["M"]),
            package("b 1 (MIT OR X)", &["M", "X"]),
            package("c 1 (Y)", &[]),
        ];
        let rule = "-".repeat(80);
        assert_eq!(
            third_party(&packages),
            format!(
                "pikerag is built from these packages:\n\na 1 (MIT)\nb 1 (MIT OR X)\nc 1 (Y)\n\
                 \n{rule}\na 1 (MIT)\nb 1 (MIT OR X)\n\nM\n\
                 \n{rule}\nb 1 (MIT OR X)\n\nX\n"
            )
        );
    }

    #[test]
    fn the_same_folder_gives_the_same_archive() {
        let dist = std::env::temp_dir().join(format!("pikerag-dist-{}", std::process::id()));
        let mut archives = Vec::new();
        for names in [["b", "a"], ["a", "b"]] {
            std::fs::create_dir_all(dist.join("it")).unwrap();
            for name in names {
                std::fs::write(dist.join("it").join(name), name).unwrap();
            }
            for mut step in packing(&dist, "it", "1700000000") {
                assert!(step.status().unwrap().success());
            }
            archives.push(std::fs::read(dist.join("it.tar.gz")).unwrap());
            std::fs::remove_dir_all(&dist).unwrap();
        }
        assert_eq!(archives[0], archives[1]);
    }
}
