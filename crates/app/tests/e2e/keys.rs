//! Tests that no key is lost or revived, that a server stays shut without its keys, and that
//! revoked keys end their runs.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::{Place, good_stub};
use crate::serve::{place, with_papers};
use crate::serving::{Reply, Serving};

const BASES: &str = "/api/v1/bases";
const ASK: &str = "/api/v1/bases/default/ask";

fn send(serving: &Serving, method: &str, path: &str, key: &str, body: &Value) -> Reply {
    let bearer = format!("Bearer {key}");
    let mut headers = vec![("Content-Type", "application/json")];
    if !key.is_empty() {
        headers.push(("Authorization", bearer.as_str()));
    }
    serving.request(method, path, &headers, body.to_string().as_bytes())
}

/// Makes a key over HTTP; its identifier and the key itself.
fn make_key(serving: &Serving, key: &str, body: &Value) -> (String, String) {
    let reply = send(serving, "POST", "/api/v1/keys", key, body);
    let made = reply.json();
    let text = |name: &str| made[name].as_str().unwrap_or_else(|| panic!("{reply:?}")).to_owned();
    (text("id"), text("key"))
}

fn revoke(serving: &Serving, key: &str, id: &str) -> u16 {
    send(serving, "DELETE", &format!("/api/v1/keys/{id}"), key, &Value::Null).status
}

fn code(reply: &Reply) -> String {
    reply.json()["code"].as_str().unwrap().to_owned()
}

fn dollars(place: &Place, field: &str) -> f64 {
    place.run_to(0, &["--json", "keys", "list"]).json()[0][field].as_f64().unwrap()
}

/// After the last key is revoked, every request is refused, also after a restart. Only the
/// machine's owner can make the next key.
#[test]
fn a_server_stays_shut_after_its_last_key_is_revoked() {
    let place = place();
    let serving = place.serve(&["--offline"]);
    assert_eq!(serving.get(BASES, "").status, 200);
    let (id, key) = make_key(&serving, "", &json!({"name": "ada", "scope": "admin"}));
    assert_eq!(revoke(&serving, &key, &id), 204);
    let forget = "/api/v1/bases/default/files?file=docs/open/crane.md&forget=true";
    for serving in [&serving, &place.serve(&["--offline"])] {
        for (method, path) in [
            ("GET", BASES),
            ("GET", "/api/v1/bases/default/export"),
            ("DELETE", forget),
            ("POST", "/api/v1/keys"),
        ] {
            let body = json!({"name": "eve", "scope": "admin"});
            assert_eq!(send(serving, method, path, "", &body).status, 401, "{method} {path}");
            assert_eq!(send(serving, method, path, &key, &body).status, 401, "{method} {path}");
        }
        assert_eq!(serving.get("/health", "").status, 200);
    }
    let listed = place.run_to(0, &["keys", "list"]);
    assert!(listed.stderr.contains("refuses every request"), "{}", listed.stderr);
    let key = place.key("bo", &[]);
    assert_eq!(serving.get(BASES, &key).status, 200);
}

#[test]
fn a_public_server_without_keys_refuses_everybody() {
    let place = place();
    place.key("ada", &[]);
    let mut serving = place.serve(&["--offline", "--host", "0.0.0.0"]);
    serving.address = serving.address.replace("0.0.0.0", "127.0.0.1");
    let id = place.run_to(0, &["--json", "keys", "list"]).json()[0]["id"].clone();
    place.run_to(0, &["keys", "revoke", id.as_str().unwrap()]);
    assert_eq!(serving.get(BASES, "").status, 401);
}

