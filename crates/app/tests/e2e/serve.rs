//! Tests the server: access by key, visibility by filter, clients that disconnect, shutdown, and
//! kills.

use std::io::Read;
use std::net::Shutdown;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use pikerag_test_support::{Server, oracle};
use serde_json::{Value, json};

use crate::common::{Place, good_stub};
use crate::serving::{DEADLINE, Serving, read};

/// A base with a document in the folder `open` and one in `shut`.
pub(crate) fn place() -> Place {
    with_papers(Place::new())
}

pub(crate) fn with_papers(place: Place) -> Place {
    place.write(
        "docs/open/crane.md",
        "# Crane\n\nThe crane of Hamburg lifts forty tons. Ilse Brandt built it in Varnsund.\n",
    );
    place.write(
        "docs/shut/crane.md",
        "---\nzyxclearance: high\n---\n# Crane\n\nThe crane of Hamburg is insured with Zyxwort for ninety crowns.\n\n| order | port |\n| --- | --- |\n| Z-1 | Zyxharbour |\n",
    );
    place.run_to(0, &["--offline", "--base", "base", "index", "docs"]);
    place
}

fn question() -> Value {
    json!({"question": "What does the crane of Hamburg lift?"})
}

/// The routes of the OpenAPI document: method, path, scope.
pub(crate) fn routes(serving: &Serving) -> Vec<(String, String, Option<String>)> {
    let document = serving.get("/openapi.json", "").json();
    let mut routes = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let scope = operation["x-scope"].as_str().map(str::to_owned);
            routes.push((method.to_uppercase(), path.clone(), scope));
        }
    }
    assert!(35 < routes.len(), "{routes:?}");
    routes
}

/// A body that the route accepts.
pub(crate) fn body_of(method: &str, path: &str) -> Value {
    match path.rsplit('/').next().unwrap() {
        "search" => json!({"query": "crane"}),
        "ask" => question(),
        "completions" => {
            json!({"model": "pikerag", "messages": [{"role": "user", "content": "Who built the crane?"}]})
        }
        "chat" => {
            json!({"model": "pikerag", "stream": false, "messages": [{"role": "user", "content": "Who built the crane?"}]})
        }
        "generate" => {
            json!({"model": "pikerag", "stream": false, "prompt": "Who built the crane?"})
        }
        "show" | "pull" if !path.starts_with("/api/v1") => json!({"model": "pikerag"}),
        "embed" => json!({"model": "pikerag", "input": "crane"}),
        "retrieval" => json!({"knowledge_id": "", "query": "crane"}),
        "responses" => json!({"model": "pikerag", "input": "Who built the crane?"}),
        "sql" => json!({"statement": "SELECT 1"}),
        "fork" => json!({"at": 1, "change": {"text": "x"}}),
        "tag-pairs" => json!({"colloquial": "crane", "professional": "hoist"}),
        "corrections" => json!({"old": "Crane", "new": "Crane"}),
        "{class}" if method == "PATCH" => json!({"name": "machine"}),
        "{class}" => json!({"covers": "machines"}),
        "feedback" => json!({"run": "last", "verdict": "accept"}),
        "keys" => json!({"name": "made", "scope": "read"}),
        "bases" | "{base}" => json!({"name": "made"}),
        // The text is refused after the base is found.
        "{chunk}" if method == "PATCH" => json!({"text": " "}),
        "texts" => json!({"text": "The hoist lifts nothing.", "name": "text.md", "hold": true}),
        _ => json!({}),
    }
}

