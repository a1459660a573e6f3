//! Completes the OpenAPI document that the attributes of the routes begin: descriptions, errors,
//! bytes and examples.
//!
//! It works on the JSON of the document and by rules, so that a new route needs no code here.

mod errors;
mod examples;
mod protocols;

use serde_json::{Map, Value, json};

/// The media types of bodies that are described in full.
const JSON: &str = "application/json";
const FORM: &str = "multipart/form-data";
const EVENTS: &str = "text/event-stream";

/// Completes the document in place. A text or an error that a route describes itself stays.
pub(crate) fn complete(document: &mut Value) {
    errors::add_schemas(document);
    describe_forms(document);
    describe_tuples(document);
    protocols::describe_fields(document);
    let components = document.get("components").cloned().unwrap_or_default();
    let Some(paths) = document.get_mut("paths").and_then(Value::as_object_mut) else { return };
    for (path, item) in paths {
        for (method, operation) in item.as_object_mut().into_iter().flatten() {
            let Some(operation) = operation.as_object_mut() else { continue };
            protocols::complete(path, method, operation);
            errors::add(path, operation);
            describe_bytes(operation);
            describe_responses(method, operation, &components);
            examples::add(operation);
        }
    }
}

/// Bytes are a list of numbers to the macros of the routes, and a string of the format `binary` to
/// OpenAPI. A list of numbers within JSON stays one.
fn describe_bytes(operation: &mut Map<String, Value>) {
    for content in contents(operation) {
        // Generators of clients take the first content: JSON comes before events.
        content.sort_keys();
        for (kind, media) in content {
            let schema = media.get_mut("schema").filter(|schema| is_bytes(schema));
            if let Some(schema) = schema.filter(|_| kind != JSON) {
                *schema = binary();
            }
        }
    }
}

/// The contents of the request and of all responses.
fn contents(operation: &mut Map<String, Value>) -> Vec<&mut Map<String, Value>> {
    let mut bodies = Vec::new();
    for (name, part) in operation {
        match name.as_str() {
            "requestBody" => bodies.push(part),
            "responses" => {
                bodies.extend(part.as_object_mut().into_iter().flatten().map(|(_, body)| body));
            }
            _ => {}
        }
    }
    bodies.into_iter().filter_map(|body| body.get_mut("content")?.as_object_mut()).collect()
}

/// The schemas of forms hold bytes in fields.
fn describe_forms(document: &mut Value) {
    let mut names = Vec::new();
    let paths = document.get("paths").and_then(Value::as_object);
    for item in paths.into_iter().flatten().filter_map(|(_, item)| item.as_object()) {
        for (_, operation) in item {
            let form = operation.pointer("/requestBody/content").and_then(|all| all.get(FORM));
            names.extend(form.and_then(|form| schema_name(form.get("schema")?)).map(str::to_owned));
        }
    }
    for name in names {
        let schema = document.pointer_mut(&format!("/components/schemas/{name}/properties"));
        let fields = schema.and_then(Value::as_object_mut);
        for (_, field) in fields.into_iter().flatten() {
            bytes_to_binary(field);
        }
    }
}

fn bytes_to_binary(schema: &mut Value) {
    if is_bytes(schema) {
        let description = schema.get("description").cloned();
        *schema = binary();
        if let (Some(description), Some(fields)) = (description, schema.as_object_mut()) {
            fields.insert("description".to_owned(), description);
        }
    } else if let Some(items) = schema.get_mut("items") {
        bytes_to_binary(items);
    }
}

fn is_bytes(schema: &Value) -> bool {
    let items = schema.get("items");
    let of_items = |name: &str| items.and_then(|items| items.get(name));
    schema.get("type") == Some(&json!("array"))
        && of_items("type") == Some(&json!("integer"))
        && of_items("minimum") == Some(&json!(0))
}

fn binary() -> Value {
    json!({"type": "string", "format": "binary"})
}

/// A tuple is a list of a fixed length. `items: false` says the same to validators, but generators
/// of clients expect a schema there.
fn describe_tuples(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            let length = fields.get("prefixItems").and_then(Value::as_array).map(Vec::len);
            if let Some(length) = length
                && fields.get("items") == Some(&json!(false))
            {
                fields.remove("items");
                fields.insert("minItems".to_owned(), json!(length));
                fields.insert("maxItems".to_owned(), json!(length));
            }
            fields.iter_mut().for_each(|(_, value)| describe_tuples(value));
        }
        Value::Array(values) => values.iter_mut().for_each(describe_tuples),
        _ => {}
    }
}

/// The name of the schema that a reference names.
fn schema_name(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()?.strip_prefix("#/components/schemas/")
}

/// Each response must have a description: the standard demands it.
fn describe_responses(method: &str, operation: &mut Map<String, Value>, components: &Value) {
    let summary = operation.get("summary").and_then(Value::as_str).unwrap_or_default();
    let summary = one_line(summary);
    let responses = operation.get_mut("responses").and_then(Value::as_object_mut);
    for (status, response) in responses.into_iter().flatten() {
        let Some(response) = response.as_object_mut() else { continue };
        let own = response.get("description").and_then(Value::as_str).unwrap_or_default();
        if own.is_empty() {
            let text = match errors::description(status) {
                Some(text) => text.to_owned(),
                None => of_success(status, (method, &summary), response, components),
            };
            response.insert("description".to_owned(), json!(text));
        }
    }
}