/// A missing or damaged key store gives no access, neither on a running server nor on one that
/// starts.
#[test]
fn a_server_without_its_key_store_refuses_everybody() {
    let place = place();
    let key = place.key("ada", &["--scope", "admin"]);
    let store = place.own_path("pikerag/keys.sqlite");
    let serving = place.serve(&["--offline"]);
    assert_eq!(serving.get(BASES, &key).status, 200);
    let remove = || {
        for end in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{end}", store.display()));
        }
    };
    remove();
    let reply = serving.get(BASES, &key);
    assert_eq!((reply.status, code(&reply)), (500, "keys-failed".to_owned()));
    assert_eq!(serving.get(BASES, "").status, 401);
    drop(serving);
    let serve = ["--offline", "--base", "base", "serve", "--port", "0"];
    // The base, too, records that keys were made, so the loss of all state of the user gives no
    // access.
    std::fs::remove_file(store.with_extension("needed")).unwrap();
    let refused = place.run_to(1, &serve);
    assert!(
        refused.stderr.contains("keys were made") && refused.stderr.contains("pikerag keys make"),
        "{}",
        refused.stderr
    );
    for damaged in ["", "no database, whatever its name says of it, but long enough"] {
        remove();
        std::fs::write(&store, damaged).unwrap();
        let refused = place.run_to(1, &serve);
        assert!(refused.stderr.contains("keys.sqlite"), "{}", refused.stderr);
    }
    remove();
    let key = place.key("ada", &["--scope", "admin"]);
    assert_eq!(place.serve(&["--offline"]).get(BASES, &key).status, 200);
}

/// Sixteen clients make and revoke keys at once: no key is lost, and no revoked key is good.
#[test]
fn keys_made_and_revoked_in_parallel_are_not_mixed_up() {
    let place = place();
    place.write("pikerag.toml", "[server]\nwrong_keys = 1000\n");
    let serving = place.serve(&["--offline"]);
    let (_, admin) = make_key(&serving, "", &json!({"name": "ada", "scope": "admin"}));
    std::thread::scope(|scope| {
        for client in 0..16 {
            let (serving, admin) = (&serving, &admin);
            scope.spawn(move || {
                let body =
                    |what: &str| json!({"name": format!("{what} {client}"), "scope": "read"});
                let (_, kept) = make_key(serving, admin, &body("kept"));
                let (id, gone) = make_key(serving, admin, &body("gone"));
                assert_eq!(revoke(serving, admin, &id), 204);
                assert_eq!(serving.get(BASES, &gone).status, 401);
                assert_eq!(serving.get(BASES, &kept).status, 200);
            });
        }
    });
    let listed = serving.get("/api/v1/keys", &admin).json();
    assert_eq!(listed["keys"].as_array().unwrap().len(), 17);
}

/// The files of an older version are migrated once; an expired key gets an error of its own.
#[test]
fn keys_of_an_older_version_are_migrated_and_expire() {
    let place = place();
    let line = |id: &str, more: Value| {
        let digest = blake3::hash(format!("pikerag_{id}_secret").as_bytes()).to_hex().to_string();
        let mut line = json!({"id": id, "digest": digest, "made": 7, "name": id, "scope": "admin", "cap_usd": 2.0});
        line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        line
    };
    let lines = json!([line("good", json!({})), line("over", json!({"expires": 1000}))]);
    let file = place.own_path("pikerag/keys.json");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, lines.to_string()).unwrap();
    std::fs::write(file.with_extension("spent.json"), r#"{"good": 1.5}"#).unwrap();
    let serving = place.serve(&["--offline"]);
    assert_eq!(serving.get(BASES, "").status, 401);
    let budget = serving.get("/api/v1/budget", "pikerag_good_secret").json();
    assert_eq!(budget["key"]["spent_usd"], 1.5, "{budget}");
    assert_eq!(code(&serving.get(BASES, "pikerag_over_secret")), "key-expired");
    assert!(!file.exists() && place.own_path("pikerag/keys.json.taken").is_file());
    let listed = place.run_to(0, &["keys", "list"]).stdout;
    assert!(listed.contains("expired 1970-01-01") && listed.contains("last used"), "{listed}");
    let over = json!({"name": "x", "scope": "read", "expires": 1000});
    assert_eq!(send(&serving, "POST", "/api/v1/keys", "pikerag_good_secret", &over).status, 400);
}

