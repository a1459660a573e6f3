//! Names the routes of other protocols, and describes their replies: their code builds the replies
//! as JSON without types.

use serde_json::{Map, Value, json};

use super::{EVENTS, JSON, schema_name};

const LINES: &str = "application/x-ndjson";
/// Errors of routes that answer questions: a cap is reached.
const RUN: &[&str] = &["402"];
/// The same, and the answer may not give the values of a schema.
const RUN_AND_FILL: &[&str] = &["402", "422"];
/// Errors of routes that only call a model: it fails.
const CALL: &[&str] = &["502"];
const NONE: &[&str] = &[];

/// A route of another protocol.
struct Route {
    method: &'static str,
    path: &'static str,
    /// The name of the operation.
    name: &'static str,
    /// The schemas of a successful reply, by media type; none if the route refuses every request.
    replies: &'static [(&'static str, &'static str)],
    /// The errors that its scope, parameters and body do not show.
    errors: &'static [&'static str],
}

const fn route(
    (method, path): (&'static str, &'static str),
    name: &'static str,
    replies: &'static [(&'static str, &'static str)],
    errors: &'static [&'static str],
) -> Route {
    Route { method, path, name, replies, errors }
}

const ROUTES: [Route; 27] = [
    route(
        ("post", "/v1/chat/completions"),
        "createChatCompletion",
        &[(JSON, "ChatCompletion"), (EVENTS, "ChatChunk")],
        RUN_AND_FILL,
    ),
    route(("get", "/v1/models"), "listOpenAiModels", &[(JSON, "OpenAiModels")], NONE),
    route(("get", "/v1/models/{model}"), "getOpenAiModel", &[(JSON, "OpenAiModel")], NONE),
    route(("post", "/v1/embeddings"), "createEmbeddings", &[(JSON, "EmbeddingsList")], CALL),
    route(
        ("post", "/v1/responses"),
        "createResponse",
        &[(JSON, "ResponsesReply"), (EVENTS, "ResponsesEvent")],
        RUN_AND_FILL,
    ),
    route(("get", "/v1/responses/{id}"), "getResponse", &[], NONE),
    route(("delete", "/v1/responses/{id}"), "deleteResponse", &[], NONE),
    route(("post", "/v1/responses/{id}/cancel"), "cancelResponse", &[], NONE),
    route(("get", "/v1/responses/{id}/input_items"), "listResponseInput", &[], NONE),
    route(("post", "/rerank"), "rerank", &[(JSON, "RerankAnswer")], CALL),
    route(("post", "/v1/rerank"), "rerankV1", &[(JSON, "RerankAnswer")], CALL),
    route(("post", "/v2/rerank"), "rerankV2", &[(JSON, "RerankAnswer")], CALL),
    route(("post", "/retrieval"), "retrieveForDify", &[(JSON, "DifyRecords")], NONE),
    route(("get", "/api/version"), "getOllamaVersion", &[(JSON, "OllamaVersion")], NONE),
    route(("get", "/api/tags"), "listOllamaModels", &[(JSON, "OllamaModels")], NONE),
    route(("get", "/api/ps"), "listOllamaRunningModels", &[(JSON, "OllamaModels")], NONE),
    route(
        ("post", "/api/chat"),
        "ollamaChat",
        &[(JSON, "OllamaReply"), (LINES, "OllamaReply")],
        RUN,
    ),
    route(
        ("post", "/api/generate"),
        "ollamaGenerate",
        &[(JSON, "OllamaGenerated"), (LINES, "OllamaGenerated")],
        RUN,
    ),
    route(("post", "/api/show"), "showOllamaModel", &[(JSON, "OllamaShown")], NONE),
    route(
        ("post", "/api/pull"),
        "pullOllamaModel",
        &[(JSON, "OllamaStatus"), (LINES, "OllamaStatus")],
        NONE,
    ),
    route(("post", "/api/create"), "createOllamaModel", &[], NONE),
    route(("post", "/api/copy"), "copyOllamaModel", &[], NONE),
    route(("delete", "/api/delete"), "deleteOllamaModel", &[], NONE),
    route(("post", "/api/push"), "pushOllamaModel", &[], NONE),
    route(("post", "/api/blobs/{digest}"), "uploadOllamaBlob", &[], NONE),
    route(("post", "/api/embed"), "ollamaEmbed", &[(JSON, "OllamaVectors")], CALL),
    route(("post", "/api/embeddings"), "ollamaEmbeddings", &[(JSON, "OllamaVector")], CALL),
];

/// Fields of requests that hold JSON of several forms: schema, field, and the schema of the field
/// or of its items.
const FIELDS: [(&str, &str, &str); 9] = [
    ("ChatBody", "messages", "ChatMessage"),
    ("ChatBody", "stop", "TextInput"),
    ("OllamaBody", "messages", "ChatMessage"),
    ("OllamaChatBody", "messages", "ChatMessage"),
    ("OllamaChatBody", "format", "OllamaFormat"),
    ("OllamaGenerateBody", "format", "OllamaFormat"),
    ("EmbeddingsBody", "input", "TextInput"),
    ("OllamaEmbedBody", "input", "TextInput"),
    ("RerankBody", "documents", "RerankDocument"),
];

