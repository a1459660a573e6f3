//! Tests that searches and questions see exactly what their filter admits.

use serde_json::Value;

use crate::common::Place;

const QUESTION: &str = "What does the crane of Hamburg lift?";

/// Two documents that both fit the question, in two folders.
fn cranes() -> Place {
    let place = Place::new();
    let page = |author: &str, date: &str, tons: &str| {
        format!(
            "---\nauthor: {author}\ndate: {date}\n---\n# Crane of Hamburg\n\nThe crane of Hamburg lifts {tons} tons. Ilse Brandt built it.\n"
        )
    };
    place.write("docs/law/new.md", page("Brandt", "2021-03-01", "forty"));
    place.write("docs/tea/old.md", page("Ada", "2009", "ninety"));
    place.run_to(0, &["--offline", "--base", "base", "index", "docs"]);
    place
}

fn run(place: &Place, code: i32, arguments: &[&str]) -> Value {
    let arguments = [&["--offline", "--base", "base", "--json"], arguments].concat();
    place.run_to(code, &arguments).json()
}

#[test]
fn every_search_obeys_the_filter() {
    let place = cranes();
    for by in ["words", "hybrid", "atoms", "hops", "layers", "joined"] {
        let uris = |more: &[&str]| -> Vec<String> {
            let found = run(&place, 0, &[&["search", QUESTION, "--by", by], more].concat());
            let hits = found.as_array().unwrap().iter();
            let mut uris: Vec<String> =
                hits.map(|hit| hit["chunk"]["uri"].as_str().unwrap().to_owned()).collect();
            uris.sort();
            uris.dedup();
            uris
        };
        assert_eq!(uris(&[]), ["docs/law/new.md", "docs/tea/old.md"], "{by}");
        assert_eq!(uris(&["--filter", "folder=law"]), ["docs/law/new.md"], "{by}");
        assert_eq!(uris(&["--filter", "date<2020"]), ["docs/tea/old.md"], "{by}");
        let both = ["--filter", "meta:author=brandt|Eve", "--filter", "date>=2020-01-01"];
        assert_eq!(uris(&both), ["docs/law/new.md"], "{by}");
    }
}

/// The run keeps the filter, so its replay sees the same documents.
#[test]
fn questions_and_replays_see_only_filtered_documents() {
    let place = cranes();
    for method in ["naive-rag", "hop-rag", "kar3"] {
        let filter = ["--filter", "folder=tea"];
        let asked = run(&place, 0, &[&["ask", QUESTION, "--method", method], &filter[..]].concat());
        let answer = asked["answer"].to_string();
        assert!(answer.contains("ninety") && !answer.contains("forty"), "{method}: {answer}");
        let name = asked["run"].as_str().unwrap();
        let kept = run(&place, 0, &["runs", "show", name]);
        assert_eq!(kept["filter"], serde_json::json!(["folder=tea"]));
        let again = run(&place, 0, &["runs", "replay", name]);
        assert_eq!(again["answer"]["text"], asked["answer"]["text"]);
    }
}

#[test]
fn an_invalid_filter_says_why() {
    let place = cranes();
    let failed = |code: i32, filter: &str| {
        let search = ["--offline", "--base", "base", "search", QUESTION, "--filter", filter];
        place.run_to(code, &search).stderr
    };
    let unknown = failed(1, "meta:auther=Brandt");
    assert!(
        unknown.contains("`meta:auther` is no field of this base; there are: source, folder, date, meta:author, meta:date"),
        "{unknown}"
    );
    let nothing = failed(1, "date<1900");
    assert!(nothing.contains("nothing in the base fits the filter date<1900"), "{nothing}");
    let unread = failed(2, "author=Brandt");
    assert!(unread.contains("there is no field `author` to filter by"), "{unread}");
}
