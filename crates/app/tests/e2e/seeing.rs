//! Tests that a key with a filter sees nothing beyond it. Documents, filters and questions are
//! drawn at random, and every route and tool is called.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use crate::common::Place;
use crate::serve::{body_of, routes};
use crate::serving::{Reply, Serving};

const FOLDERS: [&str; 3] = ["open", "shut", "attic"];
const THINGS: [&str; 5] = ["crane", "winch", "制动器", "boiler", "contract"];

/// A document with its folder, year, team and topic. It contains a word that no other document has.
#[derive(Clone, Debug)]
struct Paper {
    folder: &'static str,
    year: u16,
    team: &'static str,
    thing: &'static str,
    has_table: bool,
}

impl Paper {
    fn secret(place: usize) -> String {
        format!("Zyx{}wort", ["ab", "cd", "ef", "gh", "ij", "kl", "mn", "op"][place])
    }

    fn text(&self, place: usize) -> String {
        let (secret, thing) = (Self::secret(place), self.thing);
        let table = if self.has_table {
            format!(
                "\n| order | {thing} |\n| --- | --- |\n| {secret}-1 | 40 |\n| {secret}-2 | 60 |\n"
            )
        } else {
            String::new()
        };
        format!(
            "---\ndate: {}-03-01\nteam: {}\n---\n# {thing} {secret}\n\nThe {thing} {secret} is kept by Ada {secret}. See [more](../open/paper0.md).\n{table}",
            self.year, self.team
        )
    }
}

fn paper() -> impl Strategy<Value = Paper> {
    let team = select(&["red", "blue"][..]);
    (select(&FOLDERS[..]), 2018u16..2024, team, select(&THINGS[..]), any::<bool>()).prop_map(
        |(folder, year, team, thing, has_table)| Paper { folder, year, team, thing, has_table },
    )
}

