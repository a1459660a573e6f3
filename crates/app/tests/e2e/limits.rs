//! Tests the server's limits on words, questions, children, descriptors and time, and the replies
//! to requests beyond them.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use pikerag_test_support::Server;
use serde_json::{Value, json};

use crate::boxes::pdf;
use crate::common::{Place, good_stub};
use crate::keep::files_with;
use crate::serve::{finds, place, put, with_papers};
use crate::serving::{LOG, Reply, Serving, read};

const BASE: &str = "/api/v1/bases/default";
const JSON: [(&str, &str); 1] = [("Content-Type", "application/json")];
/// The longest time that anything may take, even on a busy machine.
const DEADLINE: Duration = Duration::from_mins(2);

/// Waits until a condition holds; `what` names it.
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < DEADLINE, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A base and a server over it with these settings; its model answers nothing from now on.
fn serve_silent_model(stub: &Server, settings: &str) -> (Place, Serving) {
    let place = with_papers(Place::with(stub));
    place.run_to(0, &["--base", "base", "index", "docs"]);
    place.write("pikerag.toml", format!("[server]\n{settings}\n"));
    stub.answer_only(stub.received().requests());
    let serving = place.serve(&[]);
    (place, serving)
}

fn ask(serving: &Serving, n: usize, accept: &str) -> TcpStream {
    let body =
        json!({"question": format!("What does crane {n} of Hamburg lift?"), "method": "naive-rag"});
    let headers = [JSON[0], ("Accept", accept)];
    serving.send("POST", &format!("{BASE}/ask"), &headers, body.to_string().as_bytes())
}

/// The value of a counter, or 0 if it is absent; `name` includes its labels.
pub(crate) fn counter(serving: &Serving, name: &str) -> u64 {
    let text = serving.get("/metrics", "").text;
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("{name} ")));
    line.map_or(0, |value| value.trim().parse().unwrap())
}

#[test]
fn unknown_http_methods_make_no_series() {
    let place = place();
    let serving = place.serve(&["--offline"]);
    for n in 0..40 {
        for path in [BASE.to_owned() + "/sources", "/health".to_owned(), format!("/nowhere/{n}")] {
            serving.request(&format!("MADEUP{n}"), &path, &[], b"");
        }
    }
    let metrics = serving.get("/metrics", "").text;
    assert!(!metrics.contains("MADEUP") && !metrics.contains("/nowhere/"), "{metrics}");
    assert!(metrics.contains("method=\"other\""), "{metrics}");
}

#[test]
fn long_texts_are_refused_by_every_protocol() {
    let place = place();
    place.write("pikerag.toml", "[server]\nquestion_kib = 1\n");
    let serving = place.serve(&["--offline"]);
    let fits = format!("What does the crane of Hamburg lift? {}", "x".repeat(900));
    let long = format!("crane {}", "word ".repeat(300));
    let messages = |text: &str| json!([{"role": "user", "content": text}]);
    let bodies = |text: &str| {
        vec![
            (format!("{BASE}/ask"), json!({"question": text})),
            (format!("{BASE}/search"), json!({"query": text})),
            (
                "/v1/chat/completions".to_owned(),
                json!({"model": "pikerag", "messages": messages(text)}),
            ),
            ("/api/chat".to_owned(), json!({"model": "pikerag", "messages": messages(text)})),
            ("/v1/responses".to_owned(), json!({"model": "pikerag", "input": text})),
            ("/retrieval".to_owned(), json!({"knowledge_id": "", "query": text})),
            ("/rerank".to_owned(), json!({"query": text, "documents": ["x"]})),
        ]
    };
    for (path, body) in bodies(&fits) {
        let reply = serving.post(&path, "", &body);
        assert_ne!(reply.status, 413, "{path}: {reply:?}");
    }
    for (path, body) in bodies(&long) {
        let reply = serving.post(&path, "", &body);
        assert_eq!(reply.status, 413, "{path}: {reply:?}");
        assert!(reply.text.contains("1024") && reply.text.contains("1506"), "{path}: {reply:?}");
    }
    let filter = json!({"query": "crane", "filter": [format!("folder={}", "x".repeat(1100))]});
    assert_eq!(serving.post(&format!("{BASE}/search"), "", &filter).status, 413);
    let around = serving.get(&format!("{BASE}/graph?of={}", "x".repeat(1100)), "");
    assert_eq!(around.status, 413);
    // Each turn is short, but all together are too long.
    let turn = json!({"by": "person", "text": fits});
    let earlier = json!({"question": "Why?", "earlier": vec![turn; 10]});
    assert_eq!(serving.post(&format!("{BASE}/ask"), "", &earlier).status, 413);
    let turns = vec![messages(&fits)[0].clone(); 10];
    let chat = json!({"model": "pikerag", "messages": turns});
    for path in ["/v1/chat/completions", "/api/chat"] {
        assert_eq!(serving.post(path, "", &chat).status, 413, "{path}");
    }
    let response = json!({"model": "pikerag", "input": chat["messages"]});
    assert_eq!(serving.post("/v1/responses", "", &response).status, 413);
    for (tool, name) in [("ask", "question"), ("search", "query"), ("graph_neighbours", "of")] {
        let params = json!({"name": tool, "arguments": {name: long}});
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let headers = [
            JSON[0],
            ("Accept", "application/json, text/event-stream"),
            ("MCP-Protocol-Version", "2025-11-25"),
        ];
        let result = serving.request("POST", "/mcp", &headers, call.to_string().as_bytes()).json();
        assert_eq!(result["result"]["isError"], true, "{result}");
        assert!(result.to_string().contains("question-too-long"), "{result}");
    }
}

