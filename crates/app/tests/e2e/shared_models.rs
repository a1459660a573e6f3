//! Tests that all requests and protocols of a server share a model's limits, waits, circuit and
//! calls under way.

use std::sync::{Arc, Mutex};
use std::thread::scope;
use std::time::{Duration, Instant};

use pikerag_test_support::{Fault, Faults, Server, When, oracle};
use serde_json::{Value, json};

use crate::common::{Place, good_stub};
use crate::limits::{counter, wait_until};
use crate::serve::with_papers;
use crate::serving::{Reply, Serving};

const BASE: &str = "/api/v1/bases/default";

/// A model with this latency, and the times at which calls reached it.
fn timed(faults: Faults, latency: Duration) -> (Server, Arc<Mutex<Vec<Instant>>>) {
    let reached = Arc::new(Mutex::new(Vec::new()));
    let calls = Arc::clone(&reached);
    let model = move |prompt: &str| {
        calls.lock().unwrap().push(Instant::now());
        oracle(prompt)
    };
    (Server::start(model, faults, latency), reached)
}

/// An indexed base without vectors, whose settings hold these lines.
fn place(stub: &Server, settings: &str) -> Place {
    let place = Place::new().set("OPENAI_BASE_URL", &stub.url()).set("OPENAI_MODEL", "stub");
    place.write_workload();
    place.run_to(0, &["--offline", "--base", "base", "index", "corpus.jsonl"]);
    place.write("pikerag.toml", settings);
    place
}

/// An indexed base of two documents without vectors, whose settings hold these lines.
fn papers(stub: &Server, settings: &str) -> Place {
    let place = Place::new().set("OPENAI_BASE_URL", &stub.url()).set("OPENAI_MODEL", "stub");
    let place = with_papers(place);
    place.write("pikerag.toml", settings);
    place
}

/// Different questions about the documents.
fn about_cranes(n: usize) -> Vec<String> {
    (0..n).map(|n| format!("What does crane {n} of Hamburg lift?")).collect()
}

fn questions(place: &Place, n: usize) -> Vec<String> {
    let text = place.read("questions.jsonl");
    let asked = text.lines().take(n).map(|line| {
        let line: Value = serde_json::from_str(line).unwrap();
        line["question"].as_str().unwrap().to_owned()
    });
    asked.collect()
}

/// Asks all questions at once; the answered runs, in order.
fn ask_all(serving: &Serving, method: &str, questions: &[String]) -> Vec<Value> {
    scope(|scope| {
        let asking: Vec<_> = questions
            .iter()
            .map(|question| {
                let body = json!({"question": question, "method": method});
                scope.spawn(move || serving.post(&format!("{BASE}/ask"), "", &body))
            })
            .collect();
        let replies = asking.into_iter().map(|asked| asked.join().unwrap());
        replies
            .map(|reply| {
                assert_eq!(reply.status, 200, "{reply:?}");
                let answered = reply.json();
                assert!(answered["answer"].is_object(), "{answered}");
                answered
            })
            .collect()
    })
}

/// Roles of one endpoint count together, too: `kar3` proposes, selects and answers.
#[test]
fn calls_in_flight_are_limited_over_requests_and_roles() {
    let stub = Server::start(oracle, Faults::default(), Duration::from_millis(60));
    let place = place(
        &stub,
        "[chat]\nin_flight = 2\n[roles.answer]\nmodel = \"stub\"\n[roles.propose]\nmodel = \"stub\"\nin_flight = 3\n",
    );
    let serving = place.serve(&[]);
    ask_all(&serving, "kar3", &questions(&place, 6));
    let counts = stub.received();
    assert!(6 < counts.chats, "{counts:?}");
    assert_eq!(counts.most_at_once, 2, "{counts:?}");
}

/// Sixty calls a minute: six at once, then one each second.
#[test]
fn calls_a_minute_are_limited_over_requests() {
    let (stub, reached) = timed(Faults::default(), Duration::ZERO);
    let place = place(&stub, "[chat]\nrequests_per_minute = 60\n");
    let serving = place.serve(&[]);
    ask_all(&serving, "naive-rag", &questions(&place, 9));
    let reached = reached.lock().unwrap();
    assert_eq!(reached.len(), 9);
    let all = *reached.last().unwrap() - *reached.first().unwrap();
    assert!(Duration::from_millis(2500) <= all, "{reached:?}");
}

/// The endpoint asks the first call to wait three seconds: no call of another request comes
/// earlier.
#[test]
fn a_retry_after_of_one_request_holds_for_the_others() {
    let faults = Faults { retry_after: Some(3), ..vec![(Fault::Busy, When::FirstTime)].into() };
    let (stub, reached) = timed(faults, Duration::ZERO);
    let place = place(&stub, "[chat]\nin_flight = 1\n");
    let serving = place.serve(&[]);
    ask_all(&serving, "naive-rag", &questions(&place, 3));
    let reached = reached.lock().unwrap();
    let (first, second) = (reached.first().unwrap(), reached.get(1).unwrap());
    assert!(Duration::from_millis(2900) <= *second - *first, "{reached:?}");
}

