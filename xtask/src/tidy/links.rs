//! Checks that every relative link in the Markdown files has a target.

use super::{Finding, Tree, has_ending};

/// Every link without a scheme must be a file or folder of the project, relative to the file that
/// links; `/a` is relative to the root. Code, templates and test data are ignored.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.iter().filter(|(path, _)| is_page(path)) {
        let mut fence = None;
        for (line, words) in (1..).zip(text.lines()) {
            if let Some(mark) =
                ["```", "~~~"].into_iter().find(|m| words.trim_start().starts_with(m))
            {
                match fence {
                    None => fence = Some(mark),
                    Some(open) if open == mark => fence = None,
                    Some(_) => {}
                }
            } else if fence.is_none() {
                for target in targets(&without_code(words)) {
                    if !leads_somewhere(tree, path, &target) {
                        let problem = format!("the link `{target}` has no target");
                        findings.push(Finding { path: path.clone(), line, problem });
                    }
                }
            }
        }
    }
    findings
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

/// The relative targets of `[text](target "title")`, `[name]: target` and `src="target"`.
fn targets(words: &str) -> Vec<String> {
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
            targets.extend(target.map(place).filter(|target| !target.is_empty()));
        }
    }
    targets
}

/// The target without its anchor; empty if it has a scheme.
fn place(target: &str) -> String {
    let place = target.split(['#', '?']).next().unwrap_or_default();
    let is_elsewhere = place.contains(':') || place.starts_with("//") || place.contains("{{");
    if is_elsewhere { String::new() } else { place.replace("%20", " ") }
}

fn leads_somewhere(tree: &Tree, from: &str, target: &str) -> bool {
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    let base = if target.starts_with('/') { "" } else { folder };
    let mut parts: Vec<&str> = base.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            ".." if parts.pop().is_none() => return false, // Outside the project.
            "" | "." | ".." => {}
            part => parts.push(part),
        }
    }
    let place = parts.join("/");
    let folder = format!("{place}/");
    place.is_empty()
        || tree.contains_key(&place)
        || tree.range(folder.clone()..).next().is_some_and(|(path, _)| path.starts_with(&folder))
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
    fn passes_links_with_a_target_and_external_links() {
        let page = "[a](docs/b.md#c) [d](docs) [e](docs/) [f](#g) [h](https://i.org/j) [k](mailto:l@m)\n\
                    [n](./docs/o%20p.md) `[q](r.md)` [s](/docs/b.md) [t][u]\n\
                    ```md\n[v](w.md)\n```\n~~~\n```\n[x](y.md)\n~~~\n";
        let found = findings(
            check,
            &[
                ("README.md", page),
                ("crates/a/prompts/b.md", "[c](d.md)"),
                ("crates/a/tests/b.md", "[c](d.md)"),
                ("docs/b.md", "[up](../README.md)"),
                ("docs/o p.md", ""),
            ],
        );
        assert_eq!(found, [""; 0]);
    }
}
