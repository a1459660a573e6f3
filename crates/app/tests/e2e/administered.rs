//! Tests server administration over HTTP: keys, settings, previews of deletions and costs,
//! evaluation reports.

use pikerag_test_support::canned::{Server, ok};
use serde_json::{Value, json};

use crate::common::{Place, good_stub};
use crate::serve::{place, with_papers};
use crate::serving::{Reply, Serving};

fn send(serving: &Serving, method: &str, path: &str, key: &str, body: &Value) -> Reply {
    let bearer = format!("Bearer {key}");
    let mut headers = vec![("Content-Type", "application/json")];
    if !key.is_empty() {
        headers.push(("Authorization", bearer.as_str()));
    }
    serving.request(method, path, &headers, body.to_string().as_bytes())
}

/// The first key must be an unfiltered admin key, which can make further keys. A filtered key
/// manages none, and lists show no secret.
#[test]
fn keys_are_made_listed_and_revoked() {
    let place = place();
    let serving = place.serve(&["--offline"]);
    let make = |key: &str, body: Value| send(&serving, "POST", "/api/v1/keys", key, &body);
    let first = make("", json!({"name": "readers", "scope": "read"}));
    assert_eq!((first.status, first.json()["code"].clone()), (409, json!("first-key")));
    let part = make("", json!({"name": "ada", "scope": "admin", "filter": ["folder=open"]}));
    assert_eq!(part.status, 409);
    let ada = make("", json!({"name": "ada", "scope": "admin"})).json();
    let ada = ada["key"].as_str().unwrap().to_owned();
    assert_eq!(make("", json!({"name": "anyone", "scope": "read"})).status, 401);
    for wrong in [
        json!({"name": " ", "scope": "read"}),
        json!({"name": "x", "scope": "read", "bases": ["nowhere"]}),
        json!({"name": "x", "scope": "read", "cap_usd": -1}),
        json!({"name": "x", "scope": "read", "per_minute": 0}),
        json!({"name": "x", "scope": "root"}),
    ] {
        assert_eq!(make(&ada, wrong.clone()).status, 400, "{wrong}");
    }
    let part = json!({"name": "part", "scope": "admin", "filter": ["folder=open"], "cap_usd": 2.5, "per_minute": 600});
    let part = make(&ada, part).json();
    let (part_id, part) = (part["id"].clone(), part["key"].as_str().unwrap().to_owned());
    assert_eq!(serving.get("/api/v1/bases/default/sources", &part).status, 200);
    for (method, path) in
        [("GET", "/api/v1/keys"), ("POST", "/api/v1/keys"), ("GET", "/api/v1/evaluations")]
    {
        let body = json!({"name": "all", "scope": "admin"});
        assert_eq!(send(&serving, method, path, &part, &body).status, 403, "{method} {path}");
    }
    let listed = serving.get("/api/v1/keys", &ada);
    assert!(!listed.text.contains(&ada) && !listed.text.contains(&part), "{listed:?}");
    assert!(!listed.text.contains("digest"), "{listed:?}");
    let of_part = &listed.json()["keys"][1];
    assert_eq!(
        (of_part["filter"].clone(), of_part["cap_usd"].clone(), of_part["spent_usd"].clone()),
        (json!(["folder=open"]), json!(2.5), json!(0.0))
    );
    let path = format!("/api/v1/keys/{}", part_id.as_str().unwrap());
    assert_eq!(send(&serving, "DELETE", &path, &part, &Value::Null).status, 403);
    assert_eq!(send(&serving, "DELETE", &path, &ada, &Value::Null).status, 204);
    assert_eq!(send(&serving, "DELETE", &path, &ada, &Value::Null).status, 404);
    assert_eq!(serving.get("/api/v1/bases/default/sources", &part).status, 401);
}

#[test]
fn settings_are_shown_without_secrets_and_can_be_tried() {
    let stub = good_stub();
    let place = with_papers(Place::with(&stub));
    let serving = place.serve(&[]);
    let reply = serving.get("/api/v1/bases/default/settings", "");
    let settings = reply.json();
    assert_eq!(settings["chat"][0]["model"], "stub", "{settings}");
    assert!(settings["chat"][0]["roles"].as_array().unwrap().contains(&json!("answer")));
    let address = settings["chat"][0]["address"].as_str().unwrap();
    assert!(address.starts_with("http://127.0.0.1:") && !address.contains("/v1"), "{address}");
    let tried = send(&serving, "POST", "/api/v1/bases/default/doctor", "", &json!({})).json();
    let chat = tried.as_array().unwrap().iter().find(|found| found["check"] == "chat").unwrap();
    assert_eq!(chat["fine"], true, "{tried}");
    let offline = place.serve(&["--offline"]).get("/api/v1/bases/default/settings", "").json();
    assert_eq!((offline["offline"].clone(), offline["chat"].clone()), (json!(true), json!([])));
}

