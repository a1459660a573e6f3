//! Tests that an administrator tries, sets and takes away the embedder and the reranker of a running
//! server.

use serde_json::{Value, json};

use crate::common::{Place, good_stub};
use crate::serving::{Reply, Serving};

const BASE: &str = "/api/v1/bases/default";
const EMBEDDER: &str = "/api/v1/models/search/embedder";
const RERANKER: &str = "/api/v1/models/search/reranker";
const KEY: &str = "sk-typed-on-the-page-4711";

fn place() -> Place {
    let place = Place::new();
    place.write("docs/crane.md", "# KX-40\n\nThe KX-40 crane was designed by Ilse Brandt.\n");
    place.write("docs/port.md", "# Port\n\nThe port of Dunmarsh has six cranes.\n");
    place
}

fn put(serving: &Serving, path: &str, body: &Value) -> Reply {
    let headers = [("Content-Type", "application/json")];
    serving.request("PUT", path, &headers, body.to_string().as_bytes())
}

fn search(serving: &Serving) -> Reply {
    let body = json!({"query": "Who designed the KX-40?", "by": "meaning"});
    serving.post(&format!("{BASE}/search"), "", &body)
}

/// A base without vectors gets some of the first embedder, then of the second one.
#[test]
fn an_embedder_is_tried_and_set_and_makes_new_vectors() {
    let (stub, other) = (good_stub(), good_stub());
    let place = place();
    place.run_to(0, &["--base", "base", "index", "docs"]);
    let serving = place.serve(&[]);
    let embedder = || serving.get(&format!("{BASE}/settings"), "").json()["embedder"].clone();
    assert_eq!((embedder(), search(&serving).status), (Value::Null, 409));
    let first = json!({"model": "stub-embedding", "base_url": stub.url(), "api_key": KEY});
    let tried = serving.post(&format!("{EMBEDDER}/test"), "", &first).json();
    assert!(0 < tried["dimensions"].as_u64().unwrap(), "{tried:#}");
    assert!(!tried.to_string().contains(KEY) && !place.path("pikerag.toml").exists());

    assert_eq!(put(&serving, EMBEDDER, &first).json()["needs_key"], Value::Null);
    assert_eq!(embedder()["model"], "stub-embedding");
    let vectors_of = || {
        let status = serving.get(BASE, "").json();
        let waiting = status["waiting"].as_array().unwrap().iter();
        let is_vectors = |work: &&Value| work["stage"] == "vectors";
        (waiting.clone().any(|work| is_vectors(&work)), status["summary"]["embedder"].clone())
    };
    assert!(vectors_of().0);
    // The work is paid: its bill is shown first.
    let make = || {
        let job = serving.post(&format!("{BASE}/jobs"), "", &json!({})).json();
        assert_eq!(job["stand"], "offered", "{job:#}");
        assert!(0 < job["accepted"]["texts"].as_u64().unwrap(), "{job:#}");
        let path = format!("{BASE}/jobs/{}", job["id"]);
        let same = serving.post(&format!("{BASE}/jobs"), "", &json!({})).json();
        assert_eq!(same["id"], job["id"]);
        assert_eq!(serving.post(&format!("{path}/begin"), "", &json!({})).status, 202);
        let done = serving.wait_until(&path, "", |job| job["ended"] != Value::Null);
        assert_eq!(done["stand"], "done", "{done:#}");
    };
    make();
    assert!(stub.heads().last().unwrap().contains(KEY));
    let (is_waiting, made_by) = vectors_of();
    assert!(!is_waiting, "{made_by}");
    assert_eq!(search(&serving).status, 200);

    let second = json!({"model": "stub-embedding", "base_url": other.url()});
    assert_eq!(put(&serving, EMBEDDER, &second).status, 200);
    assert!(!place.read("pikerag.toml").contains(KEY));
    assert_eq!((vectors_of(), search(&serving).status), ((true, made_by.clone()), 409));
    make();
    assert!(!other.heads().last().unwrap().to_lowercase().contains("authorization"));
    let (is_waiting, now_by) = vectors_of();
    assert!(!is_waiting && now_by != made_by, "{made_by} {now_by}");
    assert_eq!(search(&serving).status, 200);

    let unset = || serving.request("DELETE", EMBEDDER, &[], b"").status;
    assert_eq!((unset(), unset(), embedder()), (200, 200, Value::Null));
    assert!(!place.read("pikerag.toml").contains("[embed]\n"));
}

