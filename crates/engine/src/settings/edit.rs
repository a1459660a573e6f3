//! Sets the chat model in the text of a settings file, and leaves all other lines as they are.

use std::path::Path;

use super::file::parse;

/// The text with this model under `[chat]`; `None` if the result would not be settings with it. A
/// commented `#: [chat]`, as `init` writes it, is uncommented.
pub(crate) fn with_chat_model(path: &Path, text: &str, model: &str) -> Option<String> {
    let edited = edited(text, model);
    let file = parse(path, &edited).ok()?;
    (file.chat.model.as_deref() == Some(model)).then_some(edited)
}

fn edited(text: &str, model: &str) -> String {
    const HEADING: &str = "[chat]";
    const COMMENTED: &str = "#: [chat]";
    let set = format!("model = \"{model}\"");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let at = |wanted: &str| lines.iter().position(|line| line.trim() == wanted);
    let (heading, comment) = match (at(HEADING), at(COMMENTED)) {
        (Some(heading), _) => (heading, ""),
        (None, Some(heading)) => (heading, "#: "),
        (None, None) => {
            let text = text.trim_end();
            let gap = if text.is_empty() { "" } else { "\n\n" };
            return format!("{text}{gap}{HEADING}\n{set}\n");
        }
    };
    let below = lines.iter().skip(heading + 1);
    let section = below.take_while(|line| !is_heading(line, comment));
    let model_line = section.enumerate().find(|(_, line)| sets_model(line, comment));
    let place = model_line.map(|(place, _)| heading + 1 + place);
    if let Some(place) = place
        && let Some(line) = lines.get_mut(place)
    {
        *line = set;
    } else {
        lines.insert(heading + 1, set);
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

fn sets_model(line: &str, comment: &str) -> bool {
    let rest = line.trim().strip_prefix(comment).and_then(|line| line.strip_prefix("model"));
    rest.is_some_and(|rest| rest.trim_start().starts_with('='))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::TEMPLATE;

    fn set(text: &str) -> Option<String> {
        with_chat_model(Path::new("pikerag.toml"), text, "local:m")
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

    #[test]
    fn the_template_gets_two_active_lines() {
        let edited = set(TEMPLATE).unwrap();
        let active: Vec<&str> =
            edited.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
        assert_eq!(active, ["[chat]", "model = \"local:m\""]);
        assert_eq!(edited.lines().count(), TEMPLATE.lines().count());
        assert_eq!(set(&edited).unwrap(), edited);
    }

    #[test]
    fn other_forms_are_not_edited() {
        assert_eq!(set("chat = { model = \"old\" }"), None);
        assert_eq!(set("chat.model = \"old\""), None);
        assert_eq!(set("not toml"), None);
    }
}
