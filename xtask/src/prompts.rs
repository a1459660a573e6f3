//! Keeps the texts of reworded prompts, so that kept runs are replayed with the text of their time.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use crate::program::{output_of, tool};
use crate::tidy::prompts::{Change, LOCK, Lock, Locked, earlier_path, is_earlier, name};
use crate::tidy::{self, Tree};

pub(crate) const HELP: &str = "\
usage: cargo xtask prompts                    lists new prompts, and forgets those that are gone
       cargo xtask prompts --keep [REVISION]  after rewording: keeps the text that shipped
       cargo xtask prompts --amend            after rewording a text that no release has
`--keep` reads the text that shipped from REVISION (default: HEAD), writes it to
`prompts/earlier/NAME.VERSION.md`, and adds it to the `Prompt` in the Rust file. It prints
what you must add by hand. Then run `cargo fmt`. The list is crates/prompt/prompts.lock.";

pub(crate) fn prompts(root: &Path, arguments: &[&str]) -> Result<()> {
    let tree = tidy::read(root)?;
    let lock = Lock::read(&tree)?;
    let files = match arguments {
        [] => listed(&tree, lock)?,
        ["--keep"] => kept(&tree, &lock, |path| shipped(root, "HEAD", path))?,
        ["--keep", revision] => kept(&tree, &lock, |path| shipped(root, revision, path))?,
        ["--amend"] => amended(&tree, lock),
        _ => bail!("unknown arguments: `{}`\n{HELP}", arguments.join(" ")),
    };
    for (path, text) in &files {
        let file = root.join(path);
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(&file, text).with_context(|| format!("cannot write {path}"))?;
        println!("{path}");
    }
    Ok(())
}

/// The text that a path had in a revision.
fn shipped(root: &Path, revision: &str, path: &str) -> Result<String> {
    output_of(tool(root, "git", &["show", &format!("{revision}:{path}")]))
}

/// The list with new texts, and without those that are gone.
fn listed(tree: &Tree, mut lock: Lock) -> Result<Tree> {
    let mut reworded = Vec::new();
    let mut gone = Vec::new();
    for (path, _, change) in lock.changed(tree) {
        match change {
            Change::Gone => gone.push(path.to_owned()),
            Change::Reworded => reworded.push(path.to_owned()),
        }
    }
    let reworded = reworded.join("\n");
    ensure!(reworded.is_empty(), "reworded; see `cargo xtask prompts --help`:\n{reworded}");
    for path in gone {
        lock.0.remove(&path);
    }
    add_unlisted(tree, &mut lock);
    Ok(Tree::from([(LOCK.to_owned(), lock.text())]))
}

/// The list with today's texts as the versions that it has.
fn amended(tree: &Tree, mut lock: Lock) -> Tree {
    add_unlisted(tree, &mut lock);
    for (path, locked) in &mut lock.0 {
        // The text of an earlier version never changes.
        if let Some(text) = tree.get(path).filter(|_| !is_earlier(path)) {
            *locked = Locked::new(text, locked.version);
        }
    }
    Tree::from([(LOCK.to_owned(), lock.text())])
}

fn add_unlisted(tree: &Tree, lock: &mut Lock) {
    for path in lock.unlisted(tree) {
        let text = tree.get(&path).map(String::as_str).unwrap_or_default();
        let locked = Locked::new(text, 1);
        lock.0.insert(path, locked);
    }
}

/// The files to write so that the shipped texts of all reworded prompts are kept. `shipped` gives the
/// text that a path had.
fn kept(tree: &Tree, lock: &Lock, shipped: impl Fn(&str) -> Result<String>) -> Result<Tree> {
    let mut files = Tree::new();
    let mut next = lock.clone();
    for (path, locked, change) in lock.changed(tree) {
        ensure!(change == Change::Reworded, "{path} is gone: run `cargo xtask prompts` first");
        ensure!(!is_earlier(path), "{path} is an earlier text: put it back");
        let text = shipped(path)?;
        let is_shipped = Locked::new(&text, locked.version) == *locked;
        ensure!(
            is_shipped,
            "{path} has another text there than version {} that shipped: name a revision that has it",
            locked.version
        );
        let earlier = earlier_path(path, locked.version).context("a prompt without a folder")?;
        let today = tree.get(path).map(String::as_str).unwrap_or_default();
        next.0.insert(path.to_owned(), Locked::new(today, locked.version + 1));
        next.0.insert(earlier.clone(), Locked::new(&text, 1));
        files.insert(earlier, text);
        for (rust, code) in with_text_kept(tree, &files, path, locked.version) {
            files.insert(rust, code);
        }
    }
    add_unlisted(tree, &mut next);
    files.insert(LOCK.to_owned(), next.text());
    Ok(files)
}

/// The Rust files that include a prompt, with its kept text added. Prints what it cannot add.
fn with_text_kept(tree: &Tree, files: &Tree, path: &str, version: u32) -> Vec<(String, String)> {
    let (Some(name), Some((folder, file))) = (name(path), path.rsplit_once('/')) else {
        return Vec::new();
    };
    let package = folder.split("/src/").next().unwrap_or_default();
    let sources = format!("{package}/src/");
    let mut changed = Vec::new();
    for (rust, code) in tree.iter().filter(|(rust, _)| rust.starts_with(&sources)) {
        let code = files.get(rust).unwrap_or(code);
        let Some((include, end)) = place(code, file) else { continue };
        let earlier = include.replace(file, &format!("earlier/{}.{version}.md", stem(file)));
        match end {
            Some(end) if version == 1 => {
                let (before, after) = code.split_at(end);
                let call = format!(".with_earlier(\"{name}\", &[include_str!(\"{earlier}\")])");
                changed.push((rust.clone(), format!("{before}{call}{after}")));
            }
            Some(_) => println!(
                "{rust}: add `include_str!(\"{earlier}\")` to the end of the list in `.with_earlier(\"{name}\", …)`"
            ),
            None => println!(
                "{rust}: give the text to its prompt: `.with_earlier_inputs(&[&[(TODAY, include_str!(\"{earlier}\"))]])`"
            ),
        }
    }
    changed
}