#[test]
fn a_reranker_is_set_and_taken_away() {
    let stub = good_stub();
    let place = place();
    place.run_to(0, &["--base", "base", "index", "docs"]);
    let serving = place.serve(&[]);
    let chosen = json!({"model": "stub-rerank", "base_url": stub.url(), "api_key": KEY});
    let tried = serving.post(&format!("{RERANKER}/test"), "", &chosen).json();
    assert_eq!((&tried["fine"], &tried["dimensions"]), (&json!(true), &Value::Null), "{tried:#}");
    assert_eq!(put(&serving, RERANKER, &chosen).status, 200);
    let before = stub.received().rerankings;
    let body = json!({"query": "Who designed the KX-40?", "by": "words"});
    assert_eq!(serving.post(&format!("{BASE}/search"), "", &body).status, 200);
    assert_eq!(stub.received().rerankings, before + 1);
    let unset = serving.request("DELETE", RERANKER, &[], b"");
    assert_eq!(unset.status, 200, "{unset:?}");
    let settings = serving.get(&format!("{BASE}/settings"), "").json();
    assert_eq!(settings["reranker"], Value::Null);
    assert!(!place.read("pikerag.toml").contains(KEY));
}

/// Work without paid calls begins at once; without any work it is done at once.
#[test]
fn free_remaining_work_begins_at_once() {
    let place = place();
    place.run_to(0, &["--base", "base", "index", "docs"]);
    let serving = place.serve(&[]);
    let job = serving.post(&format!("{BASE}/jobs"), "", &json!({}));
    assert_eq!(job.status, 202, "{job:?}");
    let path = format!("{BASE}/jobs/{}", job.json()["id"]);
    let done = serving.wait_until(&path, "", |job| job["ended"] != Value::Null);
    assert_eq!(done["stand"], "done", "{done:#}");
}

#[test]
fn what_cannot_be_set_is_refused_by_name() {
    let place = place()
        .set("PIKERAG_RERANK_BASE_URL", "http://127.0.0.1:9/v1")
        .set("PIKERAG_RERANK_MODEL", "r");
    place.write("pikerag.toml", "[embed]\nmodel = \"e\"\nextra = { user = \"k\" }\n");
    let serving = place.serve(&[]);
    let at = |url: &str| json!({"model": "m", "base_url": url});
    let refused = put(&serving, EMBEDDER, &at("http://127.0.0.1:10/v1"));
    assert_eq!((refused.status, &refused.json()["code"]), (409, &json!("settings-of-old-address")));
    assert!(refused.text.contains("embed.extra"), "{refused:?}");
    let refused = put(&serving, RERANKER, &at("http://127.0.0.1:10/v1"));
    assert_eq!((refused.status, &refused.json()["code"]), (409, &json!("settings-overridden")));
    let refused = serving.request("DELETE", RERANKER, &[], b"");
    assert_eq!((refused.status, &refused.json()["code"]), (409, &json!("settings-overridden")));
    let unknown = put(&serving, "/api/v1/models/search/answerer", &at("http://127.0.0.1:10/v1"));
    assert_eq!(unknown.status, 400, "{unknown:?}");
    let missing = put(&serving, EMBEDDER, &json!({"model": "m"}));
    assert_eq!(missing.status, 400, "{missing:?}");
}

/// Only keys of scope `admin` that see everything may change them.
#[test]
fn they_need_an_unfiltered_key_of_scope_admin() {
    let place = place();
    let writer = place.key("bo", &["--scope", "write"]);
    let part = place.key("eve", &["--scope", "admin", "--filter", "folder=open"]);
    let serving = place.serve(&["--offline"]);
    let body = json!({"model": "m", "base_url": "http://127.0.0.1:9/v1"}).to_string();
    for (key, status) in [("", 401), (writer.as_str(), 403), (part.as_str(), 403)] {
        let bearer = format!("Bearer {key}");
        let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
        for path in [EMBEDDER, RERANKER] {
            let test = format!("{path}/test");
            let calls = [("PUT", path), ("DELETE", path), ("POST", test.as_str())];
            for (verb, path) in calls {
                let refused = serving.request(verb, path, &headers, body.as_bytes());
                assert_eq!(refused.status, status, "{verb} {path}");
            }
        }
    }
    assert!(!place.path("pikerag.toml").exists());
}
