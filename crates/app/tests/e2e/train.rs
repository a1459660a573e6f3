//! Tests that collecting stops, is killed and resumes without a repeated call, keeps its budget, replays without a
//! network, reads kept runs once each, and that its exports have the form that trainers read.

use std::collections::BTreeSet;
use std::process::Stdio;
use std::time::Duration;

use pikerag_test_support::{Faults, Server, Sizes, World, full_oracle};
use serde_json::{Value, json};

use crate::common::{Place, good_stub};

/// One attempt each: further ones send equal requests at a temperature.
const COLLECT: [&str; 8] =
    ["train", "collect", "--questions", "questions.jsonl", "--out", "made", "--attempts", "1"];

/// A small world with twenty questions.
fn world() -> World {
    World::generate(5, Sizes { paragraphs: 60, questions: 20 })
}

/// A base of the small world.
fn indexed(stub: &Server) -> Place {
    let place = Place::with(stub);
    let world = world();
    place.write("corpus.jsonl", world.corpus());
    place.write("questions.jsonl", world.questions());
    place.run_to(0, &["index", "corpus.jsonl"]);
    stub.reset();
    place
}

#[expect(clippy::unwrap_used, reason = "only tests call it")]
fn lines(place: &Place, name: &str) -> Vec<Value> {
    place.read(name).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_budget_a_kill_and_a_resumed_run_repeat_no_call() {
    let stub = good_stub();
    let place = indexed(&stub);
    let capped = [&["--budget-calls", "25"], &COLLECT[..]].concat();
    place.run_to(4, &capped);
    assert!(stub.received().requests() <= 25, "{:?}", stub.received());
    assert_eq!(stub.received().repeated_chats, 0);
    // Killed amid the next run.
    let mut child =
        place.command(&COLLECT).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while stub.received().requests() < 60 && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_micros(200));
    }
    let is_killed = child.try_wait().unwrap().is_none();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(is_killed, "it ended before the kill");
    let before = stub.received().repeated_chats;
    let made = place.run_to(0, &[&["--json"], &COLLECT[..]].concat()).json();
    // The calls that were in flight at the kill, at most eight.
    assert!(stub.received().repeated_chats <= before + 8, "{before}, then {:?}", stub.received());
    assert_eq!(made["card"]["questions"], 20);
    // Like the printed loop, collecting has no backup: the stub words some proposals unlike atoms.
    assert!((16..=20).contains(&made["card"]["right"].as_u64().unwrap()), "{made:#}");
    let trajectories = lines(&place, "made/trajectories.jsonl");
    assert_eq!(trajectories.len(), 20);
    let hops: usize = trajectories.iter().map(|one| steps(one).len()).sum();
    assert!(20 <= hops, "{hops}");
    // Nothing is left to do; and a replay needs no network.
    let requests = stub.received().requests();
    place.run_to(0, &COLLECT);
    let mut again = [&["--replay"], &COLLECT[..]].concat();
    again[6] = "again";
    place.run_to(0, &again);
    assert_eq!(stub.received().requests(), requests);
    let key = |one: &Value| one["item"].as_str().unwrap().to_owned();
    let sorted = |mut all: Vec<Value>| {
        all.sort_by_key(key);
        all
    };
    assert_eq!(sorted(lines(&place, "again/trajectories.jsonl")), sorted(trajectories));
    // Other parameters need another folder.
    let other = place.run_to(1, &[&COLLECT[..], &["--rounds", "3"]].concat());
    assert!(other.stderr.contains("--fresh"), "{}", other.stderr);
}

#[expect(clippy::unwrap_used, reason = "only tests call it")]
fn steps(trajectory: &Value) -> Vec<&Value> {
    let rounds = trajectory["rounds"].as_array().unwrap();
    rounds.iter().filter_map(|round| round.get("chosen")).collect()
}

#[test]
fn a_forecast_makes_no_call_and_writes_nothing() {
    let stub = good_stub();
    let place = indexed(&stub);
    let forecast = place.run_to(0, &[&["--json"], &COLLECT[..], &["--dry-run"]].concat()).json();
    // Ten rounds with three calls each, and an answer.
    assert_eq!(forecast["most_calls"], 20 * 31);
    assert_eq!(stub.received().requests(), 0);
    assert!(!place.path("made").exists());
}