#[test]
fn a_key_gets_another_secret() {
    let place = place();
    let serving = place.serve(&["--offline"]);
    let (id, first) = make_key(&serving, "", &json!({"name": "ada", "scope": "admin"}));
    let rotate = |key: &str, body: Value| {
        let path = format!("/api/v1/keys/{id}/rotate");
        send(&serving, "POST", &path, key, &body)
    };
    let second = rotate(&first, json!({"grace_seconds": 3600})).json();
    let second = second["key"].as_str().unwrap().to_owned();
    let good = |key: &str| serving.get(BASES, key).status == 200;
    assert!(good(&first) && good(&second));
    let third = place.run_to(0, &["--json", "keys", "rotate", &id]).json();
    assert!(!good(&first) && !good(&second) && good(third["key"].as_str().unwrap()));
    assert_eq!(place.run(&["keys", "rotate", "nobody"]).code, Some(1));
}

/// `compose.yaml` runs this command at each start: it makes one key, and the file contains it.
#[test]
fn a_key_in_a_file_is_made_once() {
    let place = place();
    let make = || place.run_to(0, &["keys", "make", "chat", "--into", "chat.key"]);
    make();
    let key = place.read("chat.key");
    make();
    assert_eq!(place.read("chat.key"), key);
    place.write("chat.key", "");
    make();
    assert_eq!(place.run_to(0, &["--json", "keys", "list"]).json().as_array().unwrap().len(), 1);
    let serving = place.serve(&["--offline"]);
    assert_eq!(serving.get(BASES, place.read("chat.key").trim()).status, 200);
    assert_eq!(serving.get(BASES, key.trim()).status, 401);
}

/// Ten wrong keys in a minute get 401, further ones get 429; a right key still works.
#[test]
fn wrong_keys_are_slowed_down_and_right_ones_are_not() {
    let place = place();
    let key = place.key("ada", &[]);
    let serving = place.serve(&["--offline"]);
    let wrong = || serving.get(BASES, "pikerag_00000000_0000");
    let statuses: Vec<u16> = (0..10).map(|_| wrong().status).collect();
    assert_eq!(statuses, [401; 10]);
    let slowed = wrong();
    assert_eq!((slowed.status, code(&slowed)), (429, "too-many-wrong-keys".to_owned()));
    assert!(slowed.head.to_lowercase().contains("retry-after: 60"), "{slowed:?}");
    assert_eq!(serving.get(BASES, &key).status, 200);
    assert_eq!(serving.get(BASES, "").status, 401);
}

/// A page of another site cannot fetch anything. Its reader may open the page and follow a link to
/// a passage.
#[test]
fn pages_of_other_sites_fetch_nothing() {
    let place = place();
    place.write("pikerag.toml", "[server]\norigins = [\"https://chat.example.org\"]\n");
    let serving = place.serve(&["--offline"]);
    let get = |path: &str, more: &[(&str, &str)]| {
        let site = [("Sec-Fetch-Site", "cross-site")];
        serving.request("GET", path, &[&site, more].concat(), b"")
    };
    let export = "/api/v1/bases/default/export";
    for more in [vec![], vec![("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")]] {
        let refused = get(export, &more);
        assert_eq!((refused.status, code(&refused)), (403, "cross-site".to_owned()));
    }
    for site in ["same-origin", "none"] {
        let reply = serving.request("GET", BASES, &[("Sec-Fetch-Site", site)], b"");
        assert_eq!(reply.status, 200, "{site}");
    }
    assert_eq!(get(BASES, &[("Origin", "https://chat.example.org")]).status, 200);
    assert_eq!(get("/", &[]).status, 200);
    let found = serving.post("/api/v1/bases/default/search", "", &json!({"query": "crane"})).json();
    let url = found["hits"][0]["url"].as_str().unwrap();
    let (_, path) = url.split_once("//").and_then(|(_, rest)| rest.split_once('/')).unwrap();
    let link = [("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")];
    assert_eq!(get(&format!("/{path}"), &link).status, 200);
    assert_eq!(get(&format!("/{path}"), &[]).status, 403);
}

