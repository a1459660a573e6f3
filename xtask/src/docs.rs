//! Writes the generated parts of the documents, or checks that they are current.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::program::{cargo, run, target_folder};

mod codes;
mod commands;
mod events;
mod formats;
mod help;
mod limits;
mod methods;
mod rest;
mod schema;
mod settings;
mod types;

pub(crate) const HELP: &str = "\
usage: cargo xtask docs [--check] [--program PATH]
Writes the generated parts of the pages, each between two marks such as
`<!-- methods:begin -->` and `<!-- methods:end -->`.
  --check         changes nothing, and fails if a part is not current
  --program PATH  a built `pikerag`; default: builds one";

/// A generated part of a page.
struct Part {
    page: &'static str,
    /// The word in the marks.
    name: &'static str,
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Task {
    Write,
    Check,
}

pub(crate) fn docs(root: &Path, arguments: &[&str]) -> Result<()> {
    let (task, rest) = match arguments {
        ["--check", rest @ ..] => (Task::Check, rest),
        rest => (Task::Write, rest),
    };
    let program = match rest {
        [] => {
            run("build", cargo(root, &["build", "--quiet", "--package", "pikerag"]))?;
            built(root)?
        }
        ["--program", path] => std::path::absolute(path)?,
        _ => bail!("unknown arguments: `{}`\n{HELP}", arguments.join(" ")),
    };
    all(root, &program, task)
}

/// Fails if a generated part is not what the built program, the OpenAPI document and the sources
/// give.
pub(crate) fn check(root: &Path) -> Result<()> {
    all(root, &built(root)?, Task::Check)
}

/// The program that the tests built.
fn built(root: &Path) -> Result<PathBuf> {
    let name = format!("pikerag{}", std::env::consts::EXE_SUFFIX);
    Ok(target_folder(root)?.join("debug").join(name))
}

fn all(root: &Path, program: &Path, task: Task) -> Result<()> {
    let mut pages = BTreeMap::new();
    for part in parts(root, program)? {
        let text = match pages.remove(part.page) {
            Some(text) => text,
            None => fs::read_to_string(root.join(part.page))
                .with_context(|| format!("cannot read {}", part.page))?,
        };
        let written = with_part(&text, &part)
            .with_context(|| format!("{} has no marks `{}`", part.page, part.name))?;
        pages.insert(part.page, written);
    }
    let mut behind = settings::missing(root, program)?;
    for (page, text) in &pages {
        let path = root.join(page);
        if fs::read_to_string(&path)? == *text {
            println!("{page}: current");
        } else if task == Task::Write {
            fs::write(&path, text).with_context(|| format!("cannot write {page}"))?;
            println!("{page}: rewritten");
        } else {
            behind.push(format!("{page} is not current: run `cargo xtask docs`"));
        }
    }
    if !behind.is_empty() {
        bail!("{}", behind.join("\n"));
    }
    Ok(())
}

fn parts(root: &Path, program: &Path) -> Result<Vec<Part>> {
    let table = help::output(program, &["methods", "--markdown"])?;
    let names = methods::names(&table);
    let api = schema::read(root)?;
    let formats = formats::read(program)?;
    let part = |page, name, text| Part { page, name, text };
    Ok(vec![
        part("docs/reference/methods.md", "methods", table),
        part("README.md", "methods", names.clone()),
        part("README.zh.md", "methods", names),
        part("docs/reference/commands.md", "commands", commands::commands(program)?),
        part("docs/reference/codes.md", "exit-codes", codes::exit_codes(program)?),
        part("docs/reference/codes.md", "error-codes", codes::error_codes(root)?),
        part("docs/reference/rest.md", "routes", rest::routes(&api)?),
        part("docs/reference/events.md", "events", events::events(&api)?),
        part("docs/reference/settings.md", "settings", settings::list(root, program)?),
        part("docs/reference/formats.md", "formats", formats::table(&formats)),
        part("docs/reference/formats.md", "refused", formats::refused(&formats)),
        part("docs/reference/limits.md", "limits", limits::table(program)?),
    ])
}

/// The page with new text between its marks; `None` without marks.
fn with_part(page: &str, part: &Part) -> Option<String> {
    let begin = format!("<!-- {}:begin -->\n", part.name);
    let end = format!("<!-- {}:end -->", part.name);
    let (before, after) = page.split_once(&begin)?;
    let (_, after) = after.split_once(&end)?;
    Some(format!("{before}{begin}{}{end}{after}", part.text))
}

/// A row of a Markdown table.
fn row(cells: &[&str]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    format!("| {} |\n", cells.join(" | "))
}

/// Words on one line.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::{Part, with_part};

    #[test]
    fn only_the_text_between_the_marks_is_replaced() {
        let page =
            "# A\n<!-- a:begin -->\nold\n<!-- a:end -->\nB\n<!-- b:begin -->\n<!-- b:end -->";
        let part = |name, text: &str| Part { page: "", name, text: text.to_owned() };
        let written = with_part(page, &part("a", "new\n")).unwrap();
        assert_eq!(written, page.replace("old", "new"));
        assert_eq!(with_part(&written, &part("a", "new\n")).unwrap(), written);
        assert!(with_part(&written, &part("b", "c\n")).unwrap().contains("begin -->\nc\n<!-- b"));
        assert!(with_part(page, &part("c", "new\n")).is_none());
    }
}
