//! Adds examples of main requests and replies, and of common parameters.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};

/// Examples by operation id: `request` and `replies` by status, each by media type.
static EXAMPLES: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("examples.json")).unwrap_or_default());

/// Adds the examples of an operation where it has none.
pub(super) fn add(operation: &mut Map<String, Value>) {
    for parameter in
        operation.get_mut("parameters").and_then(Value::as_array_mut).into_iter().flatten()
    {
        let name = parameter.get("name").and_then(Value::as_str);
        let example = match name {
            Some("base") => "default",
            Some("file") => "manuals/pumps.md",
            _ => continue,
        };
        if let Some(parameter) = parameter.as_object_mut() {
            parameter.entry("example").or_insert_with(|| json!(example));
        }
    }
    let id = operation.get("operationId").and_then(Value::as_str).unwrap_or_default();
    let Some(examples) = EXAMPLES.get(id) else { return };
    if let Some(request) = examples.get("request") {
        fill(operation.get_mut("requestBody"), request);
    }
    for (status, reply) in examples.get("replies").and_then(Value::as_object).into_iter().flatten()
    {
        fill(operation.get_mut("responses").and_then(|all| all.get_mut(status)), reply);
    }
}

fn fill(body: Option<&mut Value>, examples: &Value) {
    let Some(content) = body.and_then(|body| body.get_mut("content")) else { return };
    for (kind, example) in examples.as_object().into_iter().flatten() {
        if let Some(media) = content.get_mut(kind).and_then(Value::as_object_mut) {
            media.entry("example").or_insert_with(|| example.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::EXAMPLES;

    #[test]
    fn the_file_of_examples_is_read() {
        assert!(EXAMPLES["ask"]["request"]["application/json"]["question"].is_string());
    }
}
