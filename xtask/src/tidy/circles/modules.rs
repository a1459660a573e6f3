//! Finds the uses between sibling modules. Files and folders are modules; tests are not.

use std::collections::{BTreeMap, BTreeSet};

use super::paths::{Path, paths};
use crate::tidy::Tree;
use crate::tidy::rust::{above_tests, code_only, is_test_file, without_tests};

/// A module that uses a sibling, by their paths from the crate.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Arrow {
    pub(super) from: String,
    pub(super) to: String,
}

/// The first place of an arrow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) path: String,
    pub(super) line: usize,
}

/// A module's path below the crate's root.
type Name<'a> = Vec<&'a str>;

struct Module<'a> {
    path: &'a str,
    paths: Vec<Path<'a>>,
}

/// The arrows between siblings in all crates, such as `indexing/ingest` → `indexing/table`.
///
/// A path is followed through the `use` of its target module: if a parent re-exports an item of one
/// child and another child uses that, the second child uses the first. Uses of a module's own
/// ancestors or descendants are not arrows.
pub(super) fn arrows(tree: &Tree) -> BTreeMap<Arrow, Place> {
    let texts = texts(tree);
    let mut crates: BTreeMap<&str, BTreeMap<Name<'_>, Module<'_>>> = BTreeMap::new();
    for (path, code) in &texts {
        let Some((name, module)) = place(path) else { continue };
        let module_of = Module { path, paths: paths(code) };
        crates.entry(name).or_default().insert(module, module_of);
    }
    let mut arrows = BTreeMap::new();
    for (name, modules) in &crates {
        for (from, module) in modules {
            for path in &module.paths {
                let Some(to) = target(modules, from, &path.segments) else { continue };
                let Some(arrow) = arrow(name, from, &to) else { continue };
                let place = Place { path: module.path.to_owned(), line: path.line };
                arrows.entry(arrow).or_insert(place);
            }
        }
    }
    arrows
}

/// The shipped code of every source file.
fn texts(tree: &Tree) -> BTreeMap<&str, String> {
    let mut texts = BTreeMap::new();
    let mut gone_with = BTreeSet::new();
    for (path, text) in tree.iter().filter(|(path, _)| !is_test_file(path)) {
        let Some((name, module)) = place(path) else { continue };
        let code = code_only(above_tests(text));
        let (code, children) = without_tests(&code);
        for child in children {
            let mut child_of: Vec<String> = module.iter().map(ToString::to_string).collect();
            child_of.push(child);
            gone_with.insert((name.to_owned(), child_of));
        }
        texts.insert(path.as_str(), code);
    }
    texts.retain(|path, _| {
        let Some((name, module)) = place(path) else { return false };
        let module: Vec<String> = module.iter().map(ToString::to_string).collect();
        !gone_with.iter().any(|(of, test)| of == name && module.starts_with(test))
    });
    texts
}

/// `crates/store/src/sqlite/put.rs` → `store`, `[sqlite, put]`; the crate's root is `[]`.
fn place(path: &str) -> Option<(&str, Name<'_>)> {
    let rest = path.strip_prefix("crates/").unwrap_or(path);
    let (name, file) = rest.split_once("/src/")?;
    if name.contains('/') {
        return None;
    }
    let mut module: Name<'_> = file.strip_suffix(".rs")?.split('/').collect();
    if matches!(module.as_slice(), ["lib" | "main"]) || module.last() == Some(&"mod") {
        module.pop();
    }
    Some((name, module))
}

/// The module that a path of a file refers to; `None` outside this crate.
fn target<'a>(
    modules: &BTreeMap<Name<'a>, Module<'a>>,
    from: &Name<'a>,
    segments: &[&'a str],
) -> Option<Name<'a>> {
    let mut from = from.clone();
    let mut segments = segments.to_vec();
    // A `use` can refer to another `use`; ten steps are more than there are.
    for _ in 0..10 {
        let (at, rest) = walk(modules, &from, &segments)?;
        let next = rest
            .first()
            .and_then(|name| modules.get(&at)?.paths.iter().find(|path| path.name == Some(*name)));
        let Some(next) = next else { return Some(at) };
        let mut further = next.segments.clone();
        further.extend(rest.iter().skip(1));
        if at == from && further == segments || walk(modules, &at, &further).is_none() {
            return Some(at);
        }
        (from, segments) = (at, further);
    }
    Some(from)
}

