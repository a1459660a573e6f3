//! Tests the client against every kind of reply that endpoints are known to give.

mod stream;
mod stub;

use std::error::Error;
use std::time::{Duration, Instant};

use pikerag_knowledge::{
    ChatModel, ChatRequest, Embedder, FinishReason, Message, ModelError, Schema, Vector,
};
use serde_json::json;

use super::embeddings::to_base64;
use super::*;
use pikerag_doubles::request;
use pikerag_test_support::canned::{Canned, Server, error, ok};

const KEY: &str = "sk-very-secret-0123456789";

fn completion(text: &str) -> Canned {
    ok(json!({
        "id": "chatcmpl-1",
        "choices": [{
            "index": 0,
            "message": {"role": "assistant", "content": text, "reasoning_content": "hmm"},
            "finish_reason": "length",
        }],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
    })
    .to_string())
}

fn endpoint(server: &Server) -> Endpoint {
    let mut endpoint = Endpoint::new(&server.base_url, "gpt");
    endpoint.api_key = Some(Secret::new(KEY));
    endpoint.timeout = Duration::from_secs(10);
    endpoint
}

fn chat(server: &Server) -> OpenAiChat {
    OpenAiChat::new(endpoint(server), &Transport::default()).unwrap()
}

fn embedder(server: &Server) -> OpenAiEmbedder {
    let params = EmbeddingParams::default();
    OpenAiEmbedder::new(endpoint(server), &Transport::default(), params).unwrap()
}

fn with_schema() -> ChatRequest {
    let schema = json!({"type": "object", "additionalProperties": false, "properties": {}});
    ChatRequest {
        schema: Some(Schema { name: "reply".to_owned(), schema }),
        temperature: 0.7,
        ..request("Why?")
    }
}

/// The error's kind and chain. The key must not occur in it.
fn shown(error: &ModelError) -> String {
    assert!(!format!("{error:?} {error:#?}").contains("very-secret"), "{error:?}");
    let mut chain = match error {
        ModelError::Busy { retry_after, .. } => format!("Busy {retry_after:?}"),
        ModelError::Refused { .. } => "Refused".to_owned(),
        ModelError::Denied { .. } => "Denied".to_owned(),
        ModelError::Unreachable { .. } => "Unreachable".to_owned(),
        ModelError::Broken { .. } => "Broken".to_owned(),
        other => format!("{other:?}"),
    };
    let mut cause = error.source();
    while let Some(error) = cause {
        let line = error.to_string();
        assert!(!line.contains("very-secret"), "{line}");
        chain.extend([": ", &line]);
        cause = error.source();
    }
    chain
}

/// The outcome of one chat call that gets this reply.
async fn outcome(reply: Canned) -> String {
    let server = Server::start(vec![reply]);
    match chat(&server).complete(&request("Why?")).await {
        Ok(reply) => format!("{reply:?}"),
        Err(error) => {
            let port = server.base_url.rsplit(':').next().unwrap().trim_end_matches("/v1");
            shown(&error).replace(port, "PORT")
        }
    }
}

