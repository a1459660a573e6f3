//! Reads the paths into its own crate that a file names, from code without comments.

use crate::tidy::rust::is_word;

/// A path as written, from `crate`, `super` or `self`, or from a bare name in a `use`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Path<'a> {
    pub(super) segments: Vec<&'a str>,
    /// The name that a `use` gives it in the file; `None` outside `use`, and for `*`.
    pub(super) name: Option<&'a str>,
    /// Counted from 1.
    pub(super) line: usize,
}

/// All paths in `code`: the leaves of each `use`, and those in expressions and types.
pub(super) fn paths(code: &str) -> Vec<Path<'_>> {
    let mut found = Vec::new();
    let mut rest = code;
    let mut before = None;
    while let Some(at) = rest.find(is_word) {
        let from_word = rest.get(at..).unwrap_or_default();
        let (word, after) = first_word(from_word);
        // `pub(in crate::a)` restricts visibility; it is not a use.
        let is_root = matches!(word, "crate" | "super" | "self") && after.starts_with("::");
        rest = after;
        if word == "use" && after.starts_with(char::is_whitespace) {
            let end = after.find(';').unwrap_or(after.len());
            let (tree, behind) = after.split_at(end);
            leaves(tree, &[], code, &mut found);
            rest = behind;
        } else if is_root && before != Some("in") {
            let end = from_word.find(|c| !is_word(c) && c != ':').unwrap_or(from_word.len());
            let (path, behind) = from_word.split_at(end);
            let segments = path.split("::").filter(|segment| !segment.is_empty()).collect();
            let line = 1 + newlines(code, from_word);
            found.push(Path { segments, name: None, line });
            rest = behind;
        }
        before = Some(word);
    }
    found
}

/// The leaves of `a::{b, c::{self, d as e}, f::*}`, below `above`.
fn leaves<'a>(tree: &'a str, above: &[&'a str], code: &'a str, found: &mut Vec<Path<'a>>) {
    let tree = tree.trim();
    let (path, group) = match tree.split_once('{') {
        Some((path, group)) => (path, group.strip_suffix('}')),
        None => (tree, None),
    };
    let (path, new_name) = match path.split_once(" as ") {
        Some((path, name)) => (path, Some(name.trim())),
        None => (path, None),
    };
    let mut segments = above.to_vec();
    segments.extend(path.split("::").map(str::trim).filter(|segment| !segment.is_empty()));
    if let Some(group) = group {
        for part in parts(group) {
            leaves(part, &segments, code, found);
        }
        return;
    }
    // `a::{self}` is `a`, `a::*` is all of `a`.
    let is_all = segments.last() == Some(&"*");
    if is_all || (1 < segments.len() && segments.last() == Some(&"self")) {
        segments.pop();
    }
    if !segments.is_empty() && !tree.is_empty() {
        let name = new_name.or(segments.last().copied()).filter(|_| !is_all);
        found.push(Path { segments, name, line: 1 + newlines(code, tree) });
    }
}

/// Splits at commas outside inner braces.
fn parts(group: &str) -> Vec<&str> {
    let (mut found, mut depth, mut start) = (Vec::new(), 0_usize, 0);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                found.push(group.get(start..at).unwrap_or_default());
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(group.get(start..).unwrap_or_default());
    found
}

fn first_word(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c| !is_word(c)).unwrap_or(text.len()))
}

/// The number of line breaks in `code` above `part`, which is a piece of it.
fn newlines(code: &str, part: &str) -> usize {
    let at = (part.as_ptr() as usize).saturating_sub(code.as_ptr() as usize);
    code.get(..at).unwrap_or(code).matches('\n').count()
}

#[cfg(test)]
mod tests {
    use super::paths;

    #[track_caller]
    fn check(code: &str, wanted: &[&str]) {
        let found = paths(code).into_iter().map(|path| {
            let name = path.name.map_or(String::new(), |name| format!(" as {name}"));
            format!("{}: {}{name}", path.line, path.segments.join("::"))
        });
        assert_eq!(found.collect::<Vec<_>>(), wanted, "{code}");
    }

    #[test]
    fn reads_the_leaves_of_a_use() {
        check("use crate::a::B;", &["1: crate::a::B as B"]);
        check(
            "pub(crate) use self::a::{B as C, d};",
            &["1: self::a::B as C", "1: self::a::d as d"],
        );
        check(
            "\nuse crate::{\n    a::{self, b::{C, D}},\n    e::*,\n};\n",
            &[
                "3: crate::a as a",
                "3: crate::a::b::C as C",
                "3: crate::a::b::D as D",
                "4: crate::e",
            ],
        );
        check("use super::super::a as b;", &["1: super::super::a as b"]);
        check("use {crate::a, std::b};", &["1: crate::a as a", "1: std::b as b"]);
    }

    #[test]
    fn reads_paths_in_code() {
        check(
            "fn f(a: &crate::b::C) -> super::D {\n self::e::<F>() }",
            &["1: crate::b::C", "1: super::D", "2: self::e"],
        );
        check("$crate::a::b!()", &["1: crate::a::b"]);
    }

    #[test]
    fn ignores_names_that_are_no_paths() {
        check("pub(crate) fn f(&self) { self.a; because::b() } pub(in crate::c) d: u8", &[]);
    }
}