#[test]
fn reranked_hits_of_one_request_are_limited() {
    let place = place();
    let serving = place.serve(&["--offline"]);
    let search = |rerank: u32| {
        let body = json!({"query": "crane", "rerank": rerank});
        serving.post("/api/v1/bases/default/search", "", &body)
    };
    let refused = search(201);
    assert_eq!((refused.status, code(&refused)), (422, "rerank-limit".to_owned()));
    assert!(refused.text.contains("200 hits at most"), "{refused:?}");
    assert_ne!(search(200).status, 422);
    place.write("pikerag.toml", "[server]\nrerank_limit = 3\n");
    let serving = place.serve(&["--offline"]);
    let body = json!({"query": "crane", "rerank": 4});
    assert_eq!(serving.post("/api/v1/bases/default/search", "", &body).status, 422);
}

/// Prices with which a call costs about a cent and reserves a few cents.
const PRICES: &str =
    "[prices.stub]\nprompt = 10.0\ncompletion = 10.0\n[prices.stub-embedding]\nprompt = 10.0\n";

fn wait_until(what: impl Fn() -> bool) {
    let began = Instant::now();
    while !what() {
        assert!(began.elapsed() < Duration::from_mins(2));
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// After its key is revoked, a run makes no further call and says why it ended.
#[test]
fn a_run_ends_at_the_next_call_after_its_key_is_revoked() {
    let stub = good_stub();
    let place = with_papers(Place::with(&stub));
    let admin = place.key("ada", &["--scope", "admin"]);
    let serving = place.serve(&[]);
    let (id, key) = make_key(&serving, &admin, &json!({"name": "bo", "scope": "read"}));
    stub.reset();
    stub.answer_only(0);
    let question = json!({"question": "Who built the crane of Hamburg, and what does it lift?", "method": "kar3"});
    let ended = std::thread::scope(|scope| {
        let asking = scope.spawn(|| serving.post(ASK, &key, &question));
        wait_until(|| 0 < stub.received().requests());
        assert_eq!(revoke(&serving, &admin, &id), 204);
        stub.answer_all();
        asking.join().unwrap()
    });
    assert_eq!((ended.status, code(&ended)), (401, "key-ended".to_owned()), "{ended:?}");
    assert_eq!(stub.received().requests(), 1, "{:?}", stub.received());
    let runs = serving.get("/api/v1/bases/default/runs", &admin).json();
    assert_eq!(runs[0]["state"], "failed", "{runs}");
}

/// Two servers with one key store share the cap of a key, even under parallel requests.
#[test]
fn two_servers_share_the_cap_of_a_key() {
    let stub = good_stub();
    let place = Place::with(&stub);
    place.write_workload();
    place.run_to(0, &["--base", "base", "index", "corpus.jsonl"]);
    place.write("pikerag.toml", PRICES);
    let key = place.key("ada", &["--cap-usd", "0.15"]);
    let servers = [place.serve(&[]), place.serve(&[])];
    let questions: Vec<String> = place
        .read("questions.jsonl")
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["question"].to_string())
        .collect();
    let refused = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for (server, own) in servers.iter().zip(questions.chunks(25)) {
            for part in own.chunks(7) {
                let (key, refused) = (&key, &refused);
                scope.spawn(move || {
                    for question in part {
                        let body = json!({"question": question, "method": "naive-rag"});
                        let reply = server.post(ASK, key, &body);
                        assert!([200, 402].contains(&reply.status), "{reply:?}");
                        refused.fetch_add(usize::from(reply.status == 402), Ordering::Relaxed);
                    }
                });
            }
        }
    });
    let spent = dollars(&place, "spent_usd");
    assert!(0.05 < spent && spent <= 0.15, "{spent}");
    assert!(0.0 == dollars(&place, "reserved_usd") && 0 < refused.into_inner());
}

