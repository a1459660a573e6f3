//! Tests that limits, waits and calls under way of a model hold for all requests of a server together.

use std::sync::{Arc, Mutex};
use std::thread::scope;
use std::time::{Duration, Instant};

use pikerag_test_support::{Fault, Faults, Server, When, oracle};
use serde_json::{Value, json};

use crate::common::Place;
use crate::serving::Serving;

/// A model that takes a while, and when each call reached it.
fn timed(faults: Faults, latency: Duration) -> (Server, Arc<Mutex<Vec<Instant>>>) {
    let reached = Arc::new(Mutex::new(Vec::new()));
    let calls = Arc::clone(&reached);
    let mind = move |prompt: &str| {
        calls.lock().unwrap().push(Instant::now());
        oracle(prompt)
    };
    (Server::start(mind, faults, latency), reached)
}

/// An indexed base without vectors, whose settings hold these lines.
fn place(stub: &Server, settings: &str) -> Place {
    let place = Place::new().set("OPENAI_BASE_URL", &stub.url()).set("OPENAI_MODEL", "stub");
    place.write_workload();
    place.run_to(0, &["--offline", "--base", "base", "index", "corpus.jsonl"]);
    place.write("pikerag.toml", settings);
    place
}

fn questions(place: &Place, n: usize) -> Vec<String> {
    let text = place.read("questions.jsonl");
    let asked = text.lines().take(n).map(|line| {
        let line: Value = serde_json::from_str(line).unwrap();
        line["question"].as_str().unwrap().to_owned()
    });
    asked.collect()
}

/// Asks all at once; the answered runs, in order.
fn ask_all(serving: &Serving, method: &str, questions: &[String]) -> Vec<Value> {
    scope(|scope| {
        let asking: Vec<_> = questions
            .iter()
            .map(|question| {
                let body = json!({"question": question, "method": method});
                scope.spawn(move || serving.post("/api/v1/bases/default/ask", "", &body))
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
    let heard = stub.heard();
    assert!(6 < heard.chats, "{heard:?}");
    assert_eq!(heard.most_at_once, 2, "{heard:?}");
}

/// Sixty a minute: six at once, then one each second.
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

/// The endpoint asks the first call to wait three seconds: no call of another request comes before.
#[test]
fn a_wait_that_one_request_is_told_holds_for_the_others() {
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
    assert_eq!(stub.heard().chats, 1);
    let mut paid: Vec<f64> = runs.iter().map(|run| run["usd"]["paid"].as_f64().unwrap()).collect();
    paid.sort_by(f64::total_cmp);
    assert!(matches!(paid[..], [0.0, more] if 0.0 < more), "{runs:?}");
}
