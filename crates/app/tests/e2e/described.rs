//! Tests that real replies of every route fit the schemas of the OpenAPI document.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use pikerag_test_support::{Sizes, World};
use serde_json::{Value, json};

use crate::boxes::pdf;
use crate::common::{Place, good_stub};
use crate::schemas::check;
use crate::serving::{Reply, Serving};
use crate::talker::Talker;
use crate::uploads::{FORM, archive, form};

const BASE: &str = "/api/v1/bases/default";

/// Checks replies against the document and remembers the operations without a checked reply.
struct Inspector<'a> {
    serving: &'a Serving,
    key: String,
    document: Value,
    left: BTreeSet<String>,
}

impl<'a> Inspector<'a> {
    fn new(serving: &'a Serving, key: String) -> Self {
        let document = serving.get("/openapi.json", "").json();
        let mut left = BTreeSet::new();
        for (path, item) in document["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
                for (status, reply) in operation["responses"].as_object().unwrap() {
                    let is_json = reply["content"]["application/json"].is_object();
                    if path.starts_with("/api/v1/") && status.starts_with('2') && is_json {
                        left.insert(format!("{} {path} {status}", method.to_uppercase()));
                    }
                }
            }
        }
        Self { serving, key, document, left }
    }

    fn get(&mut self, path: &str) -> Value {
        self.send("GET", path, &[], b"")
    }

    fn post(&mut self, path: &str, body: &Value) -> Value {
        self.send("POST", path, &[], body.to_string().as_bytes())
    }

    /// Sends a request and checks the reply against the schema for its status, or against
    /// `Problem`.
    fn send(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Value {
        let reply = self.request(method, path, headers, body);
        let (operation, schema) = self.schema(method, path, &reply, "application/json");
        let value = reply.json();
        if let Err(misfit) = check(&self.document, &schema, &value) {
            panic!("{operation}: {misfit}\n{value:#}");
        }
        self.left.remove(&operation);
        value
    }

    /// Checks each event of a stream.
    fn events(&mut self, method: &str, path: &str, body: &[u8]) -> Vec<Value> {
        let kind = "text/event-stream";
        let reply = self.request(method, path, &[("Accept", kind)], body);
        let (operation, schema) = self.schema(method, path, &reply, kind);
        let read = |(event, data): (String, String)| {
            let data: Value = serde_json::from_str(&data).unwrap();
            json!({"event": event, "data": data})
        };
        let events: Vec<Value> = reply.events().into_iter().map(read).collect();
        for event in &events {
            if let Err(misfit) = check(&self.document, &schema, event) {
                panic!("{operation}: {misfit}\n{event:#}");
            }
        }
        events
    }

    fn request(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        let bearer = format!("Bearer {}", self.key);
        let mut all = vec![("Authorization", bearer.as_str())];
        if !headers.iter().any(|(name, _)| *name == "Content-Type") {
            all.push(("Content-Type", "application/json"));
        }
        all.extend_from_slice(headers);
        self.serving.request(method, path, &all, body)
    }

    /// The operation of a request, and the document's schema for this reply.
    fn schema(&self, method: &str, path: &str, reply: &Reply, kind: &str) -> (String, Value) {
        let asked: Vec<&str> = path.split('?').next().unwrap().split('/').collect();
        let paths = self.document["paths"].as_object().unwrap();
        let fits = |known: &&String| {
            let known: Vec<&str> = known.split('/').collect();
            let mut parts = known.iter().zip(&asked);
            known.len() == asked.len()
                && parts.all(|(own, asked)| own == asked || own.starts_with('{'))
        };
        let known = paths.keys().find(fits).unwrap_or_else(|| panic!("{path} is no route"));
        let operation = format!("{method} {known} {}", reply.status);
        let replies = &paths[known][&method.to_lowercase()]["responses"];
        match &replies[reply.status.to_string()]["content"][kind]["schema"] {
            Value::Null if 400 <= reply.status => {
                (operation, json!({"$ref": "#/components/schemas/Problem"}))
            }
            Value::Null => panic!("{operation}: not in the document: {reply:?}"),
            schema => (operation, schema.clone()),
        }
    }

    /// Waits until a job has ended and returns it.
    fn job(&mut self, id: &Value) -> Value {
        let path = format!("{BASE}/jobs/{id}");
        let is_over =
            |job: &Value| !["waiting", "running"].contains(&job["stand"].as_str().unwrap());
        self.serving.wait_until(&path, &self.key, is_over);
        self.get(&path)
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

/// The document merges two types with one schema name, and then describes one of them wrongly.
#[test]
fn no_two_types_share_a_schema_name() {
    let mut known: BTreeMap<String, String> = BTreeMap::new();
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for entry in walkdir::WalkDir::new(crates) {
        let path = entry.unwrap().into_path();
        if path.extension().is_none_or(|end| end != "rs") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        for derived in text.split("#[derive(").skip(1) {
            let Some((derives, rest)) = derived.split_once(")]") else { continue };
            let item = rest.lines().find(|line| line.contains("struct ") || line.contains("enum "));
            let Some(item) = item.filter(|_| derives.contains("ToSchema")) else { continue };
            let (above, _) = rest.split_once(item).unwrap();
            let name = match above.split_once("#[schema(as = ") {
                Some((_, alias)) => alias.split(')').next(),
                None => item
                    .split(['<', '(', ' ', ';'])
                    .find(|word| word.starts_with(char::is_uppercase)),
            };
            let place = format!("{}: {item}", path.display());
            // A type within a macro has no literal name.
            let Some(name) = name else { continue };
            if let Some(other) = known.insert(name.to_owned(), place.clone()) {
                panic!("both are `{name}`, say `#[schema(as = …)]` on one:\n{other}\n{place}");
            }
        }
    }
    assert!(150 < known.len());
}

/// Examples of requests and replies fit their schemas.
#[test]
fn examples_of_the_document_fit_their_schemas() {
    let place = Place::new();
    let document: Value = place.run_to(0, &["serve", "--openapi"]).json();
    let mut n_examples = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let replies = operation["responses"].as_object().unwrap().values();
            let bodies = replies.chain([&operation["requestBody"]]);
            let contents = bodies.filter_map(|body| body["content"].as_object()).flatten();
            for (kind, media) in contents {
                let Some(example) = media.get("example") else { continue };
                if let Err(misfit) = check(&document, &media["schema"], example) {
                    panic!("{method} {path} {kind}: {misfit}");
                }
                n_examples += 1;
            }
        }
    }
    assert!(14 <= n_examples, "{n_examples}");
}

