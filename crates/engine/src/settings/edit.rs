//! Sets models in the text of a settings file, and leaves all other lines as they are.

use std::path::Path;

use pikerag_knowledge::Role;

use super::parse::parse;
use super::search_model::SearchModel;

/// A table of the file that names a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ModelTable {
    /// `[chat]`, or that of a role.
    Chat(Option<Role>),
    /// `[embed]` or `[rerank]`.
    Search(SearchModel),
}

impl ModelTable {
    fn heading(self) -> String {
        match self {
            Self::Chat(None) => "[chat]".to_owned(),
            Self::Chat(Some(role)) => format!("[roles.{role}]"),
            Self::Search(model) => format!("[{}]", model.table()),
        }
    }

    fn in_file(self, file: &toml::Table) -> Option<&toml::Value> {
        match self {
            Self::Chat(None) => file.get("chat"),
            Self::Chat(Some(role)) => file.get("roles")?.get(role.to_string()),
            Self::Search(model) => file.get(model.table()),
        }
    }
}

/// The text with these names and values under `[chat]`; `None` if the result would not be settings
/// with them. A commented `#: [chat]`, as `init` writes it, is uncommented.
pub(crate) fn with_chat(path: &Path, text: &str, values: &[(&str, &str)]) -> Option<String> {
    replaced(path, text, ModelTable::Chat(None), values, &[])
}

/// The same under the heading of `place`, without the settings `absent` there.
pub(crate) fn replaced(
    path: &Path,
    text: &str,
    place: ModelTable,
    values: &[(&str, &str)],
    absent: &[&str],
) -> Option<String> {
    let heading = place.heading();
    let edited = edited(&without(text, &heading, absent), &heading, values);
    let table = settings(path, &edited)?;
    let set = place.in_file(&table)?;
    let is_set = |name: &str, value: &str| set.get(name)?.as_str().map(|set| set == value);
    let are_set = values.iter().all(|(name, value)| is_set(name, value) == Some(true));
    let are_absent = absent.iter().all(|name| set.get(name).is_none());
    (are_set && are_absent).then_some(edited)
}

/// The text without the settings `absent` under the heading of `place`, and without the heading if no setting is left below
/// it; `None` if the result would not be settings without them.
pub(crate) fn removed(
    path: &Path,
    text: &str,
    place: ModelTable,
    absent: &[&str],
) -> Option<String> {
    let heading = place.heading();
    let mut text = without(text, &heading, absent);
    let mut lines: Vec<&str> = text.lines().collect();
    if let Some(at) = lines.iter().position(|line| line.trim() == heading) {
        let mut below = lines.iter().skip(at + 1).take_while(|line| !is_heading(line, ""));
        if below.all(|line| line.trim().is_empty() || line.trim().starts_with('#')) {
            lines.remove(at);
            text = lines.iter().flat_map(|line| [*line, "\n"]).collect();
        }
    }
    let table = settings(path, &text)?;
    let is_set = |name: &&str| place.in_file(&table).is_some_and(|set| set.get(name).is_some());
    (!absent.iter().any(is_set)).then_some(text)
}

/// The tables of a text; `None` if it is no settings file.
fn settings(path: &Path, text: &str) -> Option<toml::Table> {
    parse(path, text).ok()?;
    toml::from_str(text).ok()
}

/// The text without the lines under a heading that set one of these names.
fn without(text: &str, heading: &str, absent: &[&str]) -> String {
    let mut is_below = false;
    let kept = text.lines().filter(|line| {
        if is_heading(line, "") {
            is_below = line.trim() == heading;
        }
        !(is_below && absent.iter().any(|name| sets(line, "", name)))
    });
    let mut text = String::new();
    for line in kept {
        text.push_str(line);
        text.push('\n');
    }
    text
}

fn edited(text: &str, wanted: &str, values: &[(&str, &str)]) -> String {
    let commented = format!("#: {wanted}");
    let set = |name: &str, value: &str| format!("{name} = \"{value}\"");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let at = |wanted: &str| lines.iter().position(|line| line.trim() == wanted);
    let (heading, comment) = match (at(wanted), at(&commented)) {
        (Some(heading), _) => (heading, ""),
        (None, Some(heading)) => (heading, "#: "),
        (None, None) => {
            let text = text.trim_end();
            let gap = if text.is_empty() { "" } else { "\n\n" };
            let all: Vec<String> = values.iter().map(|(name, value)| set(name, value)).collect();
            return format!("{text}{gap}{wanted}\n{}\n", all.join("\n"));
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
        wanted.clone_into(line);
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
            let absent = ["api_key", "api_key_env"];
            replaced(Path::new("pikerag.toml"), text, ModelTable::Chat(None), &values, &absent)
        };
        let text = "[chat]\nmodel = \"m\"\napi_key = \"k\" # mine\n[embed]\napi_key = \"e\"\n";
        assert_eq!(set(text).unwrap(), "[chat]\nmodel = \"n\"\n[embed]\napi_key = \"e\"\n");
        assert_eq!(set("[chat]\napi_key = \"\"\"\nk\"\"\"\n"), None);
        assert_eq!(set("[chat]\n\"api_key\" = \"k\"\n"), None);
        assert_eq!(active(&set(TEMPLATE).unwrap()), ["[chat]", "model = \"n\""]);
    }

    #[test]
    fn a_role_has_a_table_of_its_own() {
        let (path, place) = (Path::new("pikerag.toml"), ModelTable::Chat(Some(Role::Answer)));
        let set = |text: &str| replaced(path, text, place, &[("model", "n")], &["api_key"]);
        let unset = |text: &str| removed(path, text, place, &["model", "api_key"]);
        let chat = "[chat]\nmodel = \"m\"\n";
        let both = format!("{chat}\n[roles.answer]\nmodel = \"n\"\n");
        assert_eq!(set(chat).unwrap(), both);
        assert_eq!(set(&format!("{both}api_key = \"k\"\n")).unwrap(), both);
        assert_eq!(active(&set(TEMPLATE).unwrap()), ["[roles.answer]", "model = \"n\""]);
        assert_eq!(unset(&both).unwrap(), format!("{chat}\n"));
        assert_eq!(unset(chat).unwrap(), chat);
        let more = format!("{both}in_flight = 2\n[roles.judge]\nmodel = \"j\"\n");
        assert_eq!(unset(&more).unwrap(), more.replace("model = \"n\"\n", ""));
        for form in ["[roles]\nanswer = { model = \"n\" }\n", "roles.answer.model = \"n\"\n"] {
            assert_eq!((set(form), unset(form)), (None, None), "{form}");
        }
    }

    #[test]
    fn other_forms_are_not_edited() {
        assert_eq!(set("chat = { model = \"old\" }"), None);
        assert_eq!(set("chat.model = \"old\""), None);
        assert_eq!(set("not toml"), None);
    }
}