#[test]
fn exports_hold_t_plus_1_examples_and_leave_evaluation_questions_out() {
    let stub = good_stub();
    let place = indexed(&stub);
    place.run_to(0, &COLLECT);
    let trajectories = lines(&place, "made/trajectories.jsonl");
    let evaluation = trajectories.iter().find(|one| one["is_right"] == true).unwrap();
    let evaluation = evaluation["question"].as_str().unwrap();
    let held = json!({"id": "1", "question": evaluation, "answers": ["x"]});
    place.write("held.jsonl", format!("{held}\n"));
    let export = |format: &str, out: &str| {
        let words = format!(
            "--json train export made --out {out} --format {format} --apart question --evaluation held.jsonl"
        );
        place.run_to(0, &words.split(' ').collect::<Vec<_>>()).json()
    };
    let card = &export("trl", "trl")["card"];
    assert_eq!(card["leaks"], json!([1, 0]));
    let is_right = |one: &&Value| one["is_right"] == true && one["question"] != evaluation;
    let right: Vec<&Value> = trajectories.iter().filter(is_right).collect();
    let expected: usize = right.iter().map(|one| steps(one).len() + 1).sum();
    let of = |out: &str, ending: &str| -> Vec<String> {
        let parts = ["train", "valid", "test"].map(|part| format!("{out}/{part}.{ending}"));
        parts.iter().filter(|name| place.path(name).exists()).map(|name| place.read(name)).collect()
    };
    let rows: Vec<Value> = of("trl", "jsonl")
        .iter()
        .flat_map(|text| {
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(rows.len(), expected, "{card:#}");
    assert!(rows.iter().all(
        |row| row["prompt"][0]["role"] == "user" && row["completion"][0]["role"] == "assistant"
    ));
    assert!(rows.iter().all(|row| !row.to_string().contains(evaluation)));
    let questions = |part: &str| -> BTreeSet<String> {
        let question = |row: &Value| {
            let prompt = row["prompt"][0]["content"].as_str().unwrap().to_owned();
            prompt.split("\n# ").nth(1).unwrap().to_owned()
        };
        lines(&place, &format!("trl/{part}.jsonl")).iter().map(question).collect()
    };
    assert!(questions("train").is_disjoint(&questions("test")));
    export("openai", "openai");
    let messages = lines(&place, "openai/train.jsonl");
    assert!(messages.iter().all(|row| row["messages"].as_array().unwrap().len() == 2));
    export("llama-factory", "llama");
    let info: Value = serde_json::from_str(&place.read("llama/dataset_info.json")).unwrap();
    assert_eq!(info["pikerag_train"]["file_name"], "train.json");
    let list: Vec<Value> = serde_json::from_str(&place.read("llama/train.json")).unwrap();
    assert!(list.iter().all(|row| row["output"].as_str().unwrap().starts_with("<decompose>")));
    assert!(place.read("llama/card.md").contains("| train |"));
}

/// The trained proposer of the stub answers every question of the world.
#[test]
fn a_trained_proposer_answers() {
    let stub = Server::start(full_oracle, Faults::default(), Duration::ZERO);
    let place = indexed(&stub);
    let eval = "--json eval --questions questions.jsonl --methods kar3-trained --out out";
    let report = place.run_to(0, &eval.split(' ').collect::<Vec<_>>()).json();
    assert_eq!(crate::common::thousandths(&report, "/report/overall/0/em/mean"), 1000);
    assert_eq!(stub.received().kind("select"), 0);
    assert!(0 < stub.received().kind("next"));
}

/// Labels stop at a budget and resume without a repeated call, each module gets its examples, and modules with the
/// model of the labels agree with them.
#[test]
fn labels_of_the_modules_of_ra_isf() {
    let stub = Server::start(full_oracle, Faults::default(), Duration::ZERO);
    let place = indexed(&stub);
    let label = ["--json", "train", "label", "--questions", "questions.jsonl", "--out", "labels"];
    place.run_to(4, &[&["--budget-calls", "40"], &label[..]].concat());
    assert!(stub.received().requests() <= 40);
    let made = place.run_to(0, &label).json();
    assert_eq!(stub.received().repeated_chats, 0);
    let counts = &made["counts"];
    assert_eq!(counts["questions"], 20);
    let all = lines(&place, "labels/labels.jsonl");
    let sum = |counts: &Value| {
        counts.as_array().unwrap().iter().map(|count| count.as_u64().unwrap()).sum::<u64>()
    };
    // Nobody knows a generated world by heart.
    assert_eq!(counts["knows"], serde_json::json!([0, 20]), "{counts:#}");
    assert_eq!(sum(&counts["decomposed"]), 20);
    let passages: usize = all.iter().map(|one| one["passages"].as_array().unwrap().len()).sum();
    assert_eq!(sum(&counts["relevant"]), passages as u64);
    assert!(counts["relevant"].as_array().unwrap().iter().all(|count| *count != 0), "{counts:#}");
    let export = "--json train export labels --out data --apart question";
    let card = place.run_to(0, &export.split(' ').collect::<Vec<_>>()).json();
    let examples = |module: &str| -> u64 {
        let parts = card["card"]["labels"]["modules"][module].as_object().unwrap();
        parts.values().map(|part| part["examples"].as_u64().unwrap()).sum()
    };
    assert_eq!(examples("know"), 20);
    assert_eq!(examples("relevant"), passages as u64);
    let known = lines(&place, "data/known.jsonl");
    assert!(!known.is_empty() && known.iter().all(|line| line["known"] == false));
    let know = lines(&place, "data/know/train.jsonl");
    assert!(know.iter().all(|row| row["completion"][0]["content"] == "No"));
    let requests = stub.received().requests();
    let agree = "--json train agree labels --held-out 0";
    let agreed = place.run_to(0, &agree.split(' ').collect::<Vec<_>>()).json();
    let relevant = &agreed["agreement"]["relevant"];
    assert_eq!(relevant["all"], passages);
    assert_eq!(relevant["agree"], relevant["all"]);
    // Only the verdicts of `know` and of the judge are new.
    assert!(stub.received().requests() <= requests + 40);
    // Trajectories and labels are not exported together.
    place.run_to(0, &COLLECT);
    for folders in [["made", "labels"], ["labels", "made"]] {
        let export = [&["train", "export"], &folders[..], &["--out", "both"]].concat();
        let refused = place.run_to(1, &export);
        assert!(refused.stderr.contains("apart"), "{}", refused.stderr);
    }
}

/// Asks by Algorithm 1 as printed, with at most `n` rounds; the name of the run.
#[expect(clippy::unwrap_used, reason = "only tests call it")]
fn asked(place: &Place, question: &str, n: usize) -> String {
    place.write("pikerag.toml", format!("[methods]\nn = {n}\n"));
    let asked = place.run_to(0, &["--json", "ask", "--method", "kar3-paper", question]).json();
    asked.pointer("/run").and_then(Value::as_str).unwrap().to_owned()
}

fn from_runs(place: &Place, out: &str, more: &[&str]) -> Value {
    let collect = ["--json", "train", "collect", "--from", "runs", "--out", out];
    place.run_to(0, &[&collect[..], more].concat()).json()
}

#[test]
fn judged_runs_become_trajectories_and_preferences() {
    let stub = good_stub();
    let place = indexed(&stub);
    let world = world();
    let (question, answer) = world.question(2);
    let worse = asked(&place, question, 1);
    let better = asked(&place, question, 5);
    asked(&place, world.question(3).0, 5);
    place.run_to(0, &["feedback", "reject", &worse, "--by", "Ada"]);
    place.run_to(0, &["feedback", "accept", &better, "--by", "Ada"]);
    let forecast = from_runs(&place, "kept", &["--dry-run"]);
    // An answer for each step: one of the worse run, two of the better one.
    assert_eq!((&forecast["questions"], &forecast["most_calls"]), (&json!(1), &json!(3)));
    assert!(!place.path("kept").exists());
    // Algorithm 1 does not answer sub-questions, and without a model nothing else does.
    let offline = from_runs(&place, "kept", &["--offline"]);
    assert_eq!(offline["runs"]["left_out"], json!({ "no_answers": 2, "unknown": 1 }));
    assert_eq!(offline["card"]["trajectories"], 0);

    let made = from_runs(&place, "kept", &[]);
    let runs = json!({ "read": 3, "earlier": 0, "used": 2, "left_out": { "unknown": 1 } });
    assert_eq!(made["runs"], runs);
    assert_eq!(made["card"]["origins"], json!({ "run": 1 }));
    assert_eq!(
        made["spent"]["by_role"]["answer"][0], 3,
        "the calls of the runs themselves do not count again"
    );
    let kept = lines(&place, "kept/trajectories.jsonl");
    assert_eq!(kept.len(), 2);
    for (number, (run, is_right)) in [(&worse, false), (&better, true)].into_iter().enumerate() {
        let one = &kept[number];
        assert_eq!((&one["run"], &one["attempt"]), (&json!(run), &json!(number)));
        assert_eq!((&one["is_right"], &one["labels"]), (&json!(is_right), &json!([answer])));
        assert_eq!(steps(one).len(), number + 1, "{one:#}");
        assert!(steps(one).iter().all(|step| step["answer"] != "" && step["document"] != ""));
    }

    // Later collections add new runs only.
    let requests = stub.received().requests();
    let again = from_runs(&place, "kept", &[]);
    let runs = json!({ "read": 3, "earlier": 2, "used": 0, "left_out": { "unknown": 1 } });
    assert_eq!(again["runs"], runs);
    assert_eq!(stub.received().requests(), requests);
    assert_eq!(lines(&place, "kept/trajectories.jsonl"), kept);

    let export = "--json train export kept --out data --held-out 0";
    let export = place.run_to(0, &export.split(' ').collect::<Vec<_>>()).json();
    let parts = json!({ "questions": 1, "examples": 3, "preferences": 1 });
    assert_eq!(export["card"]["parts"]["train"], parts, "{export:#}");
    assert!(place.read("data/card.md").contains("kept runs: 1"));
}

/// Labels decide on runs that nobody has judged, and several runs of a labelled question share its identifier.
#[test]
fn labels_decide_on_kept_runs() {
    let stub = good_stub();
    let place = indexed(&stub);
    let world = world();
    let (question, answer) = world.question(2);
    asked(&place, question, 1);
    asked(&place, question, 5);
    let nothing = from_runs(&place, "nothing", &[]);
    assert_eq!(nothing["runs"]["left_out"], json!({ "unknown": 2 }));
    let with_labels = ["--questions", "questions.jsonl", "--right", "contains"];
    let made = from_runs(&place, "labelled", &with_labels);
    assert_eq!((&made["runs"]["used"], &made["runs"]["left_out"]), (&json!(2), &json!({})));
    assert_eq!((&made["card"]["questions"], &made["card"]["right"]), (&json!(1), &json!(1)));
    let kept = lines(&place, "labelled/trajectories.jsonl");
    assert!(kept.iter().all(|one| one["labels"] == json!([answer])));
    assert_eq!(kept[0]["item"], kept[1]["item"]);
    assert!(kept[0]["item"].as_str().unwrap().starts_with('Q'), "{:#}", kept[0]);
    // The second run is right, with its own number.
    assert_eq!((&kept[0]["is_right"], &kept[1]["is_right"]), (&json!(false), &json!(true)));
    assert_eq!((&kept[0]["attempt"], &kept[1]["attempt"]), (&json!(0), &json!(1)));
}

#[test]
fn arguments_of_other_sources_are_refused() {
    let place = Place::new();
    let judge = "train collect --from runs --right judge --out kept";
    let judge = place.run_to(2, &judge.split(' ').collect::<Vec<_>>());
    assert!(judge.stderr.contains("--right contains"), "{}", judge.stderr);
    let missing = place.run_to(2, &["train", "collect", "--out", "kept"]);
    assert!(missing.stderr.contains("--questions FILE"), "{}", missing.stderr);
    assert!(!place.path("kept").exists());
}
