//! Tests that KAR³ and `adaptive` are exact and cheap on the workload at any concurrency.

use pikerag_test_support::{Sizes, World};

use crate::common::{Place, good_stub, thousandths};

#[test]
fn kar3_is_right_and_repeats_no_call_at_any_concurrency() {
    let stub = good_stub();
    let place = Place::with(&stub);
    let hops = place.write_workload().hops();
    let steps = hops.iter().sum::<usize>() as u64;
    let mut runs = Vec::new();
    for at_once in ["1", "8", "32"] {
        stub.reset();
        let eval: Vec<&str> =
            "eval --json --questions questions.jsonl --corpus corpus.jsonl --methods kar3"
                .split(' ')
                .chain(["--concurrency", at_once, "--in-flight", at_once, "--out", at_once])
                .collect();
        let report = place.run_to(0, &eval).json();
        let counts = stub.received();
        println!("{at_once} at once: {counts:?}");
        assert_eq!(thousandths(&report, "/report/overall/0/em/mean"), 1000);
        assert_eq!(report["report"]["overall"][0]["questions"], 50);
        assert_eq!(report["failed"], 0);
        assert_eq!(report["spent"]["total"]["calls"], counts.requests());
        // One call for each paragraph, a proposal and a choice for each hop, the proposal that
        // nothing is missing, and the answer.
        let kinds = ["atomize", "propose", "select", "answer"].map(|kind| counts.kind(kind));
        assert_eq!(kinds, [500, steps + 50, steps, 50]);
        assert_eq!((counts.chats, counts.faults.len()), (600 + 2 * steps, 0));
        assert_eq!((counts.repeated_chats, counts.repeated_texts), (0, 0));
        let answers = place.read(&format!("{at_once}/answers.jsonl"));
        assert_eq!(answers.lines().count(), 50);
        runs.push((answers, place.export(&format!("{at_once}/base"))));
    }
    assert!(runs.iter().all(|run| run.0 == runs[0].0), "the answers differ");
    assert!(runs.iter().all(|run| run.1 == runs[0].1), "the bases differ");
}

/// Most questions end after one reading round. Answers are the same at any concurrency, and right
/// in other worlds.
#[test]
fn adaptive_is_right_in_two_calls_at_any_concurrency() {
    let stub = good_stub();
    for (seed, all_at_once) in
        [(None, &["1", "8", "32"][..]), (Some(7), &["8"]), (Some(41), &["8"])]
    {
        let place = Place::with(&stub);
        let world = match seed {
            None => World::workload(),
            Some(seed) => World::generate(seed, Sizes { paragraphs: 300, questions: 40 }),
        };
        place.write("corpus.jsonl", world.corpus());
        place.write("questions.jsonl", world.questions());
        place.run_to(0, &["--base", "base", "index", "corpus.jsonl"]);
        let mut runs = Vec::new();
        for at_once in all_at_once {
            let ledger = format!("base-{at_once}");
            place.run_to(0, &["--base", "base", "backup", "copy"]);
            place.run_to(0, &["--base", &ledger, "restore", "copy"]);
            std::fs::remove_file(place.path("copy")).unwrap();
            let eval = [
                "--base",
                &ledger,
                "--json",
                "eval",
                "--questions",
                "questions.jsonl",
                "--methods",
                "adaptive",
            ];
            let report = place
                .run_to(0, &[&eval[..], &["--concurrency", at_once, "--out", at_once]].concat())
                .json();
            let calls = thousandths(&report, "/report/overall/0/calls/mean");
            println!("seed {seed:?}, {at_once} at once: {calls} thousandths of a call");
            assert_eq!(thousandths(&report, "/report/overall/0/em/mean"), 1000);
            assert!((1000..=2000).contains(&calls), "{calls}");
            runs.push(place.read(&format!("{at_once}/answers.jsonl")));
        }
        assert!(runs.iter().all(|run| *run == runs[0]), "the answers differ");
    }
}
