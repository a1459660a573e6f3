//! Tests that runs are kept whatever their outcome, replayed without a call, forked and compared.

use std::process::Stdio;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use pikerag_test_support::{Fault, Malformed};
use serde_json::{Value, json};

use crate::common::Place;
use crate::talker::Talker;

const QUESTION: &str = "What does Firm 3 make?";

/// A base of some firms; the server makes a question for each.
fn firms(talker: &Talker) -> Place {
    let place = talker.place();
    for n in 0..9 {
        let text = format!("Firm {n} makes cranes of {n} tons in Port {}.\n", n % 3);
        place.write(&format!("docs/firm-{n}.txt"), text);
    }
    place.run_to(0, &["--base", "base", "index", "docs"]);
    talker.reset();
    place
}

fn run(place: &Place, code: i32, arguments: &[&str]) -> Value {
    let arguments = [&["--base", "base", "--json"], arguments].concat();
    place.run_to(code, &arguments).json()
}

/// The latest run with its events.
fn latest(place: &Place) -> Value {
    let runs = run(place, 0, &["runs", "--limit", "1"]);
    run(place, 0, &["runs", "show", runs[0]["id"].as_str().unwrap()])
}

fn events(run: &Value) -> &Vec<Value> {
    run["events"].as_array().unwrap()
}

fn calls(spent: &Value) -> u64 {
    spent["by_role"].as_object().unwrap().values().map(|role| role[0].as_u64().unwrap()).sum()
}

#[test]
fn a_run_is_kept_replayed_forked_and_compared() {
    let talker = Talker::start();
    let place = firms(&talker);
    let asked = run(&place, 0, &["ask", QUESTION, "--method", "kar3"]);
    let first = latest(&place);
    assert_eq!((&first["id"], &first["state"]), (&asked["run"], &json!("answered")));
    let paid = calls(&first["cost"]["paid"]);
    assert_eq!(
        (paid, calls(&first["cost"]["spent"])),
        (talker.received().chats, talker.received().chats)
    );
    // Events are numbered without gaps, each has an earlier parent, and each call is named once.
    let mut named = Vec::new();
    for (number, event) in events(&first).iter().enumerate() {
        assert_eq!(event["seq"], number);
        assert!(event["parent"].as_u64().is_none_or(|parent| parent < number as u64));
        named.extend(event["calls"].as_array().into_iter().flatten().cloned());
    }
    assert_eq!(named.len() as u64, paid);

    // A replay asks no model.
    let requests = talker.received().requests();
    let name = first["id"].as_str().unwrap();
    let replayed = run(&place, 0, &["runs", "replay", &name[..5]]);
    assert_eq!(replayed["answer"], asked["answer"]);
    assert_eq!(talker.received().requests(), requests);

    // A fork with another choice in the first hop: calls before it cost nothing, calls after it are
    // made.
    let at = events(&first).iter().position(|event| event["event"] == "selected").unwrap();
    let fork = ["runs", "fork", name, "--at", &at.to_string(), "--choose", "2"];
    let forked = run(&place, 0, &fork);
    let second = latest(&place);
    assert_eq!(forked["run"], second["id"]);
    let before: usize = events(&first)[..=at]
        .iter()
        .map(|event| event["calls"].as_array().map_or(0, Vec::len))
        .sum();
    let (spent, paid) = (calls(&second["cost"]["spent"]), calls(&second["cost"]["paid"]));
    assert_eq!((spent - paid) as usize, before, "{second:#}");
    assert_eq!(talker.received().chats - calls(&first["cost"]["paid"]), paid);
    assert!(0 < paid);
    assert_eq!(events(&second)[at]["index"], 1);
    assert_ne!(events(&second)[at]["chunk"], events(&first)[at]["chunk"]);

    let second_name = second["id"].as_str().unwrap();
    let diff = run(&place, 0, &["runs", "diff", name, second_name]);
    assert_eq!(diff["alike"], at);
    let of = |side: &str| {
        let of_side = |line: &&Value| line["of"] == side;
        diff["lines"].as_array().unwrap().iter().filter(of_side).count()
    };
    assert_eq!(of("both") + of("first"), events(&first).len());
    assert_eq!(of("both") + of("second"), events(&second).len());
    let shown = place.run_to(0, &["--base", "base", "runs", "diff", name, second_name]).stdout;
    assert!(shown.contains(&format!("equal for {at} events")), "{shown}");

    // A fork is a run like any other: it can be replayed, and forked again after its change and
    // before it.
    let requests = talker.received().requests();
    let replayed = run(&place, 0, &["runs", "replay", second_name]);
    assert_eq!((&replayed["answer"], talker.received().requests()), (&forked["answer"], requests));
    assert_eq!(latest(&place)["id"], second["id"], "a replay is no run of its own");
    let mut later = events(&second).iter().skip(at + 1);
    let later = later.find(|event| event["event"] == "proposed").unwrap()["seq"].to_string();
    let ask = ["runs", "fork", second_name, "--at", &later, "--propose", "Who stands in Port 1?"];
    let third = run(&place, 0, &ask)["run"].clone();
    let third = run(&place, 0, &["runs", "show", third.as_str().unwrap()]);
    assert_eq!(events(&third)[at]["chunk"], events(&second)[at]["chunk"]);
    assert_eq!(third["changes"].as_array().unwrap().len(), 2);
    let ask = ["runs", "fork", second_name, "--at", "1", "--propose", "What of Firm 3?"];
    let fourth = run(&place, 0, &ask)["run"].clone();
    let fourth = run(&place, 0, &["runs", "show", fourth.as_str().unwrap()]);
    assert_eq!(fourth["changes"].as_array().unwrap().len(), 1);

    // The same fork a second time is a replay to its end.
    let requests = talker.received().requests();
    let again = run(&place, 0, &fork);
    assert_eq!((&again["answer"], talker.received().requests()), (&forked["answer"], requests));
}

