//! Tests that requests of OpenAI's clients are honoured or refused, and that errors have the format
//! of their protocol.

use serde_json::{Value, json};

use crate::serve::place;
use crate::serving::{Reply, Serving};

const CHAT: &str = "/v1/chat/completions";
const QUESTION: &str = "What does the crane of Hamburg lift?";

/// Asks with these further fields.
fn ask(serving: &Serving, more: &Value) -> Reply {
    let mut body = json!({"model": "pikerag", "messages": [{"role": "user", "content": QUESTION}]});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    serving.post(CHAT, "", &body)
}

fn content(reply: &Reply) -> String {
    assert_eq!(reply.status, 200, "{reply:?}");
    reply.json()["choices"][0]["message"]["content"].as_str().unwrap().to_owned()
}

/// The fields of an error; all have the right type.
fn error(reply: &Reply) -> (u16, String, String) {
    let body = reply.json();
    let text = |name: &str| {
        let value = &body["error"][name];
        assert!(value.is_string() || value.is_null(), "{name}: {reply:?}");
        value.as_str().unwrap_or_default().to_owned()
    };
    assert!(!text("message").is_empty() && !text("type").is_empty(), "{reply:?}");
    assert!(reply.head.contains("content-type: application/json"), "{reply:?}");
    (reply.status, text("code"), text("param"))
}

#[test]
fn fields_of_a_chat_are_honoured_or_refused() {
    let place = place();
    let serving = place.serve(&["--offline"]);
    let whole = content(&ask(&serving, &json!({})));
    for nothing in [
        json!({"n": 1, "stop": null, "tool_choice": "auto", "tools": [{"type": "function"}]}),
        json!({"stream": null, "stream_options": null, "max_tokens": null, "filter": null}),
        json!({"temperature": 0.7, "top_p": 1, "seed": 3, "user": "ada", "metadata": {}, "store": false}),
        json!({"max_tokens": 10_000, "max_completion_tokens": 20_000, "filter": []}),
        json!({"chat_id": "c", "session_id": "s", "variables": {}, "features": {"web_search": false}}),
    ] {
        let reply = ask(&serving, &nothing);
        assert_eq!(content(&reply), whole, "{nothing}");
        assert_eq!(reply.json()["choices"][0]["finish_reason"], "stop", "{nothing}");
    }
    for (param, wrong) in [
        ("n", json!({"n": 2})),
        ("stop", json!({"stop": ["a", "b", "c", "d", "e"]})),
        ("stop", json!({"stop": 1})),
        ("tool_choice", json!({"tool_choice": "required"})),
        ("logprobs", json!({"logprobs": true})),
        ("modalities", json!({"modalities": ["text", "audio"]})),
        ("max_tokens", json!({"max_tokens": 0})),
        (
            "messages",
            json!({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]}),
        ),
    ] {
        let refused = (400, "unsupported_value".to_owned(), param.to_owned());
        assert_eq!(error(&ask(&serving, &wrong)), refused, "{wrong}");
    }
    let unknown = (400, "unknown_parameter".to_owned(), "filtre".to_owned());
    assert_eq!(error(&ask(&serving, &json!({"filtre": ["folder=open"]}))), unknown);
}

#[test]
fn a_filter_of_a_chat_limits_its_answer() {
    let place = place();
    let serving = place.serve(&["--offline"]);
    let ask = |more: Value| {
        let mut body = json!({"model": "pikerag", "messages": [{"role": "user", "content": "With whom is the crane insured?"}]});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        serving.post(CHAT, "", &body)
    };
    assert!(content(&ask(json!({}))).contains("Zyxwort"));
    for name in ["filter", "filters"] {
        let reply = ask(json!({name: ["folder=open"]}));
        assert!(reply.status == 200 && !reply.text.contains("Zyxwort"), "{name}: {reply:?}");
        assert_eq!(ask(json!({name: ["folder"]})).status, 400, "{name}");
        assert_eq!(ask(json!({name: "folder=open"})).status, 400, "{name}");
    }
    let both = json!({"filter": ["folder=open"], "filters": ["folder=open"]});
    assert_eq!(ask(both).status, 400);
    let level = ask(json!({"class": "factual", "level": "L1"}));
    assert_eq!(level.status, 200, "{level:?}");
    assert_eq!(ask(json!({"level": "L9"})).status, 400);
}

