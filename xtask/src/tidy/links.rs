//! Checks that every relative link in the Markdown files has a target, and that its anchor is a
//! heading of that page.

use std::collections::BTreeSet;

use super::{Finding, Tree, has_ending};

/// Every link without a scheme must be a file or folder of the project, relative to the file that
/// links; `/a` is relative to the root. An anchor of a page must be a heading of it. Code, templates
/// and test data are ignored.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.iter().filter(|(path, _)| is_page(path)) {
        for (line, words) in unfenced(text) {
            for (target, anchor) in targets(&without_code(words)) {
                let problem = if !leads_somewhere(tree, path, &target) {
                    format!("the link `{target}` has no target")
                } else if !is_anchor(tree, path, &target, &anchor) {
                    format!("the link `{target}#{anchor}` has no heading")
                } else {
                    continue;
                };
                findings.push(Finding { path: path.clone(), line, problem });
            }
        }
    }
    findings
}

/// The lines outside of fences, with their numbers from 1.
fn unfenced(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fence = None;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let mark = ["```", "~~~"].into_iter().find(|mark| line.trim_start().starts_with(mark));
        let is_text = fence.is_none() && mark.is_none();
        match (fence, mark) {
            (None, Some(_)) => fence = mark,
            (Some(open), Some(mark)) if open == mark => fence = None,
            _ => {}
        }
        is_text
    })
}

fn is_page(path: &str) -> bool {
    let is_data = path.split('/').any(|part| matches!(part, "tests" | "fixtures" | "prompts"));
    has_ending(path, "md") && !is_data
}

/// The line without its `code`: every second part between backticks, unless the last is unclosed.
fn without_code(words: &str) -> String {
    let n_ticks = words.matches('`').count();
    let parts = words.split('`').enumerate();
    let text = parts.filter(|(at, _)| at % 2 == 0 || *at == n_ticks).map(|(_, part)| part);
    text.collect::<Vec<_>>().join(" ")
}

/// The relative targets of `[text](target "title")`, `[name]: target` and `src="target"`, each with
/// its anchor.
fn targets(words: &str) -> Vec<(String, String)> {
    let mut targets = Vec::new();
    for (opening, closing) in [("](", ')'), ("]: ", ' '), ("src=\"", '"'), ("href=\"", '"')] {
        let is_definition = opening == "]: ";
        if is_definition && !words.trim_start().starts_with('[') {
            continue;
        }
        for (at, _) in words.match_indices(opening) {
            let rest = words.get(at + opening.len()..).unwrap_or_default().trim_start();
            let target = match rest.strip_prefix('<') {
                Some(rest) => rest.split('>').next(),
                None => rest.split([closing, ' ']).next(),
            };
            targets.extend(target.and_then(parts));
        }
    }
    targets
}

/// The file and the anchor of a target, each empty if it is absent; `None` if the target has a
/// scheme or is a template.
fn parts(target: &str) -> Option<(String, String)> {
    let (place, anchor) = target.split_once('#').unwrap_or((target, ""));
    let place = place.split('?').next().unwrap_or_default();
    let is_elsewhere = place.contains(':') || place.starts_with("//") || target.contains("{{");
    if is_elsewhere || (place.is_empty() && anchor.is_empty()) {
        return None;
    }
    Some((place.replace("%20", " "), anchor.to_owned()))
}

/// True if the target has no anchor, is no page, or has a heading for the anchor.
fn is_anchor(tree: &Tree, from: &str, target: &str, anchor: &str) -> bool {
    let page = if target.is_empty() { Some(from.to_owned()) } else { resolved(from, target) };
    match page.and_then(|page| tree.get_key_value(&page)) {
        Some((path, text)) if has_ending(path, "md") => {
            anchor.is_empty() || anchors(text).contains(anchor)
        }
        _ => true,
    }
}

