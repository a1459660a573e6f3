//! Reads the metadata at the beginning of a Markdown file (`---`, `key: value` lines, `---`).

use std::collections::BTreeMap;

/// The entries of the front matter and the byte at which the text begins; no entries and 0 if the
/// file has no front matter.
///
/// This is not full YAML: one `key: value` per line; lists and deeper nesting are joined by commas.
pub(crate) fn split(text: &str) -> (BTreeMap<String, String>, usize) {
    let nothing = || (BTreeMap::new(), 0);
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| line.trim_end() == "---") else {
        return nothing();
    };
    let mut at = first.len();
    let mut entries: BTreeMap<String, String> = BTreeMap::new();
    let mut key: Option<String> = None;
    for line in lines {
        at += line.len();
        let content = line.trim();
        if matches!(line.trim_end(), "---" | "...") {
            entries.retain(|_, value| !value.is_empty());
            return (entries, at);
        }
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        let continues = line.starts_with([' ', '\t']) || content.starts_with("- ");
        match (&key, key_and_value(content)) {
            (Some(key), _) if continues => {
                let value = entries.entry(key.clone()).or_default();
                if !value.is_empty() {
                    value.push_str(", ");
                }
                value.push_str(unquoted(content.strip_prefix("- ").unwrap_or(content)));
            }
            (_, Some((name, value))) => {
                let value = if matches!(value, "|" | ">" | "|-" | ">-") { "" } else { value };
                entries.insert(name.to_owned(), unlisted(value));
                key = Some(name.to_owned());
            }
            _ => return nothing(), // A thematic break above ordinary text.
        }
    }
    nothing()
}

/// `key: value`, if the key is plausible.
fn key_and_value(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let plain = |c: char| c.is_alphanumeric() || "-_. ".contains(c);
    let is_key = !key.is_empty() && key.chars().count() <= 64 && key.chars().all(plain);
    let apart = value.is_empty() || value.starts_with([' ', '\t']);
    (is_key && apart).then_some((key.trim(), value.trim()))
}

/// `[a, "b"]` → `a, b`.
fn unlisted(value: &str) -> String {
    match value.strip_prefix('[').and_then(|value| value.strip_suffix(']')) {
        Some(list) => {
            list.split(',').map(|item| unquoted(item.trim())).collect::<Vec<_>>().join(", ")
        }
        None => unquoted(value).to_owned(),
    }
}

fn unquoted(value: &str) -> &str {
    let within =
        |quote| value.strip_prefix(quote).and_then(|value: &str| value.strip_suffix(quote));
    within('"').or_else(|| within('\'')).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read_line_by_line() {
        let text = "---\ntitle: \"年报: 2023\"\r\ntags: [a, 'b']\nauthors:\n  - Ada\n  - Alan\n# note\nempty:\n---\n# H\n";
        let (entries, start) = split(text);
        assert_eq!(&text[start..], "# H\n");
        let shown: Vec<_> = entries.iter().map(|(key, value)| format!("{key}={value}")).collect();
        assert_eq!(shown, ["authors=Ada, Alan", "tags=a, b", "title=年报: 2023"]);
    }

    #[test]
    fn a_rule_above_text_is_no_front_matter() {
        for text in ["---\nSome text.\n---\n", "---\nopen: yes\n", "text\n---\n", "---"] {
            assert_eq!(split(text), (BTreeMap::new(), 0), "{text:?}");
        }
    }
}