/// Calls each route with each key.
#[test]
#[expect(clippy::too_many_lines, reason = "a line for each route")]
fn every_route_requires_a_key_of_its_scope() {
    let place = place();
    let settings = "[server]\nbases = { other = \"elsewhere\" }\nwrong_keys = 1000\n";
    place.write("pikerag.toml", settings);
    let serving = place.serve(&["--offline"]);
    let run = serving.post("/api/v1/bases/default/ask", "", &question()).json();
    let chunk = run["answer"]["citations"][0]["chunk"].as_str().unwrap().to_owned();
    let run = run["run"].as_str().unwrap().to_owned();
    let source = serving.get("/api/v1/bases/default/sources", "").json()[0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let keys: Vec<(&str, usize, String)> = [("read", 1), ("write", 2), ("admin", 3)]
        .map(|(scope, rank)| (scope, rank, place.key(scope, &["--scope", scope])))
        .into();
    let elsewhere = place.key("elsewhere", &["--scope", "admin", "--opens", "other"]);
    let rank =
        |scope: &str| ["", "read", "write", "admin"].iter().position(|own| *own == scope).unwrap();
    let mut cells = 0;
    for (method, path, scope) in routes(&serving) {
        let filled = path
            .replace("{base}", "default")
            .replace("{chunk}", &chunk)
            .replace("{run}", &run)
            .replace("{other}", &run)
            .replace("{source}", &source)
            .replace("{job}", "1")
            .replace("{page}", "1")
            .replace("{number}", "1")
            .replace("{class}", "machine")
            .replace("{id}", "0000000000000000")
            .replace("{model}", "pikerag")
            .replace("{digest}", "sha256:0")
            .replace("{*file}", "sent.md")
            .replace("{file}", "sent.md");
        let query = match filled.rsplit('/').next().unwrap() {
            "graph" => "?of=Crane",
            "tag-pairs" => "?colloquial=crane&professional=hoist",
            "original" | "uploads" | "files" | "deletion" => "?file=docs/open/crane.md",
            "sent" if method == "DELETE" => "?file=sent.md",
            "report" => "?name=x",
            _ => "",
        };
        let url = format!("{filled}{query}");
        let send = |key: Option<&str>| {
            let bearer = key.map(|key| format!("Bearer {key}"));
            let mut headers = vec![("Content-Type", "application/json")];
            headers.extend(bearer.as_deref().map(|bearer| ("Authorization", bearer)));
            serving.request(&method, &url, &headers, body_of(&method, &path).to_string().as_bytes())
        };
        let describe =
            |reply: &crate::serving::Reply| format!("{method} {url} {scope:?}: {reply:?}");
        let Some(scope) = &scope else {
            let reply = send(None);
            assert_eq!(reply.status, 200, "{}", describe(&reply));
            continue;
        };
        for key in [None, Some("pikerag_00000000_0000"), Some("")] {
            let reply = send(key);
            assert_eq!(reply.status, 401, "{}", describe(&reply));
            assert!(!reply.text.contains("crane"), "{}", describe(&reply));
            cells += 1;
        }
        for (own, own_rank, key) in &keys {
            // Deleting the only document comes last.
            if method == "DELETE" && path.ends_with("/files") {
                continue;
            }
            let reply = send(Some(key));
            let is_refused = reply.status == 403 && reply.text.contains("scope-too-small");
            assert_eq!(is_refused, *own_rank < rank(scope), "{own}: {}", describe(&reply));
            assert!(reply.status < 500, "{own}: {}", describe(&reply));
            assert_ne!(reply.status, 401, "{own}: {}", describe(&reply));
            cells += 1;
        }
        let reply = send(Some(&elsewhere));
        let is_of_base = path.contains("{base}")
            || [
                "completions",
                "chat",
                "generate",
                "embed",
                "api/show",
                "api/pull",
                "retrieval",
                "responses",
            ]
            .iter()
            .any(|end| path.ends_with(end));
        if is_of_base {
            assert_eq!(reply.status, 404, "{}", describe(&reply));
        }
        assert!(
            !reply.text.contains("Hamburg") && !reply.text.contains("\"name\":\"default\""),
            "{}",
            describe(&reply)
        );
        cells += 1;
    }
    assert!(200 < cells, "{cells}");
    let file = "/api/v1/bases/default/files?file=docs/shut/crane.md";
    let delete = |key: &str, more: &str| {
        let bearer = format!("Bearer {key}");
        serving
            .request("DELETE", &format!("{file}{more}"), &[("Authorization", &bearer)], b"")
            .status
    };
    assert_eq!((delete(&keys[0].2, ""), delete(&keys[1].2, "&forget=true")), (403, 403));
    assert_eq!((delete(&keys[2].2, "&forget=true"), delete(&keys[2].2, "")), (200, 404));
    // A revoked key gives no access from then on, without a restart.
    let id =
        place.run_to(0, &["--json", "keys", "list"]).json()[0]["id"].as_str().unwrap().to_owned();
    place.run_to(0, &["keys", "revoke", &id]);
    assert_eq!(serving.get("/api/v1/bases", &keys[0].2).status, 401);
}

/// No reply to a key with a filter shows anything from beyond it: no word, no count, no name.
#[test]
fn a_key_with_a_filter_never_sees_beyond_it() {
    let place = place();
    let whole = place.serve(&["--offline"]);
    let asked = whole.post(
        "/api/v1/bases/default/ask",
        "",
        &json!({"question": "With whom is the crane of Hamburg insured?"}),
    );
    assert!(asked.text.contains("Zyxwort"), "{asked:?}");
    let hidden_run = asked.json()["run"].as_str().unwrap().to_owned();
    let shut = whole
        .post("/api/v1/bases/default/search", "", &json!({"query": "Zyxwort", "by": "words"}))
        .json();
    let shut = &shut["hits"][0]["chunk"];
    let (chunk, source) =
        (shut["id"].as_str().unwrap().to_owned(), shut["source"].as_str().unwrap().to_owned());
    drop(whole);
    let key = place.key("ada", &["--scope", "admin", "--filter", "folder=open"]);
    let serving = place.serve(&["--offline"]);
    let questions = [
        "With whom is it insured?",
        "What does the crane of Hamburg lift?",
        "How many orders are there?",
        "Zyxwort",
    ];
    // The key's own questions may appear in replies.
    let leaks = |text: &str| {
        let text = questions.iter().fold(text.to_owned(), |text, own| text.replace(own, ""));
        text.to_lowercase().contains("zyx") || text.contains("insured") || text.contains("shut")
    };
    let mut n_checked = 0;
    for question in questions {
        for path in [
            "/api/v1/bases/default/ask",
            "/v1/chat/completions",
            "/v1/responses",
            "/api/chat",
            "/api/generate",
            "/api/v1/bases/default/search",
            "/retrieval",
        ] {
            let conversation = json!([{"role": "user", "content": question}]);
            let body = match path {
                "/v1/chat/completions" | "/api/chat" => {
                    json!({"model": "pikerag", "messages": conversation})
                }
                "/v1/responses" => json!({"model": "pikerag", "input": question}),
                "/api/generate" => json!({"model": "pikerag", "prompt": question}),
                "/retrieval" => json!({"query": question}),
                path if path.ends_with("search") => json!({"query": question, "k": 100}),
                _ => json!({ "question": question }),
            };
            let reply = serving.post(path, &key, &body);
            assert!(reply.status == 200 && !leaks(&reply.text), "{path} {question}: {reply:?}");
            n_checked += 1;
        }
    }
    for (method, path, scope) in routes(&serving) {
        if scope.is_none()
            || method == "PUT"
            || !path.starts_with("/api/v1") && !path.starts_with("/passages")
        {
            continue;
        }
        let filled = path
            .replace("{base}", "default")
            .replace("{chunk}", &chunk)
            .replace("{run}", &hidden_run)
            .replace("{other}", &hidden_run)
            .replace("{source}", &source)
            .replace("{job}", "1")
            .replace("{id}", "0");
        for query in ["", "?of=Crane", "?file=docs/shut/crane.md", "?schema=x", "?limit=1000"] {
            let bearer = format!("Bearer {key}");
            let headers =
                [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
            let body = body_of(&method, &path).to_string();
            let reply =
                serving.request(&method, &format!("{filled}{query}"), &headers, body.as_bytes());
            assert!(
                !leaks(&reply.text.replace("docs/shut/crane.md", "")),
                "{method} {filled}{query}: {reply:?}"
            );
            assert!(reply.status < 500, "{method} {filled}{query}: {reply:?}");
            n_checked += 1;
        }
    }
    assert!(100 < n_checked, "{n_checked}");
    // The key sees what its filter admits.
    let status = serving.get("/api/v1/bases/default", &key).json();
    assert_eq!(status["summary"]["files"], 1, "{status}");
    let files = serving.get("/api/v1/bases/default/files", &key).json();
    assert_eq!(files.as_array().unwrap().len(), 1, "{files}");
    let seen = serving.get("/api/v1/bases/default/sources", &key).json();
    assert_eq!(seen.as_array().unwrap().len(), 1);
    let runs = serving.get("/api/v1/bases/default/runs", &key).json();
    assert!(
        runs.as_array().unwrap().iter().all(|run| run["filter"] == json!(["folder=open"])),
        "{runs}"
    );
}

/// A key with a filter sees the feedback whose documents the filter admits.
#[test]
fn a_key_with_a_filter_sees_its_part_of_feedback() {
    let place = place();
    let whole = place.serve(&["--offline"]);
    let feedback = "/api/v1/bases/default/feedback";
    for (question, folder) in [
        ("With whom is the crane of Hamburg insured?", "shut"),
        ("What does the crane of Hamburg lift?", "open"),
    ] {
        let asked = json!({"question": question, "filter": [format!("folder={folder}")]});
        let run = whole.post("/api/v1/bases/default/ask", "", &asked).json()["run"].clone();
        let accepted = json!({"run": run, "verdict": "accept", "by": "ada"});
        assert_eq!(whole.post(feedback, "", &accepted).status, 200, "{question}");
    }
    drop(whole);
    let part = place.key("part", &["--filter", "folder=open"]);
    let all = place.key("all", &[]);
    let serving = place.serve(&["--offline"]);
    let seen = |key: &str| -> Vec<Value> {
        let reply = serving.get(feedback, key);
        assert_eq!(reply.status, 200, "{reply:?}");
        reply.json().as_array().unwrap().clone()
    };
    assert_eq!(seen(&all).len(), 2);
    let of_part = seen(&part);
    let [verified] = of_part.as_slice() else { panic!("{of_part:?}") };
    let shown = verified.to_string();
    assert!(shown.contains("forty tons") && !shown.contains("Zyxwort"), "{shown}");
}

/// Each route and tool with a filter treats a field of a hidden document like a field that no
/// document has.
#[test]
fn a_key_with_a_filter_learns_no_field_beyond_it() {
    let place = place();
    let whole = place.serve(&["--offline"]);
    let found =
        whole.post("/api/v1/bases/default/search", "", &json!({"query": "Zyxwort", "by": "words"}));
    let chunk = found.json()["hits"][0]["chunk"]["id"].as_str().unwrap().to_owned();
    drop(whole);
    let key = place.key("ada", &["--scope", "admin", "--filter", "folder=open"]);
    let serving = place.serve(&["--offline"]);
    let leaks = |text: &str| text.to_lowercase().contains("zyx") || text.contains("shut");
    let mut replies = Vec::new();
    for field in ["zyxclearance", "nowhere"] {
        let filter = json!([format!("meta:{field}=high")]);
        for (path, body) in [
            ("/api/v1/bases/default/search", json!({"query": "crane", "filter": filter})),
            ("/api/v1/bases/default/ask", json!({"question": "crane", "filter": filter})),
        ] {
            let reply = serving.post(path, &key, &body);
            let text = reply.text.replace(field, "FIELD");
            assert!((400..500).contains(&reply.status) && !leaks(&text), "{path}: {reply:?}");
            replies.push((reply.status, text));
        }
        for (tool, arguments) in [
            ("ask", json!({"question": "crane", "filter": filter})),
            ("search", json!({"query": "crane", "filter": filter})),
            ("list_sources", json!({"filter": filter})),
            ("get_chunk", json!({"chunk": chunk})),
            ("fetch", json!({"id": chunk})),
            ("graph_neighbours", json!({"of": chunk})),
            ("graph_neighbours", json!({"of": "docs/shut/crane.md"})),
        ] {
            let call = json!({"name": tool, "arguments": arguments});
            let reply = serving.mcp(&key, "tools/call", &call);
            let text = reply.text.replace(field, "FIELD").replace("docs/shut/crane.md", "");
            assert!(text.contains("isError\":true") && !leaks(&text), "{tool}: {text}");
            replies.push((reply.status, text));
        }
    }
    let (hidden, absent) = replies.split_at(replies.len() / 2);
    assert_eq!(hidden, absent);
}

/// A client that got no response sends its request again: it gets the response of the first one.
#[test]
fn posts_with_the_same_idempotency_key_run_once() {
    let place = place();
    let serving = place.serve(&["--offline"]);
    let post = |name: &str, body: &Value| {
        let headers = [("Content-Type", "application/json"), ("Idempotency-Key", name)];
        let path = "/api/v1/bases/default/ask";
        serving.request("POST", path, &headers, body.to_string().as_bytes())
    };
    let first = post("one", &question());
    assert_eq!(first.status, 200, "{first:?}");
    let again = post("one", &question());
    assert_eq!((again.status, &again.text), (200, &first.text));
    let other = post("two", &question());
    assert_ne!(other.json()["run"], first.json()["run"]);
    let reused = post("one", &json!({"question": "Who built the crane?"}));
    assert_eq!(
        (reused.status, reused.json()["code"].clone()),
        (422, json!("idempotency-key-reused"))
    );
    assert_eq!(post("", &question()).status, 400);
    let runs = serving.get("/api/v1/bases/default/runs", "").json();
    assert_eq!(runs.as_array().unwrap().len(), 2, "{runs}");
}

/// A model server with this latency.
fn slow(latency: Duration) -> Server {
    Server::start(oracle, pikerag_test_support::Faults::default(), latency)
}

/// A client that disconnects stops its run: within a second the model gets no further call, and the
/// run is kept as cancelled.
#[test]
fn a_client_that_disconnects_stops_its_run() {
    let stub = slow(Duration::from_millis(150));
    let place = Place::with(&stub);
    place.write_workload();
    place.run_to(0, &["--base", "base", "index", "corpus.jsonl"]);
    let serving = place.serve(&[]);
    for path in ["/api/v1/bases/default/ask", "/v1/chat/completions", "/v1/responses"] {
        let asked = place.read("questions.jsonl");
        let asked: Value = serde_json::from_str(asked.lines().next().unwrap()).unwrap();
        let asked = asked["question"].as_str().unwrap().to_owned();
        let messages = json!([{"role": "user", "content": asked}]);
        let body = match path {
            "/v1/chat/completions" => {
                json!({"model": "pikerag/kar3", "stream": true, "messages": messages}).to_string()
            }
            "/v1/responses" => {
                json!({"model": "pikerag/kar3", "stream": true, "input": asked}).to_string()
            }
            _ => json!({"question": asked, "method": "kar3"}).to_string(),
        };
        let before = stub.received().chats;
        let headers = [("Content-Type", "application/json"), ("Accept", "text/event-stream")];
        let mut stream = serving.send("POST", path, &headers, body.as_bytes());
        let mut some = [0; 64];
        stream.read_exact(&mut some).unwrap();
        let began = Instant::now();
        while stub.received().chats == before {
            assert!(began.elapsed() < Duration::from_secs(30), "no call was made");
            std::thread::sleep(Duration::from_millis(5));
        }
        stream.shutdown(Shutdown::Both).unwrap();
        drop(stream);
        std::thread::sleep(Duration::from_millis(700));
        let after = stub.received().chats;
        std::thread::sleep(Duration::from_millis(900));
        assert_eq!(stub.received().chats, after, "{path}");
        let runs = serving.wait_until("/api/v1/bases/default/runs?limit=1", "", |runs| {
            runs[0]["state"] != "running"
        });
        assert_eq!(runs[0]["state"], "cancelled", "{runs}");
    }
}

/// A stream shows each model call that has no reply yet, by role and model. A reply from the ledger
/// is no call. The second question knows how long a call takes.
#[test]
fn a_stream_shows_open_model_calls() {
    let stub = slow(Duration::from_millis(150));
    let place = Place::with(&stub);
    place.write_workload();
    place.run_to(0, &["--base", "base", "index", "corpus.jsonl"]);
    let serving = place.serve(&[]);
    let asked = place.read("questions.jsonl");
    let asked: Vec<Value> =
        asked.lines().take(2).map(|line| serde_json::from_str(line).unwrap()).collect();
    let calls = |question: &Value| -> Vec<Value> {
        let body = json!({"question": question["question"], "method": "naive-rag"}).to_string();
        let headers = [("Content-Type", "application/json"), ("Accept", "text/event-stream")];
        let path = "/api/v1/bases/default/ask";
        let events = serving.request("POST", path, &headers, body.as_bytes()).events();
        assert_eq!(events.first().unwrap().0, "run", "{events:?}");
        assert_eq!(events.last().unwrap().0, "answer", "{events:?}");
        let calls = events.into_iter().filter(|(name, _)| name == "calls");
        calls.map(|(_, data)| serde_json::from_str(&data).unwrap()).collect()
    };
    let first = calls(&asked[0]);
    let call = &first.first().unwrap_or_else(|| panic!("no call was shown"))[0];
    assert_eq!((call["role"].clone(), call["model"].clone()), (json!("answer"), json!("stub")));
    assert!(0 < call["prompt_tokens"].as_u64().unwrap(), "{call}");
    assert!(call["waited_ms"].is_u64(), "{call}");
    assert_eq!(call["expected_ms"], Value::Null);

    assert_eq!(calls(&asked[0]), Vec::<Value>::new(), "the ledger answers");
    let second = calls(&asked[1]);
    assert!(50 < second[0][0]["expected_ms"].as_u64().unwrap(), "{second:?}");
}

/// A stream sends the answer while the model writes it, before the checked answer. A reply from the
/// ledger has no draft. OpenAI's protocol has the draft among the steps, and the checked answer as
/// the only content.
#[test]
fn a_stream_sends_the_answer_while_the_model_writes_it() {
    let stub = slow(Duration::from_millis(400));
    let place = Place::with(&stub);
    place.write_workload();
    place.run_to(0, &["--base", "base", "index", "corpus.jsonl"]);
    let serving = place.serve(&[]);
    let asked = place.read("questions.jsonl");
    let asked: Vec<Value> =
        asked.lines().take(3).map(|line| serde_json::from_str(line).unwrap()).collect();
    let stream = |path: &str, body: &Value| {
        let headers = [("Content-Type", "application/json"), ("Accept", "text/event-stream")];
        serving.request("POST", path, &headers, body.to_string().as_bytes()).events()
    };
    let ask = || {
        let body = json!({"question": asked[0]["question"], "method": "naive-rag"});
        stream("/api/v1/bases/default/ask", &body)
    };
    let events = ask();
    let pieces = events.iter().filter(|(name, _)| name == "draft");
    let pieces: Vec<Value> = pieces.map(|(_, data)| serde_json::from_str(data).unwrap()).collect();
    assert_eq!(pieces.first().unwrap()["begins"], true, "{events:?}");
    let written = pieces.iter().filter(|piece| piece["part"] == "answer");
    let draft: String = written.map(|piece| piece["text"].as_str().unwrap()).collect();
    let (name, last) = events.last().unwrap();
    assert_eq!(name, "answer");
    let last: Value = serde_json::from_str(last).unwrap();
    let whole = last["answer"]["text"].as_str().unwrap();
    assert!(!draft.is_empty() && whole.starts_with(&draft), "{draft:?} {whole:?}");
    assert!(ask().iter().all(|(name, _)| name != "draft"), "the ledger answers");

    let messages = json!([{"role": "user", "content": asked[1]["question"]}]);
    let body = json!({"model": "pikerag/naive-rag", "messages": messages, "stream": true});
    let chunks = stream("/v1/chat/completions", &body);
    let chunks = chunks.iter().filter_map(|(_, data)| serde_json::from_str::<Value>(data).ok());
    let deltas: Vec<Value> = chunks.map(|chunk| chunk["choices"][0]["delta"].clone()).collect();
    let all = |field: &str| -> Vec<&str> {
        let texts = deltas.iter().filter_map(|delta| delta[field].as_str());
        texts.filter(|text| !text.is_empty()).collect()
    };
    let steps = all("reasoning_content").concat();
    assert!(steps.contains("Draft, not checked yet: "), "{steps}");
    assert_eq!(all("content").len(), 1, "{deltas:?}");

    // A caller that receives the answer in one piece needs none.
    let before = stub.received();
    let body = json!({"question": asked[2]["question"], "method": "naive-rag"}).to_string();
    let headers = [("Content-Type", "application/json")];
    serving.request("POST", "/api/v1/bases/default/ask", &headers, body.as_bytes());
    let after = stub.received();
    assert!(before.chats < after.chats && 0 < before.streamed, "{after:?}");
    assert_eq!(before.streamed, after.streamed);
}

/// On `SIGTERM` the server takes no further request and answers those under way.
#[test]
fn a_stopping_server_answers_requests_under_way() {
    let stub = slow(Duration::from_millis(100));
    let place = Place::with(&stub);
    place.write_workload();
    place.run_to(0, &["--base", "base", "index", "corpus.jsonl"]);
    let mut serving = place.serve(&[]);
    let asked: Vec<String> = place
        .read("questions.jsonl")
        .lines()
        .take(8)
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["question"].as_str().unwrap().to_owned()
        })
        .collect();
    let before = stub.received().chats;
    let streams: Vec<_> = asked
        .iter()
        .map(|asked| {
            let body = json!({"question": asked, "method": "kar3"}).to_string();
            serving.send(
                "POST",
                "/api/v1/bases/default/ask",
                &[("Content-Type", "application/json")],
                body.as_bytes(),
            )
        })
        .collect();
    let began = Instant::now();
    while stub.received().chats < before + 8 && began.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(5));
    }
    serving.signal(Signal::SIGTERM);
    for stream in streams {
        let reply = read(stream);
        assert_eq!(reply.status, 200, "{reply:?}");
        assert!(!reply.json()["answer"]["text"].as_str().unwrap().is_empty());
    }
    assert!(serving.child.wait().unwrap().success());
    let runs = place.run_to(0, &["--base", "base", "--json", "runs"]).json();
    let answered = runs.as_array().unwrap().iter().filter(|run| run["state"] == "answered");
    assert_eq!(answered.count(), 8, "{runs}");
}