#[test]
fn deletions_and_costs_are_previewed() {
    let stub = good_stub();
    let place = with_papers(Place::with(&stub));
    place.write("pikerag.toml", "[prices.stub]\nprompt = 1.0\ncompletion = 1.0\n");
    let serving = place.serve(&[]);
    let base = "/api/v1/bases/default";
    let forecast = serving.get(&format!("{base}/forecast?method=naive-rag"), "").json();
    assert_eq!(forecast["forecast"]["typical"]["calls"], 1, "{forecast}");
    assert!(0.0 < forecast["usd"]["typical"].as_f64().unwrap(), "{forecast}");
    let expensive = serving.get(&format!("{base}/forecast?method=kar3"), "").json();
    assert!(1 < expensive["forecast"]["typical"]["calls"].as_u64().unwrap(), "{expensive}");
    let wrong = serving.get(&format!("{base}/forecast?method=nothing"), "");
    assert_eq!((wrong.status, wrong.json()["code"].clone()), (400, json!("no-such-method")));
    let question =
        json!({"question": "What does the crane of Hamburg lift?", "method": "naive-rag"});
    let asked = serving.post(&format!("{base}/ask"), "", &question).json();
    assert!(asked["run"].is_string(), "{asked}");
    // Each price is one dollar per million tokens.
    let run = serving.get(&format!("{base}/runs?limit=1"), "").json()[0].clone();
    let used = &run["cost"]["paid"]["by_role"]["answer"][1];
    let tokens = ["prompt_tokens", "completion_tokens"].map(|kind| used[kind].as_f64().unwrap());
    let dollars = tokens.iter().sum::<f64>() / 1e6;
    for usd in [&run["usd"]["spent"], &run["usd"]["paid"], &run["usd"]["paid_by_role"]["answer"]] {
        assert!((usd.as_f64().unwrap() - dollars).abs() < 1e-12 && 0.0 < dollars, "{run:#}");
    }
    place.write("pikerag.toml", "");
    let unpriced = place.serve(&[]);
    let run = unpriced.get(&format!("{base}/runs?limit=1"), "").json()[0].clone();
    assert_eq!(run["usd"], json!({"spent": null, "paid": null, "paid_by_role": {}}), "{run:#}");
    let file = "docs/open/crane.md";
    let preview = serving.get(&format!("{base}/deletion?file={file}"), "").json();
    assert_eq!(preview["files"], json!([file]), "{preview}");
    assert!(
        1 <= preview["chunks"].as_u64().unwrap()
            && 1 <= preview["remains"]["runs"].as_u64().unwrap(),
        "{preview}"
    );
    assert_eq!(serving.get(&format!("{base}/deletion?file=nothing.md"), "").status, 404);
    // Nothing was deleted.
    let files = serving.get(&format!("{base}/files"), "").text;
    assert!(files.contains(file), "{files}");
}

#[test]
fn evaluation_reports_are_served_and_no_other_file() {
    let place = place();
    place.write("reports/may/report.json", r#"{"rows": [{"method": "kar3"}]}"#);
    place.write("reports/june/twice/report.json", "{}");
    place.write("report.json", r#"{"secret": 1}"#);
    let none = place.serve(&["--offline"]).get("/api/v1/evaluations", "").json();
    assert_eq!(none, json!({"is_set": false, "reports": []}));
    place.write("pikerag.toml", "[server]\nevaluations = \"reports\"\n");
    let serving = place.serve(&["--offline"]);
    let listed = serving.get("/api/v1/evaluations", "").json();
    let mut names: Vec<&str> = listed["reports"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| line["name"].as_str().unwrap())
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["june/twice", "may"]);
    let report = serving.get("/api/v1/evaluations/report?name=may", "").json();
    assert_eq!(report["report"]["rows"][0]["method"], "kar3");
    for name in ["..", "may/..", ".", "may/../..", "nothing"] {
        let reply = serving.get(&format!("/api/v1/evaluations/report?name={name}"), "");
        assert_eq!(reply.status, 404, "{name}: {reply:?}");
    }
}

/// Without a configured model, `doctor` offers the model that Ollama serves on this machine but
/// does not use it.
#[test]
fn ollama_is_found_and_offered() {
    let ollama = Server::start(vec![ok(r#"{"models": [{"name": "qwen3:8b"}]}"#)]);
    let address = &ollama.address;
    let place = with_papers(Place::new().set("OLLAMA_HOST", address));
    let shown = place.run_to(0, &["--base", "base", "doctor"]).stdout;
    let set = format!("OPENAI_BASE_URL=http://{address}/v1 OPENAI_MODEL=qwen3:8b");
    assert!(shown.contains(&set), "{shown}");
    let offline = place.run_to(0, &["--offline", "--base", "base", "doctor"]).stdout;
    assert!(!offline.contains("Ollama"), "{offline}");
    let over_http =
        place.serve(&[]).request("POST", "/api/v1/bases/default/doctor", &[], b"").json();
    let chat = over_http.as_array().unwrap().iter().find(|found| found["check"] == "chat").unwrap();
    assert_eq!(chat["offer"]["models"], json!(["qwen3:8b"]), "{chat}");
}
