//! Tests the tools for assistants (Model Context Protocol), over HTTP and over standard streams.
//! (`bench/clients.py` tries the official packages.)

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use pikerag_test_support::{Faults, Server, oracle};
use serde_json::{Value, json};

use crate::common::{Place, good_stub};
use crate::serve::place;
use crate::serving::{Reply, Serving, read};

const QUESTION: &str = "What does the crane of Hamburg lift?";

/// The client in `initialize`.
fn client() -> Value {
    json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}})
}

/// The program as an assistant on this machine starts it, after the handshake.
struct Assistant {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Assistant {
    fn start(place: &Place, arguments: &[&str]) -> Self {
        let mut command = place.command(&[arguments, &["--base", "base", "mcp"]].concat());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut assistant = Self { child, input, output };
        let message =
            json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": client()});
        assistant.send(&message);
        let met = assistant.next();
        assert_eq!(met["result"]["serverInfo"]["name"], "pikerag", "{met}");
        assistant.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        assistant
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input, "{message}").unwrap();
    }

    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// The structured result of a call.
    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        self.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}));
        let reply = self.next();
        assert_eq!(reply["result"]["isError"], false, "{reply}");
        reply["result"].clone()
    }

    fn end(self) {
        let Self { mut child, input, .. } = self;
        drop(input);
        assert!(child.wait().unwrap().success());
    }
}

/// The text of a result, which is the same as its structured content.
fn same_as_text(result: &Value) -> &Value {
    let text = result["content"][0]["text"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(text).unwrap(), result["structuredContent"]);
    &result["structuredContent"]
}

