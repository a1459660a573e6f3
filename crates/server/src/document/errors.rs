//! Adds the errors that routes can return, in the format of the protocol of each path.

use serde_json::{Map, Value, json};

use super::{FORM, JSON};
use crate::compat::errors::Shape;

/// The media type of problems (RFC 9457).
const PROBLEM: &str = "application/problem+json";

/// The media type of the errors of a path, and the name of their schema.
fn content_of(path: &str) -> (&'static str, &'static str) {
    match Shape::of(path) {
        None => (PROBLEM, "Problem"),
        Some(Shape::OpenAi) => (JSON, "OpenAiError"),
        Some(Shape::Ollama) => (JSON, "OllamaError"),
        Some(Shape::Dify) => (JSON, "DifyError"),
    }
}

/// Adds the schemas of other protocols' errors, unless routes describe them.
pub(super) fn add_schemas(document: &mut Value) {
    let schemas = document.pointer_mut("/components/schemas").and_then(Value::as_object_mut);
    let Some(schemas) = schemas else { return };
    let text = |description: &str| json!({"type": "string", "description": description});
    let cause = || text("The cause in a sentence.");
    let or_null =
        |description: &str| json!({"type": ["string", "null"], "description": description});
    let openai = json!({
        "type": "object",
        "description": "Why a request failed, as OpenAI's clients read it.",
        "required": ["error"],
        "properties": {"error": {
            "type": "object",
            "description": "The error.",
            "required": ["message", "type", "code", "param"],
            "properties": {
                "message": cause(),
                "type": text("The kind, for example `invalid_request_error`."),
                "code": or_null("A short name of the cause, stable across versions."),
                "param": or_null("The parameter at fault, if it is known."),
            },
        }},
    });
    let ollama = json!({
        "type": "object",
        "description": "Why a request failed, as Ollama's clients read it.",
        "required": ["error"],
        "properties": {"error": cause()},
    });
    let dify = json!({
        "type": "object",
        "description": "Why a request failed, as Dify reads it.",
        "required": ["error_code", "error_msg"],
        "properties": {
            "error_code": {"type": "integer", "description": "Dify's number of the cause; 2001: there is no such base."},
            "error_msg": cause(),
        },
    });
    for (name, schema) in [("OpenAiError", openai), ("OllamaError", ollama), ("DifyError", dify)] {
        schemas.entry(name).or_insert(schema);
    }
}

/// Adds the errors of an operation by its parameters, its body and its scope. An error that a
/// route describes by another schema than `Problem` stays as it is.
pub(super) fn add(path: &str, operation: &mut Map<String, Value>) {
    let (kind, schema) = content_of(path);
    let expected = expected(path, operation);
    let Some(responses) = operation.get_mut("responses").and_then(Value::as_object_mut) else {
        return;
    };
    for status in expected {
        responses.entry(status).or_insert_with(|| json!({}));
    }
    responses.sort_keys();
    for (status, response) in responses {
        let Some(response) = response.as_object_mut().filter(|_| is_error(status)) else {
            continue;
        };
        if is_general(response) {
            let schema = json!({"$ref": format!("#/components/schemas/{schema}")});
            response.insert("content".to_owned(), json!({kind: {"schema": schema}}));
        }
        if let Some(headers) = headers(status) {
            response.entry("headers").or_insert(headers);
        }
    }
}

fn is_error(status: &str) -> bool {
    status.starts_with(['4', '5'])
}

/// Whether the response has no schema of its own.
fn is_general(response: &Map<String, Value>) -> bool {
    let content = response.get("content").and_then(Value::as_object);
    content.into_iter().flatten().all(|(_, media)| match media.get("schema") {
        None => true,
        Some(schema) => {
            super::schema_name(schema) == Some("Problem")
                || schema.as_object().is_some_and(Map::is_empty)
        }
    })
}

/// The errors that the server's guards and readers of requests return.
fn expected(path: &str, operation: &Map<String, Value>) -> Vec<&'static str> {
    let mut expected = Vec::new();
    let needs_key = operation.contains_key("x-scope");
    if needs_key {
        expected.extend(["401", "403", "429", "503"]);
    }
    let parameters = operation.get("parameters").and_then(Value::as_array);
    if parameters.is_some_and(|parameters| !parameters.is_empty()) {
        expected.push("400");
    }
    let is_compatible = operation.get("tags") == Some(&json!(["compatible"]));
    let body = operation.get("requestBody");
    if body.is_some() {
        expected.extend(["400", "413"]);
    }
    let has = |kind: &str| {
        body.is_some_and(|body| body.pointer("/content").is_some_and(|all| all.get(kind).is_some()))
    };
    if has(JSON) || has(FORM) {
        expected.push("415");
    }
    // The model of a compatible request names a base.
    if path.contains('{') || (is_compatible && body.is_some()) {
        expected.push("404");
    }
    // A route that can exceed a cap calls models.
    if operation.get("responses").is_some_and(|responses| responses.get("402").is_some()) {
        expected.push("502");
    }
    expected
}

