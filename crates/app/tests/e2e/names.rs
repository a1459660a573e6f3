//! Tests that files have the same names in all routes, whatever folder the server runs in, and that
//! hits carry the metadata of their documents.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::common::Place;
use crate::serve::put;
use crate::serving::{Reply, Serving};

const BASE: &str = "/api/v1/bases/default";
const CRANE: &str = "---\nauthor: Ada\n---\n# Crane\n\nThe crane Quillwort lifts forty tons.\n";

/// A server in the folder `elsewhere`, over a base that was indexed by relative paths.
fn served_elsewhere() -> (Place, Serving) {
    let place = Place::new();
    place.write("docs/crane.md", CRANE);
    place.write("docs/ferry.md", "# Ferry\n\nThe ferry Hollowmere leaves at nine.\n");
    place.run_to(0, &["--offline", "--base", "base", "index", "docs"]);
    place.write("elsewhere/docs/crane.md", "# Other\n\nAnother file of this name.\n");
    let base = place.path("base").display().to_string();
    let mut command = place.command(&["--offline", "--base", &base, "serve", "--port", "0"]);
    command.current_dir(place.path("elsewhere"));
    let serving = place.serve_by(command);
    (place, serving)
}

/// A query with this value, each byte of it escaped.
fn query(file: &str) -> String {
    file.bytes().fold("?file=".to_owned(), |mut query, byte| {
        let _ = write!(query, "%{byte:02X}");
        query
    })
}

fn get(serving: &Serving, route: &str, file: &str) -> Reply {
    serving.get(&format!("{BASE}/{route}{}", query(file)), "")
}

fn delete(serving: &Serving, file: &str) -> Reply {
    serving.request("DELETE", &format!("{BASE}/files{}", query(file)), &[], b"")
}

/// Uploads a file and waits until it is indexed. The name is the path of the request.
fn upload(serving: &Serving, path: &str, text: &str) {
    let reply = put(serving, &format!("files/{path}"), None, text.as_bytes());
    let job = reply.json()["job"].as_u64().unwrap_or_else(|| panic!("{reply:?}"));
    serving.wait_until(&format!("{BASE}/jobs/{job}"), "", |job| job["stand"] == "done");
}

fn hits(serving: &Serving, body: &Value) -> Vec<Value> {
    let reply = serving.post(&format!("{BASE}/search"), "", body);
    assert_eq!(reply.status, 200, "{reply:?}");
    reply.json()["hits"].as_array().unwrap().clone()
}

#[test]
fn originals_are_found_by_the_names_of_the_base() {
    let (place, serving) = served_elsewhere();
    let whole = place.path("docs/crane.md").canonicalize().unwrap().display().to_string();
    for name in ["docs/crane.md", whole.as_str()] {
        let original = get(&serving, "original", name);
        assert_eq!((original.status, original.text.as_str()), (200, CRANE), "{name}");
        let deletion = get(&serving, "deletion", name);
        assert_eq!(deletion.json()["files"], json!(["docs/crane.md"]), "{name}: {deletion:?}");
    }
    for name in ["crane.md", "../docs/crane.md", "elsewhere/docs/crane.md", "docs"] {
        for reply in [get(&serving, "original", name), get(&serving, "deletion", name)] {
            let code = reply.json()["code"].clone();
            assert_eq!((reply.status, code), (404, json!("no-such-file")), "{name}");
        }
    }
}

/// The name of a PUT and the URI that the base shows are names of one file.
#[test]
fn the_name_of_an_upload_is_its_name_in_all_routes() {
    let (_place, serving) = served_elsewhere();
    let text = "---\nauthor: Eve\n---\n# Glacier\n\nThe glacier Brindlewick melts.\n";
    let (name, uri) = ("a b/ü.md", "base.uploads/a b/ü.md");
    let path = "a%20b/%C3%BC.md";
    for called in [name, uri] {
        upload(&serving, path, text);
        let sources = serving.get(&format!("{BASE}/sources"), "").json();
        let listed = |uri: &str| sources.as_array().unwrap().iter().any(|one| one["uri"] == uri);
        assert!(listed(uri), "{sources:#}");
        let found = hits(&serving, &json!({"query": "glacier", "k": 1, "by": "words"}));
        let hit = (&found[0]["chunk"]["uri"], &found[0]["sent_as"]);
        assert_eq!(hit, (&json!(uri), &json!(name)), "{found:?}");
        let filter = json!([format!("source={called}")]);
        let found = hits(&serving, &json!({"query": "crane glacier", "filter": filter}));
        let uris: Vec<&Value> = found.iter().map(|hit| &hit["chunk"]["uri"]).collect();
        assert_eq!(uris, [uri], "{called}");
        assert_eq!(get(&serving, "original", called).text, text, "{called}");
        for body in [json!({"known": [called]}), json!({"files": [called]})] {
            let reply = serving.post(&format!("{BASE}/estimate"), "", &body);
            assert_eq!(reply.status, 200, "{called}: {reply:?}");
        }
        let deletion = get(&serving, "deletion", called);
        assert_eq!(deletion.json()["files"], json!([uri]), "{called}: {deletion:?}");
        let deleted = delete(&serving, called);
        assert_eq!(deleted.json()["deleted"]["deleted"], json!([uri]), "{called}: {deleted:?}");
        assert_eq!(deleted.json()["was_sent"], true, "{called}: {deleted:?}");
        assert_eq!(get(&serving, "original", called).status, 404, "{called}");
    }
}

#[test]
fn an_upload_with_the_name_of_another_file_must_be_named_by_its_path() {
    let (place, serving) = served_elsewhere();
    upload(&serving, "docs/crane.md", "# Crane\n\nThe crane Varnsund lifts ten tons.\n");
    let name = "docs/crane.md";
    let mut paths = Value::Null;
    for reply in [
        get(&serving, "original", name),
        get(&serving, "deletion", name),
        delete(&serving, name),
        serving.post(&format!("{BASE}/index"), "", &json!({"known": [name]})),
    ] {
        let problem = reply.json();
        assert_eq!((reply.status, &problem["code"]), (409, &json!("unclear-file")), "{reply:?}");
        paths = problem["detail"].clone();
    }
    let paths = paths.as_str().unwrap().to_owned();
    for (path, text) in [("docs/crane.md", "Quillwort"), ("base.uploads/docs/crane.md", "Varnsund")]
    {
        let path = place.path(path).canonicalize().unwrap().display().to_string();
        assert!(paths.contains(&path), "{path}: {paths}");
        assert!(get(&serving, "original", &path).text.contains(text), "{path}");
    }
    // After one of them is deleted, the name is clear.
    assert_eq!(delete(&serving, "base.uploads/docs/crane.md").status, 200);
    assert_eq!(get(&serving, "original", name).text, CRANE);
}

#[test]
fn hits_carry_the_metadata_of_their_documents() {
    let (_place, serving) = served_elsewhere();
    let metadata = |query: &str| {
        let found = hits(&serving, &json!({"query": query, "k": 1, "by": "words"}));
        (found[0]["metadata"].clone(), found[0]["sent_as"].clone())
    };
    let (crane, sent_as) = metadata("Quillwort");
    assert_eq!((&crane["author"], sent_as), (&json!("Ada"), Value::Null), "{crane}");
    assert_eq!(metadata("Hollowmere").0, json!({}));
    let call = json!({"name": "search", "arguments": {"query": "Quillwort", "k": 1}});
    let found = serving.mcp("", "tools/call", &call).json();
    let hit = &found["result"]["structuredContent"]["hits"][0];
    assert_eq!(hit["metadata"]["author"], "Ada", "{found}");
}
