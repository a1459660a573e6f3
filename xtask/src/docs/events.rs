//! Lists the events of runs with their fields from the OpenAPI document (docs/reference/events.md).

use anyhow::{Context, Result};

use super::schema::{Api, Schema};
use super::{one_line, row};

/// A heading, the meaning and a table of the fields for each event.
pub(super) fn events(api: &Api) -> Result<String> {
    let events = api.schema("Event").context("docs/openapi.json has no schema `Event`")?;
    events.one_of.iter().map(|event| section(api, event)).collect()
}

fn section(api: &Api, event: &Schema) -> Result<String> {
    let name = event.properties.get("event").and_then(|name| name.values.first()?.as_str());
    let name = name.context("an event has no name")?;
    let mut text = format!("### `{name}`\n\n{}\n\n", one_line(&event.description));
    text += &(row(&["field", "type", "meaning"]) + "| --- | --- | --- |\n");
    for (field, schema) in event.properties.iter().filter(|(field, _)| *field != "event") {
        let absent = if event.required.contains(field) { "" } else { "May be absent." };
        let meaning = format!("{} {absent}", one_line(&schema.description));
        text += &row(&[&format!("`{field}`"), &api.kind(schema), meaning.trim()]);
    }
    Ok(text + "\n")
}

#[cfg(test)]
mod tests {
    use super::events;
    use crate::docs::schema::parse;

    #[test]
    fn events_are_listed_with_their_fields() {
        let api = parse(
            r##"{"paths": {}, "components": {"schemas": {
                "Id": {"type": "string"}, "Thing": {"type": "object", "properties": {"a": {}}},
                "Reason": {"oneOf": [{"enum": ["empty"]}, {"enum": ["limit"]}]},
                "Event": {"oneOf": [{"description": "The\nend.", "required": ["chunk", "event"], "properties": {
                    "event": {"enum": ["stopped"]}, "chunk": {"$ref": "#/s/Id", "description": "Which."},
                    "things": {"type": "array", "items": {"$ref": "#/s/Thing"}}, "why": {"$ref": "#/s/Reason"},
                    "n": {"type": ["integer", "null"], "description": "How many."}}}]}}}}"##,
        );
        let expected = "### `stopped`\n\nThe end.\n\n| field | type | meaning |\n| --- | --- | --- |\n\
            | `chunk` | string | Which. |\n| `n` | integer or null | How many. May be absent. |\n\
            | `things` | array of `Thing` | May be absent. |\n| `why` | `empty`, `limit` | May be absent. |\n\n";
        assert_eq!(events(&api).unwrap(), expected);
    }
}