#[tokio::test]
async fn requests_follow_the_protocol() {
    let server = Server::start(vec![completion("because")]);
    let mut asked = with_schema();
    asked.messages = vec![
        Message::System { text: "Be brief.".to_owned() },
        Message::Assistant { text: "Yes?".to_owned() },
        Message::User {
            text: "What is this?".to_owned(),
            images: vec!["data:image/png;base64,AA==".to_owned()],
        },
    ];
    let reply = chat(&server).complete(&asked).await.unwrap();
    assert_eq!(reply.text, "because");
    assert_eq!((reply.usage.prompt_tokens, reply.usage.completion_tokens), (7, 3));
    let requests = server.requests();
    let mut request = requests[0].replace(KEY, "KEY");
    let host = request.lines().find(|line| line.starts_with("host: ")).unwrap().to_owned();
    request = request.replace(&host, "host: HOST").replace('\r', "");
    insta::assert_snapshot!(request, @r#"
    POST /v1/chat/completions HTTP/1.1
    content-type: application/json
    accept: application/json
    authorization: Bearer KEY
    user-agent: pikerag/0.1.0
    host: HOST
    content-length: 436

    {"model":"gpt","messages":[{"role":"system","content":"Be brief."},{"role":"assistant","content":"Yes?"},{"role":"user","content":[{"type":"text","text":"What is this?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}]}],"temperature":0.7,"max_tokens":256,"response_format":{"type":"json_schema","json_schema":{"name":"reply","schema":{"type":"object","additionalProperties":false,"properties":{}},"strict":true}}}
    "#);
}

#[tokio::test]
async fn uses_azures_dialect_and_sends_extra_fields() {
    let server = Server::start(vec![completion("because")]);
    let mut endpoint = endpoint(&server);
    endpoint.base_url = server.base_url.replace("/v1", "/");
    endpoint.azure_api_version = Some("2024-10-21".to_owned());
    endpoint.headers = vec![("x-team".to_owned(), Secret::new("blue-team"))];
    endpoint.send_temperature = false;
    endpoint.extra =
        json!({"max_tokens": 9, "options": {"num_ctx": 4096}}).as_object().unwrap().clone();
    let chat = OpenAiChat::new(endpoint, &Transport::default()).unwrap();
    chat.complete(&request("Why?")).await.unwrap();
    let request = &server.requests()[0];
    let lines = request.lines().filter(|line| {
        ["POST", "api-key", "x-team", "authorization", "{"]
            .iter()
            .any(|start| line.starts_with(start))
    });
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n").replace(KEY, "KEY"), @r#"
    POST /openai/deployments/gpt/chat/completions?api-version=2024-10-21 HTTP/1.1
    api-key: KEY
    x-team: blue-team
    {"model":"gpt","messages":[{"role":"user","content":"Why?"}],"max_tokens":9,"options":{"num_ctx":4096}}
    "#);
}

#[tokio::test]
async fn falls_back_if_schemas_are_refused() {
    let no =
        |what: &str| error(400, &format!("{{\"error\": {{\"message\": \"{what} is unknown\"}}}}"));
    let server = Server::start(vec![
        no("response_format json_schema"),
        no("response_format"),
        completion("{}"),
    ]);
    let chat = chat(&server);
    chat.complete(&with_schema()).await.unwrap();
    chat.complete(&with_schema()).await.unwrap();
    insta::assert_snapshot!(server.bodies(), @r#"
    {"model":"gpt","messages":[{"role":"user","content":"Why?"}],"temperature":0.7,"max_tokens":256,"response_format":{"type":"json_schema","json_schema":{"name":"reply","schema":{"type":"object","additionalProperties":false,"properties":{}},"strict":true}}}
    {"model":"gpt","messages":[{"role":"user","content":"Why?"}],"temperature":0.7,"max_tokens":256,"response_format":{"type":"json_object"}}
    {"model":"gpt","messages":[{"role":"user","content":"Why?"}],"temperature":0.7,"max_tokens":256}
    {"model":"gpt","messages":[{"role":"user","content":"Why?"}],"temperature":0.7,"max_tokens":256}
    "#);
}

/// OpenAI's strict schemas do not allow lengths: they are left out and the shape stays, even a
/// pinned one.
#[tokio::test]
async fn bounds_are_dropped_before_the_shape() {
    let refused = r#"{"error": {"message": "Invalid schema for response_format 'reply': 'maxLength' is not permitted."}}"#;
    for structured in [Structured::Auto, Structured::JsonSchema] {
        let server = Server::start(vec![error(400, refused), completion("{}")]);
        let endpoint = Endpoint { structured, ..endpoint(&server) };
        let chat = OpenAiChat::new(endpoint, &Transport::default()).unwrap();
        let mut request = with_schema();
        if let Some(schema) = &mut request.schema {
            schema.schema["properties"]["thinking"] = json!({"type": "string", "maxLength": 9});
        }
        chat.complete(&request).await.unwrap();
        let bodies = server.bodies();
        let (first, second) = bodies.trim().split_once('\n').unwrap();
        assert!(first.contains(r#""thinking":{"type":"string","maxLength":9}"#), "{first}");
        assert!(second.contains(r#""thinking":{"type":"string"}"#), "{second}");
        assert!(second.contains("json_schema"), "{second}");
    }
}

#[tokio::test]
async fn adapts_to_reasoning_models() {
    let server = Server::start(vec![
        error(
            400,
            r#"{"error": {"message": "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."}}"#,
        ),
        error(
            400,
            r#"{"error": {"message": "Unsupported value: 'temperature' does not support 0 with this model."}}"#,
        ),
        completion("because"),
    ]);
    let chat = chat(&server);
    chat.complete(&request("Why?")).await.unwrap();
    chat.complete(&request("Why?")).await.unwrap();
    insta::assert_snapshot!(server.bodies(), @r#"
    {"model":"gpt","messages":[{"role":"user","content":"Why?"}],"temperature":0.0,"max_tokens":256}
    {"model":"gpt","messages":[{"role":"user","content":"Why?"}],"temperature":0.0,"max_completion_tokens":256}
    {"model":"gpt","messages":[{"role":"user","content":"Why?"}],"max_completion_tokens":256}
    {"model":"gpt","messages":[{"role":"user","content":"Why?"}],"max_completion_tokens":256}
    "#);
}

#[tokio::test]
async fn a_pinned_shape_is_kept() {
    let server = Server::start(vec![error(400, "response_format is unknown")]);
    let mut endpoint = endpoint(&server);
    endpoint.structured = Structured::JsonObject;
    let chat = OpenAiChat::new(endpoint, &Transport::default()).unwrap();
    let error = chat.complete(&with_schema()).await.unwrap_err();
    assert!(matches!(error, ModelError::Refused { .. }));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn sorts_failures_by_decision() {
    let reply = |value: Value| ok(value.to_string());
    let slow = |headers| Canned::Reply(429, headers, "{\"error\": \"slow down\"}".to_owned());
    let lines = [
        outcome(slow("retry-after: 3\r\n")).await,
        outcome(slow("retry-after-ms: 1250\r\nretry-after: 3\r\n")).await,
        outcome(error(429, "{\"error\": {\"message\": \"Please try again in 2 seconds.\"}}")).await,
        outcome(error(500, "oops")).await,
        outcome(error(503, "")).await,
        outcome(error(401, &format!("{{\"error\": {{\"message\": \"bad key {KEY}\"}}}}"))).await,
        outcome(error(404, "{\"error\": \"model 'gpt' not found\"}")).await,
        outcome(Canned::Reply(302, "location: http://elsewhere/\r\n", String::new())).await,
        outcome(ok("<html>gateway</html>")).await,
        outcome(ok("")).await,
        outcome(ok("{\"choices\": [{\"mess")).await,
        outcome(reply(json!({"choices": "no"}))).await,
        outcome(reply(json!({"choices": []}))).await,
        outcome(reply(json!({"error": {"message": "upstream is down", "code": 502}}))).await,
        outcome(reply(json!({"error": {"message": "no such thing"}}))).await,
    ];
    insta::assert_snapshot!(lines.join("\n"), @r#"
    Busy Some(3s): HTTP 429: slow down
    Busy Some(1.25s): HTTP 429: slow down
    Busy Some(2s): HTTP 429: Please try again in 2 seconds.
    Busy None: HTTP 500: oops
    Busy None: HTTP 503: Service Unavailable
    Denied: HTTP 401: bad key ***
    Denied: HTTP 404: model 'gpt' not found
    Denied: HTTP 302: moved to http://elsewhere/; set that as the base URL
    Broken: the reply cannot be read (expected value at line 1 column 1), and begins with "<html>gateway</html>"
    Busy None: no whole reply from http://127.0.0.1:PORT: EOF while parsing a value at line 1 column 0
    Busy None: no whole reply from http://127.0.0.1:PORT: EOF while parsing a string at line 1 column 19
    Broken: the reply cannot be read (invalid type: string "no", expected a sequence at line 1 column 15), and begins with "{\"choices\":\"no\"}"
    Broken: the reply has no choices
    Busy None: HTTP 502: upstream is down
    Refused: HTTP 400: no such thing
    "#);
}

#[tokio::test]
async fn accepts_deviations_from_the_protocol() {
    let reply = |message| ok(json!({"choices": [{"message": message}]}).to_string());
    let lines = [
        outcome(reply(json!({"content": null, "refusal": "No."}))).await,
        outcome(reply(json!({}))).await,
        outcome(reply(json!({"content": [{"type": "text", "text": "一二"}, {"text": " words"}]})))
            .await,
        outcome(ok(json!({
            "choices": [{"message": {"content": "x"}}],
            "usage": {"prompt_tokens": null, "completion_tokens": 18_446_744_073_709_551_615_u64},
        })
        .to_string()))
        .await,
        outcome(ok(json!({
            "choices": [{"message": {"content": "x"}}],
            "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 250},
        })
        .to_string()))
        .await,
    ];
    insta::assert_snapshot!(lines.join("\n"), @r#"
    ChatReply { text: "", usage: Usage { prompt_tokens: 6, completion_tokens: 0 }, finish: None, logprobs: [], cached_tokens: 0, timings: None, call: None }
    ChatReply { text: "", usage: Usage { prompt_tokens: 6, completion_tokens: 0 }, finish: None, logprobs: [], cached_tokens: 0, timings: None, call: None }
    ChatReply { text: "一二 words", usage: Usage { prompt_tokens: 6, completion_tokens: 3 }, finish: None, logprobs: [], cached_tokens: 0, timings: None, call: None }
    ChatReply { text: "x", usage: Usage { prompt_tokens: 6, completion_tokens: 1 }, finish: None, logprobs: [], cached_tokens: 0, timings: None, call: None }
    ChatReply { text: "x", usage: Usage { prompt_tokens: 5, completion_tokens: 245 }, finish: None, logprobs: [], cached_tokens: 0, timings: None, call: None }
    "#);
}

#[tokio::test]
async fn a_cut_reply_is_busy() {
    let line = outcome(Canned::Cut("{\"choices\": [")).await;
    assert!(line.starts_with("Busy None: no whole reply from http://127.0.0.1:PORT: "), "{line}");
}

#[tokio::test]
async fn waits_no_longer_than_the_timeout() {
    let server = Server::start(vec![Canned::Silence]);
    let mut endpoint = endpoint(&server);
    endpoint.timeout = Duration::from_millis(30);
    let chat = OpenAiChat::new(endpoint, &Transport::default()).unwrap();
    let started = Instant::now();
    let error = chat.complete(&request("Why?")).await.unwrap_err();
    assert!(started.elapsed() < Duration::from_secs(5));
    let line = shown(&error);
    assert!(line.starts_with("Busy None: no whole reply") && line.contains("timed out"), "{line}");
}

#[tokio::test]
async fn a_closed_port_is_unreachable() {
    let endpoint = Endpoint::new("http://127.0.0.1:1/v1", "gpt");
    let chat = OpenAiChat::new(endpoint, &Transport::default()).unwrap();
    let line = shown(&chat.complete(&request("Why?")).await.unwrap_err());
    assert!(line.starts_with("Unreachable: http://127.0.0.1:1 cannot be reached: "), "{line}");
}

#[tokio::test]
async fn an_endless_reply_is_not_read_to_its_end() {
    let body = format!("{{\"choices\": \"{}\"}}", "A".repeat(65 << 20));
    let line = outcome(ok(body)).await;
    assert!(line.starts_with("Broken: the reply is longer than 64 MiB"), "{line}");
}

#[tokio::test]
async fn scores_tokens() {
    let scored = |logprobs| {
        let message = json!({"content": "yes"});
        let choice = json!({"message": message, "finish_reason": "length", "logprobs": logprobs});
        ok(json!({"choices": [choice]}).to_string())
    };
    let server = Server::start(vec![
        scored(
            json!({"content": [{"token": "yes", "logprob": -0.25}, {"token": "", "logprob": 1e-9}]}),
        ),
        scored(json!(null)),
        error(400, "logprobs are not supported"),
    ]);
    let chat = chat(&server);
    let asked = ChatRequest { logprobs: true, ..request("Why?") };
    let reply = chat.complete(&asked).await.unwrap();
    assert_eq!((reply.text.as_str(), reply.finish), ("yes", Some(FinishReason::Length)));
    assert_eq!(reply.logprobs.iter().map(|token| token.logprob).collect::<Vec<_>>(), [-0.25, 0.0]);
    for _ in 0..2 {
        let error = chat.complete(&asked).await.unwrap_err();
        assert!(matches!(error, ModelError::NoLogprobs { .. }));
    }
    assert!(server.bodies().contains(r#""logprobs":true"#));
}

/// The outcome of two texts whose vectors come as these `data`.
async fn embedded(data: Value) -> String {
    let server = Server::start(vec![ok(json!({ "data": data }).to_string())]);
    match embedder(&server).embed(&["a".to_owned(), "b".to_owned()]).await {
        Ok(vectors) => format!("{vectors:?}"),
        Err(error) => shown(&error),
    }
}

#[tokio::test]
async fn reads_vectors_in_any_format() {
    let (x, y) = (to_base64(&[3.0, 4.0]), to_base64(&[0.0, 1.0]));
    let nan = to_base64(&[f32::NAN, 1.0]);
    let lines = [
        embedded(json!([{"index": 0, "embedding": x}, {"index": 1, "embedding": y}])).await,
        embedded(json!([{"index": 1, "embedding": [0, 1]}, {"index": 0, "embedding": [3, 4.0]}]))
            .await,
        embedded(json!([{"embedding": [3, 4]}, {"embedding": y}])).await,
        embedded(json!([{"embedding": [3, 4]}])).await,
        embedded(json!([{"index": 0, "embedding": x}, {"index": 0, "embedding": y}])).await,
        embedded(json!([{"index": 0, "embedding": x}, {"index": 2, "embedding": y}])).await,
        embedded(json!([{"embedding": [3, 4]}, {"embedding": [1, 2, 3]}])).await,
        embedded(json!([{"embedding": [3, 4]}, {"embedding": [0, 0]}])).await,
        embedded(json!([{"embedding": [3, 4]}, {"embedding": []}])).await,
        embedded(json!([{"embedding": [3, 4]}, {"embedding": [null, 1]}])).await,
        embedded(json!([{"embedding": [3, 4]}, {"embedding": nan}])).await,
        embedded(json!([{"embedding": [3, 4]}, {"embedding": "AAA="}])).await,
    ];
    insta::assert_snapshot!(lines.join("\n"), @r#"
    [[0.6, 0.8], [0.0, 1.0]]
    [[0.6, 0.8], [0.0, 1.0]]
    [[0.6, 0.8], [0.0, 1.0]]
    Broken: the reply has 1 vectors for 2 texts
    Broken: the reply has a wrong or second index 0
    Broken: the reply has a wrong or second index 2
    Broken: the reply has a vector of 3 numbers, not 2
    Broken: the reply has a vector without a direction (all zero or not a number)
    Broken: the reply has a vector of 0 numbers, not 2
    Broken: the reply cannot be read (invalid type: null, expected f32 at line 1 column 47), and begins with "{\"data\":[{\"embedding\":[3,4]},{\"embedding\":[null,1]}]}"
    Broken: the reply has a vector without a direction (all zero or not a number)
    Broken: the reply cannot be read (not floats in base64 at line 1 column 48), and begins with "{\"data\":[{\"embedding\":[3,4]},{\"embedding\":\"AAA=\"}]}"
    "#);
}

#[tokio::test]
async fn asks_for_floats_if_base64_is_refused() {
    let vector = |x: f32| ok(json!({"data": [{"embedding": [x, 1.0]}]}).to_string());
    let server = Server::start(vec![
        error(422, "{\"detail\": [{\"loc\": [\"body\", \"encoding_format\"]}]}"),
        vector(0.0),
        vector(0.0),
        ok(json!({"data": [{"embedding": [1.0]}]}).to_string()),
    ]);
    let embedder = embedder(&server);
    for text in ["a", ""] {
        let vectors: Vec<Vector> = embedder.embed(&[text.to_owned()]).await.unwrap();
        assert_eq!(vectors, [[0.0, 1.0]]);
    }
    insta::assert_snapshot!(server.bodies(), @r#"
    {"model":"gpt","input":["a"],"encoding_format":"base64"}
    {"model":"gpt","input":["a"]}
    {"model":"gpt","input":[" "]}
    "#);
    let error = embedder.embed(&["b".to_owned()]).await.unwrap_err();
    insta::assert_snapshot!(shown(&error), @"Broken: the reply has a vector of 1 numbers, not 2");
}

#[tokio::test]
async fn a_known_dimension_is_enforced() {
    let server = Server::start(vec![ok(json!({"data": [{"embedding": [1.0]}]}).to_string())]);
    let params =
        EmbeddingParams { dimension: std::num::NonZeroUsize::new(2), ..Default::default() };
    let embedder = OpenAiEmbedder::new(endpoint(&server), &Transport::default(), params).unwrap();
    let error = embedder.embed(&["a".to_owned()]).await.unwrap_err();
    assert!(matches!(error, ModelError::Broken { .. }));
}
