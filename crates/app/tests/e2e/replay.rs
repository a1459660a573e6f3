//! Tests that a replay gives the same bytes without any network.

use std::net::TcpListener;

use crate::common::{Place, good_stub};

#[test]
fn replays_are_the_same_bytes_without_network() {
    let stub = good_stub();
    let place = Place::with(&stub);
    let world = place.write_workload();
    place.run_to(0, &["--base", "base", "index", "corpus.jsonl"]);
    let (known, _) = world.question(2);
    let ask = ["--base", "base", "--json", "ask", known];
    let asked = place.run_to(0, &ask).stdout;
    let eval: Vec<&str> =
        "eval --corpus corpus.jsonl --methods kar3,naive-rag --limit 12 --out out --questions questions.jsonl"
            .split(' ')
            .collect();
    place.run_to(0, &eval);
    let answers = place.read("out/answers.jsonl");
    assert_eq!(answers.lines().count(), 24);

    // A listener that never answers replaces the stub.
    let port = stub.port();
    drop(stub);
    let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
    listener.set_nonblocking(true).unwrap();

    let replayed = place.run_to(0, &[&ask[..], &["--replay"]].concat()).stdout;
    assert_eq!(without_run(&replayed), without_run(&asked));
    place.run_to(0, &[&eval[..], &["--replay", "--fresh"]].concat());
    assert!(place.read("out/answers.jsonl") == answers, "the replayed answers differ");

    let unknown = "Who is the mayor of the city Nowhere?";
    let ran = place.run_to(1, &["--base", "base", "--replay", "ask", unknown]);
    assert!(ran.stderr.contains("never recorded"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    assert_eq!(ran.stdout, "");
    let called = listener.accept();
    assert!(called.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock));
}

/// An answer without the identifier of its run, which is different each time.
fn without_run(json: &str) -> String {
    let mut value: serde_json::Value = serde_json::from_str(json).unwrap();
    assert!(value["run"].is_string());
    value["run"] = serde_json::Value::Null;
    value.to_string()
}
