//! Tests bases that are made over REST: they are renamed, deleted and there again after a restart;
//! and texts that are inserted as documents.

use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use crate::common::{Place, good_stub};
use crate::limits::wait_until;
use crate::serving::{Reply, Serving};

const BASES: &str = "/api/v1/bases";
const JSON: (&str, &str) = ("Content-Type", "application/json");

fn send(serving: &Serving, method: &str, path: &str, key: &str, body: &Value) -> Reply {
    let bearer = format!("Bearer {key}");
    let mut headers = vec![JSON];
    if !key.is_empty() {
        headers.push(("Authorization", bearer.as_str()));
    }
    serving.request(method, path, &headers, body.to_string().as_bytes())
}

fn make(serving: &Serving, name: &str) -> Reply {
    serving.post(BASES, "", &json!({"name": name}))
}

fn rename(serving: &Serving, from: &str, to: &str) -> Reply {
    send(serving, "PATCH", &format!("{BASES}/{from}"), "", &json!({"name": to}))
}

fn delete(serving: &Serving, name: &str) -> Reply {
    serving.request("DELETE", &format!("{BASES}/{name}?confirm={name}"), &[], b"")
}

fn names(serving: &Serving) -> Vec<String> {
    let listed = serving.get(BASES, "").json();
    listed
        .as_array()
        .unwrap()
        .iter()
        .map(|base| base["name"].as_str().unwrap().to_owned())
        .collect()
}

fn refusal(reply: &Reply) -> (u16, String) {
    (reply.status, reply.json()["code"].as_str().unwrap().to_owned())
}

/// Uploads a file and waits for its job.
fn upload(serving: &Serving, base: &str, file: &str, text: &str) {
    let reply =
        serving.request("PUT", &format!("{BASES}/{base}/files/{file}"), &[], text.as_bytes());
    assert_eq!(reply.status, 200, "{reply:?}");
    wait_for_job(serving, base, &reply);
}

fn wait_for_job(serving: &Serving, base: &str, reply: &Reply) {
    let job = reply.json()["job"].as_u64().unwrap_or_else(|| panic!("{reply:?}"));
    serving.wait_until(&format!("{BASES}/{base}/jobs/{job}"), "", |job| job["stand"] == "done");
}

fn finds(serving: &Serving, base: &str, word: &str) -> bool {
    has_hit(serving, base, &json!({"query": word, "by": "words"}), word)
}

/// Whether a search finds a passage that contains the word.
fn has_hit(serving: &Serving, base: &str, body: &Value, word: &str) -> bool {
    let found = serving.post(&format!("{BASES}/{base}/search"), "", body);
    found.status == 200
        && found.json()["hits"].as_array().is_some_and(|hits| {
            hits.iter().any(|hit| hit["chunk"]["text"].as_str().unwrap().contains(word))
        })
}

/// The folders of the made bases.
fn folders(place: &Place) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(place.path("base.bases")) else { return Vec::new() };
    entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect()
}