pub(crate) fn put(
    serving: &Serving,
    path: &str,
    range: Option<&str>,
    body: &[u8],
) -> crate::serving::Reply {
    let headers: Vec<(&str, &str)> =
        range.map(|range| ("Content-Range", range)).into_iter().collect();
    serving.request("PUT", &format!("/api/v1/bases/default/{path}"), &headers, body)
}

pub(crate) fn finds(serving: &Serving, word: &str) -> bool {
    let found =
        serving.post("/api/v1/bases/default/search", "", &json!({"query": word, "by": "words"}));
    found.status == 200
        && found.json()["hits"].as_array().is_some_and(|hits| {
            hits.iter().any(|hit| hit["chunk"]["text"].as_str().unwrap().contains(word))
        })
}

/// Files are uploaded whole and in pieces, replace older versions, fail with a reason, and are
/// deleted.
#[test]
fn files_are_uploaded_replaced_and_deleted() {
    let place = Place::new();
    let serving = place.serve(&["--offline"]);
    let text = b"# Sensor\n\nThe sensor Quillwort is calibrated by Ada.\n";
    let job = |reply: &crate::serving::Reply| {
        let id = reply.json()["job"].as_u64().unwrap_or_else(|| panic!("{reply:?}"));
        let path = format!("/api/v1/bases/default/jobs/{id}");
        serving.wait_until(&path, "", |job| {
            !["waiting", "running"].contains(&job["stand"].as_str().unwrap())
        })
    };
    // The connection ends before the body does.
    let length = text.len().to_string();
    let headers = [("Content-Length", length.as_str())];
    let stream = serving.send(
        "PUT",
        "/api/v1/bases/default/files/a/sensor.md?upload=ada",
        &headers,
        &text[..20],
    );
    stream.shutdown(Shutdown::Write).unwrap();
    drop(stream);
    let held = "/api/v1/bases/default/uploads?file=a/sensor.md&upload=ada";
    let held = serving.wait_until(held, "", |upload| upload["held"] == 20);
    assert_eq!(held["is_whole"], false);
    // The server may not yet have ended the request whose connection broke.
    let asked = Instant::now();
    let wrong = loop {
        let reply =
            put(&serving, "files/a/sensor.md?upload=ada", Some("bytes 25-50/51"), &text[25..]);
        if reply.json()["code"] != "under-way" {
            break reply;
        }
        assert!(asked.elapsed() < DEADLINE, "{reply:?}");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!((wrong.status, wrong.json()["code"].as_str()), (409, Some("out-of-order")));
    let range = format!("bytes 20-{}/{}", text.len() - 1, text.len());
    let nobody = put(&serving, "files/a/sensor.md", Some(&range), &text[20..]);
    assert_eq!((nobody.status, nobody.json()["code"].as_str()), (400, Some("no-upload")));
    let whole = put(&serving, "files/a/sensor.md?upload=ada", Some(&range), &text[20..]);
    assert_eq!((whole.status, job(&whole)["stand"].as_str()), (200, Some("done")));
    assert!(finds(&serving, "Quillwort"));
    // A newer version replaces the file.
    let newer =
        put(&serving, "files/a/sensor.md", None, b"# Sensor\n\nThe sensor Brindlewick is new.\n");
    assert_eq!(job(&newer)["stand"], "done");
    assert!(finds(&serving, "Brindlewick") && !finds(&serving, "Quillwort"));
    let broken = put(&serving, "files/broken.pdf", None, b"%PDF-1.7 no such thing");
    let broken = job(&broken);
    assert_eq!(broken["stand"], "incomplete");
    assert!(broken["failed"][0]["file"].as_str().unwrap().ends_with("broken.pdf"), "{broken}");
    for name in
        ["../x.md", "%2e%2e/x.md", "a/%2e%2e/%2e%2e/x.md", ".hidden.md", "a%2F..%2Fx.md", "%00.md"]
    {
        let reply = put(&serving, &format!("files/{name}"), None, b"# X\n");
        assert!(reply.status == 400 || reply.status == 404, "{name}: {reply:?}");
    }
    assert!(!place.path("x.md").exists());
    // A held file is estimated, then indexed.
    let held = put(
        &serving,
        "files/later.md?hold=true",
        None,
        b"# Later\n\nThe winch Hollowmere waits.\n",
    );
    assert_eq!(held.json()["job"], Value::Null);
    let estimate =
        serving.post("/api/v1/bases/default/estimate", "", &json!({"files": ["later.md"]}));
    assert_eq!(estimate.status, 200, "{estimate:?}");
    assert!(!finds(&serving, "Hollowmere"));
    let begun = serving.post("/api/v1/bases/default/index", "", &json!({"files": ["later.md"]}));
    assert_eq!(begun.status, 202);
    let id = begun.json()["id"].as_u64().unwrap();
    let watched = serving.request(
        "GET",
        &format!("/api/v1/bases/default/jobs/{id}"),
        &[("Accept", "text/event-stream")],
        b"",
    );
    assert_eq!(
        serde_json::from_str::<Value>(&watched.events().last().unwrap().1).unwrap()["stand"],
        "done"
    );
    assert!(finds(&serving, "Hollowmere"));
    let files = serving.get("/api/v1/bases/default/files", "").json();
    let name = files.as_array().unwrap().iter().map(|file| file["name"].as_str().unwrap());
    let name = name.into_iter().find(|name| name.ends_with("sensor.md")).unwrap().to_owned();
    let gone =
        serving.request("DELETE", &format!("/api/v1/bases/default/files?file={name}"), &[], b"");
    assert_eq!((gone.status, gone.json()["was_sent"].clone()), (200, json!(true)));
    let begun = serving.post("/api/v1/bases/default/index", "", &json!({}));
    serving.wait_until(&format!("/api/v1/bases/default/jobs/{}", begun.json()["id"]), "", |job| {
        job["stand"] != "running" && job["stand"] != "waiting"
    });
    assert!(!finds(&serving, "Brindlewick") && finds(&serving, "Hollowmere"));
}

/// A server that is killed while it indexes continues after a restart and pays nothing twice.
#[test]
fn a_server_killed_while_indexing_continues_after_a_restart() {
    let stub = good_stub();
    let place = Place::with(&stub);
    let corpus: Vec<String> = (0..12)
        .map(|n| format!("# Crane {n}\n\nThe crane {n} of Hamburg was built by Ilse Brandt number {n} in Varnsund.\n"))
        .collect();
    stub.answer_only(4);
    let mut serving = place.serve(&[]);
    for (n, text) in corpus.iter().enumerate() {
        let reply = put(&serving, &format!("files/{n}.md?hold=true"), None, text.as_bytes());
        assert_eq!(reply.status, 200, "{reply:?}");
    }
    assert_eq!(serving.post("/api/v1/bases/default/index", "", &json!({})).status, 202);
    let began = Instant::now();
    while stub.received().requests() < 4 && began.elapsed() < Duration::from_mins(1) {
        std::thread::sleep(Duration::from_millis(5));
    }
    // Answered calls are recorded a moment later; all others wait.
    std::thread::sleep(Duration::from_millis(500));
    serving.child.kill().unwrap();
    serving.child.wait().unwrap();
    stub.answer_all();
    let again = place.serve(&[]);
    let jobs =
        again.wait_until("/api/v1/bases/default/jobs", "", |jobs| jobs[0]["stand"] == "done");
    assert_eq!(jobs.as_array().unwrap().len(), 1);
    let status = again.get("/api/v1/bases/default", "").json();
    assert_eq!(
        (status["summary"]["files"].clone(), status["waiting"].clone()),
        (json!(12), json!([])),
        "{status}"
    );
    // The first four calls were answered and recorded. Those that waited at the kill may be made
    // again.
    assert!(stub.received().repeated_chats <= 12 - 3, "{:?}", stub.received());
}

/// The cap of a key holds across restarts of the server.
#[test]
fn the_cap_of_a_key_holds_across_restarts() {
    let stub = good_stub();
    let place = Place::with(&stub);
    place.write_workload();
    place.run_to(0, &["--base", "base", "index", "corpus.jsonl"]);
    place.write("pikerag.toml", "[prices.stub]\nprompt = 100.0\ncompletion = 100.0\n[prices.stub-embedding]\nprompt = 0.0\n");
    let key = place.key("ada", &["--cap-usd", "1.5"]);
    let questions: Vec<String> = place
        .read("questions.jsonl")
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["question"].as_str().unwrap().to_owned()
        })
        .collect();
    let mut refused = 0;
    for questions in questions.chunks(10).take(3) {
        let serving = place.serve(&[]);
        for question in questions {
            let reply = serving.post(
                "/api/v1/bases/default/ask",
                &key,
                &json!({"question": question, "method": "naive-rag"}),
            );
            if reply.status == 402 {
                assert_eq!(reply.json()["code"], "over-budget");
                refused += 1;
            } else {
                assert_eq!(reply.status, 200, "{reply:?}");
            }
        }
    }
    let listed = place.run_to(0, &["--json", "keys", "list"]).json();
    let spent = listed[0]["spent_usd"].as_f64().unwrap();
    assert!(0.0 < spent && spent <= 1.5, "{spent}");
    assert!(0 < refused, "nothing was refused, and {spent} spent");
}