#[test]
fn impossible_forks_are_refused_with_a_reason() {
    let talker = Talker::start();
    let place = firms(&talker);
    run(&place, 0, &["ask", QUESTION, "--method", "kar3"]);
    let first = latest(&place);
    let name = first["id"].as_str().unwrap();
    let ends = |code: i32, arguments: &[&str]| {
        let all = [&["--base", "base", "runs"], arguments].concat();
        place.run_to(code, &all).stderr
    };
    let fails = |arguments: &[&str]| ends(1, arguments);
    assert!(
        ends(2, &["fork", name, "--at", "0", "--text", "x"])
            .contains("is not a decision; the decisions are: 1, ")
    );
    assert!(
        fails(&["fork", name, "--at", "1", "--verdict", "no"])
            .contains("can only be changed to sub-questions")
    );
    let at = events(&first).iter().position(|event| event["event"] == "selected").unwrap();
    assert!(
        fails(&["fork", name, "--at", &at.to_string(), "--choose", "99"])
            .contains("no candidate 99")
    );
    assert!(fails(&["show", "nobody"]).contains("there is no run `nobody`"));

    // The documents have changed, so the fork fails without asking a model.
    place.write("docs/firm-3.txt", "Firm 3 was closed.\n");
    place.run_to(0, &["--base", "base", "index", "docs"]);
    talker.reset();
    let shown = fails(&["fork", name, "--at", &at.to_string(), "--choose", "2"]);
    assert!(shown.contains("have changed since") || shown.contains("never recorded"), "{shown}");
    assert_eq!(talker.received().chats, 0);
    assert_eq!(latest(&place)["state"], "failed");
}

/// A run that fails in its middle keeps its trace and its cost.
#[test]
fn a_failed_run_keeps_its_trace_and_its_cost() {
    let talker = Talker::start();
    let place = firms(&talker);
    let ran = place
        .run_to(4, &["--base", "base", "--budget-calls", "2", "ask", QUESTION, "--method", "kar3"]);
    assert!(ran.stderr.contains("`pikerag runs show "), "{}", ran.stderr);
    let failed = latest(&place);
    assert_eq!(failed["state"], "failed");
    assert!(failed["error"].as_str().unwrap().contains("budget"), "{failed:#}");
    assert_eq!(calls(&failed["cost"]["paid"]), talker.received().chats);
    assert!(
        0 < talker.received().chats
            && events(&failed).iter().any(|event| event["event"] == "proposed")
    );
}