/// A filter of a key.
#[derive(Clone, Debug)]
enum KeyFilter {
    Folder(&'static str),
    Since(u16),
    Team(&'static str),
    Both(&'static str, u16),
}

impl KeyFilter {
    fn expressions(&self) -> Vec<String> {
        match self {
            Self::Folder(folder) => vec![format!("folder={folder}")],
            Self::Since(year) => vec![format!("date>={year}-01-01")],
            Self::Team(team) => vec![format!("meta:team={team}")],
            Self::Both(folder, year) => {
                vec![format!("folder={folder}|attic"), format!("date>={year}-01-01")]
            }
        }
    }

    fn fits(&self, paper: &Paper) -> bool {
        match self {
            Self::Folder(folder) => paper.folder == *folder,
            Self::Since(year) => *year <= paper.year,
            Self::Team(team) => paper.team == *team,
            Self::Both(folder, year) => {
                (paper.folder == *folder || paper.folder == "attic") && *year <= paper.year
            }
        }
    }
}

fn key_filter() -> impl Strategy<Value = KeyFilter> {
    prop_oneof![
        select(&FOLDERS[..]).prop_map(KeyFilter::Folder),
        (2018u16..2024).prop_map(KeyFilter::Since),
        select(&["red", "blue"][..]).prop_map(KeyFilter::Team),
        (select(&FOLDERS[..]), 2018u16..2024)
            .prop_map(|(folder, year)| KeyFilter::Both(folder, year)),
    ]
}

#[test]
fn no_route_shows_anything_beyond_a_filter() {
    let world = (proptest::collection::vec(paper(), 3..8), key_filter(), any::<Index>(), 0..4usize);
    let mut runner =
        TestRunner::new(Config { cases: 6, failure_persistence: None, ..Config::default() });
    runner
        .run(&world, |(papers, key_filter, about, wording)| {
            assert_nothing_beyond(&papers, &key_filter, about.index(papers.len()), wording);
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
}

/// A heading without a passage of its own is visible if a passage below it is. Through a filter,
/// too, the graph of a document leads to its headings.
#[test]
fn the_graph_of_a_document_leads_to_its_headings_through_a_filter() {
    let place = Place::new();
    let pages = |word: &str| -> String {
        let sentence = format!("The {word} is looked after by its owner every month. ");
        let part = |n| format!("### Paragraph {n}\n\n{}\n\n", sentence.repeat(40));
        format!("# Law\n\n## Part {word}\n\n{}{}## Empty\n", part(1), part(2))
    };
    place.write("open/crane.md", pages("Quillwort"));
    place.write("shut/winch.md", pages("Zyxwort"));
    place.run_to(0, &["--offline", "--base", "base", "index", "open", "shut"]);
    let (whole, open) = (place.key("whole", &[]), place.key("open", &["--filter", "folder=open"]));
    let serving = place.serve(&["--offline"]);
    let base = "/api/v1/bases/default";
    let sources = serving.get(&format!("{base}/sources"), &open).json();
    let [source] = sources.as_array().unwrap().as_slice() else { panic!("{sources:#}") };
    let path = format!("{base}/graph?of={}&depth=3", source["id"].as_str().unwrap());
    let seen = serving.get(&path, &open);
    let kinds = |kind: &str| {
        seen.json()["nodes"].as_array().unwrap().iter().filter(|node| node["node"] == kind).count()
    };
    // The sections are Law, its two parts and two paragraphs.
    assert_eq!(kinds("section"), 5, "{:#}", seen.json());
    assert!(
        !seen.text.contains("Zyxwort") && serving.get(&path, &whole).text.contains("Quillwort")
    );
}

/// A question about a thing, in one of four wordings.
fn question_about(thing: &str, wording: usize) -> String {
    let wordings = [
        "Who keeps the {}?",
        "How many orders are there of the {}?",
        "What is the {}?",
        "谁保管{}？",
    ];
    wordings[wording].replace("{}", thing)
}

fn assert_nothing_beyond(papers: &[Paper], key_filter: &KeyFilter, about: usize, wording: usize) {
    let place = Place::new();
    for (number, paper) in papers.iter().enumerate() {
        place.write(&format!("docs/{}/paper{number}.md", paper.folder), paper.text(number));
    }
    place.run_to(0, &["--offline", "--base", "base", "index", "docs"]);
    let whole = place.key("whole", &["--scope", "admin"]);
    let filters = key_filter.expressions();
    let arguments: Vec<&str> = filters
        .iter()
        .flat_map(|filter| ["--filter", filter])
        .chain(["--scope", "admin"])
        .collect();
    let key = place.key("part", &arguments);
    let serving = place.serve(&["--offline"]);
    // The question, the answer and the feedback of another key could leak.
    let thing = papers[about].thing;
    let question = question_about(thing, wording);
    let run =
        serving.post("/api/v1/bases/default/ask", &whole, &json!({ "question": question })).json();
    let run = run["run"].as_str().unwrap().to_owned();
    serving.post(
        "/api/v1/bases/default/feedback",
        &whole,
        &json!({"run": run, "verdict": "accept"}),
    );
    let sources = serving.get("/api/v1/bases/default/sources", &whole).json();
    let chunk = |source: &str| {
        let shown = serving.get(&format!("/api/v1/bases/default/sources/{source}"), &whole).json();
        shown["chunks"][0]["id"].as_str().unwrap().to_owned()
    };
    let hidden: Vec<(String, String)> = hidden_sources(&sources, papers, key_filter)
        .into_iter()
        .map(|source| (source.clone(), chunk(&source)))
        .collect();
    let leaked_secret = |text: &str| {
        let secrets =
            (0..papers.len()).filter(|place| !key_filter.fits(&papers[*place])).map(Paper::secret);
        secrets.into_iter().find(|secret| text.contains(secret.as_str()))
    };
    let (mut n_checked, mut n_found) = (0, 0);
    for (method, path, scope) in routes(&serving) {
        if scope.is_none() || method == "PUT" || method == "DELETE" || path == "/metrics" {
            continue;
        }
        for (source, chunk) in &hidden {
            let filled = path
                .replace("{base}", "default")
                .replace("{chunk}", chunk)
                .replace("{source}", source)
                .replace("{run}", &run)
                .replace("{other}", &run)
                .replace("{job}", "1")
                .replace("{page}", "1")
                .replace("{id}", "0");
            for query in ["", "?of=Ada&depth=3", "?limit=1000"] {
                let mut body = body_of(&method, &path);
                for name in ["question", "query"] {
                    if let Some(asked) = body.get_mut(name) {
                        *asked = json!(question);
                    }
                }
                if let Some(messages) = body.get_mut("messages") {
                    *messages = json!([{"role": "user", "content": question}]);
                }
                let bearer = format!("Bearer {key}");
                let headers =
                    [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
                let reply = serving.request(
                    &method,
                    &format!("{filled}{query}"),
                    &headers,
                    body.to_string().as_bytes(),
                );
                assert_eq!(
                    leaked_secret(&reply.text),
                    None,
                    "{method} {filled}{query} with {key_filter:?}: {reply:?}"
                );
                n_checked += 1;
                n_found += usize::from(reply.text.contains("Zyx"));
            }
        }
    }
    for (call, reply) in call_tools(&serving, &key, &hidden, &question, thing) {
        assert_eq!(leaked_secret(&reply.text), None, "{call} with {key_filter:?}: {reply:?}");
        n_checked += 1;
    }
    // Checks that the test can fail: the key finds what fits its filter, and an unfiltered key sees
    // the rest.
    if !hidden.is_empty() {
        assert!(30 < n_checked, "{n_checked}");
        assert!(leaked_secret(&serving.get("/api/v1/bases/default/export", &whole).text).is_some());
    }
    if papers.iter().any(|paper| key_filter.fits(paper)) && !hidden.is_empty() {
        assert!(0 < n_found, "{key_filter:?}");
    }
    let counted = serving.get("/api/v1/bases/default/sources", &key).json();
    let fitting = papers.iter().filter(|paper| key_filter.fits(paper)).count();
    assert_eq!(counted.as_array().map_or(0, Vec::len), fitting, "{key_filter:?}: {counted}");
}

/// Calls every tool with every kind of argument; the calls with their replies.
fn call_tools(
    serving: &Serving,
    key: &str,
    hidden: &[(String, String)],
    question: &str,
    thing: &str,
) -> Vec<(Value, Reply)> {
    let listed = serving.mcp(key, "tools/list", &json!({})).json();
    let tools: Vec<&str> = listed["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    let filters = [json!([]), json!(["date>=1900-01-01"]), json!(["folder=open|shut|attic"])];
    let mut calls = Vec::new();
    for tool in tools {
        for filter in &filters {
            match tool {
                "ask" => calls.push((tool, json!({"question": question, "filter": filter}))),
                "search" => {
                    calls.push((tool, json!({"query": question, "k": 200, "filter": filter})));
                }
                "list_sources" => calls.push((tool, json!({"filter": filter}))),
                "fetch" | "get_chunk" | "graph_neighbours" => {}
                other => panic!("no call of `{other}` is tested"),
            }
        }
    }
    for (source, chunk) in hidden {
        calls.push(("get_chunk", json!({"chunk": chunk})));
        calls.push(("fetch", json!({"id": chunk})));
        for of in [chunk.as_str(), source, "Ada", thing] {
            calls.push(("graph_neighbours", json!({"of": of, "depth": 3})));
        }
    }
    calls
        .into_iter()
        .map(|(tool, arguments)| {
            let call = json!({"name": tool, "arguments": arguments});
            let reply = serving.mcp(key, "tools/call", &call);
            (call, reply)
        })
        .collect()
}

/// The identifiers of at most two documents that do not fit.
fn hidden_sources(sources: &Value, papers: &[Paper], key_filter: &KeyFilter) -> Vec<String> {
    let mut found = Vec::new();
    for source in sources.as_array().unwrap() {
        let uri = source["uri"].as_str().unwrap();
        let number = uri.rsplit("paper").next().unwrap().trim_end_matches(".md");
        let number: usize = number.parse().unwrap();
        if !key_filter.fits(&papers[number]) && found.len() < 2 {
            found.push(source["id"].as_str().unwrap().to_owned());
        }
    }
    found
}
