//! Tests that an administrator lists, tries and sets chat models of a running server, and that keys
//! and other people's settings files are safe.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::common::{Place, good_stub};
use crate::serving::{LOG, Reply, Serving};

const MODELS: &str = "/api/v1/models";
const ASK: &str = "/api/v1/bases/default/ask";
const KEY: &str = "sk-typed-on-the-page-4711";

/// A place with a document and no chat model.
fn place() -> Place {
    with_document(Place::new())
}

fn with_document(place: Place) -> Place {
    place.write("docs/crane.md", "# KX-40\n\nThe KX-40 crane was designed by Ilse Brandt.\n");
    place
}

fn put(serving: &Serving, key: &str, body: &Value) -> Reply {
    let bearer = format!("Bearer {key}");
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    serving.request("PUT", &format!("{MODELS}/chosen"), &headers, body.to_string().as_bytes())
}

/// Finds no file, so a new one is written and trusted; the next question uses the model.
#[test]
fn a_model_is_tried_and_set_and_used_without_a_restart() {
    let stub = good_stub();
    let place = with_document(Place::untrusted());
    place.run_to(0, &["--base", "base", "index", "docs"]);
    let serving = place.serve(&[]);
    let listed = serving.get(MODELS, "").json();
    assert_eq!((&listed["chat"], &listed["file"]), (&Value::Null, &json!("pikerag.toml")));
    assert!(listed["providers"].as_array().unwrap().iter().any(|one| one["name"] == "zhipu"));
    let chat = json!({"model": "stub", "base_url": stub.url(), "api_key": KEY});
    let tried = serving.post(&format!("{MODELS}/test"), "", &chat);
    assert_eq!(tried.json()["fine"], true, "{tried:?}");
    assert!(!place.path("pikerag.toml").exists());

    let set = put(&serving, "", &chat);
    assert_eq!(set.json()["chat"]["model"], "stub", "{set:?}");
    let question = json!({"question": "Who designed the KX-40?", "method": "naive-rag"});
    let asked = serving.post(ASK, "", &question);
    assert!(asked.text.contains("\"model\":\"stub\""), "{asked:?}");
    assert!(stub.heads().last().unwrap().contains(KEY));
    let file = place.read("pikerag.toml");
    assert!(file.contains("\n[chat]\n") && file.contains("#: [roles.answer]"), "{file}");
    let mode = std::fs::metadata(place.path("pikerag.toml")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    for reply in [&tried, &set, &serving.get(MODELS, "")] {
        assert!(!reply.text.contains(KEY), "{reply:?}");
    }
    let log = std::fs::read_to_string(place.own_path(LOG)).unwrap();
    assert!(!log.contains(KEY), "{log}");
    // The next start finds the file, which is trusted.
    let again = place.serve(&[]);
    assert_eq!(again.get(MODELS, "").json()["chat"]["model"], "stub");
}

/// The stored key goes to no other address, and neither does a key of the environment.
#[test]
fn keys_stay_with_their_address() {
    let (stub, other) = (good_stub(), good_stub());
    let place = place().set("DEEPSEEK_API_KEY", "sk-of-a-provider-0815");
    let serving = place.serve(&[]);
    let at = |url: &str| json!({"model": "stub", "base_url": url});
    let mut first = at(&stub.url());
    first["api_key"] = json!(KEY);
    assert_eq!(put(&serving, "", &first).status, 200);
    let test = |url: &str| serving.post(&format!("{MODELS}/test"), "", &at(url)).json();
    assert_eq!(test(&stub.url())["fine"], true);
    assert!(stub.heads().last().unwrap().contains(KEY));
    assert_eq!(test(&other.url())["fine"], true);
    assert!(!other.heads().last().unwrap().to_lowercase().contains("authorization"));
    assert_eq!(put(&serving, "", &at(&other.url())).status, 200);
    assert!(!place.read("pikerag.toml").contains(KEY));
    let named = json!({"model": "m", "base_url": "http://127.0.0.1:9/v1", "api_key_env": "HOME"});
    assert_eq!(put(&serving, "", &named).status, 400);
    let deepseek = at("https://api.deepseek.com");
    assert_eq!(put(&serving, "", &deepseek).json()["needs_key"], Value::Null);
    let file = place.read("pikerag.toml");
    assert!(file.contains("api_key_env = \"DEEPSEEK_API_KEY\""), "{file}");
}

/// The questions of passages are written by a model of their own, at its address and with its key, until it is taken away.
#[test]
fn one_task_gets_a_model_of_its_own() {
    let (stub, other) = (good_stub(), good_stub());
    let place = place();
    let serving = place.serve(&[]);
    let usual = json!({"model": "stub", "base_url": stub.url(), "api_key": KEY});
    assert_eq!(put(&serving, "", &usual).status, 200);
    let own = json!({"role": "answer", "model": "own", "base_url": other.url()});
    let set = put(&serving, "", &own);
    assert_eq!(set.json()["chat"]["model"], "own", "{set:?}");
    let of_answer = || {
        let listed = serving.get(MODELS, "").json();
        let roles = listed["roles"].as_array().unwrap().clone();
        let own = roles.iter().filter(|one| !one["own"].is_null()).count();
        (listed["chat"]["model"].clone(), own)
    };
    assert_eq!(of_answer(), (json!("own"), 1));
    let question = json!({"question": "Who designed the KX-40?", "method": "naive-rag"});
    place.run_to(0, &["--offline", "--base", "base", "index", "docs"]);
    assert_eq!(serving.post(ASK, "", &question).status, 200);
    let head = other.heads().last().unwrap().to_lowercase();
    assert!(!head.contains("authorization"), "{head}");

    let unset = |role: &str| {
        let path = format!("{MODELS}/chosen?role={role}");
        serving.request("DELETE", &path, &[], b"")
    };
    let reply = unset("answer");
    assert_eq!(reply.json()["chat"]["model"], "stub", "{reply:?}");
    assert_eq!(of_answer(), (json!("stub"), 0));
    assert_eq!((unset("judge").status, unset("nobody").status), (200, 400));
    let file = place.read("pikerag.toml");
    assert!(!file.contains("roles.answer") && file.contains(KEY), "{file}");
}

/// A file goes only if no task uses it.
#[test]
fn the_file_of_an_unused_model_is_deleted() {
    let place = place();
    let models = place.path("pikerag/models");
    std::fs::create_dir_all(&models).unwrap();
    for name in ["mine", "used"] {
        std::fs::write(models.join(format!("{name}.gguf")), "GGUF").unwrap();
    }
    place.write("pikerag.toml", "[roles.judge]\nmodel = \"local:used\"\n");
    let serving = place.serve(&[]);
    let delete =
        |name: &str| serving.request("DELETE", &format!("{MODELS}/files/{name}"), &[], b"");
    let refused = delete("used");
    assert_eq!((refused.status, &refused.json()["code"]), (409, &json!("model-in-use")));
    assert_eq!(delete("mine").status, 204);
    assert!(!models.join("mine.gguf").exists() && models.join("used.gguf").exists());
    for name in ["mine", "..%2Fpikerag.toml"] {
        let missing = delete(name);
        assert_eq!((missing.status, &missing.json()["code"]), (404, &json!("no-such-model")));
    }
}

#[test]
fn a_file_that_somebody_else_changed_is_refused() {
    let stub = good_stub();
    let place = with_document(Place::untrusted());
    let serving = place.serve(&[]);
    let chat = json!({"model": "stub", "base_url": stub.url()});
    place.write("pikerag.toml", "[tools]\nsoffice = \"/tmp/x\"\n");
    let refused = put(&serving, "", &chat);
    assert_eq!((refused.status, &refused.json()["code"]), (409, &json!("settings-not-trusted")));
    assert_eq!(place.read("pikerag.toml"), "[tools]\nsoffice = \"/tmp/x\"\n");
    place.write("pikerag.toml", "author = \"Ada\" # mine\n");
    assert_eq!(put(&serving, "", &chat).status, 200);
    assert!(place.read("pikerag.toml").starts_with("author = \"Ada\" # mine\n"));
    std::fs::set_permissions(place.path("pikerag.toml"), std::fs::Permissions::from_mode(0o444))
        .unwrap();
    let refused = put(&serving, "", &json!({"model": "n", "base_url": stub.url()}));
    // Root may write every file.
    if refused.status != 200 {
        assert_eq!(refused.json()["code"], "settings-not-written", "{refused:?}");
    }
}

#[test]
fn a_variable_with_priority_is_named() {
    let stub = good_stub();
    let place = with_document(Place::with(&stub));
    let serving = place.serve(&[]);
    let refused = put(&serving, "", &json!({"model": "other", "base_url": stub.url()}));
    assert_eq!((refused.status, &refused.json()["code"]), (409, &json!("settings-overridden")));
    assert!(refused.text.contains("OPENAI_MODEL"), "{refused:?}");
}

/// Only keys of scope `admin` that see everything may look at models or change them, and pages of
/// other sites may not.
#[test]
fn models_need_an_unfiltered_key_of_scope_admin() {
    let guarded = place();
    let admin = guarded.key("ada", &["--scope", "admin"]);
    let writer = guarded.key("bo", &["--scope", "write"]);
    let part = guarded.key("eve", &["--scope", "admin", "--filter", "folder=open"]);
    let serving = guarded.serve(&["--offline"]);
    let body = json!({"model": "m", "base_url": "http://127.0.0.1:9/v1"});
    for (key, status) in [("", 401), (writer.as_str(), 403), (part.as_str(), 403)] {
        assert_eq!(serving.get(MODELS, key).status, status);
        assert_eq!(put(&serving, key, &body).status, status);
        let test = serving.post(&format!("{MODELS}/test"), key, &body);
        let pull = serving.post(&format!("{MODELS}/pull"), key, &json!({"name": "qwen3-4b"}));
        assert_eq!((test.status, pull.status), (status, status));
        for path in ["chosen?role=answer", "files/qwen3-4b"] {
            let bearer = format!("Bearer {key}");
            let headers = [("Authorization", bearer.as_str())];
            let refused = serving.request("DELETE", &format!("{MODELS}/{path}"), &headers, b"");
            assert_eq!(refused.status, status, "{path}");
        }
    }
    assert_eq!(serving.get(MODELS, &admin).status, 200);
    let open = place();
    let serving = open.serve(&["--offline"]);
    let headers = [("Content-Type", "application/json"), ("Origin", "https://evil.example")];
    let foreign =
        serving.request("PUT", &format!("{MODELS}/chosen"), &headers, body.to_string().as_bytes());
    assert_eq!(foreign.status, 403, "{foreign:?}");
    let form = [("Content-Type", "text/plain")];
    let form =
        serving.request("PUT", &format!("{MODELS}/chosen"), &form, body.to_string().as_bytes());
    assert_eq!(form.status, 415, "{form:?}");
    assert!(!open.path("pikerag.toml").exists());
}
