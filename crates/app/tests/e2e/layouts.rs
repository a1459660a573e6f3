//! Tests that a base of an older layout opens, answers, resumes and replays, and that nothing is paid again.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::Place;

const QUESTION: &str = "Who supervises the hall in which the KX-40 is assembled?";

/// The folder of a base of layout 3 or 7; its README tells how it was made.
pub(crate) fn fixture(layout: u8) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/layout-{layout}"))
}

fn read_fixture(name: &str) -> String {
    fs::read_to_string(fixture(3).join(name)).unwrap()
}

/// A place with a copy of the fixture of layout 3. The model that made it is not available.
fn copy_of_layout_3() -> Place {
    let place = Place::new();
    for folder in ["base", "docs"] {
        for file in fs::read_dir(fixture(3).join(folder)).unwrap() {
            let path = file.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            place.write(&format!("{folder}/{name}"), fs::read(&path).unwrap());
        }
    }
    place.write("pikerag.toml", read_fixture("pikerag.toml"));
    place
}

/// Joins headings to one line, as they were before layout 4; all else is unchanged.
fn as_before(mut value: Value) -> Value {
    match &mut value {
        Value::Object(fields) => {
            if let Some(Value::Array(headings)) = fields.get("headings") {
                let headings: Vec<&str> = headings.iter().map(|it| it.as_str().unwrap()).collect();
                let line = headings.join(" › ");
                fields.insert("headings".to_owned(), line.into());
            }
            for (_, field) in fields.iter_mut() {
                *field = as_before(field.take());
            }
        }
        Value::Array(items) => {
            for item in items {
                *item = as_before(item.take());
            }
        }
        _ => {}
    }
    value
}

/// The chunks of hits, by identifier.
fn chunks(hits: &Value) -> Vec<Value> {
    let chunk = |hit: &Value| hit["chunk"].clone();
    let mut chunks: Vec<Value> = hits.as_array().unwrap().iter().map(chunk).collect();
    chunks.sort_by_key(|chunk| chunk["id"].to_string());
    chunks
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| as_before(serde_json::from_str(line).unwrap())).collect()
}

#[test]
fn a_base_of_layout_3_answers_as_it_did() {
    let place = copy_of_layout_3();
    let ask = |method| ["--json", "--replay", "ask", "--method", method, QUESTION];
    let expected = |method: &str| -> Value {
        serde_json::from_str(&read_fixture(&format!("asked-{method}.json"))).unwrap()
    };
    // The final prompt is worded differently now and the model is not available, so each run fails
    // there. All passages up to there are as they were.
    for method in ["naive-rag", "replug", "graphrag-local", "raptor"] {
        let ran = place.run_to(1, &ask(method));
        assert!(ran.stderr.contains("this `answer` request"), "{method}: {}", ran.stderr);
        let runs = place.run_to(0, &["--json", "runs"]).json();
        let name = runs[0]["id"].as_str().unwrap();
        let run = place.run_to(0, &["--json", "runs", "show", name]).json();
        let gathered = |events: &Value| -> Vec<Value> {
            let events = events.as_array().unwrap().iter();
            let lists = events.filter(|event| event["candidates"].is_array());
            let found = lists.flat_map(|event| event["candidates"].as_array().unwrap().clone());
            found.map(|candidate| candidate["chunk"].clone()).collect()
        };
        let (now, expected) =
            (gathered(&run["events"]), gathered(&expected(method)["answer"]["trace"]));
        assert!(!expected.is_empty() && now == expected, "{method}: {now:?} {expected:?}");
    }
    let search = ["--json", "--replay", "search", "--by", "hybrid", "slewing bearing"];
    let found = as_before(place.run_to(0, &search).json());
    let expected: Value = serde_json::from_str(&read_fixture("searched.json")).unwrap();
    // Full text is built again and words are divided differently now: scores differ, but the same
    // passages are found.
    assert_eq!(chunks(&found), chunks(&expected));
    assert_eq!(lines(&place.run_to(0, &["export"]).stdout), lines(&read_fixture("export.jsonl")));
}

#[test]
fn a_base_of_layout_3_resumes_and_pays_nothing_again() {
    let place = copy_of_layout_3();
    // No server listens at the address of the model, so a call would fail.
    let report = place.run_to(0, &["--json", "index", "docs"]).json()["report"].clone();
    assert_eq!(report["failures"], 0, "{report:#}");
    assert_eq!((&report["atoms"], &report["vectors"]), (&0.into(), &0.into()), "{report:#}");
    // Further data of later layouts is kept from now on; nothing is read again for it.
    let read = report["files"].as_array().unwrap();
    assert!(!read.is_empty() && read.iter().all(|file| file[1]["outcome"] == "unchanged"));
    let status = place.run_to(0, &["--json", "status"]).json();
    assert_eq!(status["summary"]["pending"], Value::Array(Vec::new()), "{status:#}");
    let originals = (&status["originals"]["files"], &status["originals"]["without"]);
    assert_eq!(originals, (&read.len().into(), &0.into()), "{status:#}");
    // A document that is deleted and indexed again uses recorded calls: descriptions, questions,
    // vectors of chunks. The graph differs for a while, and its vectors would be new.
    place.run_to(0, &["delete", "docs/company-guide.md"]);
    let ran = place.run_to(3, &["--json", "--replay", "index", "docs"]).json();
    assert_eq!(ran["spent"]["total"]["calls"], 0, "{ran:#}");
    let report = &ran["report"];
    assert_eq!((&report["atoms"], &report["vectors"]), (&33.into(), &40.into()), "{report:#}");
}

/// The names of events, because the wording of explanations has changed.
fn steps(events: &Value) -> Vec<&Value> {
    events.as_array().unwrap().iter().map(|event| &event["event"]).collect()
}

#[test]
fn runs_of_layout_7_are_shown_as_they_were_and_replay_for_free() {
    let place = Place::new();
    let (from, base) = (fixture(7), "base/base.sqlite");
    place.write(base, fs::read(from.join(base)).unwrap());
    place.write("pikerag.toml", fs::read(from.join("pikerag.toml")).unwrap());
    let runs = fs::read_to_string(from.join("runs.jsonl")).unwrap();
    assert_eq!(runs.lines().count(), 9);
    for line in runs.lines() {
        let expected: Value = serde_json::from_str(line).unwrap();
        let name = expected["id"].as_str().unwrap();
        let mut shown = place.run_to(0, &["--json", "runs", "show", name]).json();
        // The reasons for a round are a list now; a kept sentence is its only item.
        for event in shown["events"].as_array_mut().unwrap() {
            if let Some([Value::String(sentence)]) = event["because"].as_array().map(Vec::as_slice)
            {
                event["because"] = sentence.clone().into();
            }
        }
        assert_eq!(shown, expected, "{name}");
        // No server listens at the address of the model, so a call that is not recorded would fail.
        let again = place.run_to(0, &["--json", "runs", "replay", name]).json();
        assert_eq!(again["answer"]["text"], expected["answer"]["text"], "{name}");
        assert_eq!(steps(&again["answer"]["trace"]), steps(&expected["events"]), "{name}");
    }
    let export = fs::read_to_string(from.join("export.jsonl")).unwrap();
    assert_eq!(place.run_to(0, &["export"]).stdout, export);
    // The verified answer still answers its question.
    let question = "How many suppliers are there by country?";
    let answered = place.run_to(0, &["--json", "ask", question]).json();
    assert_eq!(answered["answer"]["text"], "On a night shift in March", "{answered}");
}
