//! Describes replies as JSON Schema: objects with the given keys alone, all of them required.

use pikerag_knowledge::Schema;
use serde_json::{Map, Value, json};

/// The shape of a reply with these properties, in the order in which they are to be written.
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

/// A string of at most so many characters, where the endpoint can see to that: weak models go round in circles.
pub fn at_most(characters: usize) -> Value {
    json!({"type": "string", "maxLength": characters})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_required_in_order_and_no_others_fit() {
        let Schema { name, schema } =
            shape("said", json!({"why": at_most(80), "answer": {"type": "string"}}));
        assert_eq!(name, "said");
        assert_eq!(schema["required"], json!(["why", "answer"]));
        assert_eq!(schema["properties"]["why"], json!({"type": "string", "maxLength": 80}));
        assert_eq!(schema["additionalProperties"], false);
    }
}
