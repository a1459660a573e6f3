//! Tests that clients of Ollama get the replies that its documentation defines.

use serde_json::{Value, json};

use crate::common::{Place, good_stub};
use crate::serve::place;
use crate::serving::{Reply, Serving};

const QUESTION: &str = "What does the crane of Hamburg lift?";

/// Sends a body without naming its content type, as some clients do.
fn send(serving: &Serving, method: &str, path: &str, body: &Value) -> Reply {
    serving.request(method, path, &[], body.to_string().as_bytes())
}

fn post(serving: &Serving, path: &str, body: &Value) -> Reply {
    send(serving, "POST", path, body)
}

fn lines(reply: &Reply) -> Vec<Value> {
    assert_eq!(reply.status, 200, "{reply:?}");
    assert!(reply.head.contains("content-type: application/x-ndjson"), "{reply:?}");
    reply.text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The status and the text of an error in the format of this protocol.
fn error(reply: &Reply) -> (u16, String) {
    let body = reply.json();
    assert_eq!(body.as_object().unwrap().len(), 1, "{reply:?}");
    (reply.status, body["error"].as_str().unwrap().to_owned())
}

/// The parts of a text that are lines of a chat.
fn joined(lines: &[Value], field: &str) -> String {
    lines.iter().filter_map(|line| line["message"][field].as_str()).collect()
}

#[test]
fn models_are_listed_described_and_available() {
    let place = place();
    let serving = place.serve(&["--offline"]);
    assert!(serving.get("/api/version", "").json()["version"].is_string());
    let listed = serving.get("/api/tags", "").json();
    let models = listed["models"].as_array().unwrap();
    for model in models {
        for field in ["name", "model", "modified_at", "digest"] {
            assert!(model[field].is_string(), "{field}: {model}");
        }
        assert!(model["size"].is_u64() && model["details"].is_object(), "{model}");
    }
    let digests: std::collections::BTreeSet<&str> =
        models.iter().map(|model| model["digest"].as_str().unwrap()).collect();
    assert_eq!(digests.len(), models.len());
    for name in ["model", "name"] {
        let shown = post(&serving, "/api/show", &json!({name: "pikerag/kar3:latest"})).json();
        assert_eq!(shown["capabilities"], json!(["completion", "thinking"]), "{shown}");
        assert!(shown["details"].is_object() && shown["template"].is_string(), "{shown}");
        let length = &shown["model_info"]["pikerag.context_length"];
        assert!(length.as_u64().is_some_and(|length| 4096 < length), "{shown}");
    }
    let pulled = post(&serving, "/api/pull", &json!({"model": "pikerag"}));
    assert_eq!(lines(&pulled).last().unwrap()["status"], "success");
    let pulled = post(&serving, "/api/pull", &json!({"model": "pikerag", "stream": false}));
    assert_eq!(pulled.json(), json!({"status": "success"}));
    for path in ["/api/show", "/api/pull", "/api/chat", "/api/generate", "/api/embed"] {
        let (status, text) = error(&post(&serving, path, &json!({"model": "llama3"})));
        assert_eq!(status, 404, "{path}: {text}");
        assert!(text.contains("`llama3`"), "{path}: {text}");
    }
    assert_eq!(error(&post(&serving, "/api/show", &json!({}))).0, 400);
    for (method, path) in [
        ("POST", "/api/create"),
        ("POST", "/api/copy"),
        ("DELETE", "/api/delete"),
        ("POST", "/api/push"),
        ("POST", "/api/blobs/sha256:0"),
    ] {
        let (status, text) = error(&send(&serving, method, path, &json!({"model": "pikerag"})));
        assert!(status == 400 && text.contains("models cannot be"), "{path}: {status} {text}");
    }
}

#[test]
fn an_answer_links_its_sources_whole_and_line_by_line() {
    let place = place();
    let serving = place.serve(&["--offline"]);
    let messages = json!([{"role": "user", "content": QUESTION}]);
    let chat = |more: Value| {
        let mut body = json!({"model": "pikerag:latest", "messages": messages});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        post(&serving, "/api/chat", &body)
    };
    let streamed = lines(&chat(json!({})));
    let (last, parts) = streamed.split_last().unwrap();
    assert_eq!((&last["done"], &last["done_reason"]), (&json!(true), &json!("stop")));
    assert!(parts.iter().all(|part| part["done"] == false), "{parts:?}");
    for field in ["total_duration", "load_duration", "prompt_eval_count", "eval_duration"] {
        assert!(last[field].is_u64(), "{field}: {last}");
    }
    let text = joined(&streamed, "content");
    assert!(text.contains("forty tons"), "{text}");
    let link = format!("](http://{}/passages/default/", serving.address);
    let (_, sources) = text.split_once("\n\nSources:\n\n- [1] [Crane").unwrap();
    assert!(sources.contains(&link), "{text}");
    // Steps come before the answer.
    assert!(joined(&streamed, "thinking").contains("factual"), "{streamed:?}");
    assert!(parts[0]["message"]["thinking"].is_string(), "{parts:?}");

    let silent = lines(&chat(json!({"think": false})));
    assert_eq!(
        (joined(&silent, "content"), joined(&silent, "thinking")),
        (text.clone(), String::new())
    );
    assert!(2 < silent.len(), "each step is an empty part: {silent:?}");
    let whole = chat(json!({"stream": false})).json();
    assert_eq!((&whole["message"]["content"], &whole["done"]), (&json!(text), &json!(true)));
    assert!(whole["message"].get("thinking").is_none(), "{whole}");
    let thinking = chat(json!({"stream": false, "think": true})).json();
    assert!(thinking["message"]["thinking"].as_str().unwrap().contains("factual"), "{thinking}");

    let prompt =
        json!({"model": "pikerag", "prompt": QUESTION, "system": "Be brief.", "stream": false});
    let generated = post(&serving, "/api/generate", &prompt).json();
    assert_eq!((&generated["response"], &generated["done_reason"]), (&json!(text), &json!("stop")));
    let streamed =
        lines(&post(&serving, "/api/generate", &json!({"model": "pikerag", "prompt": QUESTION})));
    let all: String = streamed.iter().filter_map(|line| line["response"].as_str()).collect();
    assert_eq!(all, text);
    assert!(streamed.iter().any(|line| line["thinking"].is_string()), "{streamed:?}");
}

#[test]
fn a_request_without_a_question_loads_the_model() {
    let place = place();
    let serving = place.serve(&["--offline"]);
    let runs = || serving.get("/api/v1/bases/default/runs", "").json().as_array().unwrap().len();
    let before = runs();
    for (path, more, reason) in [
        ("/api/chat", json!({}), "load"),
        ("/api/chat", json!({"messages": [], "keep_alive": 0}), "unload"),
        ("/api/generate", json!({}), "load"),
        ("/api/generate", json!({"prompt": "", "keep_alive": "0s"}), "unload"),
    ] {
        let mut body = json!({"model": "pikerag"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let reply = post(&serving, path, &body).json();
        assert_eq!(
            (&reply["done"], &reply["done_reason"]),
            (&json!(true), &json!(reason)),
            "{path}"
        );
    }
    assert_eq!(runs(), before);
}

#[test]
fn fields_of_ollama_are_honoured_or_refused() {
    let place = place();
    let serving = place.serve(&["--offline"]);
    let ask = |more: Value| {
        let mut body = json!({"model": "pikerag", "prompt": QUESTION, "stream": false});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        post(&serving, "/api/generate", &body)
    };
    let accepted = json!({
        "keep_alive": "5m", "raw": true, "format": "", "images": [], "suffix": "", "context": [],
        "options": {"temperature": 0.2, "num_ctx": 4096, "seed": 1, "stop": []},
    });
    assert_eq!(ask(accepted).json()["done_reason"], "stop");
    let cut = ask(json!({"options": {"num_predict": 4}})).json();
    assert_eq!(cut["done_reason"], "length", "{cut}");
    let whole = ask(json!({})).json()["response"].as_str().unwrap().to_owned();
    for stop in ["forty", "Sources:", "]("] {
        let reply = ask(json!({"options": {"stop": ["no such text", stop]}})).json();
        let before = whole.split(stop).next().unwrap();
        assert!(before.len() < whole.len(), "{stop}: {whole}");
        assert_eq!((&reply["response"], &reply["done_reason"]), (&json!(before), &json!("stop")));
        let body = json!({"model": "pikerag", "prompt": QUESTION, "options": {"stop": [stop]}});
        let streamed = lines(&post(&serving, "/api/generate", &body));
        let parts = streamed.iter().filter_map(|line| line["response"].as_str());
        assert_eq!(parts.collect::<String>(), before, "{stop}");
    }
    for (more, named) in [
        (json!({"format": "yaml"}), "`format`"),
        (json!({"suffix": "}"}), "`suffix`"),
        (json!({"images": ["aGk="]}), "`images`"),
        (json!({"options": {"stop": [1]}}), "`options.stop`"),
        (json!({"think": "much"}), "`think`"),
        (json!({"surprise": 1}), "`surprise`"),
    ] {
        let (status, text) = error(&ask(more.clone()));
        assert!(status == 400 && text.contains(named), "{more}: {status} {text}");
    }
    let picture = json!({"model": "pikerag", "messages": [
        {"role": "user", "content": QUESTION, "images": ["aGk="]}
    ]});
    assert!(error(&post(&serving, "/api/chat", &picture)).1.contains("`images`"));
    let broken = serving.request("POST", "/api/chat", &[], b"{");
    assert_eq!(error(&broken).0, 400);
}

/// A schema with one field.
fn form(field: &str, kind: &Value) -> Value {
    json!({"type": "object", "properties": {field: {"type": kind}}, "required": [field]})
}

fn filled(text: &Value) -> Value {
    serde_json::from_str(text.as_str().unwrap()).unwrap()
}

#[test]
fn a_format_is_filled_from_the_answer_whole_and_line_by_line() {
    let place = place();
    let serving = place.serve(&["--offline"]);
    let chat = |format: &Value, stream: bool| {
        let messages = json!([{"role": "user", "content": QUESTION}]);
        // An object is not cut.
        let options = json!({"num_predict": 2});
        let body = json!({
            "model": "pikerag", "messages": messages, "format": format, "stream": stream, "options": options,
        });
        post(&serving, "/api/chat", &body)
    };
    let any = filled(&chat(&json!("json"), false).json()["message"]["content"]);
    assert!(any["answer"].as_str().unwrap().contains("forty tons"), "{any}");
    assert!(any["citations"][0]["quote"].as_str().unwrap().contains("forty tons"), "{any}");
    let load = form("load", &json!("string"));
    let whole = chat(&load, false).json();
    let text = whole["message"]["content"].clone();
    assert!(filled(&text)["load"].as_str().unwrap().contains("forty tons"), "{whole}");
    assert_eq!((&whole["done"], &whole["done_reason"]), (&json!(true), &json!("stop")));
    let streamed = lines(&chat(&load, true));
    let parts: Vec<&Value> = streamed
        .iter()
        .map(|line| &line["message"]["content"])
        .filter(|part| *part != "")
        .collect();
    assert_eq!(parts, [&text], "the object is one part: {streamed:?}");
    assert!(joined(&streamed, "thinking").contains("factual"), "{streamed:?}");
    assert_eq!(streamed.last().unwrap()["done_reason"], "stop");
    let prompt = json!({"model": "pikerag", "prompt": QUESTION, "format": load, "stream": false});
    assert_eq!(post(&serving, "/api/generate", &prompt).json()["response"], text);
}

#[test]
fn a_format_that_is_not_filled_gives_an_error_or_the_answer_in_words() {
    let place = place();
    let serving = place.serve(&["--offline"]);
    let ask = |question: &str, format: &Value, stream: bool| {
        let body =
            json!({"model": "pikerag", "prompt": question, "format": format, "stream": stream});
        post(&serving, "/api/generate", &body)
    };
    let runs = || serving.get("/api/v1/bases/default/runs", "").json().as_array().unwrap().len();
    let two = json!({
        "type": "object", "properties": {"load": {"type": "string"}, "port": {"type": "string"}},
        "required": ["load", "port"],
    });
    for (format, words) in
        [(two, "only a chat model"), (json!({"type": "array"}), "object"), (json!(5), "`format`")]
    {
        let (status, text) = error(&ask(QUESTION, &format, true));
        assert!(status == 400 && text.contains(words), "{format}: {status} {text}");
    }
    assert_eq!(runs(), 0, "no question was asked");
    // The passage is no number.
    let number = form("load", &json!("integer"));
    let (status, text) = error(&ask(QUESTION, &number, false));
    assert!(status == 422 && text.contains("forty tons"), "{status} {text}");
    let last = lines(&ask(QUESTION, &number, true)).pop().unwrap();
    assert!(last["error"].as_str().unwrap().contains("forty tons"), "{last}");
    let unknown = "What does the crane P-107 lift?";
    let nullable = form("load", &json!(["string", "null"]));
    assert_eq!(filled(&ask(unknown, &nullable, false).json()["response"]), json!({"load": null}));
    let refused = ask(unknown, &form("load", &json!("string")), false).json();
    assert!(refused["response"].as_str().unwrap().contains("P-107"), "{refused}");
    assert_eq!(refused["done_reason"], "stop");
}

#[test]
fn vectors_come_from_the_embedder_of_the_base() {
    let stub = good_stub();
    let place = Place::with(&stub);
    place.write("docs/crane.md", "# Crane\n\nThe crane of Hamburg lifts forty tons.\n");
    place.run_to(0, &["--base", "base", "index", "docs"]);
    let serving = place.serve(&[]);
    let embed = |more: Value| {
        let mut body = json!({"model": "pikerag"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        post(&serving, "/api/embed", &body)
    };
    let made = embed(json!({"input": ["a crane", "a port"], "truncate": true})).json();
    let vectors = made["embeddings"].as_array().unwrap();
    let dimension = vectors[0].as_array().unwrap().len();
    assert_eq!(vectors.len(), 2);
    assert!(made["total_duration"].is_u64() && made["prompt_eval_count"].is_u64(), "{made}");
    let one = embed(json!({"input": "a crane", "dimensions": dimension})).json();
    assert_eq!(one["embeddings"][0], vectors[0]);
    assert_eq!(embed(json!({"input": []})).json()["embeddings"], json!([]));
    for (more, named) in [
        (json!({"input": "a winch", "dimensions": 3}), "`dimensions`"),
        (json!({"input": "a crane", "truncate": false}), "`truncate`"),
        (json!({"input": [1, 2]}), "`input`"),
    ] {
        let (status, text) = error(&embed(more.clone()));
        assert!(status == 400 && text.contains(named), "{more}: {status} {text}");
    }
    assert!(!stub.embedded().contains(&"a winch".to_owned()), "{:?}", stub.embedded());
    let earlier =
        post(&serving, "/api/embeddings", &json!({"model": "pikerag", "prompt": "a crane"}));
    assert_eq!(earlier.json()["embedding"], vectors[0]);
}
