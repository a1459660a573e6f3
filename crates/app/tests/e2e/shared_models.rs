//! Tests that limits, waits and calls under way of a model hold for all requests of a server together.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use pikerag_test_support::{Fault, Faults, Server, When, oracle};
use serde_json::{Value, json};

use crate::common::Place;
use crate::serving::Serving;

/// Calls that are answered: when each began, and how many were under way at once at most.
#[derive(Default)]
struct Calls {
    under_way: AtomicUsize,
    most: AtomicUsize,
    began: Mutex<Vec<Instant>>,
}

/// A model that takes a while, and what it counts.
fn counting(faults: Faults, latency: Duration) -> (Server, Arc<Calls>) {
    let calls = Arc::new(Calls::default());
    let counted = Arc::clone(&calls);
    let mind = move |prompt: &str| {
        counted.began.lock().unwrap().push(Instant::now());
        let under_way = counted.under_way.fetch_add(1, Ordering::SeqCst) + 1;
        counted.most.fetch_max(under_way, Ordering::SeqCst);
        sleep(latency);
        let said = oracle(prompt);
        counted.under_way.fetch_sub(1, Ordering::SeqCst);
        said
    };
    (Server::start(mind, faults, Duration::ZERO), calls)
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
    let (stub, calls) = counting(Faults::default(), Duration::from_millis(60));
    let place = place(
        &stub,
        "[chat]\nin_flight = 2\n[roles.answer]\nmodel = \"stub\"\n[roles.propose]\nmodel = \"stub\"\nin_flight = 3\n",
    );
    let serving = place.serve(&[]);
    ask_all(&serving, "kar3", &questions(&place, 6));
    assert!(6 < calls.began.lock().unwrap().len());
    assert_eq!(calls.most.load(Ordering::SeqCst), 2);
}

/// Sixty a minute: six at once, then one each second.
#[test]
fn calls_a_minute_are_limited_over_requests() {
    let (stub, calls) = counting(Faults::default(), Duration::ZERO);
    let place = place(&stub, "[chat]\nrequests_per_minute = 60\n");
    let serving = place.serve(&[]);
    ask_all(&serving, "naive-rag", &questions(&place, 9));
    let began = calls.began.lock().unwrap();
    assert_eq!(began.len(), 9);
    assert!(Duration::from_millis(2500) <= *began.last().unwrap() - began[0], "{began:?}");
}

/// The first call is told to wait three seconds; no other call comes before.
#[test]
fn a_wait_that_one_request_is_told_holds_for_the_others() {
    let faults = Faults { retry_after: Some(3), ..vec![(Fault::Busy, When::FirstTime)].into() };
    let (stub, calls) = counting(faults, Duration::ZERO);
    let place = place(&stub, "[chat]\nin_flight = 1\n");
    let serving = place.serve(&[]);
    let asked = questions(&place, 3);
    let began = Instant::now();
    let later = scope(|scope| {
        let first = scope.spawn(|| ask_all(&serving, "naive-rag", &asked[..1]));
        while stub.heard().requests() == 0 {
            assert!(began.elapsed() < Duration::from_mins(1), "no call was made");
            sleep(Duration::from_millis(5));
        }
        let told = Instant::now();
        ask_all(&serving, "naive-rag", &asked[1..]);
        first.join().unwrap();
        told
    });
    let calls = calls.began.lock().unwrap();
    let least = Duration::from_millis(2900);
    assert!(calls.iter().all(|call| least <= *call - later), "{calls:?} after {later:?}");
}

#[test]
fn identical_calls_of_two_requests_cost_one() {
    let (stub, _) = counting(Faults::default(), Duration::from_millis(400));
    let place = place(&stub, "[prices.stub]\nprompt = 1.0\ncompletion = 1.0\n");
    let serving = place.serve(&[]);
    let question = questions(&place, 1).remove(0);
    let runs = ask_all(&serving, "naive-rag", &[question.clone(), question]);
    assert_eq!(stub.heard().chats, 1);
    let mut paid: Vec<f64> = runs.iter().map(|run| run["usd"]["paid"].as_f64().unwrap()).collect();
    paid.sort_by(f64::total_cmp);
    assert!(paid[0] == 0.0 && 0.0 < paid[1], "{runs:?}");
}
