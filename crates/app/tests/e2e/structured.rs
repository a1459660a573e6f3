//! Tests that JSON schemas and forced functions of OpenAI's clients are filled from the checked answer.

use pikerag_test_support::Server;
use serde_json::{Value, json};

use crate::common::{Place, good_stub};
use crate::limits::{counter, wait_until};
use crate::serve::place;
use crate::serving::{Reply, Serving};

const CHAT: &str = "/v1/chat/completions";
const QUESTION: &str = "What does the crane of Hamburg lift?";

fn ask(serving: &Serving, question: &str, more: &Value) -> Reply {
    let messages = json!([{"role": "user", "content": question}]);
    let mut body = json!({"model": "pikerag", "messages": messages});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    serving.post(CHAT, "", &body)
}

fn message(reply: &Reply) -> Value {
    assert_eq!(reply.status, 200, "{reply:?}");
    reply.json()["choices"][0]["message"].clone()
}

/// The object in the content.
fn object(reply: &Reply) -> Value {
    serde_json::from_str(message(reply)["content"].as_str().unwrap()).unwrap()
}

fn form(properties: &Value) -> Value {
    let names: Vec<&String> = properties.as_object().unwrap().keys().collect();
    json!({"type": "object", "properties": properties, "required": names, "additionalProperties": false})
}

fn schema(properties: &Value) -> Value {
    let form = form(properties);
    json!({"response_format": {"type": "json_schema", "json_schema": {"name": "Form", "strict": true, "schema": form}}})
}

fn questions(serving: &Serving) -> Vec<Value> {
    let runs = serving.get("/api/v1/bases/default/runs", "").json();
    runs.as_array().unwrap().iter().map(|run| run["question"]["text"].clone()).collect()
}