#[test]
fn identical_calls_of_two_requests_cost_one() {
    let stub = Server::start(oracle, Faults::default(), Duration::from_millis(400));
    let place = place(&stub, "[prices.stub]\nprompt = 1.0\ncompletion = 1.0\n");
    let serving = place.serve(&[]);
    let question = questions(&place, 1).remove(0);
    let runs = ask_all(&serving, "naive-rag", &[question.clone(), question]);
    assert_eq!(stub.received().chats, 1);
    let mut paid: Vec<f64> = runs.iter().map(|run| run["usd"]["paid"].as_f64().unwrap()).collect();
    paid.sort_by(f64::total_cmp);
    assert!(matches!(paid[..], [0.0, more] if 0.0 < more), "{runs:?}");
}

/// The protocols through which a question is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Protocol {
    Rest,
    RestStream,
    OpenAi,
    OpenAiStream,
    Ollama,
    Mcp,
}

impl Protocol {
    const ALL: [Self; 6] =
        [Self::Rest, Self::RestStream, Self::OpenAi, Self::OpenAiStream, Self::Ollama, Self::Mcp];

    /// Asks by `naive-rag`, which calls the chat model once.
    fn ask(self, serving: &Serving, question: &str) -> Reply {
        let own = json!({"question": question, "method": "naive-rag"});
        let chat = |stream: bool| {
            let messages = json!([{"role": "user", "content": question}]);
            json!({"model": "pikerag/naive-rag", "messages": messages, "stream": stream})
        };
        match self {
            Self::Rest => serving.post(&format!("{BASE}/ask"), "", &own),
            Self::RestStream => {
                let headers =
                    [("Content-Type", "application/json"), ("Accept", "text/event-stream")];
                let body = own.to_string();
                serving.request("POST", &format!("{BASE}/ask"), &headers, body.as_bytes())
            }
            Self::OpenAi => serving.post("/v1/chat/completions", "", &chat(false)),
            Self::OpenAiStream => serving.post("/v1/chat/completions", "", &chat(true)),
            Self::Ollama => serving.post("/api/chat", "", &chat(true)),
            Self::Mcp => serving.mcp("", "tools/call", &json!({"name": "ask", "arguments": own})),
        }
    }
}

/// Asks through all protocols at once, with the questions in turn. The model replies after all runs
/// have begun and this number of calls has reached it.
fn ask_at_once(serving: &Serving, stub: &Server, questions: &[String], calls: u64) -> Vec<Value> {
    let before = stub.received().requests();
    stub.answer_only(before);
    let replies: Vec<Reply> = scope(|scope| {
        let asked = Protocol::ALL.iter().zip(questions.iter().cycle());
        let asking: Vec<_> = asked
            .map(|(protocol, question)| scope.spawn(move || protocol.ask(serving, question)))
            .collect();
        wait_until("all runs have begun", || {
            counter(serving, "pikerag_runs_underway") == Protocol::ALL.len() as u64
                && before + calls <= stub.received().requests()
        });
        stub.answer_all();
        asking.into_iter().map(|asked| asked.join().unwrap()).collect()
    });
    assert!(replies.iter().all(|reply| reply.status == 200), "{replies:?}");
    let runs = serving.get(&format!("{BASE}/runs"), "").json().as_array().unwrap().clone();
    assert!(runs.iter().all(|run| run["state"] == "answered"), "{runs:?} {replies:?}");
    assert_eq!(runs.len(), Protocol::ALL.len());
    runs
}

#[test]
fn calls_in_flight_are_limited_over_all_protocols() {
    let stub = Server::start(oracle, Faults::default(), Duration::from_millis(150));
    let place = papers(&stub, "[chat]\nin_flight = 2\n");
    let serving = place.serve(&[]);
    ask_at_once(&serving, &stub, &about_cranes(Protocol::ALL.len()), 2);
    let counts = stub.received();
    assert_eq!((counts.chats, counts.most_at_once), (6, 2), "{counts:?}");
}

/// One model of an endpoint chats and embeds under one name: both kinds of calls share its limit.
#[test]
fn chats_and_embeddings_of_one_model_share_its_limit() {
    let stub = Server::start(oracle, Faults::default(), Duration::from_millis(150));
    let place = with_papers(Place::with(&stub)).set("PIKERAG_EMBED_MODEL", "stub");
    place.run_to(0, &["--base", "base", "index", "docs"]);
    place.write("pikerag.toml", "[chat]\nin_flight = 2\n");
    stub.reset();
    let serving = place.serve(&[]);
    ask_at_once(&serving, &stub, &about_cranes(Protocol::ALL.len()), 2);
    let counts = stub.received();
    assert!(counts.most_at_once <= 2 && 0 < counts.embeddings, "{counts:?}");
}

