//! Tests that the protocols of others behave as documented. (`bench/clients.py` tries their
//! official packages.)

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
        ("dimensions", json!({"dimensions": 16, "input": "a winch"})),
        ("encoding_format", json!({"encoding_format": "int8"})),
        ("input_type", json!({"input_type": "query"})),
    ] {
        let reply = embed(wrong);
        assert_eq!((reply.status, &reply.json()["error"]["param"]), (400, &json!(param)));
    }
    // The base has vectors of this embedder, so their number of values is known.
    assert!(!stub.embedded().contains(&"a winch".to_owned()), "{:?}", stub.embedded());
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
    // The same by the addresses of Cohere and Jina, and in the format of Text Embeddings Inference.
    for (path, version) in [("/v1/rerank", "1"), ("/v2/rerank", "2")] {
        let body = json!({"model": "pikerag", "query": "Who lifts?", "documents": ["Tea grows.", "The crane lifts."], "max_tokens_per_doc": 512});
        let reply = serving.post(path, "", &body).json();
        assert_eq!(reply["meta"]["api_version"]["version"], version, "{reply}");
        assert_eq!(reply["results"], json!(all), "{reply}");
        assert!(reply["id"].is_string() && reply["usage"]["total_tokens"].is_u64(), "{reply}");
    }
    let texts = json!({"query": "Who lifts?", "texts": ["Tea grows.", "The crane lifts."], "return_text": true, "truncate": true});
    let lines = serving.post("/rerank", "", &texts).json();
    assert_eq!(
        (&lines[0]["index"], &lines[0]["score"]),
        (&all[0]["index"], &all[0]["relevance_score"])
    );
    assert!(lines[0]["text"].is_string() && lines.as_array().unwrap().len() == 2, "{lines}");
    let wrong = serving.post("/rerank", "", &json!({"query": "a", "documents": ["a"], "top_k": 1}));
    assert_eq!(wrong.status, 400, "{wrong:?}");
    let metrics = |accept: &str| serving.request("GET", "/metrics", &[("Accept", accept)], b"");
    let open = metrics("application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.3");
    assert!(open.head.contains("application/openmetrics-text; version=1.0.0"), "{}", open.head);
    let counted = open.text;
    for line in [
        "pikerag_requests_total{method=\"POST\",route=\"/rerank\",status=\"200\"} 3",
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
