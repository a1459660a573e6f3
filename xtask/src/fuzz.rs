//! Runs the property tests and fuzz targets with new random inputs for a given time.
//!
//! cargo-fuzz needs a nightly compiler, and the toolchain is a pinned stable one. The property
//! tests (proptest) draw new inputs in every run, and the targets (`fuzz_targets!`,
//! `fuzz_replies!`) get new mutants of their corpus in each round. Repeating them is fuzzing, but
//! without feedback about the code that an input reaches.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail, ensure};

use crate::program::{cargo, is_installed, run};
use crate::tidy::rust::{code_only, is_word};
use crate::tidy::{Tree, has_ending, read};

pub(crate) const HELP: &str = "\
usage: cargo xtask fuzz [--minutes N] [--cases N] [PART…]

Runs the property tests and the fuzz targets, or those with PART in their names, in rounds until the
minutes are over (5 by default; the last round is finished). Each round draws new inputs. --cases sets
how many inputs a test draws in a round; properties with a fixed number keep it. Failing inputs are
printed and kept, by properties in `proptest-regressions`, by targets as `found-…` in their corpus:
commit that file with the fix. Needs cargo-nextest.";

/// The default number of mutants of a target in a round.
const MUTANTS: u32 = 200;

#[derive(Debug, PartialEq, Eq)]
struct Params<'a> {
    minutes: u64,
    cases: Option<u32>,
    parts: Vec<&'a str>,
}

/// A test that draws its inputs.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Property {
    package: String,
    name: String,
    /// Whether it sets its own number of inputs.
    is_fixed: bool,
}

pub(crate) fn fuzz(root: &Path, arguments: &[&str]) -> Result<()> {
    let Params { minutes, cases, parts } = params(arguments)?;
    ensure!(is_installed(cargo(root, &["nextest", "--version"])), "cargo-nextest is not installed");
    let mut properties = properties(&read(root)?);
    properties.retain(|p| parts.is_empty() || parts.iter().any(|part| p.name.contains(part)));
    ensure!(!properties.is_empty(), "no property has this name");
    let n_fixed = properties.iter().filter(|property| property.is_fixed).count();
    println!(
        "{} properties and targets, {n_fixed} of them with a fixed number of cases",
        properties.len()
    );

    let command = |more: &[&str]| {
        let mut work = cargo(root, &["nextest", "run", "--profile", "fuzz"]);
        for package in properties.iter().map(|p| p.package.as_str()).collect::<BTreeSet<_>>() {
            work.args(["--package", package]);
        }
        work.args(more);
        if let Some(cases) = cases {
            work.env("PROPTEST_CASES", cases.to_string());
        }
        work
    };
    run("build", command(&["--no-run"]))?;
    let filter = filter(&properties);
    let began = Instant::now();
    let time = Duration::from_secs(60 * minutes);
    let mut n_rounds = 0;
    while n_rounds == 0 || began.elapsed() < time {
        n_rounds += 1;
        let seed = SystemTime::now().duration_since(UNIX_EPOCH).map_or(n_rounds, |d| d.as_secs());
        let mut round = command(&["--filterset", &filter]);
        round.env("PIKERAG_FUZZ_SEED", seed.to_string());
        round.env("PIKERAG_FUZZ_CASES", cases.unwrap_or(MUTANTS).to_string());
        run(&format!("round {n_rounds}, seed {seed}"), round)?;
    }
    println!("\nall passed, {n_rounds} rounds in {:.1} s", began.elapsed().as_secs_f64());
    Ok(())
}

fn params<'a>(arguments: &[&'a str]) -> Result<Params<'a>> {
    let mut params = Params { minutes: 5, cases: None, parts: Vec::new() };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut number = || {
            let value = rest.next().with_context(|| format!("{argument} needs a number"))?;
            value
                .parse::<u32>()
                .with_context(|| format!("{argument} needs a number, not `{value}`"))
        };
        match *argument {
            "--minutes" => params.minutes = number()?.into(),
            "--cases" => params.cases = Some(number()?),
            option if option.starts_with('-') => bail!("no such option: `{option}`\n{HELP}"),
            part => params.parts.push(part),
        }
    }
    Ok(params)
}