#[test]
fn bases_are_made_renamed_and_deleted_and_survive_a_restart() {
    let place = Place::new();
    let serving = place.serve(&["--offline"]);
    let reply = make(&serving, "law");
    assert_eq!((reply.status, reply.json()), (201, json!({"name": "law", "made": true})));
    assert_eq!(make(&serving, "tea").status, 201);
    assert_eq!(names(&serving), ["default", "law", "tea"]);
    let empty = serving.get(&format!("{BASES}/law"), "").json();
    assert_eq!(empty["summary"]["files"], 0, "{empty}");
    upload(&serving, "law", "notes/crane.md", "# Crane\n\nThe crane was built by Quillwort.\n");
    assert!(finds(&serving, "law", "Quillwort") && !finds(&serving, "tea", "Quillwort"));
    // The base names a file as it was uploaded.
    let files = serving.get(&format!("{BASES}/law/files"), "").json();
    assert_eq!(files[0]["name"], "notes/crane.md", "{files}");

    let renamed = rename(&serving, "law", "statutes");
    assert_eq!((renamed.status, renamed.json()["name"].clone()), (200, json!("statutes")));
    assert_eq!(names(&serving), ["default", "statutes", "tea"]);
    assert_eq!(serving.get(&format!("{BASES}/law"), "").status, 404);
    assert!(finds(&serving, "statutes", "Quillwort"));
    upload(&serving, "statutes", "hoist.md", "# Hoist\n\nThe hoist was built by Mirabel.\n");
    assert!(finds(&serving, "statutes", "Mirabel"));
    // A new base of the old name has nothing of it, not even jobs.
    assert_eq!(make(&serving, "law").status, 201);
    assert!(!finds(&serving, "law", "Quillwort"));
    assert_eq!(serving.get(&format!("{BASES}/law/jobs"), "").json(), json!([]));
    drop(serving);

    let serving = place.serve(&["--offline"]);
    assert_eq!(names(&serving), ["default", "law", "statutes", "tea"]);
    assert!(finds(&serving, "statutes", "Quillwort"));
    assert_eq!(delete(&serving, "statutes").status, 204);
    assert_eq!(names(&serving), ["default", "law", "tea"]);
    assert_eq!(refusal(&delete(&serving, "statutes")), (404, "no-such-base".to_owned()));
    assert_eq!(folders(&place).len(), 2, "no file of it is left: {:?}", folders(&place));
    assert!(!finds(&serving, "statutes", "Quillwort"));
}

#[test]
fn a_base_of_another_server_over_the_same_folder_is_found() {
    let place = Place::new();
    let (one, other) = (place.serve(&["--offline"]), place.serve(&["--offline"]));
    assert_eq!(other.get(&format!("{BASES}/law"), "").status, 404);
    assert_eq!(make(&one, "law").status, 201);
    assert_eq!(refusal(&make(&other, "law")), (409, "base-exists".to_owned()));
    upload(&one, "law", "crane.md", "# Crane\n\nThe crane was built by Quillwort.\n");
    assert!(finds(&other, "law", "Quillwort"));
    assert_eq!(make(&other, "tea").status, 201);
    assert_eq!(names(&one), ["default", "law", "tea"]);
    assert_eq!(rename(&one, "law", "statutes").status, 200);
    assert_eq!(refusal(&make(&other, "statutes")), (409, "base-exists".to_owned()));
    assert!(!finds(&other, "law", "Quillwort") && finds(&other, "statutes", "Quillwort"));
    assert_eq!(names(&other), ["default", "statutes", "tea"]);
    // Another base may have the old name at once.
    assert_eq!(make(&other, "law").status, 201);
    assert!(!finds(&one, "law", "Quillwort") && !finds(&other, "law", "Quillwort"));
    wait_until("the base is deleted", || delete(&one, "statutes").status == 204);
    assert_eq!(other.get(&format!("{BASES}/statutes"), "").status, 404);
    assert_eq!(names(&other), ["default", "law", "tea"]);
    // A server that used a base only before deletes it, too.
    wait_until("the base is deleted", || delete(&other, "tea").status == 204);
    assert_eq!(names(&one), ["default", "law"]);
}

#[test]
fn a_base_that_another_server_uses_is_not_deleted() {
    let stub = good_stub();
    let place = Place::with(&stub);
    let (one, other) = (place.serve(&[]), place.serve(&[]));
    assert_eq!(make(&one, "law").status, 201);
    let text = "# Crane\n\nThe crane of Hamburg was built by Ilse Brandt in Varnsund.\n";
    upload(&one, "law", "crane.md", text);
    let requests = stub.received().requests();
    stub.answer_only(requests);
    let question = json!({"question": "Who built the crane of Hamburg?", "method": "naive-rag"});
    let path = format!("{BASES}/law/ask");
    let asking = other.send("POST", &path, &[JSON], question.to_string().as_bytes());
    wait_until("the question calls the model", || requests < stub.received().requests());
    assert_eq!(refusal(&delete(&one, "law")), (409, "base-in-use".to_owned()));
    assert_eq!(names(&one), ["default", "law"]);
    assert_eq!(folders(&place).len(), 1);
    drop(asking);
    stub.answer_all();
    wait_until("the base is deleted", || delete(&one, "law").status == 204);
    assert_eq!((names(&other), folders(&place).len()), (vec!["default".to_owned()], 0));
    assert_eq!(refusal(&other.get(&format!("{BASES}/law"), "")), (404, "no-such-base".to_owned()));
}

