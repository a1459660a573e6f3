//! Finds sibling modules that use each other in a circle.
//!
//! A circle has no first file to read. A parent and its children may use each other, because they
//! are one module in several files. Two children of one parent may not use each other, directly or
//! through others.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use self::modules::{Arrow, Place, arrows};
use super::{Finding, Tree};

mod modules;
mod paths;

/// Every circle is a finding.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let arrows = arrows(tree);
    circles(&arrows.keys().collect()).iter().map(|circle| finding(circle, &arrows)).collect()
}

/// A short circle through each arrow that is in one, without duplicates.
fn circles<'a>(arrows: &BTreeSet<&'a Arrow>) -> Vec<Vec<&'a str>> {
    let mut found: Vec<Vec<&str>> = Vec::new();
    let mut seen = BTreeSet::new();
    for arrow in arrows {
        let Some(mut circle) = path(arrows, &arrow.to, &arrow.from) else { continue };
        circle.rotate_right(1); // Begin with this arrow.
        let members: BTreeSet<&str> = circle.iter().copied().collect();
        if seen.insert(members) {
            found.push(circle);
        }
    }
    found
}

/// The shortest path along arrows, including both ends.
fn path<'a>(arrows: &BTreeSet<&'a Arrow>, from: &str, to: &str) -> Option<Vec<&'a str>> {
    let mut came_from: BTreeMap<&str, &str> = BTreeMap::new();
    let mut waiting = VecDeque::from([from]);
    while let Some(here) = waiting.pop_front() {
        for arrow in arrows.iter().filter(|arrow| arrow.from == here) {
            if arrow.to != from && !came_from.contains_key(arrow.to.as_str()) {
                came_from.insert(&arrow.to, &arrow.from);
                waiting.push_back(&arrow.to);
            }
        }
    }
    let (mut at, _) = came_from.get_key_value(to)?;
    let mut way = vec![*at];
    while let Some(before) = came_from.get(at) {
        way.push(before);
        at = before;
    }
    way.reverse();
    Some(way)
}

/// The description of a circle, located at its first arrow.
fn finding(circle: &[&str], arrows: &BTreeMap<Arrow, Place>) -> Finding {
    let mut places = Vec::new();
    let mut steps = Vec::new();
    for (at, from) in circle.iter().enumerate() {
        let to = circle.get(at + 1).or(circle.first()).copied().unwrap_or_default();
        let arrow = Arrow { from: (*from).to_owned(), to: to.to_owned() };
        if let Some(place) = arrows.get(&arrow) {
            places.push(place);
            steps.push(format!("`{from}` → `{to}` ({}:{})", place.path, place.line));
        }
    }
    let (path, line) = places.first().map_or((String::new(), 1), |p| (p.path.clone(), p.line));
    Finding {
        path,
        line,
        problem: format!("modules use each other in a circle: {}", steps.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::Tree;

    const A: (&str, &str) = ("a.rs", "use crate::b::B;\n");
    const B: (&str, &str) = ("b.rs", "use crate::c::C;\n");
    const C: (&str, &str) = ("c/d.rs", "\nuse crate::a;\n");

    #[track_caller]
    fn check(files: &[(&str, &str)], wanted: &[&str]) {
        let file =
            |(path, text): &(&str, &str)| (format!("crates/x/src/{path}"), (*text).to_owned());
        let mut tree: Tree = files.iter().map(file).collect();
        for folder in ["lib.rs", "c.rs"] {
            tree.entry(format!("crates/x/src/{folder}")).or_default();
        }
        let found = super::check(&tree);
        assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), wanted);
    }

    #[test]
    fn finds_circles_once_each() {
        let circle = "crates/x/src/a.rs:1: modules use each other in a circle: \
                      `x/a` → `x/b` (crates/x/src/a.rs:1), `x/b` → `x/c` (crates/x/src/b.rs:1), \
                      `x/c` → `x/a` (crates/x/src/c/d.rs:2)";
        let both = ("e.rs", "use crate::f;\n");
        let pair = "crates/x/src/e.rs:1: modules use each other in a circle: \
                    `x/e` → `x/f` (crates/x/src/e.rs:1), `x/f` → `x/e` (crates/x/src/f.rs:1)";
        check(&[A, B, C, both, ("f.rs", "use super::e;\n")], &[circle, pair]);
    }

    #[test]
    fn passes_one_way_uses() {
        check(&[A, B, ("a/e.rs", "use super::f;\nuse crate::c::C;\n")], &[]);
    }
}