/// The path of the `include_str!` of a prompt's file, and the end of the call around it, if there is one.
fn place<'c>(code: &'c str, file: &str) -> Option<(&'c str, Option<usize>)> {
    let (opening, ending) = ("include_str!(\"", format!("prompts/{file}\")"));
    let last = code.find(&ending)? + ending.len();
    let (before, after) = code.split_at(last);
    let start = before.rfind(opening)? + opening.len();
    let include = before.get(start..)?.strip_suffix("\")")?;
    let mut depth = 0_usize;
    for (at, c) in after.char_indices() {
        match c {
            ')' if depth == 0 => return Some((include, Some(last + at + 1))),
            ')' => depth -= 1,
            '(' => depth += 1,
            ';' => break,
            _ => {}
        }
    }
    Some((include, None))
}

fn stem(file: &str) -> &str {
    file.strip_suffix(".md").unwrap_or(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOK: &str = "crates/a/src/prompts/look.md";
    const FIRST: &str = "crates/a/src/prompts/earlier/look.1.md";
    const RUST: &str = "crates/a/src/look.rs";
    const CODE: &str = "const LOOK: Prompt = Prompt::new(Role::Look, include_str!(\"prompts/look.md\"), 9).at(0.7);\n";

    fn tree(files: &[(&str, &str)]) -> Tree {
        files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
    }

    fn lock(entries: &[(&str, &str, u32)]) -> Lock {
        let entry = |(path, text, version): &(&str, &str, u32)| {
            ((*path).to_owned(), Locked::new(text, *version))
        };
        Lock(entries.iter().map(entry).collect())
    }

    #[test]
    fn a_reworded_text_is_kept_and_given_to_its_prompt() {
        let today = tree(&[(LOOK, "New.\n"), (RUST, CODE)]);
        let shipped = lock(&[(LOOK, "Old.\n", 1)]);
        let files = kept(&today, &shipped, |_| Ok("Old.\n".to_owned())).unwrap();
        let code = "const LOOK: Prompt = Prompt::new(Role::Look, include_str!(\"prompts/look.md\"), 9)\
                    .with_earlier(\"a/look\", &[include_str!(\"prompts/earlier/look.1.md\")]).at(0.7);\n";
        let list = lock(&[(LOOK, "New.\n", 2), (FIRST, "Old.\n", 1)]).text();
        assert_eq!(files, tree(&[(FIRST, "Old.\n"), (RUST, code), (LOCK, &list)]));
    }

    /// Two prompts of one Rust file are reworded; a third text is no call's argument.
    #[test]
    fn all_texts_of_a_file_are_kept() {
        let both = "const A: Prompt = B.with_template(include_str!(\"prompts/a.md\"));\n\
                    const B: Prompt = Prompt::new(Role::Look, include_str!(\"prompts/b.md\"), 9);\n\
                    const C: &str = include_str!(\"prompts/c.md\");\n";
        let paths = ["a", "b", "c"].map(|file| format!("crates/a/src/prompts/{file}.md"));
        let [a, b, c] = paths.each_ref().map(String::as_str);
        let today = tree(&[(a, "2"), (b, "2"), (c, "2"), (RUST, both)]);
        let shipped = lock(&[(a, "1", 1), (b, "1", 1), (c, "1", 1)]);
        let files = kept(&today, &shipped, |_| Ok("1".to_owned())).unwrap();
        let code = "const A: Prompt = B.with_template(include_str!(\"prompts/a.md\"))\
                    .with_earlier(\"a/a\", &[include_str!(\"prompts/earlier/a.1.md\")]);\n\
                    const B: Prompt = Prompt::new(Role::Look, include_str!(\"prompts/b.md\"), 9)\
                    .with_earlier(\"a/b\", &[include_str!(\"prompts/earlier/b.1.md\")]);\n\
                    const C: &str = include_str!(\"prompts/c.md\");\n";
        assert_eq!(files[RUST], code);
        assert_eq!(files["crates/a/src/prompts/earlier/c.1.md"], "1");
    }

    #[test]
    fn a_revision_without_the_shipped_text_is_refused() {
        let today = tree(&[(LOOK, "New."), (RUST, CODE)]);
        let shipped = lock(&[(LOOK, "Old.", 3)]);
        let error = kept(&today, &shipped, |_| Ok("Newer.".to_owned())).unwrap_err();
        assert!(error.to_string().contains("than version 3 that shipped"), "{error}");
        assert!(kept(&today, &shipped, |_| bail!("no such revision")).is_err());
        let error = listed(&today, shipped.clone()).unwrap_err();
        assert!(error.to_string().ends_with(LOOK), "{error}");
        let list = lock(&[(LOOK, "New.", 3)]).text();
        assert_eq!(amended(&today, shipped), tree(&[(LOCK, &list)]));
    }

    #[test]
    fn new_texts_are_listed_and_texts_that_are_gone_are_not() {
        let today = tree(&[(LOOK, "New.")]);
        let files = listed(&today, lock(&[("crates/a/src/prompts/gone.md", "x", 1)])).unwrap();
        assert_eq!(files, tree(&[(LOCK, &lock(&[(LOOK, "New.", 1)]).text())]));
    }
}