/// A later base of the old name must not repeat responses of the renamed one.
#[test]
fn a_renamed_base_leaves_no_kept_response() {
    let place = Place::new();
    let serving = place.serve(&["--offline"]);
    assert_eq!(make(&serving, "law").status, 201);
    upload(&serving, "law", "crane.md", "# Crane\n\nThe crane was built by Quillwort.\n");
    let search = || {
        let headers = [JSON, ("Idempotency-Key", "one")];
        let body = json!({"query": "crane", "by": "words"}).to_string();
        let path = format!("{BASES}/law/search");
        serving.request("POST", &path, &headers, body.as_bytes()).json().to_string()
    };
    assert!(search().contains("Quillwort"));
    assert_eq!(rename(&serving, "law", "statutes").status, 200);
    assert_eq!(make(&serving, "law").status, 201);
    assert!(!search().contains("Quillwort"), "{}", search());
}

#[test]
fn other_bases_and_unconfirmed_deletions_are_refused() {
    let place = Place::new();
    let settings =
        "[server]\nbases = { other = \"other\" }\nbases_limit = 2\naudit = \"audit.jsonl\"\n";
    place.write("pikerag.toml", settings);
    let serving = place.serve(&["--offline"]);
    for (name, code) in [
        ("", "bad-base-name"),
        ("default", "bad-base-name"),
        ("../law", "bad-base-name"),
        ("法律", "bad-base-name"),
        (&"x".repeat(65), "bad-base-name"),
    ] {
        assert_eq!(refusal(&make(&serving, name)), (400, code.to_owned()), "{name:?}");
    }
    assert_eq!(refusal(&make(&serving, "other")), (409, "base-exists".to_owned()));
    for declared in ["default", "other"] {
        let code = (409, "base-declared".to_owned());
        assert_eq!(refusal(&delete(&serving, declared)), code, "{declared}");
        assert_eq!(refusal(&rename(&serving, declared, "law")), code, "{declared}");
    }
    assert_eq!((make(&serving, "law").status, make(&serving, "tea").status), (201, 201));
    assert_eq!(refusal(&make(&serving, "more")), (409, "too-many-bases".to_owned()));
    assert_eq!(refusal(&rename(&serving, "law", "tea")), (409, "base-exists".to_owned()));
    assert_eq!(rename(&serving, "law", "law").status, 200);
    for query in ["", "?confirm=tea", "?confirm="] {
        let reply = serving.request("DELETE", &format!("{BASES}/law{query}"), &[], b"");
        assert_eq!(refusal(&reply), (400, "not-confirmed".to_owned()), "{query}");
    }
    assert_eq!(names(&serving), ["default", "law", "other", "tea"]);
    assert_eq!(rename(&serving, "tea", "oil").status, 200);
    // The audit log names the bases that were made and renamed.
    let log = place.read("audit.jsonl");
    let noted = log.lines().filter_map(|line| {
        let line: Value = serde_json::from_str(line).unwrap();
        let part = |name: &str| Some(line.get(name)?.as_str()?.replace(BASES, "…"));
        Some(format!("{} {} {}", part("method")?, part("path")?, part("location")?))
    });
    let noted: Vec<String> = noted.collect();
    assert_eq!(
        noted,
        ["POST … …/law", "POST … …/tea", "PATCH …/law …/law", "PATCH …/tea …/oil"],
        "{log}"
    );
}