#[test]
fn identical_calls_of_all_protocols_cost_one() {
    // Long enough that a separate call would be sent before the first reply is recorded.
    let stub = Server::start(oracle, Faults::default(), Duration::from_millis(400));
    let place = papers(&stub, "[prices.stub]\nprompt = 1.0\ncompletion = 1.0\n");
    let serving = place.serve(&[]);
    let runs = ask_at_once(&serving, &stub, &about_cranes(1), 1);
    assert_eq!(stub.received().chats, 1);
    let paid = |run: &&Value| 0.0 < run["usd"]["paid"].as_f64().unwrap();
    assert_eq!(runs.iter().filter(paid).count(), 1, "{runs:?}");
}

/// Whether a reply says that the model cannot be called now.
fn names_model(reply: &Reply) -> bool {
    reply.text.contains("is out of reach") || reply.text.contains("is busy or does not answer")
}

/// The endpoint asks one call to wait for an hour: no protocol sends another call, and each reply names the model.
#[test]
fn a_retry_after_holds_for_all_protocols() {
    let faults = Faults { retry_after: Some(3600), ..Faults::default() };
    let stub = Server::start(oracle, faults, Duration::ZERO);
    let place = papers(&stub, "");
    for first in Protocol::ALL {
        let serving = place.serve(&[]);
        let mut questions = about_cranes(1 + Protocol::ALL.len()).into_iter();
        stub.reset();
        stub.spoil_chats("", Fault::Busy);
        first.ask(&serving, &questions.next().unwrap());
        assert_eq!(stub.received().chats, 1, "{first:?}");
        stub.stop_faults();
        for (protocol, question) in Protocol::ALL.into_iter().zip(questions) {
            let reply = protocol.ask(&serving, &question);
            assert!(names_model(&reply), "{first:?}, {protocol:?}: {reply:?}");
        }
        assert_eq!(stub.received().chats, 1, "{first:?}");
    }
}

/// The number of trial calls that an open circuit has let through: one after one second, the next
/// after two more, then four more.
fn tries_since(opened: Instant) -> u64 {
    (1..=5).filter(|n| Duration::from_secs((1 << n) - 1) <= opened.elapsed()).count() as u64
}

#[test]
fn a_circuit_that_one_protocol_opens_is_open_for_all() {
    let stub = good_stub();
    let place = papers(&stub, "[chat]\nmax_attempts = 1\n");
    let serving = place.serve(&[]);
    let mut questions = about_cranes(4 + 2 * Protocol::ALL.len()).into_iter();
    stub.spoil_chats("", Fault::Broken);
    for question in questions.by_ref().take(3) {
        Protocol::Ollama.ask(&serving, &question);
    }
    let opened = Instant::now();
    assert_eq!(stub.received().chats, 3);
    for (protocol, question) in Protocol::ALL.into_iter().zip(questions.by_ref()) {
        let reply = protocol.ask(&serving, &question);
        assert!(names_model(&reply), "{protocol:?}: {reply:?}");
    }
    let tried = stub.received().chats - 3;
    assert!(tried <= tries_since(opened), "{tried} calls in {:?}", opened.elapsed());
    // The first answered call closes the circuit for all protocols.
    stub.stop_faults();
    let question = questions.next().unwrap();
    wait_until("one call is answered", || {
        Protocol::Mcp.ask(&serving, &question).text.contains("citations")
    });
    let counts = stub.received().chats;
    for (protocol, question) in Protocol::ALL.into_iter().zip(questions) {
        let reply = protocol.ask(&serving, &question);
        assert!(!names_model(&reply), "{protocol:?}: {reply:?}");
    }
    assert_eq!(stub.received().chats, counts + Protocol::ALL.len() as u64);
}

/// Searches and Dify call only the embedding model.
#[test]
fn a_retry_after_of_the_embedder_holds_for_all_protocols() {
    let faults = Faults { retry_after: Some(3600), ..Faults::default() };
    let stub = Server::start(oracle, faults, Duration::ZERO);
    let place = with_papers(Place::with(&stub));
    place.run_to(0, &["--base", "base", "index", "docs"]);
    let searches = |serving: &Serving, n: usize| {
        let query = format!("crane {n}");
        let tool = json!({"name": "search", "arguments": {"query": query}});
        [
            serving.post("/retrieval", "", &json!({"knowledge_id": "", "query": query})),
            serving.post(&format!("{BASE}/search"), "", &json!({"query": query})),
            serving.post("/v1/embeddings", "", &json!({"model": "pikerag", "input": query})),
            serving.mcp("", "tools/call", &tool),
        ]
    };
    let serving = place.serve(&[]);
    searches(&serving, 0);
    let before = stub.received().embeddings;
    assert!(0 < before);
    stub.spoil_texts("", Fault::Busy);
    let replies = searches(&serving, 1);
    assert_eq!(stub.received().embeddings, before + 1, "{replies:?}");
    stub.stop_faults();
    let replies = searches(&serving, 2);
    assert_eq!(stub.received().embeddings, before + 1, "{replies:?}");
    assert!(replies.iter().all(names_model), "{replies:?}");
}