/// A call that a kill cut off counts at its highest price until the ledger of the base shows the
/// real one.
#[test]
fn reservations_of_a_killed_server_count_until_the_ledger_settles_them() {
    let stub = good_stub();
    let place = with_papers(Place::with(&stub));
    place.write("pikerag.toml", PRICES);
    let key = place.key("ada", &["--cap-usd", "1"]);
    let question = json!({"question": "Who built the crane of Hamburg?", "method": "direct"});
    let serving = place.serve(&[]);
    stub.reset();
    stub.answer_only(0);
    let stream = serving.send(
        "POST",
        ASK,
        &[("Authorization", &format!("Bearer {key}")), ("Content-Type", "application/json")],
        question.to_string().as_bytes(),
    );
    wait_until(|| 0 < stub.received().requests());
    drop(serving);
    drop(stream);
    let ceiling = dollars(&place, "reserved_usd");
    assert!(0.0 < ceiling && dollars(&place, "spent_usd") == 0.0, "{ceiling}");
    stub.answer_all();
    // A restart settles no call that no ledger shows.
    let serving = place.serve(&[]);
    let budget = serving.wait_until("/api/v1/budget", &key, |body| body["key"].is_object());
    assert_eq!(budget["key"]["spent_usd"], ceiling, "{budget}");
    assert_eq!(json!(dollars(&place, "reserved_usd")), json!(ceiling));
    // The call is made again, and paid.
    assert_eq!(serving.post(ASK, &key, &question).status, 200);
    let price = dollars(&place, "spent_usd");
    assert!(0.0 < price && price < ceiling, "{price}");
    drop(serving);
    let serving = place.serve(&[]);
    serving.wait_until("/api/v1/budget", &key, |body| body["key"]["spent_usd"] == 2.0 * price);
    assert!(dollars(&place, "reserved_usd") == 0.0);
    // A repeated call comes from the ledger and is free.
    assert_eq!(serving.post(ASK, &key, &question).status, 200);
    assert_eq!(json!(dollars(&place, "spent_usd")), json!(2.0 * price));
}

/// Embeddings and rerankings are charged like chats; a cap of zero pays for none.
#[test]
fn embeddings_and_rerankings_are_paid_by_the_key() {
    let stub = good_stub();
    let place = with_papers(Place::with(&stub));
    let rerank = format!(
        "{PRICES}[prices.stub-reranker]\nprompt = 10.0\n[rerank]\nbase_url = \"{}\"\nmodel = \"stub-reranker\"\n",
        stub.url()
    );
    place.run_to(0, &["--base", "base", "index", "docs"]);
    place.write("pikerag.toml", rerank);
    let key = place.key("ada", &["--cap-usd", "1"]);
    let poor = place.key("bo", &["--cap-usd", "0"]);
    let serving = place.serve(&[]);
    let texts: Vec<String> = (0..50).map(|n| format!("text number {n}")).collect();
    let embed = json!({"model": "pikerag", "input": texts});
    let rerank = json!({"query": "crane", "documents": texts});
    let mut before = 0.0;
    for (path, body) in [("/v1/embeddings", &embed), ("/rerank", &rerank)] {
        stub.reset();
        assert_eq!(serving.post(path, &poor, body).status, 402, "{path}");
        assert_eq!(stub.received().requests(), 0, "{path}");
        assert_eq!(serving.post(path, &key, body).status, 200, "{path}");
        let spent = dollars(&place, "spent_usd");
        assert!(before < spent, "{path}: {spent}");
        before = spent;
        // Each call is paid once: another key gets the same reply from the ledger.
        assert_eq!(serving.post(path, &poor, body).status, 200, "{path}");
    }
}
