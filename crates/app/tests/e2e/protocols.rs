//! Tests that the protocols of others behave as documented. (`bench/clients.py` tries their
//! official packages.)

use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, Stdio};

use serde_json::{Value, json};

use crate::common::{Place, good_stub};
use crate::serve::place;

/// Each chunk of a stream has choices; some carry events for Open WebUI. The answer comes last,
/// then the usage and the end.
#[test]
fn a_stream_is_readable_for_clients_of_openai() {
    let papers = place();
    let serving = papers.serve(&["--offline"]);
    let asked = json!([{"role": "user", "content": [{"type": "text", "text": "What does the crane of Hamburg lift?"}]}]);
    let body = json!({"model": "pikerag", "messages": asked, "stream": true, "stream_options": {"include_usage": true}, "temperature": 0.2});
    let reply = serving.post("/v1/chat/completions", "", &body);
    assert!(reply.head.contains("content-type: text/event-stream"), "{reply:?}");
    let mut data: Vec<String> = reply.events().into_iter().map(|(_, data)| data).collect();
    assert_eq!(data.pop().unwrap(), "[DONE]");
    let chunks: Vec<Value> = data.iter().map(|data| serde_json::from_str(data).unwrap()).collect();
    let ids: std::collections::BTreeSet<&str> =
        chunks.iter().map(|chunk| chunk["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 1);
    let (usage, chunks) = chunks.split_last().unwrap();
    assert_eq!(
        (usage["choices"].clone(), usage["usage"]["total_tokens"].is_u64()),
        (json!([]), true)
    );
    assert!(chunks.iter().all(|chunk| chunk["object"] == "chat.completion.chunk"
        && chunk["choices"].as_array().unwrap().len() == 1));
    let delta = |chunk: &Value, name: &str| {
        chunk["choices"][0]["delta"][name].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(delta(&chunks[0], "role"), "assistant");
    let text: String = chunks.iter().map(|chunk| delta(chunk, "content")).collect();
    assert!(
        text.starts_with("Found:\n\n")
            && text.contains("The crane of Hamburg lifts forty tons. [1]"),
        "{text}"
    );
    assert!(chunks.iter().any(|chunk| delta(chunk, "reasoning_content").contains("factual")));
    let sources: Vec<&Value> = chunks.iter().filter_map(|chunk| chunk.get("event")).collect();
    let data = &sources[0]["data"];
    assert_eq!(sources[0]["type"], "source");
    assert!(
        data["document"][0].as_str().unwrap().contains("forty tons")
            && data["distances"][0].is_f64(),
        "{data}"
    );
    assert!(
        data["source"]["url"].as_str().unwrap().starts_with("http")
            && data["metadata"][0]["name"].is_string()
    );
    // Open WebUI merges sources of one name, and shows an address instead of the title.
    let names: Vec<&str> = sources
        .iter()
        .map(|source| source["data"]["metadata"][0]["source"].as_str().unwrap())
        .collect();
    let different: std::collections::BTreeSet<&&str> = names.iter().collect();
    assert!(different.len() == names.len() && !names[0].starts_with("http"), "{names:?}");
    assert_eq!(chunks.last().unwrap()["choices"][0]["finish_reason"], "stop");
    // Errors have the form of this protocol.
    let wrong =
        serving.post("/v1/chat/completions", "", &json!({"model": "pikerag", "messages": []}));
    assert_eq!(
        (wrong.status, wrong.json()["error"]["type"].clone()),
        (400, json!("invalid_request_error"))
    );
    // A background task runs no method.
    let task = "### Task:\nGenerate 1-3 broad tags.\n<chat_history>\nUSER: x\n</chat_history>";
    let runs = || serving.get("/api/v1/bases/default/runs", "").json().as_array().unwrap().len();
    let before = runs();
    let answered = serving.post(
        "/v1/chat/completions",
        "",
        &json!({"model": "pikerag", "messages": [{"role": "user", "content": task}]}),
    );
    assert_eq!(
        (answered.json()["choices"][0]["message"]["content"].clone(), runs()),
        (json!("{\"tags\": []}"), before)
    );
}

/// Links carry no key. A browser is redirected to the page, which asks for one; a program gets an
/// error.
#[test]
fn a_link_to_a_passage_opens_the_page_in_a_browser() {
    let papers = place();
    let key = papers.key("reader", &[]);
    let serving = papers.serve(&["--offline"]);
    let found = serving.post("/api/v1/bases/default/search", &key, &json!({"query": "crane"}));
    let chunk = found.json()["hits"][0]["chunk"]["id"].as_str().unwrap().to_owned();
    let path = format!("/passages/default/{chunk}");
    let browser = serving.request("GET", &path, &[("Accept", "text/html,*/*;q=0.8")], b"");
    let to = format!("location: ../../#/knowledge/default/passages/{chunk}\r\n");
    assert!(browser.status == 303 && browser.head.contains(&to), "{browser:?}");
    assert!(browser.text.is_empty(), "{browser:?}");
    let program = serving.request("GET", &path, &[("Accept", "*/*")], b"");
    assert_eq!((program.status, program.json()["code"].as_str()), (401, Some("no-key")));
    let elsewhere = [("Accept", "text/html")];
    assert_eq!(serving.request("GET", "/api/v1/bases", &elsewhere, b"").status, 401);
    let read = serving.get(&path, &key);
    assert!(
        read.status == 200
            && read.text.contains(&format!("../../#/knowledge/default/passages/{chunk}")),
        "{read:?}"
    );
}

#[test]
fn ollama_and_dify_get_documented_replies() {
    let papers = place();
    let serving = papers.serve(&["--offline"]);
    assert!(serving.get("/api/version", "").json()["version"].is_string());
    let model = &serving.get("/api/tags", "").json()["models"][0];
    for field in ["name", "model", "modified_at", "digest"] {
        assert!(model[field].is_string(), "{field}: {model}");
    }
    assert!(model["size"].is_u64() && model["details"].is_object());
    let asked = json!({"model": "pikerag:latest", "messages": [{"role": "user", "content": "What does the crane of Hamburg lift?"}]});
    let lines: Vec<Value> = serving
        .post("/api/chat", "", &asked)
        .text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let (last, parts) = lines.split_last().unwrap();
    assert_eq!((last["done"].clone(), last["done_reason"].clone()), (json!(true), json!("stop")));
    assert!(
        parts[0]["message"]["content"].as_str().unwrap().contains("forty tons")
            && parts[0]["done"] == false
    );
    let find = |more: Value| {
        let mut body = json!({"knowledge_id": "default", "query": "crane Hamburg", "retrieval_setting": {"top_k": 5, "score_threshold": 0.0}});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        serving.post("/retrieval", "", &body)
    };
    let all = find(json!({})).json();
    let records = all["records"].as_array().unwrap();
    assert!(1 < records.len());
    for record in records {
        let score = record["score"].as_f64().unwrap();
        assert!(
            (0.0..=1.0).contains(&score)
                && record["metadata"].is_object()
                && record["content"].is_string(),
            "{record}"
        );
    }
    let best = find(json!({"retrieval_setting": {"top_k": 5, "score_threshold": 1.0}})).json();
    assert_eq!(best["records"].as_array().unwrap().len(), 1);
    let condition = |operator: &str, value: &str| json!({"metadata_condition": {"logical_operator": "and", "conditions": [{"name": ["path"], "comparison_operator": operator, "value": value}]}});
    let open = find(condition("contains", "open")).json();
    assert!(
        open["records"]
            .as_array()
            .unwrap()
            .iter()
            .all(|record| record["metadata"]["path"].as_str().unwrap().contains("open"))
    );
    assert_eq!(find(condition("contains", "nowhere")).json(), json!({"records": []}));
    assert_eq!(find(json!({"knowledge_id": "none"})).json()["error_code"], 2001);
}

/// Embeddings and rerankings come from the configured models, and metrics count all requests.
#[test]
fn the_embedder_and_the_reranker_are_served() {
    let stub = good_stub();
    let place = Place::with(&stub);
    place.write("docs/crane.md", "# Crane\n\nThe crane of Hamburg lifts forty tons.\n");
    place.run_to(0, &["--base", "base", "index", "docs"]);
    let serving = place.serve(&[]);
    let embed = |more: Value| {
        let mut body = json!({"model": "pikerag", "input": ["a crane", "a port"]});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        serving.post("/v1/embeddings", "", &body)
    };
    let plain = embed(json!({})).json();
    let vector = plain["data"][1]["embedding"].as_array().unwrap().len();
    assert_eq!((plain["data"][1]["index"].clone(), vector), (json!(1), 384));
    let packed = embed(json!({"encoding_format": "base64", "input": "a crane"})).json();
    assert_eq!(packed["data"][0]["embedding"].as_str().unwrap().len(), 384 * 4 * 4 / 3);
    assert_eq!(embed(json!({"dimensions": 384, "user": "ada"})).status, 200);
    for (param, wrong) in [
        ("input", json!({"input": []})),
        ("input", json!({"input": [""]})),
        ("input", json!({"input": 7})),
        ("input", json!({"input": [[1, 2]]})),
        ("dimensions", json!({"dimensions": 16})),
        ("encoding_format", json!({"encoding_format": "int8"})),
        ("input_type", json!({"input_type": "query"})),
    ] {
        let reply = embed(wrong);
        assert_eq!((reply.status, &reply.json()["error"]["param"]), (400, &json!(param)));
    }
    let tokens = embed(json!({"input": [[1, 2]]})).json()["error"]["message"].clone();
    assert!(tokens.as_str().unwrap().contains("check_embedding_ctx_length"), "{tokens}");
    assert_eq!(embed(json!({"model": "text-embedding-3-small"})).status, 404);
    let none = serving.post("/rerank", "", &json!({"query": "crane", "documents": ["a"]}));
    let code = none.json()["error"]["code"].clone();
    assert_eq!((none.status, code), (409, json!("no-reranker")));
    drop(serving);
    place.write(
        "pikerag.toml",
        format!("[rerank]\nmodel = \"stub-rerank\"\nbase_url = \"{}\"\n", stub.url()),
    );
    let serving = place.serve(&[]);
    let ranked = |more: Value| {
        let mut body = json!({"query": "Who lifts?", "documents": ["Tea grows.", {"text": "The crane lifts."}]});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        serving.post("/rerank", "", &body).json()["results"].as_array().unwrap().clone()
    };
    let all = ranked(json!({}));
    let score = |line: &Value| line["relevance_score"].as_f64().unwrap();
    assert!(
        score(&all[1]) <= score(&all[0])
            && all.iter().all(|line| (0.0..=1.0).contains(&score(line)))
    );
    let best = ranked(json!({"top_n": 1, "return_documents": true}));
    assert_eq!((best.len(), &best[0]["index"]), (1, &all[0]["index"]), "{best:?}");
    assert!(best[0]["document"]["text"].is_string());
    let metrics = |accept: &str| serving.request("GET", "/metrics", &[("Accept", accept)], b"");
    let open = metrics("application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.3");
    assert!(open.head.contains("application/openmetrics-text; version=1.0.0"), "{}", open.head);
    let counted = open.text;
    for line in [
        "pikerag_requests_total{method=\"POST\",route=\"/rerank\",status=\"200\"} 2",
        "pikerag_model_calls_total{role=\"rerank\",model=\"stub-rerank\"} 1",
        "# EOF",
    ] {
        assert!(counted.contains(line), "{line}: {counted}");
    }
    // The server offers every counter that the dashboard draws.
    let dashboard = include_str!("../../../../examples/grafana.json");
    let counters: std::collections::BTreeSet<&str> = dashboard
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| word.starts_with("pikerag_"))
        .map(|word| word.trim_end_matches("_bucket").trim_end_matches("_total"))
        .collect();
    assert!(10 < counters.len(), "{counters:?}");
    for counter in counters {
        assert!(counted.contains(&format!("# TYPE {counter} ")), "{counter}: {counted}");
    }
    // Prometheus' own text is the default.
    for plain in [serving.get("/metrics", ""), metrics("*/*"), metrics("text/plain")] {
        assert!(plain.head.contains("text/plain; version=0.0.4"), "{}", plain.head);
        assert!(plain.text.contains("# TYPE pikerag_requests_total counter\n"), "{}", plain.text);
        assert!(!plain.text.contains("# EOF"), "{}", plain.text);
    }
    let refused = metrics("application/json");
    assert_eq!((refused.status, refused.json()["code"].as_str()), (406, Some("not-acceptable")));
    let key = place.key("ada", &["--opens", "default"]);
    assert_eq!(serving.get("/metrics", &key).status, 403);
}

/// An assistant's program lists and calls tools; keys apply to them, too.
#[test]
fn assistants_call_tools() {
    let place = place();
    let serving = place.serve(&["--offline"]);
    let tools = serving.mcp("", "tools/list", &json!({})).json();
    let names: Vec<&str> = tools["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["ask", "search", "get_chunk", "list_sources", "graph_neighbours"]);
    let ask = |key: &str, question: &str| {
        let call = json!({"name": "ask", "arguments": {"question": question}});
        serving.mcp(key, "tools/call", &call)
    };
    let answered = ask("", "What does the crane of Hamburg lift?").json();
    let answer = &answered["result"]["structuredContent"];
    assert!(answer["answer"].as_str().unwrap().contains("forty tons"), "{answered}");
    let content = answered["result"]["content"].as_array().unwrap();
    let text: Value = serde_json::from_str(content[0]["text"].as_str().unwrap()).unwrap();
    assert_eq!((&text, content[1]["type"].as_str()), (answer, Some("resource_link")));
    let wrong = ask("", "???").json();
    assert_eq!(wrong["result"]["isError"], true, "{wrong}");
    // A misspelt filter would be no filter.
    let misspelt =
        json!({"name": "search", "arguments": {"query": "crane", "filters": ["folder=open"]}});
    let refused = serving.mcp("", "tools/call", &misspelt).json();
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    assert!(refused.to_string().contains("unknown field `filters`"), "{refused}");
    // Over standard streams, with the handshake of the earlier protocol version.
    let mut command = place.command(&["--offline", "--base", "base", "mcp"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut exchange = |input: &mut ChildStdin, message: Value, is_answered: bool| {
        writeln!(input, "{message}").unwrap();
        let mut line = String::new();
        if is_answered {
            output.read_line(&mut line).unwrap();
        }
        serde_json::from_str::<Value>(&line).unwrap_or_default()
    };
    let client = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let met = exchange(
        &mut input,
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client}),
        true,
    );
    assert_eq!(met["result"]["serverInfo"]["name"], "pikerag", "{met}");
    exchange(&mut input, json!({"jsonrpc": "2.0", "method": "notifications/initialized"}), false);
    let params = json!({"name": "search", "arguments": {"query": "crane"}});
    let found = exchange(
        &mut input,
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}),
        true,
    );
    let best = &found["result"]["structuredContent"]["hits"][0];
    assert!(best["score"] == 1.0 && best["metadata"].is_object(), "{found}");
    drop(input);
    assert!(child.wait().unwrap().success());
    let key = place.key("ada", &["--filter", "folder=open"]);
    assert_eq!((ask("", "x").status, ask("wrong", "x").status), (401, 401));
    let answered = ask(&key, "With whom is the crane insured?").text;
    assert!(!answered.contains("Zyx"), "{answered}");
    let around = json!({"name": "graph_neighbours", "arguments": {"of": "Crane"}});
    let around = serving.mcp(&key, "tools/call", &around).json();
    let nodes = around["result"]["structuredContent"]["nodes"].as_array().unwrap();
    assert!(1 < nodes.len() && !around.to_string().contains("Zyx"), "{around}");
}

/// Bodies are requests of the engine. They refuse unknown fields and fields that only programs set.
#[test]
fn bodies_with_unknown_fields_are_refused() {
    let papers = place();
    let serving = papers.serve(&["--offline"]);
    let base = "/api/v1/bases/default";
    let paths = [
        ("POST", format!("{base}/ask"), "listener"),
        ("POST", format!("{base}/search"), "surprise"),
        ("POST", format!("{base}/feedback"), "surprise"),
        ("POST", format!("{base}/runs/last/fork"), "run"),
        ("PUT", format!("{base}/tags/symptom"), "name"),
        ("POST", "/api/v1/keys".to_owned(), "surprise"),
    ];
    for (method, path, field) in paths {
        let body = json!({field: "x"}).to_string();
        let kind = [("Content-Type", "application/json")];
        let refused = serving.request(method, &path, &kind, body.as_bytes());
        assert_eq!(refused.status, 400, "{path}: {refused:?}");
        assert!(refused.text.contains(&format!("unknown field `{field}`")), "{path}: {refused:?}");
    }
    let found = serving.post(&format!("{base}/search"), "", &json!({"query": "crane", "k": null}));
    assert!(found.status == 200 && !found.json()["hits"].as_array().unwrap().is_empty());
    // Without a model, earlier turns do not change a question.
    let question = "What does the crane of Hamburg lift?";
    let asked =
        json!({"question": question, "earlier": [{"by": "person", "text": "Is there a crane?"}]});
    let asked = serving.post(&format!("{base}/ask"), "", &asked);
    assert_eq!((asked.status, asked.json()["question"].as_str()), (200, Some(question)));
}
