//! Tests the operator's view of the work: traces at a collector, a log with the identifiers of
//! runs, and an audit log. None of them contains a question.

use std::fmt::Write as _;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as AttributeValue;
use opentelemetry_proto::tonic::trace::v1::Span;
use pikerag_test_support::canned::{Canned, Server};
use prost::Message;
use serde_json::{Value, json};

use crate::common::{Place, good_stub};
use crate::serve::{place, with_papers};

/// A collector that takes all traces, and its address.
fn collector() -> (Server, String) {
    let server = Server::start(vec![Canned::Reply(200, "", String::new())]);
    let url = format!("http://{}", server.address);
    (server, url)
}

fn attribute(span: &Span, key: &str) -> Option<AttributeValue> {
    let found = span.attributes.iter().find(|attribute| attribute.key == key)?;
    found.value.clone()?.value
}

fn text(span: &Span, key: &str) -> String {
    match attribute(span, key) {
        Some(AttributeValue::StringValue(text)) => text,
        other => panic!("{key}: {other:?}"),
    }
}

fn number(span: &Span, key: &str) -> i64 {
    match attribute(span, key) {
        Some(AttributeValue::IntValue(number)) => number,
        other => panic!("{key}: {other:?}"),
    }
}

#[test]
fn a_collector_gets_the_traces_of_a_request_and_no_text() {
    let (stub, (collector, url)) = (good_stub(), collector());
    let place = with_papers(Place::with(&stub)).set("OTEL_EXPORTER_OTLP_ENDPOINT", &url);
    place.run_to(0, &["--base", "base", "index", "docs"]);
    let mut serving = place.serve(&[]);
    let question = "What does the crane of Hamburg lift?";
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let parent = format!("00-{trace}-00f067aa0ba902b7-01");
    let headers = [("Content-Type", "application/json"), ("traceparent", parent.as_str())];
    let body = json!({ "question": question, "method": "kar3" }).to_string();
    let reply = serving.request("POST", "/api/v1/bases/default/ask", &headers, body.as_bytes());
    assert_eq!(reply.status, 200, "{reply:?}");
    let run = reply.json()["run"].as_str().unwrap().to_owned();
    // The server sends the remaining spans when it ends.
    serving.signal(nix::sys::signal::Signal::SIGTERM);
    serving.child.wait().unwrap();
    let sent = collector.requests();
    assert!(sent.iter().all(|request| request.starts_with("POST /v1/traces ")), "{sent:?}");
    let mut spans: Vec<Span> = Vec::new();
    for body in collector.bytes() {
        let raw = String::from_utf8_lossy(&body);
        assert!(!raw.contains(question), "a trace contains the question");
        let request = ExportTraceServiceRequest::decode(body.as_slice()).unwrap();
        let resources = request.resource_spans.into_iter();
        spans.extend(resources.flat_map(|one| one.scope_spans).flat_map(|one| one.spans));
    }
    let spans: Vec<Span> = spans.into_iter().filter(|span| hex(&span.trace_id) == trace).collect();
    let named = |name: &str| -> Vec<&Span> {
        spans.iter().filter(|span| span.name.starts_with(name)).collect()
    };
    let request = named("POST /api/v1/bases/{base}/ask")[0];
    assert_eq!(hex(&request.parent_span_id), "00f067aa0ba902b7");
    assert_eq!(number(request, "http.response.status_code"), 200);
    let agent = named("invoke_agent kar3")[0];
    assert_eq!(agent.parent_span_id, request.span_id);
    assert_eq!(text(agent, "gen_ai.operation.name"), "invoke_agent");
    assert_eq!(
        (text(agent, "pikerag.run.id"), text(agent, "pikerag.run.state")),
        (run, "answered".to_owned())
    );
    let (chats, retrievals) = (named("chat stub"), named("retrieval"));
    assert!(
        !retrievals.is_empty()
            && retrievals.iter().all(|retrieval| retrieval.parent_span_id == agent.span_id)
    );
    assert_eq!(i64::try_from(chats.len()).unwrap(), number(agent, "pikerag.run.calls"));
    for chat in &chats {
        assert_eq!(chat.parent_span_id, agent.span_id);
        assert_eq!(
            (text(chat, "gen_ai.operation.name"), text(chat, "gen_ai.provider.name")),
            ("chat".to_owned(), "openai".to_owned())
        );
        assert_eq!(text(chat, "gen_ai.request.model"), "stub");
        let Some(AttributeValue::ArrayValue(reasons)) =
            attribute(chat, "gen_ai.response.finish_reasons")
        else {
            panic!("{chat:?}")
        };
        assert_eq!(reasons.values.len(), 1);
    }
    let sum = |key| chats.iter().map(|chat| number(chat, key)).sum::<i64>();
    for key in ["gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"] {
        assert_eq!(sum(key), number(agent, key), "{key}");
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[test]
fn offline_no_trace_is_sent() {
    let (collector, url) = collector();
    let place = place().set("OTEL_EXPORTER_OTLP_ENDPOINT", &url);
    place
        .run_to(0, &["--offline", "--base", "base", "ask", "What does the crane of Hamburg lift?"]);
    assert_eq!(collector.requests(), [""; 0]);
}

#[test]
fn an_absent_collector_is_a_warning() {
    let stub = good_stub();
    let place =
        with_papers(Place::with(&stub)).set("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1");
    let ran = place.run_to(0, &["--base", "base", "index", "docs"]);
    assert!(ran.stderr.contains("race"), "{}", ran.stderr);
}

#[test]
fn a_log_for_machines_names_the_run() {
    let place = place().set("PIKERAG_LOG_FORMAT", "json").set("PIKERAG_LOG", "info");
    let ran = place.run_to(
        0,
        &["--json", "--offline", "--base", "base", "ask", "What does the crane of Hamburg lift?"],
    );
    let run = ran.json()["run"].as_str().unwrap().to_owned();
    let lines: Vec<Value> = ran
        .stderr
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    let of_run = |line: &&Value| {
        line["spans"]
            .as_array()
            .is_some_and(|spans| spans.iter().any(|span| span["id"] == run.as_str()))
    };
    assert!(lines.iter().any(|line| of_run(&line)), "{}", ran.stderr);
    assert!(lines.iter().all(|line| line["timestamp"].is_string() && line["level"].is_string()));
}

#[test]
fn requests_are_on_the_audit_log() {
    let papers = place();
    papers.write("pikerag.toml", "[server]\naudit = \"audit.jsonl\"\n");
    let key = papers.key("law team", &[]);
    let serving = papers.serve(&["--offline"]);
    let secret = "What does the crane of Hamburg lift?";
    assert_eq!(
        serving.post("/api/v1/bases/default/search", &key, &json!({ "query": secret })).status,
        200
    );
    assert_eq!(serving.get("/api/v1/bases", "").status, 401);
    assert_eq!(serving.get("/health", "").status, 200);
    let log = papers.read("audit.jsonl");
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2, "{log}");
    assert_eq!(
        (lines[0]["method"].clone(), lines[0]["path"].clone(), lines[0]["status"].clone()),
        (json!("POST"), json!("/api/v1/bases/default/search"), json!(200))
    );
    assert!(
        lines[0]["time"].as_str().unwrap().ends_with('Z')
            && lines[0]["key"].as_str().unwrap() != "-"
    );
    assert_eq!((lines[1]["key"].clone(), lines[1]["status"].clone()), (json!("-"), json!(401)));
    assert!(!log.contains("crane") && !log.contains(&key));
    drop(serving);
    // A server whose audit log cannot be written does not start.
    papers.write("pikerag.toml", "[server]\naudit = \"no/such/audit.jsonl\"\n");
    let ran = papers.run_to(1, &["--base", "base", "--offline", "serve", "--port", "0"]);
    assert!(ran.stderr.contains("audit"), "{}", ran.stderr);
}