#[test]
fn an_answer_is_cut_to_the_tokens_of_the_request() {
    let place = place();
    let serving = place.serve(&["--offline"]);
    let whole = content(&ask(&serving, &json!({})));
    let mut lengths = Vec::new();
    for most in [3, 8, 15] {
        let reply = ask(&serving, &json!({"max_tokens": most}));
        let (cut, choice) = (content(&reply), reply.json()["choices"][0].clone());
        assert!(whole.starts_with(&cut) && cut.len() < whole.len(), "{most}: {cut}");
        assert_eq!(choice["finish_reason"], "length", "{most}");
        let annotations = choice["message"]["annotations"].as_array().unwrap().len();
        assert_eq!(annotations, cut.matches('[').count(), "{most}: {cut}");
        let stream = ask(&serving, &json!({"max_completion_tokens": most, "stream": true}));
        let (text, ..) = streamed(&stream);
        assert_eq!(text, cut, "{most}");
        assert!(stream.text.contains("\"finish_reason\":\"length\""), "{stream:?}");
        lengths.push(cut.len());
    }
    assert!(lengths.is_sorted() && lengths.first() < lengths.last(), "{lengths:?}");
}

/// Citations behind the end are no annotations, and the limit of tokens still holds.
#[test]
fn an_answer_ends_before_the_first_stop_sequence() {
    let place = place();
    let serving = place.serve(&["--offline"]);
    let whole = content(&ask(&serving, &json!({})));
    for (stop, first) in [
        (json!("forty"), "forty"),
        (json!(["no such text", "forty tons", "[1]"]), "forty tons"),
        (json!(["[1]"]), "[1]"),
        (json!(["1]", "no such text"]), "[1]"),
    ] {
        let reply = ask(&serving, &json!({"stop": stop}));
        let (cut, choice) = (content(&reply), reply.json()["choices"][0].clone());
        assert_eq!(cut, whole.split(first).next().unwrap(), "{stop}");
        assert!(cut.len() < whole.len(), "{stop}: {cut}");
        assert_eq!(choice["finish_reason"], "stop", "{stop}");
        assert_eq!(choice["message"]["annotations"], json!([]), "{stop}");
        let stream = ask(&serving, &json!({"stop": stop, "stream": true}));
        let (text, annotations, sources) = streamed(&stream);
        assert_eq!((text, annotations.len(), sources), (cut, 0, 0), "{stop}");
        assert!(stream.text.contains("\"finish_reason\":\"stop\""), "{stream:?}");
    }
    let nothing = content(&ask(&serving, &json!({"stop": ["", "no such text"]})));
    assert_eq!(nothing, whole);
    let reply = ask(&serving, &json!({"stop": "[1]", "max_tokens": 2}));
    assert!(whole.starts_with(&content(&reply)), "{reply:?}");
    assert_eq!(reply.json()["choices"][0]["finish_reason"], "length");
}

/// The text of a stream, its annotations, and the number of its `source` events.
fn streamed(reply: &Reply) -> (String, Vec<Value>, usize) {
    assert_eq!(reply.status, 200, "{reply:?}");
    let data = reply.events().into_iter().map(|(_, data)| data);
    let chunks: Vec<Value> = data.filter_map(|data| serde_json::from_str(&data).ok()).collect();
    let deltas = chunks.iter().map(|chunk| &chunk["choices"][0]["delta"]);
    let text = deltas.clone().filter_map(|delta| delta["content"].as_str()).collect();
    let annotations = deltas.filter_map(|delta| delta["annotations"].as_array()).flatten();
    let sources = chunks.iter().filter(|chunk| chunk.get("event").is_some()).count();
    (text, annotations.cloned().collect(), sources)
}

/// Parsers of event streams get the citations as annotations. A client that reads line by line, such
/// as Open WebUI, gets `source` events alone, because it would list citations of both.
#[test]
fn a_stream_has_its_citations_as_annotations_for_parsers() {
    let place = place();
    let serving = place.serve(&["--offline"]);
    let reply = ask(&serving, &json!({"stream": true}));
    let (text, annotations, sources) = streamed(&reply);
    assert!(0 < sources && annotations.len() == sources, "{reply:?}");
    for (number, annotation) in (1..).zip(&annotations) {
        assert_eq!(annotation["type"], "url_citation");
        let citation = &annotation["url_citation"];
        let at = |name: &str| usize::try_from(citation[name].as_u64().unwrap()).unwrap();
        let (begins, ends) = (at("start_index"), at("end_index"));
        let mark: String = text.chars().skip(begins).take(ends - begins).collect();
        assert_eq!(mark, format!("[{number}]"));
        assert!(citation["url"].as_str().unwrap().starts_with("http"), "{citation}");
        assert!(citation["title"].is_string(), "{citation}");
    }
    let lines = reply.text.split('\n').filter(|line| line.starts_with("data:"));
    let lines: Vec<&str> = lines.collect();
    assert!(lines.iter().all(|line| !line.contains("annotations")), "{lines:?}");
    assert!(lines.iter().any(|line| line.contains("\"source\"")), "{lines:?}");
}

