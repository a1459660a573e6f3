//! Sets the chat model in the text of a settings file, and leaves all other lines as they are.

use std::path::Path;

use super::parse::parse;

const HEADING: &str = "[chat]";

/// The text with these names and values under `[chat]`; `None` if the result would not be settings
/// with them. A commented `#: [chat]`, as `init` writes it, is uncommented.
pub(crate) fn with_chat(path: &Path, text: &str, values: &[(&str, &str)]) -> Option<String> {
    replaced_chat(path, text, values, &[])
}

/// The same, without the settings `absent` under `[chat]`.
pub(crate) fn replaced_chat(
    path: &Path,
    text: &str,
    values: &[(&str, &str)],
    absent: &[&str],
) -> Option<String> {
    let edited = edited(&without(text, absent), values);
    parse(path, &edited).ok()?;
    let table: toml::Table = toml::from_str(&edited).ok()?;
    let chat = table.get("chat")?;
    let is_set = |name: &str, value: &str| chat.get(name)?.as_str().map(|set| set == value);
    let are_set = values.iter().all(|(name, value)| is_set(name, value) == Some(true));
    let are_absent = absent.iter().all(|name| chat.get(name).is_none());
    (are_set && are_absent).then_some(edited)
}

/// The text without the lines of `[chat]` that set one of these names.
fn without(text: &str, absent: &[&str]) -> String {
    let mut is_chat = false;
    let kept = text.lines().filter(|line| {
        if is_heading(line, "") {
            is_chat = line.trim() == HEADING;
        }
        !(is_chat && absent.iter().any(|name| sets(line, "", name)))
    });
    let mut text = String::new();
    for line in kept {
        text.push_str(line);
        text.push('\n');
    }
    text
}

fn edited(text: &str, values: &[(&str, &str)]) -> String {
    const COMMENTED: &str = "#: [chat]";
    let set = |name: &str, value: &str| format!("{name} = \"{value}\"");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let at = |wanted: &str| lines.iter().position(|line| line.trim() == wanted);
    let (heading, comment) = match (at(HEADING), at(COMMENTED)) {
        (Some(heading), _) => (heading, ""),
        (None, Some(heading)) => (heading, "#: "),
        (None, None) => {
            let text = text.trim_end();
            let gap = if text.is_empty() { "" } else { "\n\n" };
            let all: Vec<String> = values.iter().map(|(name, value)| set(name, value)).collect();
            return format!("{text}{gap}{HEADING}\n{}\n", all.join("\n"));
        }
    };
    // Backwards: each new line goes right below the heading.
    for (name, value) in values.iter().rev() {
        let below = lines.iter().skip(heading + 1);
        let section = below.take_while(|line| !is_heading(line, comment));
        let found = section.enumerate().find(|(_, line)| sets(line, comment, name));
        let place = found.map(|(place, _)| heading + 1 + place);
        if let Some(place) = place
            && let Some(line) = lines.get_mut(place)
        {
            *line = set(name, value);
        } else {
            lines.insert(heading + 1, set(name, value));
        }
    }
    if let Some(line) = lines.get_mut(heading) {
        HEADING.clone_into(line);
    }
    lines.join("\n") + "\n"
}

/// Whether a line begins another table.
fn is_heading(line: &str, comment: &str) -> bool {
    let line = line.trim();
    line.starts_with('[') || (!comment.is_empty() && line.starts_with(&format!("{comment}[")))
}

fn sets(line: &str, comment: &str, name: &str) -> bool {
    let rest = line.trim().strip_prefix(comment).and_then(|line| line.strip_prefix(name));
    rest.is_some_and(|rest| rest.trim_start().starts_with('='))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{PROVIDERS, TEMPLATE};

    fn set(text: &str) -> Option<String> {
        with_chat(Path::new("pikerag.toml"), text, &[("model", "local:m")])
    }

    #[test]
    fn the_model_is_set_where_it_belongs() {
        assert_eq!(set("").unwrap(), "[chat]\nmodel = \"local:m\"\n");
        assert_eq!(
            set("base = \"b\"\n\n[index]\nmax_tokens = 200").unwrap(),
            "base = \"b\"\n\n[index]\nmax_tokens = 200\n\n[chat]\nmodel = \"local:m\"\n"
        );
        assert_eq!(
            set("[chat]\nin_flight = 2\nmodel = \"old\" # mine\n[roles.answer]\nmodel = \"n\"\n")
                .unwrap(),
            "[chat]\nin_flight = 2\nmodel = \"local:m\"\n[roles.answer]\nmodel = \"n\"\n"
        );
        assert_eq!(
            set("[chat]\nin_flight = 2\n[roles.answer]\nmodel = \"n\"\n").unwrap(),
            "[chat]\nmodel = \"local:m\"\nin_flight = 2\n[roles.answer]\nmodel = \"n\"\n"
        );
    }

    /// The lines that are no comments.
    fn active(text: &str) -> Vec<&str> {
        text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect()
    }

    #[test]
    fn the_template_gets_two_active_lines() {
        let edited = set(TEMPLATE).unwrap();
        assert_eq!(active(&edited), ["[chat]", "model = \"local:m\""]);
        assert_eq!(edited.lines().count(), TEMPLATE.lines().count());
        assert_eq!(set(&edited).unwrap(), edited);
    }

    #[test]
    fn the_template_gets_the_lines_of_each_provider() {
        for provider in &PROVIDERS {
            let settings = provider.chat();
            let edited = with_chat(Path::new("pikerag.toml"), TEMPLATE, &settings).unwrap();
            let mut expected = vec!["[chat]".to_owned()];
            expected.extend(settings.iter().map(|(name, value)| format!("{name} = \"{value}\"")));
            let mut active = active(&edited);
            assert_eq!(active.first(), Some(&"[chat]"), "{}", provider.name);
            active.sort_unstable();
            expected.sort_unstable();
            assert_eq!(active, expected, "{}", provider.name);
        }
    }

    #[test]
    fn new_lines_keep_their_order() {
        let values = [("base_url", "http://here/v1"), ("model", "m"), ("api_key_env", "KEY")];
        let set = |text: &str| with_chat(Path::new("pikerag.toml"), text, &values).unwrap();
        let all = "[chat]\nbase_url = \"http://here/v1\"\nmodel = \"m\"\napi_key_env = \"KEY\"\n";
        assert_eq!(set(""), all);
        assert_eq!(set("[chat]\nin_flight = 2\n"), format!("{all}in_flight = 2\n"));
    }

    #[test]
    fn absent_settings_lose_their_lines() {
        let set = |text: &str| {
            let values = [("model", "n")];
            replaced_chat(Path::new("pikerag.toml"), text, &values, &["api_key", "api_key_env"])
        };
        let text = "[chat]\nmodel = \"m\"\napi_key = \"k\" # mine\n[embed]\napi_key = \"e\"\n";
        assert_eq!(set(text).unwrap(), "[chat]\nmodel = \"n\"\n[embed]\napi_key = \"e\"\n");
        assert_eq!(set("[chat]\napi_key = \"\"\"\nk\"\"\"\n"), None);
        assert_eq!(set("[chat]\n\"api_key\" = \"k\"\n"), None);
        assert_eq!(active(&set(TEMPLATE).unwrap()), ["[chat]", "model = \"n\""]);
    }

    #[test]
    fn other_forms_are_not_edited() {
        assert_eq!(set("chat = { model = \"old\" }"), None);
        assert_eq!(set("chat.model = \"old\""), None);
        assert_eq!(set("not toml"), None);
    }
}