/// The anchors of a page's headings, as GitHub names them: letters, digits, `-` and `_`, in lower
/// case; a repeated one has a number.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for (_, line) in unfenced(text) {
        if let Some((_, id)) = line.split_once("<a id=\"") {
            anchors.extend(id.split('"').next().map(str::to_owned));
        }
        let heading = line.trim_start_matches('#');
        if heading.len() == line.len() || !heading.starts_with(' ') {
            continue;
        }
        let kept = shown(heading.trim());
        let kept = kept.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        let slug: String = kept.collect::<String>().to_lowercase().replace(' ', "-");
        let mut anchor = slug.clone();
        for number in 1.. {
            if anchors.insert(anchor) {
                break;
            }
            anchor = format!("{slug}-{number}");
        }
    }
    anchors
}

/// A heading without the targets of its links.
fn shown(heading: &str) -> String {
    let mut parts = heading.split("](");
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        shown += part.split_once(')').map_or("", |(_, after)| after);
    }
    shown
}

fn leads_somewhere(tree: &Tree, from: &str, target: &str) -> bool {
    let Some(place) = resolved(from, target) else {
        return false; // Outside the project.
    };
    let folder = format!("{place}/");
    target.is_empty()
        || place.is_empty()
        || tree.contains_key(&place)
        || tree.range(folder.clone()..).next().is_some_and(|(path, _)| path.starts_with(&folder))
}

/// The path from the root of a target; `None` outside the project.
fn resolved(from: &str, target: &str) -> Option<String> {
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    let base = if target.starts_with('/') { "" } else { folder };
    let mut parts: Vec<&str> = base.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            ".." => {
                parts.pop()?;
            }
            "" | "." => {}
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::findings;

    #[test]
    fn finds_links_without_a_target() {
        let page = "[a](b.md) and [c](../gone.md#x \"title\")\n![d](img/d.png)\n[e]: missing.md\n\
                    <img src=\"f.png\">\n[g](../../outside)\n[h](</docs/gone h.md>)\n";
        assert_eq!(
            findings(check, &[("docs/a.md", page), ("docs/b.md", "")]),
            [
                "docs/a.md:1: the link `../gone.md` has no target",
                "docs/a.md:2: the link `img/d.png` has no target",
                "docs/a.md:3: the link `missing.md` has no target",
                "docs/a.md:4: the link `f.png` has no target",
                "docs/a.md:5: the link `../../outside` has no target",
                "docs/a.md:6: the link `/docs/gone h.md` has no target",
            ]
        );
    }

    #[test]
    fn finds_anchors_without_a_heading() {
        let page = "[a](b.md#one-two) [b](b.md#three) [c](#here)\n# Not here\n";
        let other = "## One two\n```sh\n# three\n```\n";
        assert_eq!(
            findings(check, &[("docs/a.md", page), ("docs/b.md", other)]),
            [
                "docs/a.md:1: the link `b.md#three` has no heading",
                "docs/a.md:1: the link `#here` has no heading",
            ]
        );
    }

    #[test]
    fn passes_links_with_a_target_and_external_links() {
        let page = "[a](docs/b.md#b-1) [d](docs) [e](docs/) [f](#g_h-中文) [h](https://i.org/j) [k](mailto:l@m)\n\
                    [n](./docs/o%20p.md) `[q](r.md)` [s](/docs/b.md) [t][u]\n\
                    ```md\n[v](w.md)\n```\n~~~\n```\n[x](y.md)\n~~~\n# `G_h`: 中文！\n";
        let found = findings(
            check,
            &[
                ("README.md", page),
                ("crates/a/prompts/b.md", "[c](d.md)"),
                ("crates/a/tests/b.md", "[c](d.md)"),
                ("docs/b.md", "[up](../README.md)\n# B\n## [B](c.md?)\n<a id=\"x\"></a>\n[y](#x)"),
                ("docs/c.md", ""),
                ("docs/o p.md", ""),
            ],
        );
        assert_eq!(found, [""; 0]);
    }
}