/// Ctrl-C during a wait for a reply: no further call is made, the program ends, and the run is
/// marked as cancelled.
#[test]
fn a_cancelled_run_makes_no_further_call() {
    for (signal, code) in [(Signal::SIGINT, 130), (Signal::SIGTERM, 143)] {
        let talker = Talker::start();
        let place = firms(&talker);
        talker.answer_only(talker.received().requests() + 4);
        let mut child = place
            .command(&["--base", "base", "ask", QUESTION, "--method", "kar3"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // The fifth request is never answered, so the program waits there.
        while talker.received().requests() < 5 {
            std::thread::sleep(Duration::from_millis(2));
        }
        kill(Pid::from_raw(child.id().try_into().unwrap()), signal).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(code));
        assert_eq!(talker.received().requests(), 5);
        let run = latest(&place);
        assert_eq!((&run["state"], &run["interrupted"]), (&json!("cancelled"), &json!(false)));
        assert!(0 < calls(&run["cost"]["paid"]), "{run:#}");
        assert!(events(&run).iter().any(|event| event["event"] == "proposed"), "{run:#}");
    }
}

#[test]
fn old_runs_are_removed() {
    let place = Place::new();
    place.write("docs/a.txt", "Ada Brandt designed the crane.\n");
    place.write("pikerag.toml", "[runs]\nkeep = 2\n");
    place.run_to(0, &["--base", "base", "index", "docs"]);
    for n in 0..3 {
        place.run_to(0, &["--base", "base", "ask", &format!("Who designed crane {n}?")]);
    }
    let runs = run(&place, 0, &["runs"]);
    let asked: Vec<&str> = runs
        .as_array()
        .unwrap()
        .iter()
        .map(|run| run["question"]["text"].as_str().unwrap())
        .collect();
    assert_eq!(asked, ["Who designed crane 2?", "Who designed crane 1?"]);
    place.write("pikerag.toml", "[runs]\nkeep = 0\n");
    let ran = place.run_to(0, &["--base", "base", "ask", "Who designed crane 3?"]);
    assert!(!ran.stderr.contains("kept as run"), "{}", ran.stderr);
    assert_eq!(run(&place, 0, &["runs"]), json!([]));
}

/// A run keeps its weights: later settings do not change its replay.
#[test]
fn a_replay_uses_the_weights_of_its_run() {
    let place = Place::new();
    for n in 0..9 {
        let text = format!("Firm {n} makes cranes of {n} tons in Port {}.\n", n % 3);
        place.write(&format!("docs/firm-{n}.txt"), text);
    }
    let set_weights = |words: f32| {
        let hops = format!("[methods.hops]\nwords_alone = {words}\nnamed = 0\nshared = {words}\n");
        place.write("pikerag.toml", format!("[embed]\nkind = \"none\"\n{hops}"));
    };
    set_weights(0.5);
    place.run_to(0, &["--base", "base", "index", "docs"]);
    let first = run(&place, 0, &["ask", QUESTION, "--method", "hop-rag"]);
    let name = first["run"].as_str().unwrap();
    set_weights(9.0);
    let again = run(&place, 0, &["runs", "replay", name]);
    assert_eq!(again["answer"], first["answer"]);
    let other = run(&place, 0, &["ask", QUESTION, "--method", "hop-rag"]);
    let scores = |run: &Value| run["answer"]["trace"].clone();
    assert_ne!(scores(&other), scores(&first), "the weights make a difference");
}

/// The next run requests an unusable reply again; the run that had it replays as it was, byte for
/// byte.
#[test]
fn unusable_replies_are_requested_again_and_the_old_run_replays_unchanged() {
    let talker = Talker::start();
    let place = firms(&talker);
    talker.spoil_chats("what is known, what is needed next", Fault::Malformed(Malformed::Prose));
    let bad = run(&place, 0, &["ask", QUESTION, "--method", "kar3"]);
    let name = bad["run"].as_str().unwrap();
    assert!(bad["answer"]["trace"].to_string().contains("unreadable"), "{bad:#}");

    talker.stop_faults();
    talker.reset();
    let good = run(&place, 0, &["ask", QUESTION, "--method", "kar3"]);
    assert!(!good["answer"]["trace"].to_string().contains("unreadable"), "{good:#}");
    assert!(0 < talker.received().chats);

    talker.reset();
    for (name, asked) in [(name, &bad), (good["run"].as_str().unwrap(), &good)] {
        let again = run(&place, 0, &["runs", "replay", name]);
        assert_eq!(again["answer"].to_string(), asked["answer"].to_string());
    }
    let once_more = run(&place, 0, &["ask", QUESTION, "--method", "kar3"]);
    assert_eq!(once_more["answer"].to_string(), good["answer"].to_string());
    assert_eq!(talker.received().chats, 0);
}

/// A run of a later pikerag may have used a prompt that this one does not have. Replays, and forks
/// after its call, name it; forks before its call do not need it.
#[test]
fn a_replay_names_a_prompt_that_only_a_later_version_has() {
    let talker = Talker::start();
    let place = firms(&talker);
    run(&place, 0, &["ask", QUESTION, "--method", "kar3"]);
    let first = latest(&place);
    let name = first["id"].as_str().unwrap();
    let last = events(&first).iter().rfind(|event| event["calls"].is_array()).unwrap();
    let call = last["calls"][0].as_str().unwrap();
    let base = rusqlite::Connection::open(place.path("base").join("base.sqlite")).unwrap();
    let label = "UPDATE calls SET request = json_set(request, '$.prompt', 'reason/answer.999') WHERE key = ?1";
    assert_eq!(base.execute(label, [call]).unwrap(), 1);
    drop(base);
    talker.reset();
    let ran = place.run_to(1, &["--base", "base", "runs", "replay", name]);
    assert!(ran.stderr.contains("was made with `reason/answer.999`"), "{}", ran.stderr);
    assert!(ran.stderr.contains("update pikerag"), "{}", ran.stderr);
    assert_eq!(talker.received().requests(), 0);
    run(&place, 0, &["runs", "fork", name, "--at", "1", "--propose", "What of Firm 4?"]);
}

/// If the documents have changed, a replay may diverge: it names the first different event.
#[test]
fn a_diverging_replay_names_the_first_different_event() {
    let place = Place::new();
    place.write("docs/crane.md", "# Crane\n\nThe crane lifts forty tons.\n");
    place.run_to(0, &["--offline", "--base", "base", "index", "docs"]);
    let serving = place.serve(&["--offline"]);
    let base = "/api/v1/bases/default";
    let question = json!({"question": "What does the crane lift?", "method": "naive-rag"});
    let run = serving.post(&format!("{base}/ask"), "", &question).json()["run"].clone();
    let path = format!("{base}/runs/{}/replay", run.as_str().unwrap());
    assert_eq!(serving.post(&path, "", &json!({})).status, 200);
    place.write("docs/crane.md", "# Crane\n\nThe crane lifts fifty tons, and no more.\n");
    place.run_to(0, &["--offline", "--base", "base", "index", "docs"]);
    let diverged = serving.post(&path, "", &json!({}));
    let problem = diverged.json();
    assert_eq!(
        (diverged.status, problem["code"].as_str()),
        (409, Some("run-diverged")),
        "{diverged:?}"
    );
    let events = serving.get(&path.replace("/replay", ""), "").json()["events"].clone();
    let at = problem["seq"].as_u64().unwrap_or_else(|| panic!("{problem:#}"));
    assert!(events.as_array().unwrap().iter().any(|event| event["seq"] == at), "{problem:#}");
}
