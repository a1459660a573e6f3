//! Packs a release: one archive with the program, its notices and its bill of materials, with
//! checksums, and the same program in a wheel.

use std::env::consts::{ARCH, OS};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use sha2::{Digest, Sha256};

use self::packages::{Tree, version};
use crate::program::{cargo, output_of, run, target_folder, timed, tool};

mod archive;
mod notices;
mod packages;
mod sbom;
mod wheel;

pub(crate) use self::wheel::{HELP as WHEEL_HELP, wheel};

pub(crate) const HELP: &str = "\
usage: cargo xtask dist                     builds pikerag in release mode and packs it
       cargo xtask dist --binary PROGRAM    packs this program, which was built elsewhere

Writes to `dist` in the target folder: `pikerag-VERSION-MACHINE.tar.gz`, the list of its parts in CycloneDX
(`.cdx.json`), and the SHA-256 sums of both. The archive has the folders of /usr: the program, manual pages,
completions, LICENSE, README.md, the licences of its dependencies. Unpacked into ~/.local with
`--strip-components=1` the program finds all of it there. The same commit gives the same archive as long as the compiler
gives the same program. The page's licences come from web/node_modules: run `npm ci --ignore-scripts` there first.";

/// Files of the repository that are included.
const PAPERS: [&str; 3] = ["LICENSE", "README.md", "README.zh.md"];

const DOC: &str = "share/doc/pikerag";
const MAN: &str = "share/man/man1";

/// Shells with the folder of their completions; two have none.
const SHELLS: [(&str, &str); 5] = [
    ("bash", "share/bash-completion/completions/pikerag"),
    ("zsh", "share/zsh/site-functions/_pikerag"),
    ("fish", "share/fish/vendor_completions.d/pikerag.fish"),
    ("elvish", "share/doc/pikerag/pikerag.elv"),
    ("powershell", "share/doc/pikerag/pikerag.ps1"),
];

pub(crate) fn dist(root: &Path, arguments: &[&str]) -> Result<()> {
    let program = match arguments {
        [] => built(root)?,
        ["--binary", program] => given(program)?,
        _ => bail!("{HELP}"),
    };
    let tree = packages::tree(root)?;
    let name = name(version(&tree)?);
    let dist = target_folder(root)?.join("dist");
    let folder = dist.join(&name);
    let made_of = dist.join(format!("{name}.cdx.json"));
    let archive = dist.join(format!("{name}.tar.gz"));
    timed("collect", &folder.display().to_string(), || {
        let sbom = sbom::sbom(&tree, &committed(root, "%cI")?)?;
        collect(root, &program, &tree, &sbom, &folder)?;
        write(&made_of, sbom.as_bytes())
    })?;
    let time = committed(root, "%ct")?.parse().context("a commit has no time")?;
    timed("pack", &archive.display().to_string(), || archive::pack(&folder, time, &archive))?;
    for file in [&archive, &made_of] {
        let sum = sum(file)?;
        let beside = format!("{}.sha256", file.display());
        write(Path::new(&beside), sum.as_bytes())?;
        println!("{}\n  {}", file.display(), sum.trim());
    }
    Ok(())
}

/// Builds the program here.
fn built(root: &Path) -> Result<PathBuf> {
    run("build", cargo(root, &["build", "--release", "--locked", "--package", "pikerag"]))?;
    Ok(target_folder(root)?.join("release/pikerag"))
}

/// The program that the arguments name.
fn given(program: &str) -> Result<PathBuf> {
    let found = fs::canonicalize(program).with_context(|| format!("there is no {program}"))?;
    let version = output_of(tool(Path::new("."), &found.display().to_string(), &["--version"]))?;
    ensure!(
        version.starts_with("pikerag "),
        "{program} is another program: `--version` prints {version:?}"
    );
    Ok(found)
}

/// `pikerag-0.1.0-x86_64-linux`.
fn name(version: &str) -> String {
    format!("pikerag-{version}-{ARCH}-{OS}")
}

/// A property of the packed commit, formatted by Git.
fn committed(root: &Path, format: &str) -> Result<String> {
    let format = format!("--format={format}");
    Ok(output_of(tool(root, "git", &["log", "-1", &format]))?.trim().to_owned())
}

/// Fills the folder to pack, and removes files of an earlier run.
fn collect(root: &Path, program: &Path, tree: &Tree, sbom: &str, folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    copy(program, &folder.join("bin/pikerag"))?;
    for paper in PAPERS {
        copy(&root.join(paper), &folder.join(DOC).join(paper))?;
    }
    write(&folder.join(DOC).join("THIRD-PARTY.txt"), notices::of(tree)?.as_bytes())?;
    write(&folder.join(DOC).join("pikerag.cdx.json"), sbom.as_bytes())?;
    for (shell, file) in SHELLS {
        let mut completions = Command::new(program);
        completions.args(["--lang", "en", "completions", shell]);
        write(&folder.join(file), output_of(completions)?.as_bytes())?;
    }
    let mut pages = Command::new(program);
    pages.args(["--lang", "en", "--json", "man", "--out"]).arg(folder.join(MAN));
    output_of(pages).map(drop)
}

/// A line in the format of `sha256sum`.
fn sum(file: &Path) -> Result<String> {
    let bytes = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let mut line = String::new();
    for byte in Sha256::digest(&bytes) {
        let _ = write!(line, "{byte:02x}"); // Writing to a string does not fail.
    }
    Ok(format!("{line}  {name}\n"))
}

/// Writes a file and creates the folders above it.
fn write(to: &Path, bytes: &[u8]) -> Result<()> {
    let folder = to.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(to, bytes))
        .with_context(|| format!("cannot write {}", to.display()))
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    let folder = to.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)
        .and_then(|()| fs::copy(from, to))
        .with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{name, sum};

    #[test]
    fn the_archive_name_gives_version_and_platform() {
        assert!(name("0.1.0").starts_with("pikerag-0.1.0-"));
    }

    #[test]
    fn sums_are_those_of_sha256sum() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.txt");
        std::fs::write(&file, "abc").unwrap();
        assert_eq!(
            sum(&file).unwrap(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  a.txt\n"
        );
    }
}
