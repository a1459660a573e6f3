//! Tests that `SIGHUP` gives a running server other settings, and that broken ones change nothing.

use std::fs;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::json;

use crate::common::{Place, good_stub};
use crate::serve::with_papers;
use crate::serving::{LOG, Serving, read};

const ASK: &str = "/api/v1/bases/default/ask";

/// Sends the signal, and waits until the log has one more line that holds `words`.
fn reload(place: &Place, serving: &Serving, words: &str) {
    let log = || fs::read_to_string(place.own_path(LOG)).unwrap();
    let lines = || log().lines().filter(|line| line.contains(words)).count();
    let before = lines();
    serving.signal(Signal::SIGHUP);
    let began = Instant::now();
    while lines() == before {
        assert!(began.elapsed() < Duration::from_secs(20), "{words:?}: {}", log());
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_hangup_changes_prices_caps_origins_and_bases() {
    let stub = good_stub();
    let place = with_papers(Place::with(&stub));
    place.run_to(0, &["--base", "base", "index", "docs"]);
    place.write("pikerag.toml", "[prices.stub]\nprompt = 1.0\ncompletion = 1.0\n");
    let serving = place.serve(&[]);
    let ask = |n: usize| {
        let question = format!("What does crane {n} of Hamburg lift?");
        serving.post(ASK, "", &json!({"question": question, "method": "naive-rag"}))
    };
    assert_eq!(ask(1).status, 200);
    let origin = [("Origin", "https://portal.example")];
    assert_eq!(serving.request("GET", "/api/v1/bases", &origin, b"").status, 403);

    let changed = "[budget]\nusd = 0.0\n[prices.stub]\nprompt = 2.0\ncompletion = 2.0\n\
        [prices.stub-embedding]\nprompt = 0.0\n\
        [server]\norigins = [\"https://portal.example\"]\nquestion_kib = 1\nruns = 7\n\
        [server.bases]\nother = \"other\"\n";
    place.write("pikerag.toml", changed);
    reload(&place, &serving, "a restart is needed for server.runs");
    let refused = ask(2);
    assert!(refused.text.contains("over-budget"), "{refused:?}");
    assert_eq!(serving.request("GET", "/api/v1/bases", &origin, b"").status, 200);
    let names = serving.get("/api/v1/bases", "").json();
    assert_eq!(names, json!([{"name": "default"}, {"name": "other"}]));
    let long = json!({"question": "crane ".repeat(400)});
    assert_eq!(serving.post(ASK, "", &long).status, 413);

    // Settings that cannot be read change nothing.
    place.write("pikerag.toml", "[server]\nquestion_kib = \"many\"\n");
    reload(&place, &serving, "continues with its earlier settings");
    assert_eq!(serving.post(ASK, "", &long).status, 413);
    assert_eq!(serving.get("/api/v1/bases", "").json(), names);

    place.write("pikerag.toml", "");
    reload(&place, &serving, "the settings are reloaded");
    assert_eq!(ask(2).status, 200);
    assert_eq!(serving.get("/api/v1/bases", "").json(), json!([{"name": "default"}]));
}

/// A run continues with its first model, and the next run uses the new one.
#[test]
fn a_hangup_leaves_running_runs_unchanged() {
    let stub = good_stub();
    let place = with_papers(Place::with(&stub));
    place.run_to(0, &["--base", "base", "index", "docs"]);
    let serving = place.serve(&[]);
    let requests = stub.received().requests();
    stub.answer_only(requests);
    let body = json!({"question": "What does crane 1 of Hamburg lift?", "method": "naive-rag"});
    let headers = [("Content-Type", "application/json")];
    let asked = serving.send("POST", ASK, &headers, body.to_string().as_bytes());
    let began = Instant::now();
    while stub.received().requests() == requests {
        assert!(began.elapsed() < Duration::from_mins(1), "nobody asked the model");
        std::thread::sleep(Duration::from_millis(5));
    }
    place.write("pikerag.toml", "[roles.answer]\nmodel = \"other\"\n");
    place.run_to(0, &["trust"]);
    reload(&place, &serving, "the settings are reloaded");
    stub.answer_all();
    let first = read(asked);
    assert!(first.text.contains("\"model\":\"stub\""), "{first:?}");
    let question = json!({"question": "What does crane 2 lift?", "method": "naive-rag"});
    let next = serving.post(ASK, "", &question);
    assert!(next.text.contains("\"model\":\"other\""), "{next:?}");
}