/// The functions inside `proptest! { … }` in the crates, and the targets inside `fuzz_targets! { …
/// }` and `fuzz_replies! { … }`.
fn properties(tree: &Tree) -> Vec<Property> {
    let mut found = BTreeSet::new();
    for (path, text) in tree.iter().filter(|(path, _)| has_ending(path, "rs")) {
        let parts: Vec<&str> = path.splitn(3, '/').collect();
        let ["crates", folder, _] = parts.as_slice() else { continue };
        let package = match *folder {
            "app" => "pikerag".to_owned(),
            library => format!("pikerag-{library}"),
        };
        let code = code_only(text);
        for (at, opening) in code.match_indices("proptest! {") {
            let block = block(code.get(at + opening.len()..).unwrap_or_default());
            let is_fixed = block.contains("with_cases(") || block.contains("cases:");
            for name in functions(block) {
                let (package, name) = (package.clone(), name.to_owned());
                found.insert(Property { package, name, is_fixed });
            }
        }
        for (opening, names) in
            [("fuzz_targets! {", target as Names), ("fuzz_replies! {", reply as Names)]
        {
            for (at, _) in code.match_indices(opening) {
                let block = block(code.get(at + opening.len()..).unwrap_or_default());
                for name in block.lines().flat_map(names) {
                    let name = format!("{name}::mutants");
                    found.insert(Property { package: package.clone(), name, is_fixed: false });
                }
            }
        }
    }
    found.into_iter().collect()
}

/// Reads the names in a line.
type Names = fn(&str) -> Vec<&str>;

/// `NAME in "corpus" => …`, at the beginning of a line.
fn target(line: &str) -> Vec<&str> {
    let name = line.trim_start().split_once(" in ").map(|(name, _)| name);
    name.filter(|name| !name.is_empty() && name.chars().all(is_word)).into_iter().collect()
}

/// `NAME: Type, NAME: Type`.
fn reply(line: &str) -> Vec<&str> {
    line.split(',').filter_map(|part| Some(part.split_once(':')?.0.trim())).collect()
}

/// The text before the `}` that ends the block.
fn block(code: &str) -> &str {
    let mut depth = 1_usize;
    for (at, c) in code.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return code.get(..at).unwrap_or(code);
        }
    }
    code
}

/// The functions under `#[test]`.
fn functions(block: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for part in block.split("#[test]").skip(1) {
        if let Some((_, after)) = part.split_once("fn ") {
            names.extend(after.split(|c| !is_word(c)).next());
        }
    }
    names
}

/// The nextest filter for tests of these names.
fn filter(properties: &[Property]) -> String {
    let names: BTreeSet<&str> = properties.iter().map(|property| property.name.as_str()).collect();
    let names: Vec<&str> = names.into_iter().collect();
    format!("test(/(^|::)({})$/)", names.join("|"))
}

#[cfg(test)]
mod tests {
    use super::{Params, filter, params, properties};
    use crate::tidy::Tree;

    #[test]
    fn the_arguments() {
        let read = |line: &'static str| params(&line.split_whitespace().collect::<Vec<_>>());
        assert_eq!(read("").unwrap(), Params { minutes: 5, cases: None, parts: vec![] });
        assert_eq!(
            read("any_ --cases 9 --minutes 0 html").unwrap(),
            Params { minutes: 0, cases: Some(9), parts: vec!["any_", "html"] }
        );
        for (line, complaint) in [
            ("--cases", "--cases needs a number"),
            ("--minutes x", "--minutes needs a number, not `x`"),
            ("--hours 1", "no such option: `--hours`"),
        ] {
            let error = read(line).unwrap_err().to_string();
            assert!(error.starts_with(complaint), "{error}");
        }
    }

    #[test]
    fn properties_are_separated_from_other_tests() {
        let text = "#[test]\nfn a() {}\nproptest! {\n    #![proptest_config(C::with_cases(9))]\n    \
                    /// fn b()\n    #[test]\n    fn c(d in 0..9) { if d == 0 { \"}\" } }\n    #[test]\n    \
                    fn e(f in 0..9) {}\n}\n#[test]\nfn g() {}\n";
        let plain = "mod tests { proptest! {\n#[test]\nfn h(i in 0..9) { cases }\n} }\n\
                     pikerag_test_support::fuzz_replies! { reply_a: A, reply_b: B }\n\
                     fuzz_targets! {\n    html in \"corpus/html\" => |bytes| { for x in bytes {} };\n}\n";
        let tree: Tree = [
            ("crates/app/src/a.rs", text),
            ("crates/y/tests/b.rs", plain),
            ("crates/y/c.md", text),
            ("xtask/src/d.rs", text),
        ]
        .into_iter()
        .map(|(path, text)| (path.to_owned(), text.to_owned()))
        .collect();
        let found = properties(&tree);
        let line = |p: &super::Property| format!("{} {} {}", p.package, p.name, p.is_fixed);
        assert_eq!(
            found.iter().map(line).collect::<Vec<_>>(),
            [
                "pikerag c true",
                "pikerag e true",
                "pikerag-y h false",
                "pikerag-y html::mutants false",
                "pikerag-y reply_a::mutants false",
                "pikerag-y reply_b::mutants false",
            ]
        );
        assert_eq!(filter(&found[..4]), "test(/(^|::)(c|e|h|html::mutants)$/)");
    }
}
