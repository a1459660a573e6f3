//! Writes a new compared method: its file, its line in `methods!` and its tests. The result works
//! and is meant to be edited.

use std::path::Path;

use anyhow::{Context, Result, ensure};

pub(crate) const HELP: &str = "\
usage: cargo xtask new-method NAME     NAME in lower case with hyphens, such as `self-ask`

Writes the method's file and the file of its tests, and adds both to the lists of methods.";

const METHOD: &str = include_str!("new_method/method.txt");
const TEST: &str = include_str!("new_method/test.txt");

const METHODS: &str = "crates/baselines/src";
const TESTS: &str = "crates/baselines/tests/methods";

pub(crate) fn new_method(root: &Path, name: &str) -> Result<()> {
    let name = Name::of(name)?;
    let read = |path: &str| {
        let text = std::fs::read_to_string(root.join(path));
        text.with_context(|| format!("cannot read {path}"))
    };
    let (list, modules) = (format!("{METHODS}/catalogue.rs"), format!("{METHODS}/lib.rs"));
    let test_list = format!("{TESTS}/mod.rs");
    let method = format!("{METHODS}/{}.rs", name.module);
    let test = format!("{TESTS}/{}.rs", name.module);
    for path in [&method, &test] {
        ensure!(!root.join(path).exists(), "{path} exists already");
    }
    let listed = name.listed(&read(&list)?)?;
    let modules_listed = name.module_in(&read(&modules)?, "pub mod ")?;
    let tests_listed = name.module_in(&read(&test_list)?, "mod ")?;
    let files = [
        (method, name.filled(METHOD)),
        (list, listed),
        (modules, modules_listed),
        (test, name.filled(TEST)),
        (test_list, tests_listed),
    ];
    for (path, text) in &files {
        std::fs::write(root.join(path), text).with_context(|| format!("cannot write {path}"))?;
        println!("{path}");
    }
    println!(
        "\n`{name}` answers now: one retrieval, one answer. Next:\n\
         - write the algorithm in {METHODS}/{module}.rs, a line for each line of the paper's algorithm;\n\
         - prompts are files in {METHODS}/prompts/, each with a snapshot test;\n\
         - a test for each branch in {TESTS}/{module}.rs: cargo nextest run -p pikerag-baselines {module};\n\
         - its rows in docs/reference/papers.md; then `cargo xtask docs`.",
        name = name.method,
        module = name.module
    );
    Ok(())
}

/// A method's name in the forms that different places need.
#[derive(Debug, PartialEq, Eq)]
struct Name {
    /// `self-ask`
    method: String,
    /// `self_ask`
    module: String,
    /// `SelfAsk`
    variant: String,
}

impl Name {
    fn of(method: &str) -> Result<Self> {
        let is_word = |word: &str| {
            word.starts_with(|c: char| c.is_ascii_lowercase())
                && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
        };
        ensure!(
            method.split('-').all(is_word),
            "`{method}` is not a valid method name: use words in lower case with hyphens, such as `self-ask`"
        );
        let capital = |word: &str| {
            let (first, rest) = word.split_at(1);
            first.to_ascii_uppercase() + rest
        };
        Ok(Self {
            method: method.to_owned(),
            module: method.replace('-', "_"),
            variant: method.split('-').map(capital).collect(),
        })
    }

    fn filled(&self, template: &str) -> String {
        template.replace("METHOD", &self.method).replace("MODULE", &self.module)
    }

    /// The list of methods with this one at the end of `methods!`.
    fn listed(&self, list: &str) -> Result<String> {
        let head = "\nmethods! {\n";
        let begin = list.find(head).context("there is no `methods! {` in the list of methods")?
            + head.len();
        let (before, after) = list.split_at(begin);
        let (lines, rest) = after.split_once("\n}\n").context("`methods!` has no end")?;
        let Self { method, module, variant } = self;
        Ok(format!(
            "{before}{lines}\n    /// `{method}`.\n    {variant}(crate::{module}::Params) => crate::{module}::solve,\n}}\n{rest}"
        ))
    }

    /// A sorted list of modules with this one added.
    fn module_in(&self, list: &str, keyword: &str) -> Result<String> {
        let line = format!("{keyword}{};", self.module);
        ensure!(!list.lines().any(|other| other == line), "there is a module `{}`", self.module);
        let mut lines: Vec<&str> = list.lines().collect();
        let is_module = |other: &&str| other.starts_with(keyword) && other.ends_with(';');
        let end = lines.iter().rposition(is_module);
        let end = end.with_context(|| format!("there is no `{keyword}` in the list"))? + 1;
        let place = lines
            .iter()
            .position(|other| is_module(other) && line.as_str() < *other)
            .unwrap_or(end);
        lines.insert(place, &line);
        Ok(lines.join("\n") + "\n")
    }
}

#[cfg(test)]
mod tests {
    use super::{METHOD, Name, TEST};

    #[test]
    fn a_name_in_all_its_forms() {
        let name = Name::of("self-ask2").unwrap();
        assert_eq!((name.module.as_str(), name.variant.as_str()), ("self_ask2", "SelfAsk2"));
        for bad in ["", "Self-Ask", "self_ask", "-ask", "ask-", "2ask", "a/b", "a b"] {
            assert!(Name::of(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn it_is_added_once_and_in_order() {
        let list =
            "//! Lists.\n\nmethods! {\n    /// A.\n    A(a::P) => a::solve,\n}\n\nfn f() {\n}\n";
        let entered = Name::of("b-x").unwrap().listed(list).unwrap();
        assert_eq!(
            entered,
            "//! Lists.\n\nmethods! {\n    /// A.\n    A(a::P) => a::solve,\n    \
             /// `b-x`.\n    BX(crate::b_x::Params) => crate::b_x::solve,\n}\n\nfn f() {\n}\n"
        );
        let behind = Name::of("d").unwrap();
        assert_eq!(
            behind.module_in("mod a;\nmod c;\n", "mod ").unwrap(),
            "mod a;\nmod c;\nmod d;\n"
        );
        let twice = Name::of("c").unwrap().module_in("mod c;\n", "mod ").unwrap_err();
        assert_eq!(twice.to_string(), "there is a module `c`");
        assert!(behind.listed("pub mod a;\n").is_err());
    }

    #[test]
    fn no_placeholder_is_left_in_the_templates() {
        let name = Name::of("my-method").unwrap();
        for template in [METHOD, TEST] {
            let filled = name.filled(template);
            assert!(filled.contains("my-method") && !filled.contains("METHOD"), "{filled}");
            assert!(!filled.contains("MODULE"), "{filled}");
        }
    }
}
