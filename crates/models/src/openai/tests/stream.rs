//! Tests replies that arrive piece by piece, and endpoints that send none.

use std::sync::Arc;

use pikerag_doubles::request;
use pikerag_knowledge::{ChatModel, ChatReply, ChatRequest, DraftFields, FinishReason, ModelError};
use pikerag_test_support::canned::{Canned, Server, error, events, ok};
use serde_json::json;
use tokio::sync::watch;

use super::super::{OpenAiChat, Transport};
use super::{completion, endpoint, shown, with_schema};
use crate::draft::{Draft, watched_by};

const DONE: &str = "[DONE]";

/// An event with a piece of the text.
fn piece(text: &str) -> String {
    json!({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": null}]})
        .to_string()
}

/// The events of a whole stream: role, text, end, usage.
fn stream() -> Vec<String> {
    let role = json!({"choices": [{"delta": {"role": "assistant", "content": null, "reasoning_content": "hm"}}]});
    let end = json!({"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": null});
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}});
    let text = [r#"{"answer": "O"#, "slo 中", r#"央"}"#].map(piece);
    let mut events = vec![role.to_string()];
    events.extend(text);
    events.extend([end.to_string(), usage.to_string(), DONE.to_owned()]);
    events
}

/// A reply with these events.
fn streamed(data: &[String]) -> Canned {
    events(&data.iter().map(String::as_str).collect::<Vec<_>>())
}

/// A draft, and the receiver of its changes.
fn draft() -> (Arc<Draft>, watch::Receiver<u64>) {
    let (changes, received) = watch::channel(0);
    let fields = DraftFields { answer: "answer", only_if: None, reasons: None };
    (Arc::new(Draft::new(fields, Arc::new(changes))), received)
}

/// The outcome of one watched call, and its draft.
async fn watch_one(
    server: &Server,
    asked: &ChatRequest,
) -> (Result<ChatReply, ModelError>, Option<String>) {
    let chat = OpenAiChat::new(endpoint(server), &Transport::default()).unwrap();
    let (draft, _changes) = draft();
    let reply = watched_by(Arc::clone(&draft), chat.complete(asked)).await;
    (reply, draft.text().map(|draft| draft.text))
}

/// The error of one watched call that gets this reply.
async fn failure(reply: Canned) -> String {
    let server = Server::start(vec![reply]);
    let port = server.base_url.rsplit(':').next().unwrap().trim_end_matches("/v1");
    let (outcome, _) = watch_one(&server, &request("Why?")).await;
    shown(&outcome.unwrap_err()).replace(port, "PORT")
}