/// A key that names a base never opens another one.
#[test]
fn bases_that_keys_name_keep_their_names() {
    let place = Place::new();
    let serving = place.serve(&["--offline"]);
    assert_eq!(make(&serving, "law").status, 201);
    let key = |arguments: &[&str]| {
        let all = [&["--json", "--base", "base", "keys", "make"], arguments].concat();
        place.run_to(0, &all).json()["key"].as_str().unwrap().to_owned()
    };
    let admin = key(&["admin", "--scope", "admin"]);
    // The command line knows the made base.
    let reader = key(&["reader", "--opens", "law"]);
    let unknown = place.run(&["--base", "base", "keys", "make", "nobody", "--opens", "tea"]);
    assert_ne!(unknown.code, Some(0), "{}", unknown.stderr);
    let part = key(&["part", "--scope", "admin", "--opens", "law"]);
    assert_eq!(serving.get(&format!("{BASES}/law"), &reader).status, 200);
    let law = format!("{BASES}/law");
    let confirmed = format!("{law}?confirm=law");
    let body = json!({"name": "statutes"});
    for (method, path) in [("PATCH", law.as_str()), ("DELETE", confirmed.as_str())] {
        let reply = send(&serving, method, path, &admin, &body);
        assert_eq!(refusal(&reply), (409, "named-by-keys".to_owned()), "{method}");
        // A key for some bases manages none.
        let reply = send(&serving, method, path, &part, &body);
        assert_eq!(refusal(&reply), (403, "only-part".to_owned()), "{method}");
        assert_eq!(send(&serving, method, path, &reader, &body).status, 403, "{method}");
    }
    assert_eq!(send(&serving, "POST", BASES, &part, &body).status, 403);
    let keys = serving.get("/api/v1/keys", &admin).json();
    for key in keys["keys"].as_array().unwrap().iter().filter(|key| key["bases"] == json!(["law"]))
    {
        let path = format!("/api/v1/keys/{}", key["id"].as_str().unwrap());
        assert_eq!(send(&serving, "DELETE", &path, &admin, &Value::Null).status, 204);
    }
    assert_eq!(send(&serving, "PATCH", &law, &admin, &body).status, 200);
    let confirmed = format!("{BASES}/statutes?confirm=statutes");
    assert_eq!(send(&serving, "DELETE", &confirmed, &admin, &Value::Null).status, 204);
    // A base that is made later also has the mark that a server needs keys.
    assert_eq!(send(&serving, "POST", BASES, &admin, &json!({"name": "tea"})).status, 201);
    let marks = folders(&place).into_iter().map(|folder| folder.join("base/keys.needed").is_file());
    assert_eq!(marks.collect::<Vec<_>>(), [true]);
}

#[test]
fn a_base_in_use_stays_until_its_job_has_ended() {
    let stub = good_stub();
    let place = Place::with(&stub);
    let serving = place.serve(&[]);
    assert_eq!(make(&serving, "law").status, 201);
    let requests = stub.received().requests();
    stub.answer_only(requests);
    let file = format!("{BASES}/law/files/crane.md");
    let text = b"# Crane\n\nThe crane of Hamburg was built by Ilse Brandt in Varnsund.\n";
    let sent = serving.request("PUT", &file, &[], text);
    wait_until("the job calls the model", || requests < stub.received().requests());
    let in_use = (409, "base-in-use".to_owned());
    assert_eq!(refusal(&rename(&serving, "law", "statutes")), in_use);
    assert_eq!(refusal(&delete(&serving, "law")), in_use);
    assert_eq!(names(&serving), ["default", "law"]);
    stub.answer_all();
    wait_for_job(&serving, "law", &sent);
    // The queue still counts the remaining work for a moment.
    wait_until("the base is deleted", || delete(&serving, "law").status == 204);
    assert_eq!((names(&serving), folders(&place).len()), (vec!["default".to_owned()], 0));
}

