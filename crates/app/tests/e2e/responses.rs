//! Tests OpenAI's Responses API: replies, streams, conversations, refused requests.
//! (`bench/clients.py` tries OpenAI's packages.)

use std::time::Duration;

use pikerag_test_support::{Faults, OracleReply, Server, oracle};
use serde_json::{Value, json};

use crate::common::Place;
use crate::serve::{place, with_papers};
use crate::serving::Serving;

const PATH: &str = "/v1/responses";
const QUESTION: &str = "What does the crane of Hamburg lift?";

fn respond(serving: &Serving, more: &Value) -> Value {
    let mut body = json!({"model": "pikerag"});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let reply = serving.post(PATH, "", &body);
    assert_eq!(reply.status, 200, "{more}: {reply:?}");
    reply.json()
}

/// The data of each event, which bears the event's name and is numbered in order.
fn streamed(serving: &Serving, more: &Value) -> Vec<Value> {
    let mut body = json!({"model": "pikerag", "stream": true});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let reply = serving.post(PATH, "", &body);
    assert!(reply.head.contains("content-type: text/event-stream"), "{reply:?}");
    let events = reply.events().into_iter().enumerate().map(|(number, (name, data))| {
        let data: Value = serde_json::from_str(&data).unwrap();
        assert_eq!((&data["type"], &data["sequence_number"]), (&json!(name), &json!(number)));
        data
    });
    events.collect()
}

/// The text of the only message of a response, and its annotations.
fn answer_of(response: &Value) -> (String, Vec<Value>) {
    let output = response["output"].as_array().unwrap();
    let message = output.iter().find(|item| item["type"] == "message").unwrap();
    let part = &message["content"][0];
    (part["text"].as_str().unwrap().to_owned(), part["annotations"].as_array().unwrap().clone())
}

#[test]
fn a_response_has_the_answer_its_citations_and_its_steps() {
    let papers = place();
    let serving = papers.serve(&["--offline"]);
    let response = respond(&serving, &json!({"input": QUESTION, "metadata": {"from": "test"}}));
    assert_eq!(
        (&response["object"], &response["status"], &response["store"]),
        (&json!("response"), &json!("completed"), &json!(false))
    );
    assert_eq!(response["metadata"], json!({"from": "test"}));
    assert!(response["usage"]["total_tokens"].is_u64(), "{response}");
    let (text, annotations) = answer_of(&response);
    assert!(text.starts_with("Found:\n\n"), "{text}");
    assert!(text.contains("The crane of Hamburg lifts forty tons. [1]"), "{text}");
    for (number, annotation) in (1..).zip(&annotations) {
        let place = |name: &str| usize::try_from(annotation[name].as_u64().unwrap()).unwrap();
        let (begins, ends) = (place("start_index"), place("end_index"));
        let mark: String = text.chars().skip(begins).take(ends - begins).collect();
        assert_eq!((mark, &annotation["type"]), (format!("[{number}]"), &json!("url_citation")));
        assert!(annotation["url"].as_str().unwrap().starts_with("http"), "{annotation}");
        assert!(annotation["title"].is_string(), "{annotation}");
    }
    assert!(!annotations.is_empty());
    let steps = &response["output"][0];
    assert_eq!(steps["type"], "reasoning");
    assert!(steps["summary"][0]["text"].as_str().unwrap().contains("factual"), "{steps}");
    // The answer is cut to the wanted length.
    let short = respond(&serving, &json!({"input": QUESTION, "max_output_tokens": 4}));
    assert_eq!(
        (&short["status"], &short["incomplete_details"]["reason"]),
        (&json!("incomplete"), &json!("max_output_tokens"))
    );
    assert!(answer_of(&short).0.len() < text.len(), "{short}");
    // A filter leaves out the document that answers.
    let shut = json!({"input": QUESTION, "filters": ["folder=shut"]});
    assert!(!answer_of(&respond(&serving, &shut)).0.contains("forty tons"));
}