#[test]
fn a_model_is_found_by_its_name() {
    let place = place();
    let serving = place.serve(&["--offline"]);
    for (path, id) in [
        ("pikerag", "pikerag"),
        ("pikerag/kar3", "pikerag/kar3"),
        ("pikerag%2Fkar3", "pikerag/kar3"),
        ("pikerag%2Fkar3%40default", "pikerag/kar3@default"),
        ("pikerag@default", "pikerag@default"),
    ] {
        let reply = serving.get(&format!("/v1/models/{path}"), "");
        assert_eq!(reply.status, 200, "{path}: {reply:?}");
        assert_eq!((&reply.json()["id"], &reply.json()["object"]), (&json!(id), &json!("model")));
    }
    let missing = (404, "model_not_found".to_owned(), "model".to_owned());
    for path in ["gpt-4o", "pikerag/none", "pikerag@none"] {
        assert_eq!(error(&serving.get(&format!("/v1/models/{path}"), "")), missing, "{path}");
        assert_eq!(error(&ask(&serving, &json!({"model": path}))), missing, "{path}");
    }
    // Replies repeat the name, so it has a limit.
    let long = format!("pikerag{}", "/".repeat(10_000));
    let reply = ask(&serving, &json!({"model": long}));
    assert_eq!(error(&reply), missing);
    assert!(reply.text.len() < 1000, "{}", reply.text.len());
}

#[test]
fn a_conversation_that_is_too_long_is_refused_before_its_schema_is_read() {
    let place = place();
    let serving = place.serve(&["--offline"]);
    let system = format!("match the following json_schema {}", "{\"a\": 1} ".repeat(100_000));
    let messages = json!([
        {"role": "system", "content": system}, {"role": "user", "content": QUESTION},
    ]);
    let too_long = (413, "context_length_exceeded".to_owned(), String::new());
    let format = json!({"type": "json_object"});
    let more = json!({"messages": messages, "response_format": format});
    assert_eq!(error(&ask(&serving, &more)), too_long);
}

#[test]
fn errors_have_the_format_of_their_protocol() {
    let place = place();
    let key = place.key("ada", &["--scope", "read"]);
    let rare = place.key("bo", &["--per-minute", "1"]);
    let serving = place.serve(&["--offline"]);
    let code = |reply: &Reply| {
        let (status, code, _) = error(reply);
        (status, code)
    };
    let is = |status: u16, code: &str| (status, code.to_owned());
    let bearer = format!("Bearer {key}");
    let known = ("Authorization", bearer.as_str());
    let typed = ("Content-Type", "application/json");

    let nobody = serving.request("GET", "/v1/models", &[], b"");
    assert_eq!(code(&nobody), is(401, "invalid_api_key"));
    assert!(nobody.head.contains("www-authenticate"), "{nobody:?}");
    assert_eq!(code(&serving.get("/v1/models", "wrong")), is(401, "invalid_api_key"));
    assert_eq!(code(&serving.get("/v1/nothing", &key)), is(404, "no-such-route"));
    let legacy = serving.post("/v1/completions", &key, &json!({"model": "pikerag", "prompt": "x"}));
    assert_eq!(code(&legacy), is(404, "no-such-route"));
    assert!(legacy.text.contains("/v1/chat/completions"), "{legacy:?}");
    let malformed = serving.request("POST", CHAT, &[known, typed], b"{\"model\": ");
    assert_eq!(code(&malformed), is(400, "bad-request"));
    let untyped = serving.request("POST", CHAT, &[known], b"{}");
    assert_eq!(code(&untyped), is(415, "no-json"));
    let large = serving.request("POST", CHAT, &[known, typed], &vec![b'x'; 5 << 20]);
    assert_eq!(code(&large), is(413, "too-large"));
    assert_eq!(error(&serving.get(CHAT, &key)).0, 405);
    assert_eq!(serving.get("/v1/models", &rare).status, 200);
    let often = serving.get("/v1/models", &rare);
    assert_eq!(code(&often), is(429, "rate_limit_exceeded"));
    assert!(often.head.contains("retry-after"), "{often:?}");

    let of_ollama = serving.get("/api/tags", "wrong");
    assert!(of_ollama.status == 401 && of_ollama.json()["error"].is_string(), "{of_ollama:?}");
    let find = json!({"knowledge_id": "none", "query": "crane"});
    let of_dify = |reply: Reply| reply.json()["error_code"].clone();
    let nobody = serving.request("POST", "/retrieval", &[typed], find.to_string().as_bytes());
    assert_eq!(of_dify(nobody), 1001);
    assert_eq!(of_dify(serving.post("/retrieval", "wrong", &find)), 1002);
    assert_eq!(of_dify(serving.post("/retrieval", &key, &find)), 2001);
    assert_eq!(of_dify(serving.post("/retrieval", &key, &json!({}))), 1000);
    // Our own routes keep their problems.
    assert_eq!(serving.get("/api/v1/bases", "wrong").json()["code"], "wrong-key");
}