fn assert_whole((reply, draft): (Result<ChatReply, ModelError>, Option<String>)) {
    let reply = reply.unwrap();
    assert_eq!(reply.text, r#"{"answer": "Oslo 中央"}"#);
    assert_eq!((reply.usage.prompt_tokens, reply.usage.completion_tokens), (7, 3));
    assert_eq!(reply.finish, Some(FinishReason::Stop));
    assert_eq!(draft.as_deref(), Some("Oslo 中央"));
}

#[tokio::test]
async fn a_watched_reply_is_asked_for_as_a_stream_and_assembled() {
    let server = Server::start(vec![streamed(&stream())]);
    assert_whole(watch_one(&server, &with_schema()).await);
    insta::assert_snapshot!(server.bodies(), @r#"
    {"model":"gpt","messages":[{"role":"user","content":"Why?"}],"temperature":0.7,"max_tokens":256,"response_format":{"type":"json_schema","json_schema":{"name":"reply","schema":{"type":"object","additionalProperties":false,"properties":{}},"strict":true}},"stream":true,"stream_options":{"include_usage":true}}
    "#);
}

#[tokio::test]
async fn a_stream_may_come_in_single_bytes_with_comments_between() {
    let events: Vec<String> =
        stream().iter().map(|data| format!(": keep-alive\r\n\r\ndata:{data}\r\n\r\n")).collect();
    let whole = events.concat();
    // Characters of several bytes are cut by the transport, too.
    let single = whole.chars().map(String::from).collect();
    let server = Server::start(vec![Canned::Events(single)]);
    assert_whole(watch_one(&server, &request("Why?")).await);
}

#[tokio::test]
async fn a_call_that_nobody_watches_or_that_settings_exclude_is_not_streamed() {
    let server = Server::start(vec![completion("because")]);
    let chat = OpenAiChat::new(endpoint(&server), &Transport::default()).unwrap();
    chat.complete(&request("Why?")).await.unwrap();
    let mut without = endpoint(&server);
    without.stream = false;
    let chat = OpenAiChat::new(without, &Transport::default()).unwrap();
    watched_by(draft().0, chat.complete(&request("Why?"))).await.unwrap();
    assert!(!server.bodies().contains("stream"), "{}", server.bodies());
}

#[tokio::test]
async fn an_endpoint_may_ignore_that_a_stream_is_asked_for() {
    let server = Server::start(vec![completion(r#"{"answer": "Oslo"}"#)]);
    let (reply, draft) = watch_one(&server, &request("Why?")).await;
    assert_eq!(reply.unwrap().text, r#"{"answer": "Oslo"}"#);
    assert_eq!(draft, None);
    assert!(server.bodies().contains(r#""stream":true"#));
}

#[tokio::test]
async fn refused_fields_are_left_out_and_remembered() {
    let no = |message: &str| error(400, &json!({"error": {"message": message}}).to_string());
    let server = Server::start(vec![
        no("Unrecognized request argument supplied: stream_options"),
        no("Streaming is not supported for this model."),
        completion("fine"),
    ]);
    let chat = OpenAiChat::new(endpoint(&server), &Transport::default()).unwrap();
    for _ in 0..2 {
        let reply = watched_by(draft().0, chat.complete(&request("Why?"))).await.unwrap();
        assert_eq!(reply.text, "fine");
    }
    insta::assert_snapshot!(server.bodies(), @r#"
    {"model":"gpt","messages":[{"role":"user","content":"Why?"}],"temperature":0.0,"max_tokens":256,"stream":true,"stream_options":{"include_usage":true}}
    {"model":"gpt","messages":[{"role":"user","content":"Why?"}],"temperature":0.0,"max_tokens":256,"stream":true}
    {"model":"gpt","messages":[{"role":"user","content":"Why?"}],"temperature":0.0,"max_tokens":256}
    {"model":"gpt","messages":[{"role":"user","content":"Why?"}],"temperature":0.0,"max_tokens":256}
    "#);
}

/// A filter that repeats the request names its fields without refusing them.
#[tokio::test]
async fn a_repeated_request_is_no_refusal_of_its_fields() {
    let message = r#"filtered: {"stream":true,"stream_options":{"include_usage":true}}"#;
    let body = json!({"error": {"message": message}}).to_string();
    let server = Server::start(vec![error(400, &body)]);
    assert!(watch_one(&server, &request("Why?")).await.0.is_err());
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_broken_stream_is_a_failed_call() {
    let error = |value: serde_json::Value| value.to_string();
    let begun = || vec![piece(r#"{"answer": "O"#)];
    let after = |event: String| streamed(&[begun(), vec![event]].concat());
    let lines = [
        failure(streamed(&begun())).await,
        failure(Canned::Events(vec!["data: {\"choices\": [{\"del".to_owned()])).await,
        failure(after("{\"choices\": [{\"del".to_owned())).await,
        failure(after("<html>".to_owned())).await,
        failure(after(error(json!({"error": {"message": "upstream is down", "code": 502}})))).await,
        failure(after(error(json!({"object": "error", "message": "too long", "code": 400})))).await,
        failure(streamed(&[DONE.to_owned()])).await,
        failure(streamed(&[])).await,
        failure(ok("<html>gateway</html>")).await,
        failure(Canned::Events(vec!["data: ".to_owned(), "x".repeat(3 << 20)])).await,
    ];
    insta::assert_snapshot!(lines.join("\n"), @r#"
    Busy None: no whole reply from http://127.0.0.1:PORT: the stream ended within the reply
    Busy None: no whole reply from http://127.0.0.1:PORT: the stream ended within the reply
    Busy None: no whole reply from http://127.0.0.1:PORT: EOF while parsing a string at line 1 column 18
    Broken: the reply cannot be read (expected value at line 1 column 1), and begins with "<html>"
    Busy None: HTTP 502: upstream is down
    Refused: HTTP 400: too long
    Broken: the reply has no choices
    Busy None: no whole reply from http://127.0.0.1:PORT: the stream ended within the reply
    Broken: the reply cannot be read (expected value at line 1 column 1), and begins with "<html>gateway</html>"
    Broken: the reply has an event that is longer than 1 MiB
    "#);
}

/// A stream may end without the line breaks after its last event.
#[tokio::test]
async fn the_last_event_needs_no_line_breaks() {
    let end = json!({"choices": [{"delta": {"content": "cause"}, "finish_reason": "stop"}]});
    let text = [piece("be"), piece("cause")].map(|piece| format!("data: {piece}\n\n")).concat();
    for stream in [
        format!("data: {}\n\ndata: {end}", piece("be")),
        format!("data: {}\r\n\r\ndata: {end}\r\n", piece("be")),
        format!("{text}data: {DONE}"),
    ] {
        let server = Server::start(vec![Canned::Events(vec![stream])]);
        let reply = watch_one(&server, &request("Why?")).await.0.unwrap();
        assert_eq!(reply.text, "because");
    }
}

/// Some servers send no end mark, or the whole reply as one event.
#[tokio::test]
async fn accepts_deviations_of_streams() {
    let end = json!({"choices": [{"delta": {}, "finish_reason": "length"}]}).to_string();
    let whole = json!({"choices": [{"message": {"content": "because"}}]}).to_string();
    for data in [vec![piece("be"), piece("cause"), end], vec![whole, DONE.to_owned()]] {
        let server = Server::start(vec![streamed(&data)]);
        let (reply, draft) = watch_one(&server, &request("Why?")).await;
        let reply = reply.unwrap();
        assert_eq!((reply.text.as_str(), draft), ("because", None));
        assert!(0 < reply.usage.prompt_tokens && 0 < reply.usage.completion_tokens);
    }
}

#[tokio::test]
async fn a_stream_scores_tokens() {
    let scored = |token: &str| {
        let scores = json!({"content": [{"token": token, "logprob": -0.25}]});
        json!({"choices": [{"delta": {"content": token}, "logprobs": scores}]}).to_string()
    };
    let server = Server::start(vec![streamed(&[scored("y"), scored("es"), DONE.to_owned()])]);
    let asked = ChatRequest { logprobs: true, ..request("Why?") };
    let reply = watch_one(&server, &asked).await.0.unwrap();
    assert_eq!(reply.logprobs.len(), 2);
    assert_eq!(reply.text, "yes");
}

/// A second attempt replaces the draft of the first, which broke off.
#[tokio::test]
async fn another_attempt_begins_another_draft() {
    let cut = streamed(&[piece(r#"{"answer": "Ber"#)]);
    let server = Server::start(vec![streamed(&stream()), cut, streamed(&stream())]);
    let chat = OpenAiChat::new(endpoint(&server), &Transport::default()).unwrap();
    let asked = request("Why?");
    watched_by(draft().0, chat.complete(&asked)).await.unwrap();
    let (draft, _changes) = draft();
    watched_by(Arc::clone(&draft), chat.complete(&asked)).await.unwrap_err();
    let first = draft.text().unwrap();
    watched_by(Arc::clone(&draft), chat.complete(&asked)).await.unwrap();
    let second = draft.text().unwrap();
    assert_eq!((first.text.as_str(), second.text.as_str()), ("Ber", "Oslo 中央"));
    assert_ne!(first.number, second.number);
}

/// Each attempt is paid, so an endpoint that marks no end is asked for one stream only.
#[tokio::test]
async fn an_endpoint_whose_stream_has_no_end_is_asked_for_whole_replies() {
    let server = Server::start(vec![streamed(&[piece("fi")]), completion("fine")]);
    let chat = OpenAiChat::new(endpoint(&server), &Transport::default()).unwrap();
    let asked = request("Why?");
    watched_by(draft().0, chat.complete(&asked)).await.unwrap_err();
    let reply = watched_by(draft().0, chat.complete(&asked)).await.unwrap();
    assert_eq!(reply.text, "fine");
    assert_eq!(server.bodies().matches("\"stream\":true").count(), 1);
}