/// The server refuses requests to another host name and from pages of other sites. Documents run no
/// script in its pages.
#[test]
fn other_hosts_and_origins_are_refused() {
    let place = Place::new();
    place.write(
        "docs/<b>x.md",
        "# <script>alert(1)</script>\n\n<img src=x onerror=alert(2)> The crane lifts forty tons.\n",
    );
    place.run_to(0, &["--offline", "--base", "base", "index", "docs"]);
    place.write("pikerag.toml", "[server]\npublic_url = \"https://kb.example.org/\"\norigins = [\"https://chat.example.org\"]\n");
    let serving = place.serve(&["--offline"]);
    let with =
        |name: &str, value: &str| serving.request("GET", "/api/v1/bases", &[(name, value)], b"");
    assert_eq!(with("Host", "evil.example").json()["code"], "other-host");
    assert_eq!(with("Host", "kb.example.org").status, 200);
    assert_eq!(with("Host", "localhost:1").status, 200);
    assert_eq!(with("Origin", "https://evil.example").json()["code"], "other-origin");
    let own = format!("http://{}", serving.address);
    assert_eq!(with("Origin", &own).status, 200);
    let allowed = with("Origin", "https://chat.example.org");
    assert!(
        allowed.head.contains("access-control-allow-origin: https://chat.example.org"),
        "{allowed:?}"
    );
    let found = serving.post("/api/v1/bases/default/search", "", &json!({"query": "crane"})).json();
    let url = found["hits"][0]["url"].as_str().unwrap();
    let page = serving.get(url.strip_prefix("https://kb.example.org").unwrap(), "");
    assert_eq!(page.status, 200);
    assert!(!page.text.contains("<script") && !page.text.contains("<img"), "{page:?}");
    assert!(page.head.contains("content-security-policy: default-src 'none'"), "{page:?}");
    assert!(page.head.contains("x-content-type-options: nosniff"));
    // A body is too large, then it has an unknown field.
    let large = vec![b'x'; 5 << 20];
    let reply = serving.request(
        "POST",
        "/api/v1/bases/default/search",
        &[("Content-Type", "application/json")],
        &large,
    );
    assert_eq!((reply.status, reply.json()["code"].clone()), (413, json!("too-large")));
    let reply = serving.post("/api/v1/bases/default/search", "", &json!({"query": "x", "kk": 3}));
    assert_eq!((reply.status, reply.json()["fault"].clone()), (400, json!("caller")));
}