/// The module that a path reaches by files and folders alone, and the rest of the path.
fn walk<'a>(
    modules: &BTreeMap<Name<'a>, Module<'a>>,
    from: &Name<'a>,
    segments: &[&'a str],
) -> Option<(Name<'a>, Vec<&'a str>)> {
    let mut at = from.clone();
    let mut rest = segments;
    while let [first, behind @ ..] = rest {
        let mut below = at.clone();
        below.push(first);
        match *first {
            "crate" => at.clear(),
            "self" => {}
            "super" => drop(at.pop()?),
            _ if modules.contains_key(&below) => at = below,
            // A bare name that is no child: another crate.
            _ if rest.len() == segments.len() => return None,
            _ => break,
        }
        rest = behind;
    }
    Some((at, rest.to_vec()))
}

/// The arrow between the sibling ancestors of two modules; `None` if one is an ancestor of the
/// other.
fn arrow(name: &str, from: &Name<'_>, to: &Name<'_>) -> Option<Arrow> {
    let n_shared = from.iter().zip(to).take_while(|(a, b)| a == b).count();
    if n_shared == from.len() || n_shared == to.len() {
        return None;
    }
    let sibling = |module: &Name<'_>| {
        let names = module.iter().take(n_shared + 1).copied();
        std::iter::once(name).chain(names).collect::<Vec<_>>().join("/")
    };
    Some(Arrow { from: sibling(from), to: sibling(to) })
}

#[cfg(test)]
mod tests {
    use super::arrows;

    #[track_caller]
    fn check(files: &[(&str, &str)], wanted: &[&str]) {
        let file = |(path, text): &(&str, &str)| (format!("crates/{path}"), (*text).to_owned());
        let found = arrows(&files.iter().map(file).collect());
        let line = |(arrow, place): (super::Arrow, super::Place)| {
            format!("{} → {}, {}:{}", arrow.from, arrow.to, place.path, place.line)
        };
        assert_eq!(found.into_iter().map(line).collect::<Vec<_>>(), wanted);
    }

    #[test]
    fn siblings_are_found_at_every_level() {
        check(
            &[
                ("x/src/lib.rs", "mod a;\nmod b;\n"),
                ("x/src/a.rs", "mod c;\nmod d;\n"),
                ("x/src/a/c.rs", "use super::d::D;\nfn f() { crate::b::f() }\n"),
                ("x/src/a/d.rs", "use crate::a::c;\n"),
                ("x/src/b.rs", "use std::fmt;\nuse serde::b;\n"),
            ],
            &[
                "x/a → x/b, crates/x/src/a/c.rs:2",
                "x/a/c → x/a/d, crates/x/src/a/c.rs:1",
                "x/a/d → x/a/c, crates/x/src/a/d.rs:1",
            ],
        );
    }

    #[test]
    fn parents_and_children_may_use_each_other() {
        check(
            &[
                ("x/src/lib.rs", "mod a;\npub use a::A;\nuse a::b::deep;\n"),
                ("x/src/a.rs", "mod b;\npub use b::B;\nfn f() { b::f(); crate::g() }\n"),
                ("x/src/a/b.rs", "use super::f;\nuse crate::Root;\nuse super::Missing;\n"),
            ],
            &[],
        );
    }

    #[test]
    fn a_re_export_counts_as_a_use_of_the_child() {
        check(
            &[
                ("x/src/lib.rs", "mod a;\nmod b;\nmod c;\npub use a::A;\nuse c::{C as See};\n"),
                ("x/src/a.rs", "pub struct A;\n"),
                ("x/src/b.rs", "use crate::A;\nuse super::{See, C};\n"),
                ("x/src/c.rs", "pub use crate::c::C;\npub struct C;\n"),
            ],
            &["x/b → x/a, crates/x/src/b.rs:1", "x/b → x/c, crates/x/src/b.rs:2"],
        );
    }

    #[test]
    fn tests_are_ignored() {
        check(
            &[
                ("x/src/lib.rs", "mod a;\nmod b;\n#[cfg(test)]\nmod fake;\n"),
                (
                    "x/src/a.rs",
                    "#[cfg(test)]\nuse crate::b::B;\n#[cfg(test)]\nmod tests {\n    use crate::b;\n}\n",
                ),
                ("x/src/a/tests.rs", "use crate::b;\n"),
                ("x/src/b.rs", "// crate::a\nconst A: &str = \"crate::a\";\n"),
                ("x/src/fake.rs", "use crate::b;\n"),
                ("x/tests/all.rs", "use crate::b;\n"),
            ],
            &[],
        );
    }
}