/// A request that is slow to arrive uses no base yet.
#[test]
fn a_slow_request_for_another_base_keeps_no_base_from_deletion() {
    let place = Place::new();
    let serving = place.serve(&["--offline"]);
    assert_eq!(make(&serving, "law").status, 201);
    let mut slow = TcpStream::connect(&serving.address).unwrap();
    let head = format!(
        "POST {BASES}/default/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Idempotency-Key: one\r\nContent-Length: 100\r\n\r\n{{"
    );
    slow.write_all(head.as_bytes()).unwrap();
    // Time for the server to read the head.
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(delete(&serving, "law").status, 204);
}

/// A deletion renames the folder first; a creation renames it last.
#[test]
fn what_a_crash_leaves_half_done_is_removed_at_the_start() {
    let place = Place::new();
    let serving = place.serve(&["--offline"]);
    assert_eq!((make(&serving, "law").status, make(&serving, "tea").status), (201, 201));
    drop(serving);
    for folder in folders(&place) {
        let name = folder.file_name().unwrap().to_str().unwrap();
        if name.starts_with("law-") {
            fs::rename(&folder, folder.with_extension("removed")).unwrap();
        }
    }
    let new = place.path("base.bases/oil-00000000.new");
    fs::create_dir_all(new.join("base")).unwrap();
    fs::write(new.join("name"), "oil\n").unwrap();
    let serving = place.serve(&["--offline"]);
    assert_eq!(names(&serving), ["default", "tea"]);
    assert_eq!(folders(&place).len(), 1, "{:?}", folders(&place));
}

#[test]
fn texts_become_documents_that_are_listed_and_deleted_like_files() {
    let place = Place::new();
    let serving = place.serve(&["--offline"]);
    let texts = format!("{BASES}/default/texts");
    let body = json!({
        "text": "The crane was built by Quillwort.", "title": "Crane: 1", "metadata": {"author": "Chen"}
    });
    let reply = serving.post(&texts, "", &body);
    assert_eq!(reply.status, 200, "{reply:?}");
    let file = reply.json()["file"].as_str().unwrap().to_owned();
    let is_markdown = Path::new(&file).extension().is_some_and(|it| it == "md");
    assert!(file.starts_with("Crane-1-") && is_markdown, "{file}");
    wait_for_job(&serving, "default", &reply);
    let filtered = json!({"query": "Quillwort", "by": "words", "filter": ["meta:author=Chen"]});
    assert!(has_hit(&serving, "default", &filtered, "Quillwort"));
    let sources = serving.get(&format!("{BASES}/default/sources"), "").json();
    assert_eq!(sources[0]["title"], "Crane: 1", "{sources}");
    // The same name replaces the text.
    for word in ["Mirabel", "Ottoline"] {
        let text = format!("The hoist was built by {word}.");
        let reply = serving.post(&texts, "", &json!({"text": text, "name": "notes/hoist"}));
        assert_eq!(reply.json()["file"], "notes/hoist.md", "{reply:?}");
        wait_for_job(&serving, "default", &reply);
        assert!(finds(&serving, "default", word));
    }
    assert!(!finds(&serving, "default", "Mirabel"));
    let files = serving.get(&format!("{BASES}/default/files"), "").json();
    let held: Vec<&str> =
        files.as_array().unwrap().iter().map(|file| file["name"].as_str().unwrap()).collect();
    assert_eq!(held.len(), 2, "{files}");
    let known = held.iter().find(|name| name.ends_with("notes/hoist.md")).unwrap();
    let path = format!("{BASES}/default/files?file={known}");
    let gone = serving.request("DELETE", &path, &[], b"").json();
    assert_eq!(gone["was_sent"], true, "{gone}");
    for (wrong, code) in [
        (json!({"text": "  "}), "bad-request"),
        (json!({"text": "x", "name": "../x"}), "bad-name"),
        (json!({"text": "x", "name": "a.txt", "title": "T"}), "bad-request"),
        (json!({"text": "x", "metadata": {"a: b": "c"}}), "bad-request"),
    ] {
        assert_eq!(refusal(&serving.post(&texts, "", &wrong)), (400, code.to_owned()), "{wrong}");
    }
}