#[test]
fn a_stream_of_a_response_has_its_events_in_order() {
    let papers = place();
    let serving = papers.serve(&["--offline"]);
    let events = streamed(&serving, &json!({"input": QUESTION}));
    let mut kinds: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    // Steps and citations come once or several times.
    kinds.dedup();
    let wanted = [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.reasoning_summary_part.added",
        "response.reasoning_summary_text.delta",
        "response.reasoning_summary_text.done",
        "response.reasoning_summary_part.done",
        "response.output_item.done",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.annotation.added",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ];
    assert_eq!(kinds, wanted);
    let joined = |kind: &str| -> String {
        let deltas = events.iter().filter(|event| event["type"] == kind);
        deltas.map(|event| event["delta"].as_str().unwrap()).collect()
    };
    let response = &events.last().unwrap()["response"];
    let (text, annotations) = answer_of(response);
    assert_eq!(joined("response.output_text.delta"), text);
    let steps = &response["output"][0]["summary"][0]["text"];
    assert_eq!(joined("response.reasoning_summary_text.delta"), steps.as_str().unwrap());
    let added = events.iter().filter(|event| event["type"] == kinds[11]);
    let added: Vec<Value> = added.map(|event| event["annotation"].clone()).collect();
    assert_eq!(added, annotations);
    let whole = respond(&serving, &json!({"input": QUESTION}));
    assert_eq!(answer_of(&whole), (text, annotations));
    assert_eq!(&whole["output"][0]["summary"][0]["text"], steps);
}

/// A model that rewrites a follow-up if its prompt shows the first question with an answer.
fn rewriting(prompt: &str) -> OracleReply {
    let turns = ["# Last message", "Person: What does the crane of Hamburg lift?", "Answer: "];
    match turns.iter().all(|turn| prompt.contains(turn)) {
        true => OracleReply { kind: "rewrite", text: "Who built the crane of Hamburg?".to_owned() },
        false => oracle(prompt),
    }
}

#[test]
fn a_conversation_goes_on_in_each_form() {
    let stub = Server::start(rewriting, Faults::default(), Duration::from_millis(1));
    let place = Place::new().set("OPENAI_BASE_URL", &stub.url()).set("OPENAI_MODEL", "stub");
    let papers = with_papers(place);
    let serving = papers.serve(&[]);
    let model = "pikerag/naive-rag";
    let first = respond(&serving, &json!({"model": model, "input": QUESTION}));
    let output = first["output"].as_array().unwrap();
    let message = output.last().unwrap();
    let user = |text: &str| json!({"role": "user", "content": text});
    let follow_up = "Who built it?";
    let by_text = json!([user(QUESTION), message, user(follow_up)]);
    let items = [vec![user(QUESTION)], output.clone(), vec![user(follow_up)]].concat();
    let reference = json!({"type": "item_reference", "id": message["id"]});
    let steps = json!({"type": "item_reference", "id": "rs_any"});
    let call = json!({"type": "item_reference", "id": "fc_any"});
    let by_reference = json!([user(QUESTION), steps, call, reference, user(follow_up)]);
    let parts = json!([{"type": "input_text", "text": follow_up}]);
    let by_response = json!([{"type": "message", "role": "user", "content": parts}]);
    for mut more in [
        json!({"input": by_text}),
        json!({"input": items, "instructions": "Be short."}),
        json!({"input": by_reference}),
        json!({"input": by_response, "previous_response_id": first["id"]}),
    ] {
        more["model"] = json!(model);
        let response = respond(&serving, &more);
        let run = response["id"].as_str().unwrap().strip_prefix("resp_").unwrap().to_owned();
        let run = serving.get(&format!("/api/v1/bases/default/runs/{run}"), "").json();
        assert_eq!(run["question"]["text"], "Who built the crane of Hamburg?", "{more}");
    }
    for (mut body, param) in [
        (json!({"previous_response_id": "resp_none", "input": "q"}), "previous_response_id"),
        (json!({"previous_response_id": "resp_last", "input": "q"}), "previous_response_id"),
        (
            json!({"input": [{"type": "item_reference", "id": "msg_none"}, user("q")]}),
            "input[0].id",
        ),
    ] {
        body["model"] = json!(model);
        let refused = serving.post(PATH, "", &body);
        assert_eq!((refused.status, &refused.json()["error"]["param"]), (400, &json!(param)));
    }
}

/// A schema is filled from the checked answer, as an object or as the arguments of a function.
#[test]
fn an_object_is_filled_from_the_answer() {
    let papers = place();
    let serving = papers.serve(&["--offline"]);
    let form = json!({
        "type": "object", "properties": {"load": {"type": "string"}}, "required": ["load"],
        "additionalProperties": false,
    });
    let format = json!({"type": "json_schema", "name": "Crane", "strict": true, "schema": form});
    let wanted = json!({"input": QUESTION, "text": {"format": format}});
    let (text, annotations) = answer_of(&respond(&serving, &wanted));
    let object: Value = serde_json::from_str(&text).unwrap();
    assert!(object["load"].as_str().unwrap().contains("forty tons"), "{object}");
    assert_eq!(annotations[0]["start_index"], 0);
    let events = streamed(&serving, &wanted);
    assert_eq!(answer_of(&events.last().unwrap()["response"]).0, text);
    // No document mentions it, and the schema allows no null.
    let unknown = json!({"input": "What does the crane P-107 lift?", "text": {"format": format}});
    let refused = respond(&serving, &unknown);
    let part = &refused["output"].as_array().unwrap().last().unwrap()["content"][0];
    assert_eq!(part["type"], "refusal");
    assert!(part["refusal"].as_str().unwrap().contains("P-107"), "{part}");
    let tools = json!([{"type": "function", "name": "Crane", "parameters": form}]);
    let demanded = json!({
        "input": QUESTION, "tools": tools, "tool_choice": {"type": "function", "name": "Crane"},
    });
    let response = respond(&serving, &demanded);
    let call = response["output"].as_array().unwrap().last().unwrap();
    assert_eq!((&call["type"], &call["name"]), (&json!("function_call"), &json!("Crane")));
    let arguments: Value = serde_json::from_str(call["arguments"].as_str().unwrap()).unwrap();
    assert!(arguments["load"].as_str().unwrap().contains("forty tons"), "{call}");
    let events = streamed(&serving, &demanded);
    let kind = "response.function_call_arguments.done";
    let done = events.iter().find(|event| event["type"] == kind).unwrap();
    assert_eq!((&done["name"], &done["arguments"]), (&call["name"], &call["arguments"]));
    // The output of the function does not change the question that comes next.
    let output =
        json!({"type": "function_call_output", "call_id": call["call_id"], "output": "ok"});
    let next = json!({"input": [{"role": "user", "content": QUESTION}, call, output]});
    assert!(answer_of(&respond(&serving, &next)).0.contains("forty tons"));
    let mut two = form.clone();
    two["properties"]["port"] = json!({"type": "string"});
    let format = json!({"type": "json_schema", "name": "Crane", "schema": two});
    let body = json!({"model": "pikerag", "input": QUESTION, "text": {"format": format}});
    let refused = serving.post(PATH, "", &body);
    assert_eq!((refused.status, &refused.json()["error"]["param"]), (400, &json!("text.format")));
}

#[test]
fn a_background_task_runs_no_method() {
    let papers = place();
    let serving = papers.serve(&["--offline"]);
    let task = "### Task:\nGenerate 1-3 broad tags.\n<chat_history>\nUSER: x\n</chat_history>";
    let whole = respond(&serving, &json!({"input": task}));
    assert_eq!(answer_of(&whole).0, "{\"tags\": []}");
    let events = streamed(&serving, &json!({"input": task}));
    assert_eq!(events.last().unwrap()["type"], "response.completed");
    assert_eq!(answer_of(&events.last().unwrap()["response"]).0, "{\"tags\": []}");
    let runs = serving.get("/api/v1/bases/default/runs", "").json();
    assert_eq!(runs, json!([]));
}

/// Refusals have OpenAI's format and name the parameter, in streams too.
#[test]
fn requests_that_cannot_be_honoured_are_refused() {
    let papers = place();
    let serving = papers.serve(&["--offline"]);
    for (more, code, param) in [
        (json!({"surprise": 1}), "unknown_parameter", "surprise"),
        (json!({"background": true}), "unsupported_value", "background"),
        (json!({"conversation": "conv_1"}), "unsupported_value", "conversation"),
        (json!({"tool_choice": "required"}), "unsupported_value", "tool_choice"),
        (json!({"text": {"format": {"type": "xml"}}}), "unsupported_value", "text.format"),
        (
            json!({"input": [{"role": "user", "content": [{"type": "input_image"}]}]}),
            "unsupported_value",
            "input[0].content[0].type",
        ),
    ] {
        for stream in [false, true] {
            let mut body = json!({"model": "pikerag", "input": QUESTION, "stream": stream});
            body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let refused = serving.post(PATH, "", &body);
            let error = &refused.json()["error"];
            assert_eq!(refused.status, 400, "{body}: {refused:?}");
            assert_eq!((&error["code"], &error["param"]), (&json!(code), &json!(param)), "{body}");
            assert_eq!(error["type"], "invalid_request_error");
        }
    }
    let model = serving.post(PATH, "", &json!({"model": "gpt-4o", "input": QUESTION}));
    assert_eq!((model.status, &model.json()["error"]["param"]), (404, &json!("model")));
    let malformed = serving.request("POST", PATH, &[("Content-Type", "application/json")], b"{");
    assert!(malformed.status == 400 && malformed.json()["error"]["message"].is_string());
    for (method, path) in [
        ("GET", "/v1/responses/resp_abc"),
        ("DELETE", "/v1/responses/resp_abc"),
        ("POST", "/v1/responses/resp_abc/cancel"),
        ("GET", "/v1/responses/resp_abc/input_items"),
    ] {
        let absent = serving.request(method, path, &[], b"");
        assert_eq!(absent.status, 404, "{method} {path}");
        let message = absent.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains("stores no responses"), "{message}");
        assert!(message.contains("/runs/abc"), "{message}");
    }
}
