//! Builds and tests the page of `web/`, and checks that the committed page equals the build.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use walkdir::WalkDir;

use crate::program::{is_installed, output_of, run, tool};

pub(crate) const HELP: &str = "\
usage: cargo xtask web            builds the page: web/dist/ and the types of web/src/api/
       cargo xtask web --check    builds it in a separate folder, and fails if the committed page differs

Needs Node.js 20.19 or later and npm, which downloads the packages of web/package-lock.json.";

/// The build results, which must be committed.
const MADE: [&str; 2] = ["dist", "src/api/schema.d.ts"];
/// The part of `web/` that a build and its tests read; `.ci/run` starts the browser tests.
const READ: [&str; 9] = [
    "src",
    "browser",
    "index.html",
    "package.json",
    "package-lock.json",
    "svelte.config.js",
    "tsconfig.json",
    "vite.config.ts",
    ".npmrc",
];
/// Other files that the tests read: documents to upload, and the sources of codes and names that the
/// page must word.
const SHOWN: [&str; 5] = [
    "examples",
    "crates/parse/corpus/pdf",
    "crates/engine/src",
    "crates/server/src",
    "docs/reference/methods.md",
];
/// The first version of Node.js that the build runs on.
const NODE: (u32, u32) = (20, 19);

/// Builds the page in place.
pub(crate) fn build(root: &Path) -> Result<()> {
    made_in(&root.join("web"))
}

/// Builds the page in a separate folder, and compares.
pub(crate) fn check(root: &Path, scratch: &Path) -> Result<()> {
    let (web, beside) = (root.join("web"), scratch.join("web-check/web"));
    for name in READ {
        copy(&web.join(name), &beside.join(name))?;
    }
    for name in SHOWN {
        copy(&root.join(name), &scratch.join("web-check").join(name))?;
    }
    // The types are made from this file.
    copy(&root.join("docs/openapi.json"), &scratch.join("web-check/docs/openapi.json"))?;
    made_in(&beside)?;
    run("web: tests", tool(&beside, "npm", &["test", "--silent"]))?;
    for name in MADE {
        let (kept, made) = (files(&web.join(name))?, files(&beside.join(name))?);
        if let Some(name) = differing(&kept, &made) {
            bail!(
                "{} differs from the build of web/: run `cargo xtask web` and commit the result",
                name.display()
            );
        }
    }
    println!("the committed page equals the build of web/");
    Ok(())
}

/// Whether Node.js is installed and recent enough.
pub(crate) fn has_node(root: &Path) -> bool {
    let version = || output_of(tool(root, "node", &["--version"])).ok();
    is_installed(tool(root, "npm", &["--version"]))
        && version().is_some_and(|version| NODE <= parts(&version))
}

/// The first two numbers of `v20.20.2`.
fn parts(version: &str) -> (u32, u32) {
    let mut numbers = version.trim().trim_start_matches('v').split('.').map(str::parse);
    let mut next = || numbers.next().and_then(Result::ok).unwrap_or_default();
    (next(), next())
}

fn made_in(web: &Path) -> Result<()> {
    run("web: packages", tool(web, "npm", &["ci", "--silent"]))?;
    run("web: build", tool(web, "npm", &["run", "build", "--silent"]))
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    if to.is_dir() {
        // Files that were removed from the source are removed here; packages are kept.
        fs::remove_dir_all(to)?;
    }
    for entry in WalkDir::new(from) {
        let entry = entry?;
        let below = entry.path().strip_prefix(from)?;
        // Joining an empty path would make a folder.
        let place = if below.as_os_str().is_empty() { to.to_owned() } else { to.join(below) };
        match entry.file_type().is_dir() {
            true => fs::create_dir_all(place)?,
            false => {
                if let Some(above) = place.parent() {
                    fs::create_dir_all(above)?;
                }
                fs::copy(entry.path(), &place)
                    .with_context(|| format!("cannot copy {}", entry.path().display()))?;
            }
        }
    }
    Ok(())
}

type Files = BTreeMap<PathBuf, Vec<u8>>;

fn files(of: &Path) -> Result<Files> {
    let mut files = Files::new();
    for entry in WalkDir::new(of) {
        let entry = entry?;
        if entry.file_type().is_file() {
            let above = of.parent().unwrap_or(of);
            files.insert(entry.path().strip_prefix(above)?.to_owned(), fs::read(entry.path())?);
        }
    }
    Ok(files)
}

/// The first file that is on one side only, or differs.
fn differing(kept: &Files, made: &Files) -> Option<PathBuf> {
    kept.keys().chain(made.keys()).find(|name| kept.get(*name) != made.get(*name)).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_added_and_changed_files_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("a/dist/index.html", "x");
        write("a/dist/assets/one.js", "y");
        let kept = files(&folder.path().join("a/dist")).unwrap();
        copy(&folder.path().join("a/dist"), &folder.path().join("b/dist")).unwrap();
        let made = || files(&folder.path().join("b/dist")).unwrap();
        assert_eq!(differing(&kept, &made()), None);
        write("b/dist/assets/two.js", "z");
        assert_eq!(differing(&kept, &made()), Some("dist/assets/two.js".into()));
        copy(&folder.path().join("a/dist"), &folder.path().join("b/dist")).unwrap();
        assert_eq!(differing(&kept, &made()), None);
        let one = (folder.path().join("a/dist/index.html"), folder.path().join("c/index.html"));
        copy(&one.0, &one.1).unwrap();
        assert_eq!(fs::read_to_string(&one.1).unwrap(), "x");
        write("b/dist/index.html", "X");
        assert_eq!(differing(&kept, &made()), Some("dist/index.html".into()));
    }

    #[test]
    fn versions_are_read_as_two_numbers() {
        assert_eq!(parts("v20.20.2\n"), (20, 20));
        assert!(parts("v18.19.0") < NODE && NODE <= parts("v22.0.0") && parts("") < NODE);
    }
}