/// A public address requires a key.
#[test]
fn a_public_address_needs_a_key() {
    let place = place();
    let refused = place.run_to(1, &["--base", "base", "serve", "--host", "0.0.0.0", "--port", "0"]);
    assert!(
        refused.stderr.contains("there is no key") && refused.stderr.contains("pikerag keys make"),
        "{}",
        refused.stderr
    );
    let key = place.key("ada", &["--per-minute", "3"]);
    let mut serving = place.serve(&["--offline", "--host", "0.0.0.0"]);
    serving.address = serving.address.replace("0.0.0.0", "127.0.0.1");
    let statuses: Vec<u16> = (0..5).map(|_| serving.get("/api/v1/bases", &key).status).collect();
    assert_eq!(statuses, [200, 200, 200, 429, 429]);
    let listed = place.run_to(0, &["keys", "list"]);
    assert!(listed.stdout.contains("ada") && !listed.stdout.contains(&key));
}

/// Clients are generated from the document in the repository, so it must be the server's own.
#[test]
fn the_openapi_document_in_the_repository_is_current() {
    let written = Place::new().run_to(0, &["serve", "--openapi"]).stdout;
    let kept = include_str!("../../../../docs/openapi.json");
    assert!(written == kept, "update it: cargo run -- serve --openapi > docs/openapi.json");
}

