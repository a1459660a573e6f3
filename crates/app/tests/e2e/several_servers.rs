//! Tests several servers over one base: a rolling restart loses no request, and servers over one
//! database have the same uploads, bases and runs.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use pikerag_test_support::absent;
use serde_json::{Value, json};

use crate::common::{Place, good_stub};
use crate::serving::{DEADLINE, Reply, Serving};

const SEARCH: &str = "/api/v1/bases/default/search";
const BASE: &str = "/api/v1/bases/default";
/// Keys of other tests may be in the same database.
const SETTINGS: &str = "[embed]\nkind = \"none\"\n[server]\nkeys = \"keys.sqlite\"\n";
const RULES: &str = "# Harbour rules\n\nThe crane Quillwort is inspected in spring.\n";

/// The status and text of the reply of the first server that replies. Only connections that fail
/// before a reply are tried again.
fn ask_any(servers: &Mutex<Vec<String>>, first: usize, body: &str) -> (u16, String) {
    let began = Instant::now();
    for turn in first.. {
        let address = {
            let servers = servers.lock().unwrap();
            servers[turn % servers.len()].clone()
        };
        let replied = || -> Option<String> {
            let mut stream = TcpStream::connect(&address).ok()?;
            stream.set_read_timeout(Some(DEADLINE)).ok()?;
            let head = format!(
                "POST {SEARCH} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            );
            stream.write_all(head.as_bytes()).ok()?;
            let mut reply = String::new();
            stream.read_to_string(&mut reply).ok()?;
            Some(reply).filter(|reply| !reply.is_empty())
        };
        if let Some(reply) = replied() {
            return (reply[9..12].parse().unwrap(), reply);
        }
        assert!(began.elapsed() < DEADLINE, "no server replies");
        std::thread::sleep(Duration::from_millis(10));
    }
    unreachable!("the turns have no end")
}

/// Ends the clients, also if the test fails.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// While each of two servers is restarted, at least 200 requests come, and all are answered.
#[test]
fn a_rolling_restart_loses_no_request() {
    let place = Place::new();
    place.write("pikerag.toml", "[embed]\nkind = \"none\"\n[server]\ndrain_seconds = 3\n");
    place.write("docs/rules.md", RULES);
    place.run_to(0, &["--base", "base", "index", "docs"]);
    let mut running: Vec<Serving> = (0..2).map(|_| place.serve(&["--offline"])).collect();
    let addresses = running.iter().map(|serving| serving.address.clone()).collect();
    let (servers, asked) = (Mutex::new(addresses), AtomicUsize::new(0));
    let is_over = AtomicBool::new(false);
    let body = json!({"query": "Quillwort", "by": "words"}).to_string();
    let wait = |what: &str, is_so: &mut dyn FnMut() -> bool| {
        let began = Instant::now();
        while !is_so() {
            assert!(began.elapsed() < DEADLINE, "{what}");
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    std::thread::scope(|scope| {
        let _ends = Ends(&is_over);
        for client in 0..4 {
            let (servers, asked, is_over, body) = (&servers, &asked, &is_over, &body);
            scope.spawn(move || {
                let mut turn = client;
                while !is_over.load(Ordering::Relaxed) {
                    let (status, text) = ask_any(servers, turn, body);
                    assert!(status == 200 && text.contains("Quillwort"), "{text}");
                    asked.fetch_add(1, Ordering::Relaxed);
                    turn += 1;
                }
            });
        }
        for (at, serving) in running.iter_mut().enumerate() {
            let before = asked.load(Ordering::Relaxed);
            serving.signal(Signal::SIGTERM);
            // A proxy notices at once, while the server still answers.
            wait("it is ready", &mut || serving.get("/ready", "").status == 503);
            assert!(serving.child.wait().unwrap().success());
            *serving = place.serve(&["--offline"]);
            servers.lock().unwrap()[at].clone_from(&serving.address);
            wait("200 requests", &mut || before + 200 <= asked.load(Ordering::Relaxed));
        }
    });
}

/// Two servers in folders of their own, as on two machines, over one base of the database of the tests;
/// `None` without one. The base stays there.
fn two_servers(name: &str, place: impl Fn() -> Place) -> Option<[(Place, Serving); 2]> {
    let Ok(server) = std::env::var("PIKERAG_TEST_POSTGRES") else {
        absent("a PostgreSQL server", "is not named by PIKERAG_TEST_POSTGRES");
        return None;
    };
    let places = [place(), place()];
    let own = places[0].path("").display().to_string();
    let own: String = own.chars().filter(char::is_ascii_alphanumeric).collect();
    let sign = if server.contains('?') { '&' } else { '?' };
    let address = format!("{server}{sign}base={name}-{own}");
    Some(places.map(|place| {
        place.write("pikerag.toml", SETTINGS);
        let command = place.command(&["--base", &address, "serve", "--port", "0"]);
        let serving = place.serve_by(command);
        (place, serving)
    }))
}

fn put(serving: &Serving, file: &str, range: Option<&str>, bytes: &[u8]) -> Reply {
    let range = range.map(|range| ("Content-Range", range));
    let headers: Vec<(&str, &str)> = range.into_iter().collect();
    serving.request("PUT", &format!("{BASE}/files/{file}"), &headers, bytes)
}

fn finds(serving: &Serving, word: &str) -> bool {
    let found = serving.post(SEARCH, "", &json!({"query": word, "by": "words"}));
    found.status == 200 && found.text.contains(&format!("crane {word}"))
}

#[test]
fn uploads_are_in_the_database_for_all_servers() {
    let Some([(here, one), (there, other)]) = two_servers("uploads", Place::new) else { return };
    let text = format!("{RULES}\n{}", "The harbour has many cranes.\n\n".repeat(60_000));
    let (bytes, half, whole) = (text.as_bytes(), text.len() / 2, text.len());
    let range = |from: usize, to: usize| format!("bytes {from}-{}/{whole}", to - 1);
    // The upload begins at one server and continues at the other.
    let begun = put(&one, "a/rules.md?hold=true&upload=u1", Some(&range(0, half)), &bytes[..half]);
    assert_eq!(begun.status, 202, "{begun:?}");
    let held = other.get(&format!("{BASE}/uploads?file=a/rules.md&upload=u1"), "").json();
    assert_eq!(held["held"], json!(half), "{held}");
    let parts = other.get(&format!("{BASE}/parts"), "").json();
    assert_eq!((&parts[0]["file"], &parts[0]["bytes"]), (&json!("a/rules.md"), &json!(half)));
    let wrong = put(&other, "a/rules.md?hold=true&upload=u1", Some(&range(9, half)), b"x");
    assert_eq!((wrong.status, wrong.json()["code"].clone()), (409, json!("out-of-order")));
    let rest = range(half, whole);
    let ended = put(&other, "a/rules.md?hold=true&upload=u1", Some(&rest), &bytes[half..]);
    assert_eq!((ended.status, ended.json()["is_whole"].clone()), (200, json!(true)), "{ended:?}");
    let taken = put(&one, "a?hold=true", None, b"# A\n\nText.\n");
    assert_eq!((taken.status, taken.json()["code"].clone()), (409, json!("name-taken")));
    let sent = one.get(&format!("{BASE}/sent"), "").json();
    assert_eq!((&sent[0]["file"], &sent[0]["in_base"]), (&json!("a/rules.md"), &json!(false)));

    let job = one.post(&format!("{BASE}/index"), "", &json!({"files": ["a/rules.md"]})).json();
    let job = format!("{BASE}/jobs/{}", job["id"]);
    one.wait_until(&job, "", |job| job["stand"] == "done");
    assert!(finds(&one, "Quillwort") && finds(&other, "Quillwort"));
    let files = other.get(&format!("{BASE}/files"), "").json();
    assert_eq!(
        (&files[0]["sent_as"], &files[0]["on_disk"]),
        (&json!("a/rules.md"), &json!("there")),
        "{files}"
    );
    let original = other.get(&format!("{BASE}/original?file=a/rules.md"), "");
    assert_eq!((original.status, original.text.len()), (200, whole));
    // The folder of no server holds a byte of it.
    for place in [&here, &there] {
        let lies_here = std::fs::read_dir(place.path(""))
            .unwrap()
            .any(|entry| entry.unwrap().file_name().to_string_lossy().ends_with(".uploads"));
        assert!(!lies_here);
    }
    // A new version replaces it, and forgetting it leaves nothing.
    let again = put(&other, "a/rules.md", None, b"# Rules\n\nThe crane Mirabel is new.\n");
    let job = format!("{BASE}/jobs/{}", again.json()["job"]);
    other.wait_until(&job, "", |job| job["stand"] == "done");
    assert!(finds(&one, "Mirabel") && !finds(&one, "Quillwort"));
    let forgotten =
        one.request("DELETE", &format!("{BASE}/files?file=a/rules.md&forget=true"), &[], b"");
    assert_eq!((forgotten.status, forgotten.json()["was_sent"].clone()), (200, json!(true)));
    assert_eq!(other.get(&format!("{BASE}/sent"), "").json(), json!([]));
    assert!(!finds(&other, "Mirabel"));
}

fn names(serving: &Serving) -> Vec<String> {
    let listed = serving.get("/api/v1/bases", "").json();
    let name = |base: &Value| base["name"].as_str().unwrap().to_owned();
    listed.as_array().unwrap().iter().map(name).collect()
}

#[test]
fn bases_that_one_server_makes_are_there_for_the_others() {
    let Some([(_one, one), (_other, other)]) = two_servers("made", Place::new) else { return };
    let make = |serving: &Serving, name: &str| {
        serving.post("/api/v1/bases", "", &json!({"name": name})).status
    };
    assert_eq!((make(&one, "law"), make(&other, "law")), (201, 409));
    assert_eq!(names(&other), ["default", "law"]);
    let upload = |serving: &Serving, base: &str| {
        let path = format!("/api/v1/bases/{base}/files/notes/rules.md");
        let job = serving.request("PUT", &path, &[], RULES.as_bytes()).json()["job"].clone();
        let job = format!("/api/v1/bases/{base}/jobs/{job}");
        serving.wait_until(&job, "", |job| job["stand"] == "done");
    };
    upload(&other, "law");
    let files = one.get("/api/v1/bases/law/files", "").json();
    assert_eq!(files[0]["name"], "notes/rules.md", "{files}");
    let body = json!({"name": "tea"}).to_string();
    let headers = [("Content-Type", "application/json")];
    let renamed = one.request("PATCH", "/api/v1/bases/law", &headers, body.as_bytes());
    assert_eq!(renamed.status, 200, "{renamed:?}");
    assert_eq!(names(&other), ["default", "tea"]);
    assert_eq!(other.get("/api/v1/bases/law", "").status, 404);
    let gone = other.request("DELETE", "/api/v1/bases/tea?confirm=tea", &[], b"");
    assert_eq!(gone.status, 204, "{gone:?}");
    assert_eq!((names(&one), one.get("/api/v1/bases/tea", "").status), (names(&other), 404));
    // A base of the same name has nothing of the earlier one.
    assert_eq!(make(&one, "tea"), 201);
    assert_eq!(other.get("/api/v1/bases/tea/files", "").json(), json!([]));
}

#[test]
fn a_run_of_another_server_can_be_followed() {
    let stub = good_stub();
    let Some([(_one, one), (_other, other)]) = two_servers("runs", || Place::with(&stub)) else {
        return;
    };
    let added = put(&one, "rules.md", None, RULES.as_bytes());
    let job = format!("{BASE}/jobs/{}", added.json()["job"]);
    one.wait_until(&job, "", |job| job["stand"] == "done");
    let question = json!({"question": "When is the crane inspected?", "method": "naive-rag"});
    let asked = one.post(&format!("{BASE}/ask"), "", &question);
    assert_eq!(asked.status, 200, "{asked:?}");
    let run = asked.json()["run"].as_str().unwrap().to_owned();
    let path = format!("{BASE}/runs/{run}");
    let follow = |last: Option<&str>| {
        let mut headers = vec![("Accept", "text/event-stream")];
        headers.extend(last.map(|last| ("Last-Event-ID", last)));
        other.request("GET", &path, &headers, b"")
    };
    let whole = follow(None);
    let events = whole.events();
    assert_eq!(events.first().unwrap().0, "run", "{whole:?}");
    let (last, data) = events.last().unwrap();
    let ended: Value = serde_json::from_str(data).unwrap();
    assert_eq!((last.as_str(), &ended["state"]), ("ended", &json!("answered")), "{whole:?}");
    let kept = one.get(&path, "").json()["events"].as_array().unwrap().len();
    assert_eq!(events.len(), kept + 2);
    assert!(whole.text.contains("id: 0") || whole.text.contains("id: 1"), "{whole:?}");
    // A client that received all but the last event gets that one alone.
    let seq = one.get(&path, "").json()["events"][kept - 2]["seq"].to_string();
    assert_eq!(follow(Some(&seq)).events().len(), 3);
    // The same key at two servers pays once. If another test forgets a document of this database in
    // between, all kept responses are gone: then another key is tried.
    let question = json!({"question": "What is inspected in spring?", "method": "naive-rag"});
    let ask = |serving: &Serving, key: &str| {
        let headers = [("Content-Type", "application/json"), ("Idempotency-Key", key)];
        serving.request("POST", &format!("{BASE}/ask"), &headers, question.to_string().as_bytes())
    };
    let asked_twice = || {
        (0..9).map(|n| {
            let key = format!("{run}-{n}");
            let first = ask(&one, &key);
            let calls = stub.received().requests();
            (first, ask(&other, &key), stub.received().requests() - calls)
        })
    };
    let is_kept = |again: &Reply| again.status != 409 || !again.text.contains("response-forgotten");
    let (first, again, calls) = asked_twice().find(|(_, again, _)| is_kept(again)).unwrap();
    assert_eq!((first.status, &first.text), (200, &again.text));
    assert!(again.head.to_lowercase().contains("idempotency-replayed: true"), "{again:?}");
    assert_eq!(calls, 0);
}