/// The project's example with a PDF added: tables in two languages, questions of many kinds, and
/// pages.
fn example() -> (Place, Vec<String>) {
    let place = Place::new();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/maintenance");
    for entry in std::fs::read_dir(example.join("docs")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        place.write(&format!("docs/{name}"), std::fs::read(&path).unwrap());
    }
    let settings = std::fs::read_to_string(example.join("pikerag.toml")).unwrap();
    place.write("pikerag.toml", settings + "\n[server]\nevaluations = \"measured\"\n");
    place.write("measured/first/report.json", r#"{"overall": []}"#);
    place.write(
        "docs/manual.pdf",
        pdf(&[&["The crane Quillw0rt lifts forty tons."], &["It stands in Varnsund."]]),
    );
    place.run_to(0, &["--offline", "--base", "base", "index", "docs"]);
    let mut questions = vec!["Who lifts forty tons?".to_owned()];
    for name in ["maintenance.questions.jsonl", "forecasts.questions.jsonl"] {
        for line in std::fs::read_to_string(example.join(name)).unwrap().lines() {
            questions.push(text(&serde_json::from_str::<Value>(line).unwrap()["question"]));
        }
    }
    (place, questions)
}

#[test]
fn every_route_replies_as_documented() {
    let (place, questions) = example();
    let key = place.key("ada", &["--scope", "admin", "--cap-usd", "2"]);
    let serving = place.serve(&["--offline"]);
    let mut inspector = Inspector::new(&serving, key);
    for path in ["/api/v1/bases", BASE, "/api/v1/methods", "/api/v1/budget"] {
        inspector.get(path);
    }
    let tables = inspector.get(&format!("{BASE}/tables"));
    let statement = format!("SELECT * FROM {}", text(&tables[0]["name"]));
    inspector.post(&format!("{BASE}/sql"), &json!({"statement": statement, "most": 2}));
    for part in ["files", "records", "records?schema=crane", "runs", "jobs", "tags", "tag-pairs"] {
        inspector.get(&format!("{BASE}/{part}"));
    }
    for by in ["auto", "hybrid", "words", "meaning", "atoms", "hops", "layers", "joined"] {
        let found = inspector.post(&format!("{BASE}/search"), &json!({"query": "crane", "by": by}));
        if let Some(chunk) = found["hits"][0]["chunk"]["id"].as_str() {
            inspector.get(&format!("{BASE}/chunks/{chunk}"));
            inspector.get(&format!("{BASE}/graph?of={chunk}&depth=2"));
        }
    }
    let mut manual = String::new();
    for source in inspector.get(&format!("{BASE}/sources")).as_array().unwrap() {
        let id = text(&source["id"]);
        inspector.get(&format!("{BASE}/sources/{id}"));
        inspector.get(&format!("{BASE}/sources/{id}/reading"));
        if source["uri"] == "docs/manual.pdf" {
            manual = id;
        }
    }
    let runs = ask_and_judge(&mut inspector, &questions);
    replay_and_fork(&mut inspector, &runs);
    send_files(&mut inspector);
    insert_and_edit(&mut inspector);
    let correction = json!({"old": "Quillw0rt", "new": "Quillwort"});
    let job =
        inspector.post(&format!("{BASE}/sources/{manual}/corrections"), &correction)["job"].clone();
    assert_eq!(inspector.job(&job)["stand"], "done");
    inspector.get(&format!("{BASE}/sources/{manual}/reading"));
    inspector.send("DELETE", &format!("{BASE}/sources/{manual}/corrections/1"), &[], b"");
    for (method, path, body) in [
        ("PUT", "tags/machine", json!({"covers": "machines", "examples": ["crane"]})),
        ("POST", "tag-pairs", json!({"colloquial": "lifter", "professional": "crane"})),
    ] {
        let path = format!("{BASE}/{path}");
        let reply = inspector.request(method, &path, &[], body.to_string().as_bytes());
        assert_eq!(reply.status, 204, "{reply:?}");
    }
    for part in ["tags", "tags/machine", "tag-pairs"] {
        inspector.get(&format!("{BASE}/{part}"));
    }
    make_and_rename(&mut inspector);
    check_administration(&mut inspector);
    assert!(inspector.left.is_empty(), "no reply of these was checked: {:#?}", inspector.left);
}

/// Asks all questions, gives feedback on some answers, asks one again, and returns the runs.
fn ask_and_judge(inspector: &mut Inspector<'_>, questions: &[String]) -> Vec<Value> {
    let ask = format!("{BASE}/ask");
    let mut runs = Vec::new();
    for question in questions {
        let asked = inspector.post(&ask, &json!({ "question": question }));
        runs.push(inspector.get(&format!("{BASE}/runs/{}", text(&asked["run"]))));
    }
    let judged = |run: &Value, verdict: &str| json!({"run": run["id"], "verdict": verdict, "note": "so it is"});
    let mut corrected = judged(&runs[2], "correct");
    corrected["answer"] = json!("Tallow-9");
    for feedback in [
        judged(&runs[1], "accept"),
        corrected,
        judged(&runs[3], "reject"),
        judged(&runs[0], "maybe"),
    ] {
        inspector.post(&format!("{BASE}/feedback"), &feedback);
    }
    let again = inspector.post(&ask, &json!({"question": questions[1]}));
    assert!(again["answer"]["worked"]["recalled"].is_object(), "{again:#}");
    let judged = inspector.get(&format!("{BASE}/feedback"));
    let path = format!("{BASE}/feedback/{}", text(&judged[0]["id"]));
    inspector.send("DELETE", &path, &[], b"");
    inspector.get(&format!("{BASE}/runs?limit=100"));
    let worked: BTreeSet<&str> = runs
        .iter()
        .filter_map(|run| run["answer"]["worked"].as_object())
        .flat_map(|worked| worked.keys().map(String::as_str))
        .collect();
    assert!(
        ["figures", "forecast", "comparison"].iter().all(|part| worked.contains(part)),
        "{worked:?}"
    );
    runs
}

fn replay_and_fork(inspector: &mut Inspector<'_>, runs: &[Value]) {
    let first = text(&runs[1]["id"]);
    let path = format!("{BASE}/runs/{first}");
    inspector.post(&format!("{path}/replay"), &json!({}));
    inspector.events("POST", &format!("{path}/replay"), b"{}");
    inspector.get(&format!("{path}/diff/{}", text(&runs[10]["id"])));
    let asked = json!({"question": runs[4]["question"]["text"], "method": "kar3"});
    let path =
        format!("{BASE}/runs/{}", text(&inspector.post(&format!("{BASE}/ask"), &asked)["run"]));
    let run = inspector.get(&path);
    let mut events = run["events"].as_array().unwrap().iter();
    let at = events.find(|event| event["decision"] == true).unwrap_or_else(|| panic!("{run:#}"));
    let change = match at["event"].as_str().unwrap() {
        "proposed" => json!({"proposals": ["Where does it stand?"]}),
        _ => json!({ "choice": null }),
    };
    let fork = json!({"at": at["seq"], "change": change});
    let forked = inspector.post(&format!("{path}/fork"), &fork);
    inspector.get(&format!("{path}/diff/{}", text(&forked["run"])));
    let forked = inspector.get(&format!("{BASE}/runs/{}", text(&forked["run"])));
    assert_eq!(forked["forked"]["change"], change, "{forked:#}");
}

/// Sends files whole, in pieces, in an archive, broken and held; then deletes them.
fn send_files(inspector: &mut Inspector<'_>) {
    let files = format!("{BASE}/files");
    let note = b"# Note\n\nThe winch Hollowmere waits in Varnsund.\n";
    let (half, whole) = (20, note.len());
    let first = format!("bytes 0-{}/{whole}", half - 1);
    let path = format!("{files}/note.md?upload=ada");
    inspector.send("PUT", &path, &[("Content-Range", &first)], &note[..half]);
    assert_eq!(inspector.get(&format!("{BASE}/uploads?file=note.md&upload=ada"))["held"], half);
    assert_eq!(inspector.get(&format!("{BASE}/parts"))[0]["file"], "note.md");
    let second = format!("bytes {half}-{}/{whole}", whole - 1);
    let rest = [("Content-Range", second.as_str())];
    let job = inspector.send("PUT", &path, &rest, &note[half..])["job"].clone();
    assert_eq!(inspector.job(&job)["stand"], "done");
    let zip = archive(&[("a.md", b"# A\n\nOne.\n"), ("../out.md", b"# Out\n")]);
    let job =
        inspector.send("PUT", &format!("{files}/all.zip?unpack=true"), &[], &zip)["job"].clone();
    inspector.job(&job);
    let job =
        inspector.send("PUT", &format!("{files}/broken.pdf"), &[], b"%PDF-1.7 no")["job"].clone();
    assert_eq!(inspector.job(&job)["stand"], "incomplete");
    assert_eq!(inspector.post(&format!("{BASE}/jobs/{job}/begin"), &json!({}))["stand"], "waiting");
    assert_eq!(inspector.job(&job)["stand"], "incomplete");
    inspector.send("PUT", &format!("{files}/later.md?hold=true"), &[], b"# Later\n\nIt comes.\n");
    inspector.send("PUT", &format!("{files}/unwanted.md?hold=true"), &[], b"# Unwanted\n\nNo.\n");
    assert_eq!(inspector.get(&format!("{BASE}/sent"))[4]["file"], "unwanted.md");
    inspector.send("DELETE", &format!("{BASE}/sent?file=unwanted.md"), &[], b"");
    let two = form(&[("file", "one.md", b"# One\n"), ("file", "two.md", b"# Two\n")]);
    let sent = inspector.send("POST", &format!("{files}?hold=true"), &[FORM], &two);
    assert_eq!(sent["files"][1]["file"], "two.md", "{sent}");
    for name in ["one.md", "two.md"] {
        inspector.send("DELETE", &format!("{BASE}/sent?file={name}"), &[], b"");
    }
    inspector.post(&format!("{BASE}/estimate"), &json!({}));
    let job =
        inspector.post(&format!("{BASE}/index"), &json!({"files": ["later.md"]}))["id"].clone();
    let events = inspector.events("GET", &format!("{BASE}/jobs/{job}"), b"");
    assert_eq!(events.last().unwrap()["data"]["stand"], "done");
    inspector.get(&format!("{BASE}/jobs"));
    inspector.get(BASE);
    let known = inspector.get(&files);
    let named = |end: &str| {
        let mut names = known.as_array().unwrap().iter().map(|file| text(&file["name"]));
        names.find(|name| name.ends_with(end)).unwrap()
    };
    for gone in
        [format!("file={}", named("note.md")), format!("file={}&forget=true", named("later.md"))]
    {
        inspector.send("DELETE", &format!("{files}?{gone}"), &[], b"");
    }
    let nothing = inspector.send("DELETE", &format!("{files}?file=nothing.md"), &[], b"");
    assert_eq!(nothing["code"], "no-such-file");
}

/// Inserts a text and edits its passage.
fn insert_and_edit(inspector: &mut Inspector<'_>) {
    let note = json!({"text": "The winch Marrowby waits in Varnsund.", "name": "winch.md"});
    let job = inspector.post(&format!("{BASE}/texts"), &note)["job"].clone();
    assert_eq!(inspector.job(&job)["stand"], "done");
    let found = inspector.post(&format!("{BASE}/search"), &json!({"query": "Marrowby"}));
    let path = format!("{BASE}/chunks/{}", text(&found["hits"][0]["chunk"]["id"]));
    let edited = json!({"text": "The winch Marrowby waits in Genoa."}).to_string();
    let job = inspector.send("PATCH", &path, &[], edited.as_bytes())["job"].clone();
    assert_eq!(inspector.job(&job)["stand"], "done");
}

/// Makes, renames and deletes a base.
fn make_and_rename(inspector: &mut Inspector<'_>) {
    let bases = "/api/v1/bases";
    assert_eq!(inspector.post(bases, &json!({"name": "yard"}))["name"], "yard");
    inspector.send("PATCH", &format!("{bases}/yard"), &[], br#"{"name": "quay"}"#);
    let gone = inspector.request("DELETE", &format!("{bases}/quay?confirm=quay"), &[], b"");
    assert_eq!(gone.status, 204, "{gone:?}");
}

/// Checks the routes for operators of a server.
fn check_administration(inspector: &mut Inspector<'_>) {
    for path in [
        "/api/v1/keys",
        "/api/v1/evaluations",
        "/api/v1/evaluations/report?name=first",
        "/api/v1/evaluations/report?name=second",
    ] {
        inspector.get(path);
    }
    for part in
        ["settings", "forecast?method=kar3", "graph/overview", "deletion?file=docs/ports.md"]
    {
        inspector.get(&format!("{BASE}/{part}"));
    }
    inspector.post(&format!("{BASE}/doctor"), &json!({}));
    check_models(inspector);
    let bo = json!({"name": "bo", "scope": "read", "filter": ["folder=docs"]});
    let bo = text(&inspector.post("/api/v1/keys", &bo)["id"]);
    inspector.post(&format!("/api/v1/keys/{bo}/rotate"), &json!({}));
    inspector.get("/api/v1/keys");
}

/// Lists, fetches, tries and sets models, without a network.
fn check_models(inspector: &mut Inspector<'_>) {
    let models = "/api/v1/models";
    assert_eq!(inspector.get(models)["chat"], Value::Null);
    assert_eq!(inspector.get(&format!("{models}/pull"))["code"], "no-such-pull");
    let pull = json!({"name": "smollm2-135m"});
    assert_eq!(inspector.post(&format!("{models}/pull"), &pull)["state"], "running");
    let events = inspector.events("GET", &format!("{models}/pull"), b"");
    assert_eq!(events.last().unwrap()["data"]["state"], "failed", "{events:#?}");
    assert_eq!(inspector.get(&format!("{models}/pull"))["all"], 98_362_432);
    assert_eq!(
        inspector.send("DELETE", &format!("{models}/pull"), &[], b"")["code"],
        "no-such-pull"
    );
    let chat = json!({"model": "m", "base_url": "http://127.0.0.1:9/v1"});
    assert_eq!(inspector.post(&format!("{models}/test"), &chat)["error"], "offline");
    let set = format!("{models}/chosen");
    inspector.send("PUT", &set, &[], chat.to_string().as_bytes());
    let unknown = json!({"model": "local:none"}).to_string();
    assert_eq!(inspector.send("PUT", &set, &[], unknown.as_bytes())["code"], "no-such-model");
    let judge = json!({"role": "judge", "model": "j", "base_url": "http://127.0.0.1:9/v1"});
    inspector.send("PUT", &set, &[], judge.to_string().as_bytes());
    inspector.send("DELETE", &format!("{set}?role=judge"), &[], b"");
    let endpoint = json!({"model": "m", "base_url": "http://127.0.0.1:9/v1"});
    for kind in ["embedder", "reranker"] {
        let path = format!("{models}/search/{kind}");
        assert_eq!(inspector.post(&format!("{path}/test"), &endpoint)["error"], "offline");
        inspector.send("PUT", &path, &[], endpoint.to_string().as_bytes());
        inspector.send("DELETE", &path, &[], b"");
    }
    let rest = inspector.post(&format!("{BASE}/jobs"), &json!({}));
    assert!(rest["id"].is_u64() || rest["code"].is_string(), "{rest:#}");
    let file = format!("{models}/files/none");
    assert_eq!(inspector.send("DELETE", &file, &[], b"")["code"], "no-such-model");
    assert_eq!(inspector.get(models)["pull"]["name"], "smollm2-135m");
}

#[test]
fn every_event_of_methods_is_documented() {
    let stub = good_stub();
    let place = Place::with(&stub);
    let world = World::generate(7, Sizes { paragraphs: 40, questions: 8 });
    place.write("corpus.jsonl", world.corpus());
    place.run_to(0, &["--base", "base", "index", "--with", "graph,tree", "corpus.jsonl"]);
    let serving = place.serve(&[]);
    let mut inspector = Inspector::new(&serving, String::new());
    let (question, _) = world.question(2);
    let mut kinds = BTreeSet::new();
    for method in inspector.get("/api/v1/methods").as_array().unwrap() {
        let body = json!({"question": question, "method": method["name"]});
        let asked = inspector.post(&format!("{BASE}/ask"), &body);
        if let Some(run) = asked["run"].as_str() {
            let run = inspector.get(&format!("{BASE}/runs/{run}"));
            let events = run["events"].as_array().unwrap().iter();
            kinds.extend(events.map(|event| text(&event["event"])));
        }
    }
    assert!(18 <= kinds.len(), "{kinds:?}");
    let events = |inspector: &mut Inspector<'_>, method: &str| {
        let body = json!({"question": question, "method": method}).to_string();
        let events = inspector.events("POST", &format!("{BASE}/ask"), body.as_bytes());
        let (first, last) = (text(&events[0]["event"]), text(&events.last().unwrap()["event"]));
        (first, last)
    };
    assert_eq!(events(&mut inspector, "kar3"), ("run".to_owned(), "answer".to_owned()));
    assert_eq!(events(&mut inspector, "no-such").1, "problem");
}

#[test]
fn graph_tree_and_tags_reply_as_documented() {
    let talker = Talker::start();
    let place = talker.place();
    place.write(
        "docs/crane.md",
        "# Crane\n\nThe crane Quillwort of Hamburg was built by Ilse Brandt.\n",
    );
    place.write(
        "docs/port.md",
        "# Port\n\nHamburg lies on the Elbe. Ilse Brandt is its harbour master.\n",
    );
    let mut kinds = BTreeSet::new();
    place.run_to(0, &["--base", "base", "index", "docs/crane.md"]);
    place.write("pikerag.toml", "[index]\nwith = [\"graph\", \"tree\", \"tags\"]\n");
    let serving = place.serve(&[]);
    let mut inspector = Inspector::new(&serving, String::new());
    inspector.get(BASE);
    let port = std::fs::read(place.path("docs/port.md")).unwrap();
    let job = inspector.send("PUT", &format!("{BASE}/files/port.md"), &[], &port)["job"].clone();
    assert_eq!(inspector.job(&job)["stand"], "done");
    // Further structures of the settings are built and paid only after their bill is accepted.
    let offered = |jobs: &Value| {
        let jobs = jobs.as_array().unwrap().iter();
        jobs.clone().find(|job| job["stand"] == "offered").map(|job| job["id"].clone())
    };
    let jobs = serving.wait_until(&format!("{BASE}/jobs"), "", |jobs| offered(jobs).is_some());
    let id = offered(&jobs).unwrap();
    inspector.post(&format!("{BASE}/jobs/{id}/begin"), &json!({}));
    let job = inspector.job(&id);
    assert_eq!(job["stand"], "done", "{job:#}");
    assert!(0 < job["report"]["report"]["tags"].as_u64().unwrap(), "{job:#}");
    inspector.get(BASE);
    inspector.get(&format!("{BASE}/tags"));
    inspector.get(&format!("{BASE}/tags/thing"));
    let around = inspector.get(&format!("{BASE}/graph?of=Hamburg&depth=3"));
    kinds.extend(around["nodes"].as_array().unwrap().iter().map(|node| text(&node["node"])));
    assert!(kinds.contains("entity") && kinds.contains("summary"), "{kinds:?}");
    for method in ["graphrag-local", "graphrag-global", "raptor", "kar3"] {
        let body = json!({"question": "Who built the crane of Hamburg?", "method": method});
        let asked = inspector.post(&format!("{BASE}/ask"), &body);
        assert!(asked["answer"]["text"].is_string(), "{method}: {asked:#}");
    }
}