#[test]
fn tags_are_declared_and_budgets_shown() {
    let stub = good_stub();
    let place = with_papers(Place::with(&stub));
    place.write("pikerag.toml", "[budget]\nusd = 5.0\n[prices.stub]\nprompt = 1.0\ncompletion = 1.0\n[prices.stub-embedding]\nprompt = 0.0\n");
    let (key, part) = (
        place.key("ada", &["--scope", "admin", "--cap-usd", "2", "--per-minute", "600"]),
        place.key("part", &["--scope", "write", "--filter", "folder=open"]),
    );
    let serving = place.serve(&[]);
    let send = |method: &str, path: &str, key: &str, body: &Value| {
        let bearer = format!("Bearer {key}");
        let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
        serving.request(
            method,
            &format!("/api/v1/bases/default/{path}"),
            &headers,
            body.to_string().as_bytes(),
        )
    };
    let cranes = json!({"covers": "machines that lift", "examples": ["crane"]});
    assert_eq!(send("PUT", "tags/machine", &key, &cranes).status, 204);
    assert_eq!(send("PUT", "tags/machine", &part, &cranes).status, 403);
    assert_eq!(send("PATCH", "tags/machine", &key, &json!({"name": "lifting gear"})).status, 204);
    let classes = serving.get("/api/v1/bases/default/tags", &key).json();
    assert_eq!(classes["classes"][0]["class"]["name"], "lifting gear", "{classes}");
    assert_eq!(send("DELETE", "tags/machine", &key, &json!({})).status, 404);
    // A name that is taken is a mistake of the caller, not a fault of the server.
    assert_eq!(send("PUT", "tags/ship", &key, &cranes).status, 204);
    let taken = send("PATCH", "tags/ship", &key, &json!({"name": "Lifting gear"}));
    assert_eq!((taken.status, taken.json()["code"].clone()), (409, json!("tag-class-exists")));
    let pair = json!({"colloquial": "lifter", "professional": "crane"});
    assert_eq!(send("POST", "tag-pairs", &key, &pair).status, 204);
    let pairs = serving.get("/api/v1/bases/default/tag-pairs", &key).json();
    assert_eq!(pairs[0]["professional"], "crane", "{pairs}");
    let gone = send("DELETE", "tag-pairs?colloquial=lifter&professional=crane", &key, &json!({}));
    assert_eq!(gone.status, 204, "{gone:?}");
    let before = serving.get("/api/v1/budget", &key).json();
    assert_eq!(
        (before["key"]["cap_usd"].clone(), before["key"]["spent_usd"].clone()),
        (json!(2.0), json!(0.0))
    );
    serving.post("/api/v1/bases/default/ask", &key, &question());
    let after = serving.get("/api/v1/budget", &key).json();
    let spent = after["key"]["spent_usd"].as_f64().unwrap();
    assert!(0.0 < spent && after["server"]["spent_usd"] == after["key"]["spent_usd"], "{after}");
    assert_eq!(after["server"]["cap_usd"], 5.0);
    let theirs = serving.get("/api/v1/budget", &part).json();
    assert_eq!(
        (theirs["server"].clone(), theirs["key"]["spent_usd"].clone()),
        (Value::Null, json!(0.0))
    );
}