#[test]
fn without_a_model_simple_schemas_are_filled_and_others_are_refused_before_the_question() {
    let place = place();
    let serving = place.serve(&["--offline"]);
    let any =
        object(&ask(&serving, QUESTION, &json!({"response_format": {"type": "json_object"}})));
    assert!(any["answer"].as_str().unwrap().contains("forty tons"), "{any}");
    assert!(any["citations"][0]["quote"].as_str().unwrap().contains("forty tons"), "{any}");
    let texts = json!({"type": "array", "items": {"type": "string"}});
    let simple = schema(
        &json!({"load": {"type": "string"}, "citations": texts, "confidence": {"type": "number"}}),
    );
    let reply = ask(&serving, QUESTION, &simple);
    let filled = object(&reply);
    assert!(filled["load"].as_str().unwrap().contains("forty tons"), "{filled}");
    assert!(0.0 < filled["confidence"].as_f64().unwrap(), "{filled}");
    assert!(filled["citations"][0].as_str().unwrap().contains("forty tons"), "{filled}");
    let annotations = message(&reply)["annotations"].clone();
    assert_eq!(annotations[0]["url_citation"]["start_index"], 0, "{annotations}");
    let before = questions(&serving).len();
    let two = schema(&json!({"load": {"type": "string"}, "port": {"type": "string"}}));
    for (wrong, param) in [
        (two, "response_format"),
        (
            json!({"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "array"}}}}),
            "response_format",
        ),
        (json!({"tool_choice": {"type": "function", "function": {"name": "f"}}}), "tool_choice"),
    ] {
        let refused = ask(&serving, QUESTION, &wrong);
        assert_eq!(
            (refused.status, &refused.json()["error"]["param"]),
            (400, &json!(param)),
            "{refused:?}"
        );
    }
    assert_eq!(questions(&serving).len(), before, "no question was asked");
}

#[test]
fn an_answer_that_is_not_found_gives_nulls_or_a_refusal() {
    let place = place();
    let serving = place.serve(&["--offline"]);
    let unknown = "What does the crane P-107 lift?";
    let strict = message(&ask(&serving, unknown, &schema(&json!({"load": {"type": "string"}}))));
    assert_eq!(strict["content"], Value::Null);
    assert!(strict["refusal"].as_str().unwrap().contains("P-107"), "{strict}");
    let nullable = json!({"load": {"type": ["string", "null"]}});
    assert_eq!(object(&ask(&serving, unknown, &schema(&nullable))), json!({"load": null}));
}

#[test]
fn a_forced_function_is_called_with_the_answer() {
    let place = place();
    let serving = place.serve(&["--offline"]);
    let parameters = form(&json!({"load": {"type": "string"}}));
    let tools =
        json!([{"type": "function", "function": {"name": "Crane", "parameters": parameters}}]);
    let named =
        json!({"tools": tools, "tool_choice": {"type": "function", "function": {"name": "Crane"}}});
    let reply = ask(&serving, QUESTION, &named);
    let call = &message(&reply)["tool_calls"][0]["function"];
    let arguments: Value = serde_json::from_str(call["arguments"].as_str().unwrap()).unwrap();
    assert!(arguments["load"].as_str().unwrap().contains("forty tons"), "{call}");
    assert_eq!((&call["name"], &message(&reply)["content"]), (&json!("Crane"), &Value::Null));
    assert_eq!(reply.json()["choices"][0]["finish_reason"], "stop");
    let only = ask(&serving, QUESTION, &json!({"tools": tools, "tool_choice": "required"}));
    assert_eq!(only.json()["choices"][0]["finish_reason"], "tool_calls");
    // In a stream, the call comes as one delta.
    let streamed = ask(
        &serving,
        QUESTION,
        &json!({"tools": tools, "tool_choice": "required", "stream": true}),
    );
    let chunks: Vec<Value> =
        streamed.events().iter().filter_map(|(_, data)| serde_json::from_str(data).ok()).collect();
    let calls: Vec<&Value> = chunks
        .iter()
        .map(|chunk| &chunk["choices"][0]["delta"]["tool_calls"])
        .filter(|calls| calls.is_array())
        .collect();
    let [calls] = calls.as_slice() else { panic!("{chunks:?}") };
    assert_eq!(
        (&calls[0]["index"], &calls[0]["function"]["arguments"]),
        (&json!(0), &call["arguments"])
    );
}

/// A client that refuses the values appends them and its errors. The question stays the question.
#[test]
fn a_retry_asks_the_question_again_and_not_the_error() {
    let place = place();
    let serving = place.serve(&["--offline"]);
    let wanted = schema(&json!({"load": {"type": "string"}}));
    let first = ask(&serving, QUESTION, &wanted);
    let content = message(&first)["content"].clone();
    let errors = "Correct your JSON ONLY RESPONSE, based on the following errors:\n1 validation error for Form";
    let messages = json!([
        {"role": "user", "content": QUESTION}, {"role": "assistant", "content": content},
        {"role": "user", "content": errors},
    ]);
    let mut body = json!({"model": "pikerag", "messages": messages});
    body.as_object_mut().unwrap().extend(wanted.as_object().unwrap().clone());
    let again = serving.post(CHAT, "", &body);
    assert_eq!(message(&again)["content"], content);
    assert_eq!(questions(&serving), [json!(QUESTION), json!(QUESTION)]);
}

/// instructor describes the schema to models that have only JSON objects.
#[test]
fn a_schema_in_a_system_message_is_filled() {
    let place = place();
    let serving = place.serve(&["--offline"]);
    let form = form(&json!({"load": {"type": "string"}}));
    let words = format!(
        "Provide the parsed objects in json that match the following json_schema:\n\n{form}"
    );
    let question = format!(
        "{QUESTION}\n\nReturn the correct JSON response within a ```json codeblock. not the JSON_SCHEMA"
    );
    let messages =
        json!([{"role": "system", "content": words}, {"role": "user", "content": question}]);
    let reply = serving.post(CHAT, "", &json!({"model": "pikerag", "messages": messages}));
    assert!(object(&reply)["load"].as_str().unwrap().contains("forty tons"), "{reply:?}");
    assert_eq!(questions(&serving), [json!(QUESTION)]);
}

fn with_world(stub: &Server) -> (Place, String) {
    let place = Place::with(stub);
    place.write_workload();
    place.run_to(0, &["--base", "base", "index", "corpus.jsonl"]);
    let questions = place.read("questions.jsonl");
    let first: Value = serde_json::from_str(questions.lines().next().unwrap()).unwrap();
    (place, first["question"].as_str().unwrap().to_owned())
}

#[test]
fn a_model_fills_other_schemas_and_its_call_is_counted() {
    let stub = good_stub();
    let (place, question) = with_world(&stub);
    let serving = place.serve(&[]);
    let ask = |more: Value| {
        let messages = json!([{"role": "user", "content": question}]);
        let mut body = json!({"model": "pikerag/naive-rag", "messages": messages});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        serving.post(CHAT, "", &body)
    };
    let plain = ask(json!({}));
    let two = schema(
        &json!({"name": {"type": "string"}, "also": {"type": "string"}, "year": {"type": ["integer", "null"]}}),
    );
    let reply = ask(two);
    let filled = object(&reply);
    let name = filled["name"].as_str().unwrap();
    assert!(message(&plain)["content"].as_str().unwrap().starts_with(name), "{filled} {plain:?}");
    assert_eq!((&filled["also"], &filled["year"]), (&filled["name"], &Value::Null));
    let tokens = |reply: &Reply| reply.json()["usage"]["total_tokens"].as_u64().unwrap();
    assert!(tokens(&plain) < tokens(&reply), "{plain:?} {reply:?}");
    // The call is a part of the run and its bill, and a replay does without it.
    let runs = serving.get("/api/v1/bases/default/runs", "").json();
    let path = format!("/api/v1/bases/default/runs/{}", runs[0]["id"].as_str().unwrap());
    let run = serving.get(&path, "").json();
    let last = run["events"].as_array().unwrap().last().unwrap();
    assert_eq!(
        (&last["event"], &last["schema"], &last["is_filled"]),
        (&json!("filled"), &json!("Form"), &json!(true)),
        "{run}"
    );
    assert_eq!(last["calls"].as_array().unwrap().len(), 1, "{last}");
    let roles = run["cost"]["spent"]["by_role"].as_object().unwrap();
    let of_role = |role: &Value, name: &str| role[1][name].as_u64().unwrap();
    let used = roles
        .values()
        .map(|role| of_role(role, "prompt_tokens") + of_role(role, "completion_tokens"));
    assert_eq!(used.sum::<u64>(), tokens(&reply), "{run} {reply:?}");
    // The calls of the question were paid for its first time.
    assert_eq!(run["cost"]["paid"]["by_role"]["answer"][0], 1, "{run}");
    let replayed = serving.post(&format!("{path}/replay"), "", &json!({}));
    assert_eq!(replayed.status, 200, "{replayed:?}");
}

/// A client that reads nothing keeps its place only until the schema is filled or it leaves.
#[test]
fn filling_has_the_place_of_its_run() {
    let stub = good_stub();
    let (place, question) = with_world(&stub);
    let serving = place.serve(&[]);
    let messages = json!([{"role": "user", "content": question}]);
    let mut body = json!({"model": "pikerag/naive-rag", "messages": messages});
    let requests = || stub.received().requests();
    assert_eq!(serving.post(CHAT, "", &body).status, 200);
    let before = requests();
    assert_eq!(serving.post(CHAT, "", &body).status, 200);
    assert_eq!(requests(), before, "the calls of the question are recorded");
    stub.answer_only(before);
    let two = schema(&json!({"name": {"type": "string"}, "also": {"type": "string"}}));
    body.as_object_mut().unwrap().extend(two.as_object().unwrap().clone());
    body["stream"] = json!(true);
    let headers = [("Content-Type", "application/json")];
    let ask = || serving.send("POST", CHAT, &headers, body.to_string().as_bytes());
    let underway = || counter(&serving, "pikerag_runs_underway");
    let client = ask();
    wait_until("the schema is being filled", || before < requests());
    assert_eq!(underway(), 1);
    drop(client);
    wait_until("the place is free again", || underway() == 0);
    let _silent = ask();
    wait_until("the schema is being filled again", || before + 1 < requests());
    assert_eq!(underway(), 1);
    stub.answer_all();
    wait_until("the schema is filled", || underway() == 0);
}
