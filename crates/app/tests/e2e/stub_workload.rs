//! Is KAR³ on the stub's workload as exact and as cheap as the workload was made to be, at any
//! concurrency?

use crate::common::{Place, Stub, thousandths, workload};

#[test]
fn all_is_right_and_nothing_is_asked_twice_at_any_concurrency() {
    let Some(stub) = Stub::start(&["--latency-ms", "2"]) else { return };
    let place = Place::with(&stub);
    let mut runs = Vec::new();
    for at_once in ["1", "8", "32"] {
        stub.reset();
        let ran = place.run_to(
            0,
            &[
                "eval",
                "--json",
                "--questions",
                &workload("questions.jsonl"),
                "--corpus",
                &workload("corpus.jsonl"),
                "--methods",
                "kar3",
                "--concurrency",
                at_once,
                "--in-flight",
                at_once,
                "--out",
                at_once,
            ],
        );
        let report = ran.json();
        println!(
            "{at_once} at once: EM {}/1000",
            thousandths(&report, "/report/overall/0/em/mean")
        );
        assert_eq!(thousandths(&report, "/report/overall/0/em/mean"), 1000);
        assert_eq!(report["report"]["overall"][0]["questions"], 50);
        assert_eq!(report["failed"], 0);
        assert_eq!(report["spent"]["total"]["calls"], stub.requests());
        let kinds = stub.stats()["chat_by_kind"].clone();
        let expected = serde_json::json!(
            { "tagging_json": 500, "proposer": 180, "selection": 130, "qa": 50 });
        assert_eq!(kinds, expected);
        assert_eq!(stub.count("/chat_repeated_prompts"), 0);
        assert_eq!(stub.count("/embedding_repeated_inputs"), 0);
        let answers = place.read(&format!("{at_once}/answers.jsonl"));
        assert_eq!(answers.lines().count(), 50);
        runs.push((answers, place.export(&format!("{at_once}/base"))));
    }
    assert!(runs.iter().all(|run| run.0 == runs[0].0), "the answers differ");
    assert!(runs.iter().all(|run| run.1 == runs[0].1), "the bases differ");
}
