//! Collects the licence texts and notices of third-party packages.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use super::packages::{Kind, Package, Tree};

/// `THIRD-PARTY.txt`.
pub(super) fn of(tree: &Tree) -> Result<String> {
    let foreign = tree.packages.iter().filter(|package| package.kind != Kind::Ours);
    Ok(third_party(&foreign.map(notices).collect::<Result<Vec<_>>>()?))
}

/// The line of a package, and the texts of its licences and notices.
fn notices(package: &Package) -> Result<(String, Vec<String>)> {
    let Package { name, version, license, folder, kind, .. } = package;
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let entries = entries.with_context(|| match kind {
        Kind::Npm => format!(
            "{} is missing, and the release needs its licence: `npm ci --ignore-scripts` in web/",
            folder.display()
        ),
        Kind::Ours | Kind::Crate => format!("cannot list {}", folder.display()),
    })?;
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

/// True for `LICENSE-MIT`, `COPYING`, `NOTICE.md` and similar, but not for scripts with such names.
fn is_notice(file: &str) -> bool {
    let file = file.to_ascii_uppercase();
    let is_script = [".JS", ".MJS", ".RS", ".PY"].iter().any(|ending| file.ends_with(ending));
    let starts = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];
    !is_script && starts.iter().any(|start| file.starts_with(start))
}

/// Lists every package, then every text once, below the packages that it belongs to.
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

#[cfg(test)]
mod tests {
    use super::{is_notice, third_party};

    #[test]
    fn notices_are_recognized_by_name() {
        for (file, is_one) in [
            ("LICENSE-MIT", true),
            ("license.txt", true),
            ("COPYING", true),
            ("NOTICE", true),
            ("UNLICENSE", true),
            ("license-update.mjs", false),
            ("Cargo.toml", false),
            ("README.md", false),
        ] {
            assert_eq!(is_notice(file), is_one, "{file}");
        }
    }

    #[test]
    fn each_text_appears_once() {
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
}
