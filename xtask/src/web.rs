//! Is the page that the program carries the one that `web/` makes? Builds it, tests it, and says where the two differ.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use walkdir::WalkDir;

use crate::program::{is_installed, output_of, run, tool};

pub(crate) const HELP: &str = "\
usage: cargo xtask web            builds the page: web/dist/ and the types of web/src/api/
       cargo xtask web --check    builds it beside, and fails where what is committed is another

Node.js 20.19 or later and npm; they fetch what web/package-lock.json names.";

/// What is made, and has to be committed.
const MADE: [&str; 2] = ["dist", "src/api/schema.d.ts"];
/// What of `web/` a build and its tests read; those in a browser are for `.ci/run` to begin.
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
/// Documents that the tests in a browser bring in.
const SHOWN: [&str; 2] = ["examples", "crates/parse/corpus/pdf"];
/// The first version of Node.js that the build runs on.
const NODE: (u32, u32) = (20, 19);

/// Builds the page in its place.
pub(crate) fn build(root: &Path) -> Result<()> {
    made_in(&root.join("web"))
}

/// Builds the page in a folder of its own, and compares.
pub(crate) fn check(root: &Path, scratch: &Path) -> Result<()> {
    let (web, beside) = (root.join("web"), scratch.join("web-check/web"));
    for name in READ {
        copy(&web.join(name), &beside.join(name))?;
    }
    for name in SHOWN {
        copy(&root.join(name), &scratch.join("web-check").join(name))?;
    }
    // The types come from there.
    copy(&root.join("docs/openapi.json"), &scratch.join("web-check/docs/openapi.json"))?;
    made_in(&beside)?;
    run("web: tests", tool(&beside, "npm", &["test", "--silent"]))?;
    for name in MADE {
        let (kept, made) = (files(&web.join(name))?, files(&beside.join(name))?);
        if let Some(name) = differing(&kept, &made) {
            bail!(
                "{} is not what web/ makes: `cargo xtask web`, and commit what it made",
                name.display()
            );
        }
    }
    println!("what is committed is what web/ makes");
    Ok(())
}

/// Whether Node.js is there, and not too old.
pub(crate) fn has_node(root: &Path) -> bool {
    let version = || output_of(tool(root, "node", &["--version"])).ok();
    is_installed(tool(root, "npm", &["--version"]))
        && version().is_some_and(|version| NODE <= parts(&version))
}

/// `v20.20.2`: the first two numbers.
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
        // What is gone there is gone here; packages are kept.
        fs::remove_dir_all(to)?;
    }
    for entry in WalkDir::new(from) {
        let entry = entry?;
        let below = entry.path().strip_prefix(from)?;
        // What is joined to nothing would be a folder.
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

/// The first file that is there once, or is another.
fn differing(kept: &Files, made: &Files) -> Option<PathBuf> {
    kept.keys().chain(made.keys()).find(|name| kept.get(*name) != made.get(*name)).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_more_or_other_is_told() {
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
    fn old_versions_are_told() {
        assert_eq!(parts("v20.20.2\n"), (20, 20));
        assert!(parts("v18.19.0") < NODE && NODE <= parts("v22.0.0") && parts("") < NODE);
    }
}