/// One child runs at a time, however many pages are requested at once.
#[cfg(target_os = "linux")]
#[test]
fn pages_are_drawn_by_a_limited_number_of_children() {
    let place = Place::new();
    let lines = ["The crane lifts forty tons."; 40];
    place.write("docs/manual.pdf", pdf(&[&lines]));
    place.run_to(0, &["--offline", "--base", "base", "index", "docs"]);
    place.write("pikerag.toml", "[limits]\nparsers = 1\n");
    let serving = place.serve(&["--offline"]);
    let source = serving.get(&format!("{BASE}/sources"), "").json()[0]["id"].clone();
    let path = format!("{BASE}/sources/{}/pages/1?width=2000", source.as_str().unwrap());
    let asked: Vec<TcpStream> = (0..12).map(|_| serving.send("GET", &path, &[], b"")).collect();
    let process = serving.child.id();
    let children = || -> usize {
        let tasks = fs::read_dir(format!("/proc/{process}/task")).unwrap();
        let of = |task: fs::DirEntry| fs::read_to_string(task.path().join("children"));
        let count = |task| of(task).unwrap_or_default().split_whitespace().count();
        tasks.flatten().map(count).sum()
    };
    let replies = std::thread::spawn(move || asked.into_iter().map(read).collect::<Vec<_>>());
    let mut most = 0;
    while !replies.is_finished() {
        most = most.max(children());
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(replies.join().unwrap().iter().all(|reply| reply.status == 200));
    assert_eq!(most, 1);
}

/// This holds even if a model makes vectors of queries, which are recorded in the base.
#[test]
fn a_search_does_not_wait_for_writers() {
    let stub = good_stub();
    let place = with_papers(Place::with(&stub));
    place.run_to(0, &["--base", "base", "index", "docs"]);
    let serving = place.serve(&[]);
    let search = |query: &str| {
        let reply = serving.post(&format!("{BASE}/search"), "", &json!({"query": query}));
        assert_eq!(reply.status, 200, "{reply:?}");
    };
    search("the crane of Hamburg");
    let other = rusqlite::Connection::open(place.path("base").join("base.sqlite")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    stub.reset();
    for query in ["who built it", "what is insured", "who built it"] {
        search(query);
    }
    assert_eq!(
        stub.received().requests(),
        2,
        "the vector of a query is found before it is written"
    );
    other.execute_batch("COMMIT").unwrap();
    let written = "SELECT count(*) FROM calls WHERE request LIKE '%what is insured%'";
    wait_until("the vector is written in the end", || {
        other.query_row(written, [], |row| row.get::<_, i64>(0)).unwrap() == 1
    });
}

#[test]
fn streams_count_as_requests_and_health_checks_always_pass() {
    let stub = good_stub();
    let (place, serving) = serve_silent_model(&stub, "requests = 1\naudit = \"audit.jsonl\"");
    let mut stream = BufReader::new(ask(&serving, 1, "text/event-stream"));
    let mut line = String::new();
    stream.read_line(&mut line).unwrap();
    assert!(line.contains("200"), "{line}");
    let refused = serving.get(&format!("{BASE}/sources"), "");
    assert_eq!((refused.status, refused.json()["code"].as_str()), (503, Some("too-busy")));
    assert!(refused.head.to_lowercase().contains("retry-after"), "{refused:?}");
    assert!(refused.head.contains("application/problem+json"), "{refused:?}");
    // Routes of other protocols refuse in their own format.
    let foreign = serving.get("/v1/models", "");
    let kind = foreign.json()["error"]["type"].clone();
    assert_eq!((foreign.status, kind), (503, json!("server_error")), "{foreign:?}");
    assert!(foreign.head.to_lowercase().contains("retry-after"), "{foreign:?}");
    let audited = place.read("audit.jsonl");
    let is_refusal = |line: &str| line.contains("/sources") && line.contains("503");
    assert!(audited.lines().any(is_refusal), "{audited}");
    for path in ["/health", "/ready"] {
        assert_eq!(serving.get(path, "").status, 200, "{path}");
    }
    stub.answer_all();
    let mut rest = String::new();
    stream.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("event: answer"), "{rest}");
    wait_until("its slot is free", || serving.get(&format!("{BASE}/sources"), "").status == 200);
}

/// A sender that stops within a body gets an answer after ten seconds. Nothing is kept of an upload
/// without an identifier.
#[test]
fn a_stalled_body_is_refused_after_ten_seconds() {
    let place = place();
    let serving = place.serve(&["--offline"]);
    let headers = [JSON[0], ("Content-Length", "1000")];
    let sent = [
        serving.send("POST", &format!("{BASE}/search"), &headers, b"{\"query\""),
        serving.send("PUT", &format!("{BASE}/files/slow.md"), &headers, b"# Crane\n"),
    ];
    for reply in sent.map(read) {
        assert_eq!((reply.status, reply.json()["code"].as_str()), (408, Some("too-slow")));
    }
    assert_eq!(serving.get(&format!("{BASE}/parts"), "").json(), json!([]));
}

/// One question runs, one of the two others waits, and the third is refused.
#[test]
fn questions_wait_and_too_many_are_refused() {
    let stub = good_stub();
    let (_place, serving) = serve_silent_model(&stub, "runs = 1\nruns_waiting = 1");
    let first = ask(&serving, 1, "*/*");
    wait_until("the first runs", || counter(&serving, "pikerag_runs_underway") == 1);
    let others = [2, 3].map(|n| ask(&serving, n, "*/*"));
    wait_until("one is refused", || counter(&serving, "pikerag_runs_rejected_total") == 1);
    assert_eq!(counter(&serving, "pikerag_runs_underway"), 1);
    stub.answer_all();
    assert_eq!(read(first).status, 200);
    let mut others = others.map(read);
    others.sort_by_key(|reply| reply.status);
    let [answered, refused] = others;
    assert_eq!((answered.status, refused.status), (200, 429), "{answered:?} {refused:?}");
    assert!(refused.head.to_lowercase().contains("retry-after"), "{refused:?}");
}

#[test]
fn closed_connections_are_on_the_audit_log() {
    let stub = good_stub();
    let (place, serving) = serve_silent_model(&stub, "audit = \"audit.jsonl\"");
    let mut lines: Vec<Value> = Vec::new();
    let mut until_lines = |n: usize| {
        wait_until("each has a line", || {
            let log = place.read("audit.jsonl");
            let all = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
            lines = all.filter(|line| line["method"] == "POST").collect();
            lines.len() == n
        });
    };
    // One client leaves before its request is read, one while it is answered.
    drop(ask(&serving, 1, "*/*"));
    until_lines(1);
    let asked = ask(&serving, 2, "*/*");
    wait_until("the run has begun", || counter(&serving, "pikerag_runs_underway") == 1);
    drop(asked);
    until_lines(2);
    for line in &lines {
        assert_eq!((&line["status"], &line["path"]), (&json!(499), &json!(format!("{BASE}/ask"))));
    }
}

#[test]
fn errors_show_no_locations_and_the_log_explains_them() {
    let place = with_papers(Place::new())
        .set("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
        .set("OPENAI_MODEL", "stub")
        .set("PIKERAG_LOG", "error");
    place.write("pikerag.toml", "[server]\nbases = { none = \"nowhere\" }\n");
    let serving = place.serve(&[]);
    let question =
        json!({"question": "What does the crane of Hamburg lift?", "method": "naive-rag"});
    let chat = json!({"model": "pikerag/naive-rag", "messages": [{"role": "user", "content": "Who built the crane?"}]});
    let unreachable = serving.post(&format!("{BASE}/ask"), "", &question);
    assert_eq!(unreachable.status, 502, "{unreachable:?}");
    let run = serving.get(&format!("{BASE}/runs"), "");
    assert!(run.text.contains("is out of reach"), "{run:?}");
    let of_openai = serving.post("/v1/chat/completions", "", &chat);
    let absent = serving.post("/api/v1/bases/none/search", "", &json!({"query": "crane"}));
    assert_eq!(absent.status, 404, "{absent:?}");
    fs::rename(place.path("base").join("base.sqlite"), place.path("moved")).unwrap();
    fs::write(place.path("base").join("base.sqlite"), "no database").unwrap();
    let broken = serving.get(&format!("{BASE}/sources"), "");
    assert_eq!(broken.status, 500, "{broken:?}");
    let ready = serving.get("/ready", "");
    assert_eq!((ready.status, ready.json()["code"].as_str()), (503, Some("base-unreadable")));
    let folder = place.path("").display().to_string();
    let log = fs::read_to_string(place.own_path(LOG)).unwrap();
    for reply in [&unreachable, &absent, &broken, &ready] {
        let id = reply.json()["id"].as_str().unwrap_or_else(|| panic!("{reply:?}")).to_owned();
        assert!(log.contains(&id), "{id}: {log}");
        assert!(reply.json()["detail"].as_str().unwrap().contains(&id));
    }
    for reply in [unreachable, run, of_openai, absent, broken, ready] {
        let shows_location = ["127.0.0.1", &folder, "nowhere", "base.sqlite"]
            .iter()
            .any(|it| reply.text.contains(it));
        assert!(!shows_location, "{reply:?}");
    }
    assert!(log.contains("127.0.0.1:1") && log.contains("nowhere"), "{log}");
}

/// Neither a model that answers nothing nor another process with the writer's lock delays the end.
/// Runs are kept as cancelled if the base can be written.
#[test]
fn a_server_ends_in_time_whatever_a_model_does() {
    let stub = good_stub();
    for is_locked in [false, true] {
        let (place, mut serving) = serve_silent_model(&stub, "grace_seconds = 2");
        let asked = [1, 2].map(|n| ask(&serving, n, "text/event-stream"));
        wait_until("both runs have begun", || counter(&serving, "pikerag_runs_underway") == 2);
        let other = rusqlite::Connection::open(place.path("base").join("base.sqlite")).unwrap();
        if is_locked {
            other.execute_batch("BEGIN IMMEDIATE").unwrap();
        }
        let began = Instant::now();
        serving.signal(Signal::SIGTERM);
        serving.child.wait().unwrap();
        assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
        drop((asked, other));
        let runs = place.run_to(0, &["--base", "base", "--json", "runs"]).json();
        let cancelled = runs.as_array().unwrap().iter().filter(|run| run["state"] == "cancelled");
        assert!(is_locked || cancelled.count() == 2, "{runs}");
        stub.answer_all();
    }
}

/// A server that a shell starts under these `ulimit`s.
#[cfg(target_os = "linux")]
fn serve_within(place: &Place, limits: &str) -> Serving {
    let ours = place.command(&["--offline", "--base", "base", "serve", "--port", "0"]);
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("{limits}; exec \"$@\""), "sh"]);
    shell.arg(ours.get_program()).args(ours.get_args());
    shell.env_clear().envs(ours.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell.current_dir(ours.get_current_dir().unwrap());
    place.serve_by(shell)
}

/// The server uses as many descriptors as the system allows, and takes no more requests than these
/// suffice for.
#[cfg(target_os = "linux")]
#[test]
fn the_limit_of_descriptors_is_raised_and_obeyed() {
    let place = place();
    let serving = serve_within(&place, "ulimit -Sn 64; ulimit -Hn 300");
    let limits = fs::read_to_string(format!("/proc/{}/limits", serving.child.id())).unwrap();
    let open = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
    assert_eq!(open.split_whitespace().nth(3), Some("300"), "{open}");
    // Many connections send nothing, and many search. Each search gets an answer or a 503.
    let idle: Vec<TcpStream> =
        (0..400).filter_map(|_| TcpStream::connect(&serving.address).ok()).collect();
    drop(idle);
    let body = json!({"query": "crane"}).to_string();
    let send = || -> Option<TcpStream> {
        let mut stream = TcpStream::connect(&serving.address).ok()?;
        stream.set_read_timeout(Some(DEADLINE)).ok()?;
        let head = format!(
            "POST {BASE}/search HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            serving.address,
            body.len()
        );
        stream.write_all(head.as_bytes()).ok()?;
        Some(stream)
    };
    let asked: Vec<TcpStream> = (0..200).filter_map(|_| send()).collect();
    let mut answered = 0;
    for mut stream in asked {
        let mut reply = Vec::new();
        // A request that is refused by closing its connection has no reply.
        let _ = stream.read_to_end(&mut reply);
        let head = String::from_utf8_lossy(reply.get(..12).unwrap_or_default()).into_owned();
        assert!(["", "HTTP/1.1 200", "HTTP/1.1 503"].contains(&head.as_str()), "{head}");
        answered += usize::from(head.ends_with("200"));
    }
    assert!(0 < answered);
}

/// Waits until the job of an upload has ended and returns it.
fn wait_for_job(serving: &Serving, reply: &Reply) -> Value {
    assert_eq!(reply.status, 200, "{reply:?}");
    let path = format!("{BASE}/jobs/{}", reply.json()["job"]);
    serving.wait_until(&path, "", |job| {
        !["waiting", "running"].contains(&job["stand"].as_str().unwrap())
    })
}

/// Five thousand pages are read, and the job says which are not. Searches are answered meanwhile.
#[test]
fn ten_thousand_pages_are_read_up_to_the_limit() {
    let place = place();
    let serving = place.serve(&["--offline"]);
    let lines: Vec<String> =
        (1..=10_000).map(|page| format!("Page {page} shows the winch W{page}.")).collect();
    let lines: Vec<[&str; 1]> = lines.iter().map(|line| [line.as_str()]).collect();
    let pages: Vec<&[&str]> = lines.iter().map(<[&str; 1]>::as_slice).collect();
    let reply = put(&serving, "files/long.pdf", None, &pdf(&pages));
    let path = format!("{BASE}/jobs/{}", reply.json()["job"]);
    let mut answered = 0;
    let job = loop {
        assert!(finds(&serving, "Hamburg"));
        let job = serving.get(&path, "").json();
        match job["stand"].as_str().unwrap() {
            "waiting" | "running" => answered += 1,
            _ => break job,
        }
    };
    assert!(0 < answered, "no search was answered while it was read");
    assert_eq!(job["stand"], "done", "{job}");
    let problems = &job["report"]["report"]["problems"];
    let reason = problems[0][1]["reason"].as_str().unwrap_or_else(|| panic!("{job}"));
    assert_eq!(reason, "the limit is 5000 pages: those from 5001 to 10000 were skipped");
    assert!(finds(&serving, "W1") && finds(&serving, "W5000") && !finds(&serving, "W5001"));
}

/// Only the process that reads the file ends.
#[cfg(target_os = "linux")]
#[test]
fn a_large_upload_beyond_the_memory_limit_fails_alone() {
    let place = place();
    place.write("pikerag.toml", "[limits]\nmemory_mib = 256\n");
    let serving = place.serve(&["--offline"]);
    let large = "<p>Some words of text.</p>\n".repeat(400_000);
    let job = wait_for_job(&serving, &put(&serving, "files/large.html", None, large.as_bytes()));
    let failed = job["failed"][0].clone();
    assert_eq!((&job["stand"], &failed["sent_as"]), (&json!("incomplete"), &json!("large.html")));
    assert_eq!(failed["reason"], "reading it needs more than 256 MiB of memory", "{job}");
    assert!(finds(&serving, "Hamburg"));
    let small = b"# Winch\n\nThe winch Hollowmere pulls.\n";
    let job = wait_for_job(&serving, &put(&serving, "files/small.md", None, small));
    assert_eq!(job["stand"], "done", "{job}");
    assert!(finds(&serving, "Hollowmere"));
}

/// A stricter limit of the system replaces the setting.
#[cfg(target_os = "linux")]
#[test]
fn files_are_read_where_the_system_allows_less_memory_than_the_settings() {
    let place = place();
    place.write("pikerag.toml", "[limits]\nmemory_mib = 16000\n");
    let serving = serve_within(&place, "ulimit -v 8000000");
    let small = b"# Winch\n\nThe winch Hollowmere pulls.\n";
    let job = wait_for_job(&serving, &put(&serving, "files/small.md", None, small));
    assert_eq!(job["stand"], "done", "{}", job["failed"]);
    assert!(finds(&serving, "Hollowmere"));
}

/// A question holds a snapshot of the base while its model computes. Forgetting does not wait for
/// it with the writer's lock held. Other requests continue, and the bytes are overwritten after the
/// question has ended.
#[test]
fn forgetting_interrupts_no_question_and_ends_after_the_last_reader() {
    let stub = good_stub();
    let (place, serving) = serve_silent_model(&stub, "");
    let question = json!({"question": "Who insures the crane of Hamburg?", "method": "naive-rag"});
    let (path, body) = (format!("{BASE}/ask"), question.to_string());
    let headers = [JSON[0], ("Idempotency-Key", "once")];
    let asked = serving.send("POST", &path, &headers, body.as_bytes());
    wait_until("the run has begun", || counter(&serving, "pikerag_runs_underway") == 1);
    let shut = format!("{BASE}/files?file=docs/shut/crane.md&forget=true");
    let began = Instant::now();
    let gone = serving.request("DELETE", &shut, &[], b"");
    assert!(began.elapsed() < Duration::from_secs(40), "{:?}", began.elapsed());
    assert_eq!((gone.status, &gone.json()["deleted"]["overwrites_later"]), (200, &json!(true)));
    assert!(!finds(&serving, "Zyxwort"));
    stub.answer_all();
    let answered = read(asked);
    assert_eq!(answered.status, 200);
    // The question was answered from the document, but its run and its response are not kept.
    assert!(answered.text.contains("Zyxwort"), "{}", answered.text);
    assert_eq!(answered.json()["notices"], json!([{"notice": "run-forgotten"}]));
    let run = format!("{BASE}/runs/{}", answered.json()["run"].as_str().unwrap());
    assert_eq!(serving.get(&run, "").json()["code"], "run-forgotten");
    let again = serving.request("POST", &path, &headers, body.as_bytes());
    assert_eq!((again.status, &again.json()["code"]), (409, &json!("response-forgotten")));
    wait_until("no byte is left", || files_with(&place, "Zyxwort").is_empty());
    // A later deletion meets no reader.
    let open = format!("{BASE}/files?file=docs/open/crane.md&forget=true");
    let gone = serving.request("DELETE", &open, &[], b"");
    assert_eq!(gone.json()["deleted"]["overwrites_later"], json!(false));
}

/// An evaluation of a served base keeps no call with a passage that was forgotten meanwhile.
#[test]
fn an_evaluation_keeps_no_call_with_a_forgotten_passage() {
    let stub = good_stub();
    let (place, serving) = serve_silent_model(&stub, "");
    let question =
        json!({"id": "1", "question": "Who insures the crane of Hamburg?", "answers": ["Zyxwort"]});
    place.write("questions.jsonl", format!("{question}\n"));
    let eval = "--base base --json eval --methods naive-rag --questions questions.jsonl --out out";
    let before = stub.received().requests();
    let ran = std::thread::scope(|threads| {
        let ran = threads.spawn(|| place.run(&eval.split(' ').collect::<Vec<_>>()));
        wait_until("the evaluation asks", || before < stub.received().requests());
        let shut = format!("{BASE}/files?file=docs/shut/crane.md&forget=true");
        assert_eq!(serving.request("DELETE", &shut, &[], b"").status, 200);
        stub.answer_all();
        ran.join().unwrap()
    });
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(place.read("out/rows.jsonl").contains("Varnsund"), "{}", place.read("out/rows.jsonl"));
    fs::remove_dir_all(place.path("out")).unwrap();
    wait_until("no byte is left", || files_with(&place, "Zyxwort").is_empty());
}