/// The description of a success: the words of its schema, or of the route if the route only reads.
fn of_success(
    status: &str,
    (method, summary): (&str, &str),
    response: &Map<String, Value>,
    components: &Value,
) -> String {
    let content = response.get("content").and_then(Value::as_object);
    let Some(content) = content.filter(|content| !content.is_empty()) else {
        return "Done. The response has no body.".to_owned();
    };
    let schema = content.get(JSON).and_then(|media| media.get("schema"));
    let described = schema.and_then(schema_name).and_then(|name| {
        let schema = components.get("schemas")?.get(name)?;
        schema.get("description")?.as_str().map(one_line)
    });
    let mut text = match described {
        Some(described) => described,
        None if method == "get" && !summary.is_empty() => summary.to_owned(),
        None => "The result.".to_owned(),
    };
    if status == "202" {
        text.insert_str(0, "Accepted; the work is not complete yet. ");
    }
    if content.contains_key(EVENTS) && content.contains_key(JSON) {
        text.push_str(
            " As `text/event-stream`, a stream of events: each has the schema of that media type.",
        );
    }
    text
}

/// A text without its line breaks.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::complete;

    fn completed(operation: &Value) -> Value {
        let mut document = json!({
            "paths": {"/api/v1/bases/{base}/x": {"post": operation}},
            "components": {"schemas": {
                "Made": {"type": "object", "description": "What was\nmade."},
                "Form": {"type": "object", "properties": {
                    "file": {"type": "array", "description": "The files.", "items": bytes()},
                    "counts": {"type": "array", "items": {"type": "integer"}},
                }},
            }},
        });
        complete(&mut document);
        document
    }

    fn bytes() -> Value {
        json!({"type": "array", "items": {"type": "integer", "format": "int32", "minimum": 0}})
    }

    fn of<'a>(document: &'a Value, pointer: &str) -> &'a Value {
        let at = format!("/paths/~1api~1v1~1bases~1{{base}}~1x/post{pointer}");
        document.pointer(&at).unwrap_or_else(|| panic!("{at}: {document:#}"))
    }

    #[test]
    fn bytes_are_binary_except_within_json() {
        let document = completed(&json!({
            "requestBody": {"content": {"application/octet-stream": {"schema": bytes()}}},
            "responses": {"200": {"content": {
                "image/png": {"schema": bytes()}, "application/json": {"schema": bytes()},
            }}},
        }));
        let binary = json!({"type": "string", "format": "binary"});
        let body = of(&document, "/requestBody/content/application~1octet-stream/schema");
        assert_eq!(*body, binary);
        let content = of(&document, "/responses/200/content");
        assert_eq!(content["image/png"]["schema"], binary);
        assert_eq!(content["application/json"]["schema"], bytes());
    }

    #[test]
    fn files_of_a_form_are_binary() {
        let schema = json!({"$ref": "#/components/schemas/Form"});
        let document = completed(&json!({
            "requestBody": {"content": {"multipart/form-data": {"schema": schema}}}, "responses": {},
        }));
        let fields = &document["components"]["schemas"]["Form"]["properties"];
        assert_eq!(fields["file"]["items"], json!({"type": "string", "format": "binary"}));
        assert_eq!(fields["file"]["description"], "The files.");
        assert_eq!(fields["counts"]["items"], json!({"type": "integer"}));
    }

    #[test]
    fn tuples_have_a_length() {
        let number = json!({"type": "integer"});
        let tuple = json!({"type": "array", "prefixItems": [number, number], "items": false});
        let document = completed(&json!({
            "responses": {"200": {"content": {"application/json": {"schema": tuple}}}},
        }));
        let schema = of(&document, "/responses/200/content/application~1json/schema");
        let length = (&schema["minItems"], &schema["maxItems"]);
        assert_eq!((length, schema.get("items")), ((&json!(2), &json!(2)), None));
    }

    #[test]
    fn responses_take_the_words_of_their_schema_and_keep_their_own() {
        let made = json!({"schema": {"$ref": "#/components/schemas/Made"}});
        let document = completed(&json!({
            "summary": "Makes it.",
            "responses": {
                "200": {"content": {"application/json": made, "text/event-stream": made}},
                "202": {"content": {"application/json": made}},
                "204": {},
                "409": {"description": "It exists."},
            },
        }));
        let text = |status: &str| {
            of(&document, &format!("/responses/{status}/description")).as_str().unwrap().to_owned()
        };
        assert!(text("200").starts_with("What was made. As `text/event-stream`"));
        assert_eq!(text("202"), "Accepted; the work is not complete yet. What was made.");
        assert_eq!(text("204"), "Done. The response has no body.");
        assert_eq!(text("409"), "It exists.");
    }
}