/// An assistant's program lists and calls tools; keys apply to them, too.
#[test]
fn assistants_call_tools() {
    let place = place();
    let serving = place.serve(&["--offline"]);
    let tools = serving.mcp("", "tools/list", &json!({})).json();
    let tools = tools["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["ask", "search", "fetch", "get_chunk", "list_sources", "graph_neighbours"]);
    assert!(tools.iter().all(|tool| tool["inputSchema"]["additionalProperties"] == false));
    let ask = |key: &str, question: &str| {
        let call = json!({"name": "ask", "arguments": {"question": question}});
        serving.mcp(key, "tools/call", &call)
    };
    let answered = ask("", QUESTION).json();
    let answer = same_as_text(&answered["result"]);
    assert!(answer["answer"].as_str().unwrap().contains("forty tons"), "{answered}");
    assert_eq!(answered["result"]["content"][1]["type"], "resource_link");
    let wrong = ask("", "???").json();
    assert_eq!(wrong["result"]["isError"], true, "{wrong}");
    // A misspelt filter would be no filter.
    for tool in &names {
        let misspelt = json!({"name": tool, "arguments": {"filters": ["folder=open"]}});
        let refused = serving.mcp("", "tools/call", &misspelt).json();
        assert_eq!(refused["result"]["isError"], true, "{refused}");
        assert!(refused.to_string().contains("unknown argument `filters`"), "{refused}");
    }
    // Errors have words in Chinese, too; those of the protocol in the language of the question.
    let unknown = json!({"name": "crane", "arguments": {"question": "起重机能吊多重？"}});
    let unknown = serving.mcp("", "tools/call", &unknown).json();
    assert_eq!(unknown["error"]["message"], "没有工具 `crane`", "{unknown}");
    assert_eq!(unknown["error"]["data"]["message"], "there is no tool `crane`", "{unknown}");
    let missing = json!({"name": "search", "arguments": {}});
    let missing = serving.mcp("", "tools/call", &missing).json().to_string();
    assert!(missing.contains("missing field `query`") && missing.contains("缺少参数 `query`"));
    let key = place.key("ada", &["--filter", "folder=open"]);
    assert_eq!((ask("", "x").status, ask("wrong", "x").status), (401, 401));
    let answered = ask(&key, "With whom is the crane insured?").text;
    assert!(!answered.contains("Zyx"), "{answered}");
    let around = json!({"name": "graph_neighbours", "arguments": {"of": "Crane"}});
    let around = serving.mcp(&key, "tools/call", &around).json();
    let nodes = around["result"]["structuredContent"]["nodes"].as_array().unwrap();
    assert!(1 < nodes.len() && !around.to_string().contains("Zyx"), "{around}");
}

/// `ChatGPT` reads the only block of text of `search` and `fetch`.
#[test]
fn results_of_search_are_fetched() {
    let place = place();
    let serving = place.serve(&["--offline"]);
    let call = |tool: &str, arguments: Value| {
        let params = json!({"name": tool, "arguments": arguments});
        let reply = serving.mcp("", "tools/call", &params).json();
        assert_eq!(reply["result"]["content"].as_array().unwrap().len(), 1, "{reply}");
        same_as_text(&reply["result"]).clone()
    };
    let found = call("search", json!({"query": "crane forty tons"}));
    let (hits, results) = (found["hits"].as_array().unwrap(), found["results"].as_array().unwrap());
    assert!(!results.is_empty() && hits.len() == results.len(), "{found}");
    for (hit, result) in hits.iter().zip(results) {
        assert_eq!(
            (&hit["chunk"], &hit["title"], &hit["url"]),
            (&result["id"], &result["title"], &result["url"])
        );
        assert!(result["url"].as_str().unwrap().starts_with("http"), "{result}");
    }
    let best = &results[0];
    let fetched = call("fetch", json!({"id": best["id"]}));
    for field in ["id", "title", "url"] {
        assert_eq!(fetched[field], best[field], "{fetched}");
    }
    let text = fetched["text"].as_str().unwrap();
    assert!(text.contains("lifts forty tons") && text.contains("# Crane"), "{fetched}");
    assert!(fetched["metadata"]["uri"].as_str().unwrap().ends_with("crane.md"), "{fetched}");
}

/// Over standard streams, no server runs that a link could lead to.
#[test]
fn links_over_standard_streams_lead_to_files() {
    let place = place();
    let mut assistant = Assistant::start(&place, &["--offline"]);
    let found = assistant.call("search", &json!({"query": "crane forty tons"}));
    let best = &found["structuredContent"]["hits"][0];
    assert_eq!(best["score"], 1.0, "{found}");
    let url = best["url"].as_str().unwrap();
    let path = url.strip_prefix("file://").unwrap_or_else(|| panic!("{url}"));
    assert!(std::fs::read_to_string(path).unwrap().contains("forty tons"), "{url}");
    let answered = assistant.call("ask", &json!({"question": QUESTION}));
    assert_eq!(answered["content"][1]["uri"], url, "{answered}");
    std::fs::remove_file(path).unwrap();
    let found = assistant.call("search", &json!({"query": "crane forty tons"}));
    let found = &found["structuredContent"];
    assert!(found["hits"][0].get("url").is_none(), "{found}");
    assert_eq!(found["results"][0]["url"], "", "{found}");
    let answered = assistant.call("ask", &json!({"question": QUESTION}));
    let citations = &answered["structuredContent"]["citations"];
    assert!(citations[0].is_object() && citations[0].get("url").is_none(), "{answered}");
    assistant.end();
    // A server for the same base has a name.
    place.write("pikerag.toml", "[server]\npublic_url = \"https://rag.example.org\"\n");
    let mut assistant = Assistant::start(&place, &["--offline"]);
    let found = assistant.call("search", &json!({"query": "crane forty tons"}));
    let url = found["structuredContent"]["hits"][0]["url"].as_str().unwrap();
    assert!(url.starts_with("https://rag.example.org/passages/default/"), "{url}");
    assistant.end();
}

/// Checks the notifications of a call before its result: their numbers grow, their texts are the
/// steps of the run.
fn check_progress(messages: &[Value], step: &str) {
    let (result, progress) = messages.split_last().unwrap();
    assert_eq!((&result["id"], &result["result"]["isError"]), (&json!(7), &json!(false)));
    assert!(1 < progress.len(), "{progress:?}");
    for (before, after) in progress.iter().zip(&progress[1..]) {
        let number = |message: &Value| message["params"]["progress"].as_f64().unwrap();
        assert!(number(before) < number(after), "{progress:?}");
    }
    assert!(progress.iter().all(|message| message["params"]["progressToken"] == "p"));
    let words = |message: &Value| message["params"]["message"].as_str().unwrap().to_owned();
    assert!(progress.iter().any(|message| words(message).contains(step)), "{progress:?}");
}

/// A question whose client wants its progress.
fn followed(id: u8, question: &str, method: &str) -> Value {
    let arguments = json!({"question": question, "method": method});
    let params = json!({"name": "ask", "arguments": arguments, "_meta": {"progressToken": "p"}});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}

fn post(serving: &Serving, session: &str, message: &Value) -> Reply {
    read(send(serving, session, message))
}

/// Sends a message of a session without waiting for the reply.
fn send(serving: &Serving, session: &str, message: &Value) -> std::net::TcpStream {
    let mut headers = vec![
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
        ("MCP-Protocol-Version", "2025-11-25"),
    ];
    if !session.is_empty() {
        headers.push(("Mcp-Session-Id", session));
    }
    serving.send("POST", "/mcp", &headers, message.to_string().as_bytes())
}

fn is_result(message: &Value) -> bool {
    message.get("id").is_some()
}

#[test]
fn the_steps_of_a_run_are_its_progress() {
    let place = place();
    let serving = place.serve(&["--offline"]);
    let reply = post(&serving, "", &followed(7, QUESTION, "pike"));
    assert!(reply.head.contains("content-type: text/event-stream"), "{reply:?}");
    let events = reply.events();
    let messages: Vec<Value> =
        events.iter().map(|(_, data)| serde_json::from_str(data).unwrap()).collect();
    check_progress(&messages, "factual");
    // A call without steps is one message.
    let search =
        json!({"name": "search", "arguments": {"query": "crane"}, "_meta": {"progressToken": 1}});
    let reply = serving.mcp("", "tools/call", &search);
    assert!(reply.head.contains("content-type: application/json"), "{reply:?}");
    drop(serving);
    let mut assistant = Assistant::start(&place, &["--offline"]);
    assistant.send(&followed(7, "汉堡的起重机能吊起什么？", "pike"));
    let mut messages = Vec::new();
    while !messages.last().is_some_and(is_result) {
        messages.push(assistant.next());
    }
    check_progress(&messages, "事实");
    assistant.end();
}

/// `notifications/cancelled` stops the run: within a second the model gets no further call, and the
/// run is kept as cancelled.
#[test]
fn a_cancelled_call_stops_its_run() {
    let stub = Server::start(oracle, Faults::default(), Duration::from_millis(150));
    let place = Place::with(&stub);
    place.write_workload();
    place.run_to(0, &["--base", "base", "index", "corpus.jsonl"]);
    let questions = place.read("questions.jsonl");
    let questions: Vec<String> = questions
        .lines()
        .take(2)
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|line| line["question"].as_str().unwrap().to_owned())
        .collect();
    let serving = place.serve(&[]);
    let cancel = |cancelled: u8| json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": cancelled}});
    let wait_for_call = |before: u64| {
        let began = Instant::now();
        while stub.received().chats == before {
            assert!(began.elapsed() < Duration::from_secs(30), "no call was made");
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    let no_call_follows = || {
        std::thread::sleep(Duration::from_millis(700));
        let after = stub.received().chats;
        std::thread::sleep(Duration::from_millis(900));
        assert_eq!(stub.received().chats, after);
        let path = "/api/v1/bases/default/runs?limit=1";
        let runs = serving.wait_until(path, "", |runs| runs[0]["state"] != "running");
        assert_eq!(runs[0]["state"], "cancelled", "{runs}");
    };

    let begun = serving.mcp("", "initialize", &client());
    let session = begun.head.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
    let session = session.unwrap_or_else(|| panic!("{begun:?}")).trim().to_owned();
    let before = stub.received().chats;
    let called = send(&serving, &session, &followed(7, &questions[0], "kar3"));
    wait_for_call(before);
    // Another client may have a request of the same number.
    assert_eq!(post(&serving, "another", &cancel(7)).status, 202);
    wait_for_call(stub.received().chats);
    assert_eq!(post(&serving, &session, &cancel(7)).status, 202);
    no_call_follows();
    let ended = read(called);
    assert!(!ended.text.contains("\"result\""), "{ended:?}");

    let mut assistant = Assistant::start(&place, &[]);
    let before = stub.received().chats;
    assistant.send(&followed(7, &questions[1], "kar3"));
    wait_for_call(before);
    assistant.send(&cancel(7));
    no_call_follows();
    assistant.end();
}

/// A client that knows tasks gets one instead of a long wait, and asks for its result.
#[test]
fn a_long_call_becomes_a_task() {
    let stub = good_stub();
    let place = Place::with(&stub);
    place.write("docs/crane.md", "# Crane\n\nThe crane of Hamburg lifts forty tons.\n");
    place.run_to(0, &["--base", "base", "index", "docs"]);
    let (ada, ben) = (place.key("ada", &[]), place.key("ben", &[]));
    let serving = place.serve(&[]);
    let post = |key: &str, method: &str, name: &str, params: Value| {
        let mut params = params;
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}},
        });
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let bearer = format!("Bearer {key}");
        let headers = [
            ("Authorization", bearer.as_str()),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", method),
            ("Mcp-Name", name),
        ];
        let reply = serving.request("POST", "/mcp", &headers, message.to_string().as_bytes());
        reply.json()
    };
    stub.answer_only(stub.received().requests());
    let ask = json!({"name": "ask", "arguments": {"question": QUESTION, "method": "naive-rag"}});
    let begun = post(&ada, "tools/call", "ask", ask);
    assert_eq!(begun["result"]["resultType"], "task", "{begun}");
    let task = begun["result"]["taskId"].as_str().unwrap().to_owned();
    let get = |key: &str| post(key, "tasks/get", &task, json!({"taskId": task}));
    assert_eq!(get(&ada)["result"]["status"], "working");
    // A task belongs to its caller.
    assert!(get(&ben)["error"]["message"].as_str().unwrap().contains("unknown task"));
    stub.answer_all();
    let since = Instant::now();
    let ended = loop {
        let state = get(&ada);
        if state["result"]["status"] != "working" {
            break state;
        }
        assert!(since.elapsed() < Duration::from_mins(1), "{state}");
        std::thread::sleep(Duration::from_millis(50));
    };
    assert_eq!(ended["result"]["status"], "completed", "{ended}");
    let answer = &ended["result"]["result"]["structuredContent"]["answer"];
    assert!(answer.is_string(), "{ended}");
    // Cancelled, a task stops its run.
    stub.answer_only(stub.received().requests());
    let ask = json!({"name": "ask", "arguments": {"question": "Who built the crane of Hamburg?", "method": "naive-rag"}});
    let begun = post(&ada, "tools/call", "ask", ask);
    let task = begun["result"]["taskId"].as_str().unwrap().to_owned();
    let refused = post(&ben, "tasks/cancel", &task, json!({"taskId": task}));
    assert!(refused["error"].is_object(), "{refused}");
    let cancelled = post(&ada, "tasks/cancel", &task, json!({"taskId": task}));
    assert!(cancelled["result"].is_object(), "{cancelled}");
    let path = "/api/v1/bases/default/runs?limit=1";
    let runs = serving.wait_until(path, &ada, |runs| runs[0]["state"] != "running");
    assert_eq!(runs[0]["state"], "cancelled", "{runs}");
    stub.answer_all();
}