fn headers(status: &str) -> Option<Value> {
    let (name, kind, description) = match status {
        "401" => ("WWW-Authenticate", "string", "How to send a key."),
        "429" => ("Retry-After", "integer", "Seconds to wait before the next attempt."),
        "503" => (
            "Retry-After",
            "integer",
            "Seconds to wait before the next attempt. Missing if the request was cancelled.",
        ),
        _ => return None,
    };
    Some(json!({name: {"description": description, "schema": {"type": kind}}}))
}

/// What an error of this status means; `None` for a success.
pub(super) fn description(status: &str) -> Option<&'static str> {
    Some(match status {
        "400" => "A parameter, a header or the body is wrong; the error names it.",
        "401" => "The key is missing, wrong or expired.",
        "402" => "The cap of the key or of the server is reached.",
        "403" => "The key does not allow this, or the request comes from a page of another site.",
        "404" => "Nothing has this name, or the key does not open it.",
        "408" => "The body arrives too slowly.",
        "409" => "The present state does not allow this; the error names the obstacle.",
        "413" => "The body is larger than the server accepts.",
        "415" => "The body has another media type than the route reads.",
        "422" => "The request is understood, but its content cannot be processed.",
        "429" => "Too many requests or questions at the moment.",
        "500" => "The server failed; its log explains the error under the given identifier.",
        "502" => "A model failed or cannot be reached.",
        "503" => "The server is busy or stopping.",
        "507" => "The server's disk is full.",
        status if is_error(status) => "The request failed; the error names the cause.",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::add;

    fn statuses(path: &str, operation: &Value) -> (Vec<String>, Value) {
        let mut operation = operation.as_object().unwrap().clone();
        add(path, &mut operation);
        let responses = operation["responses"].clone();
        (responses.as_object().unwrap().keys().cloned().collect(), responses)
    }

    #[test]
    fn errors_follow_scope_parameters_and_body() {
        let health = json!({"responses": {"200": {}}});
        assert_eq!(statuses("/health", &health).0, ["200"]);
        let list = json!({"x-scope": "read", "responses": {"200": {}}});
        assert_eq!(statuses("/api/v1/bases", &list).0, ["200", "401", "403", "429", "503"]);
        let body = json!({"content": {"application/json": {}}});
        let ask = json!({
            "x-scope": "read", "parameters": [{"name": "base"}], "requestBody": body,
            "responses": {"200": {}, "402": {}},
        });
        let (found, responses) = statuses("/api/v1/bases/{base}/ask", &ask);
        let expected =
            ["200", "400", "401", "402", "403", "404", "413", "415", "429", "502", "503"];
        assert_eq!(found, expected);
        let problem = json!({"$ref": "#/components/schemas/Problem"});
        assert_eq!(responses["402"]["content"]["application/problem+json"]["schema"], problem);
        assert_eq!(responses["503"]["headers"]["Retry-After"]["schema"]["type"], "integer");
        assert!(responses["200"].get("content").is_none());
    }

    #[test]
    fn each_protocol_has_its_own_errors() {
        let own = json!({"$ref": "#/components/schemas/Own"});
        let chat = json!({
            "tags": ["compatible"], "x-scope": "read",
            "requestBody": {"content": {"application/json": {}}},
            "responses": {
                "400": {"content": {"application/json": {"schema": {}}}},
                "409": {"content": {"application/json": {"schema": own}}},
            },
        });
        for (path, name) in [
            ("/v1/chat/completions", "OpenAiError"),
            ("/api/chat", "OllamaError"),
            ("/retrieval", "DifyError"),
        ] {
            let (_, responses) = statuses(path, &chat);
            let schema = json!({"$ref": format!("#/components/schemas/{name}")});
            for status in ["400", "401", "404"] {
                assert_eq!(responses[status]["content"]["application/json"]["schema"], schema);
            }
            assert_eq!(responses["409"]["content"]["application/json"]["schema"], own);
        }
    }
}