/// Names an operation of another protocol and describes its replies, where the route does not.
pub(super) fn complete(path: &str, method: &str, operation: &mut Map<String, Value>) {
    let known = ROUTES.iter().find(|route| route.path == path && route.method == method);
    let Some(Route { name, replies, errors, .. }) = known else { return };
    operation.insert("operationId".to_owned(), json!(name));
    let responses = operation.get_mut("responses").and_then(Value::as_object_mut);
    let Some(responses) = responses else { return };
    for status in *errors {
        responses.entry(*status).or_insert_with(|| json!({}));
    }
    let content: Map<String, Value> = replies
        .iter()
        .map(|(kind, schema)| ((*kind).to_owned(), json!({"schema": reference(schema)})))
        .collect();
    let response = responses.get_mut("200").and_then(Value::as_object_mut);
    if let Some(response) = response.filter(|_| !content.is_empty()) {
        let described = response.get("content").and_then(Value::as_object);
        let is_described =
            |media: &Value| media.get("schema").is_some_and(|schema| *schema != json!({}));
        if !described.into_iter().flatten().any(|(_, media)| is_described(media)) {
            response.insert("content".to_owned(), Value::Object(content));
        }
    }
}

/// Describes the fields of requests that are objects of any form otherwise.
pub(super) fn describe_fields(document: &mut Value) {
    let schemas = document.pointer_mut("/components/schemas").and_then(Value::as_object_mut);
    let Some(schemas) = schemas else { return };
    for (schema, field, name) in FIELDS {
        if !schemas.contains_key(name) {
            continue;
        }
        let properties = schemas.get_mut(schema).and_then(|schema| schema.get_mut("properties"));
        let Some(field) = properties.and_then(|all| all.get_mut(field)) else { continue };
        let is_list = field.get("items").is_some();
        let place = if is_list { field.get_mut("items") } else { Some(field) };
        let Some(place) = place.filter(|place| schema_name(place).is_none()) else { continue };
        let Some(of_any_form) = place.as_object_mut() else { continue };
        match of_any_form.remove("type") {
            Some(Value::Array(_)) => {
                let either = json!([reference(name), {"type": "null"}]);
                of_any_form.insert("oneOf".to_owned(), either);
            }
            _ => {
                of_any_form.insert("$ref".to_owned(), json!(address(name)));
            }
        }
    }
}

fn reference(name: &str) -> Value {
    json!({"$ref": address(name)})
}

fn address(name: &str) -> String {
    format!("#/components/schemas/{name}")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{ROUTES, complete, describe_fields};

    #[test]
    fn replies_without_a_schema_are_described_and_others_stay() {
        let completed = |schema: Value| {
            let mut operation = json!({"operationId": "chat", "responses": {
                "200": {"content": {"application/json": {"schema": schema}}},
            }});
            complete("/api/chat", "post", operation.as_object_mut().unwrap());
            operation
        };
        let chat = completed(json!({}));
        assert_eq!(chat["operationId"], "ollamaChat");
        assert!(chat["responses"]["402"].is_object());
        let content = &chat["responses"]["200"]["content"];
        let reply = json!({"schema": {"$ref": "#/components/schemas/OllamaReply"}});
        assert_eq!(
            (&content["application/json"], &content["application/x-ndjson"]),
            (&reply, &reply)
        );
        let own = json!({"type": "object"});
        let content = completed(own.clone())["responses"]["200"]["content"].clone();
        assert_eq!(content, json!({"application/json": {"schema": own}}));
    }

    #[test]
    fn fields_of_any_form_refer_to_their_schemas() {
        let mut document = json!({"components": {"schemas": {
            "TextInput": {}, "ChatMessage": {},
            "ChatBody": {"properties": {"messages": {"type": "array", "items": {"type": "object"}}}},
            "EmbeddingsBody": {"properties": {"input": {"type": "object", "description": "Texts."}}},
            "OllamaEmbedBody": {"properties": {"input": {"type": ["object", "null"]}}},
        }}});
        describe_fields(&mut document);
        let schemas = &document["components"]["schemas"];
        let field = |schema: &str, field: &str| schemas[schema]["properties"][field].clone();
        let text = "#/components/schemas/TextInput";
        let message = json!({"$ref": "#/components/schemas/ChatMessage"});
        assert_eq!(field("ChatBody", "messages")["items"], message);
        assert_eq!(
            field("EmbeddingsBody", "input"),
            json!({"$ref": text, "description": "Texts."})
        );
        let either = json!({"oneOf": [{"$ref": text}, {"type": "null"}]});
        assert_eq!(field("OllamaEmbedBody", "input"), either);
    }

    #[test]
    fn each_route_has_a_name_of_its_own() {
        for (at, route) in ROUTES.iter().enumerate() {
            let is_same = |other: &super::Route| other.name == route.name;
            assert!(!ROUTES.iter().skip(at + 1).any(is_same), "{}", route.name);
        }
    }
}
