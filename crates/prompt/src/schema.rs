//! Describes replies as JSON Schema: objects with the given keys alone, all of them required.

use pikerag_knowledge::Schema;
use serde_json::{Map, Value, json};

/// The schema of a reply with these properties; replies write them in this order.
pub fn shape(name: &str, properties: Value) -> Schema {
    Schema { name: name.to_owned(), schema: closed(properties) }
}

/// An object with these properties and no others.
pub fn closed(properties: Value) -> Value {
    let keys: Vec<&String> = properties.as_object().into_iter().flat_map(Map::keys).collect();
    let required = json!(keys);
    let (kind, more) = (json!("object"), json!(false));
    [
        ("type", kind),
        ("required", required),
        ("properties", properties),
        ("additionalProperties", more),
    ]
    .into_iter()
    .collect()
}

/// The same schema, for a value that may also be null.
pub fn or_null(mut schema: Value) -> Value {
    if let Some(kind) = schema.get_mut("type") {
        *kind = json!([kind.take(), "null"]);
    }
    schema
}

/// A string of at most `characters` characters, if the endpoint enforces it: weak models may repeat
/// themselves without end.
pub fn at_most(characters: usize) -> Value {
    json!({"type": "string", "maxLength": characters})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_given_keys_are_allowed_and_in_order() {
        let Schema { name, schema } =
            shape("said", json!({"why": at_most(80), "answer": {"type": "string"}}));
        assert_eq!(name, "said");
        assert_eq!(schema["required"], json!(["why", "answer"]));
        assert_eq!(schema["properties"]["why"], json!({"type": "string", "maxLength": 80}));
        assert_eq!(schema["additionalProperties"], false);
        assert_eq!(or_null(closed(json!({})))["type"], json!(["object", "null"]));
    }
}
