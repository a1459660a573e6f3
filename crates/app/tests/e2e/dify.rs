//! Tests that Dify gets the passages, the scores and the errors that its documentation defines.

use serde_json::{Value, json};

use crate::serve::place;
use crate::serving::{Reply, Serving};

/// Retrieves passages with these further fields.
fn find(serving: &Serving, query: &str, more: &Value) -> Reply {
    let mut body = json!({
        "knowledge_id": "default", "query": query,
        "retrieval_setting": {"top_k": 5, "score_threshold": 0.0},
    });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    serving.post("/retrieval", "", &body)
}

fn records(reply: &Reply) -> Vec<Value> {
    assert_eq!(reply.status, 200, "{reply:?}");
    reply.json()["records"].as_array().unwrap().clone()
}

fn paths(reply: &Reply) -> Vec<String> {
    let path = |record: &Value| record["metadata"]["path"].as_str().unwrap().to_owned();
    records(reply).iter().map(path).collect()
}

#[test]
fn a_threshold_means_the_same_for_each_query() {
    let place = place();
    let serving = place.serve(&["--offline"]);
    let all = records(&find(&serving, "crane Hamburg", &json!({})));
    assert!(1 < all.len());
    for record in &all {
        let score = record["score"].as_f64().unwrap();
        assert!((0.0..=1.0).contains(&score), "{record}");
        assert!(record["metadata"].is_object() && record["content"].is_string(), "{record}");
    }
    let high = json!({"retrieval_setting": {"top_k": 5, "score_threshold": 0.9}});
    let named = paths(&find(&serving, "Varnsund", &high));
    assert!(named.len() == 1 && named[0].contains("open"), "{named:?}");
    // The documents have one of three words, so the best passage is no good one.
    let strange = "Varnsund zeppelin airship";
    assert_eq!(records(&find(&serving, strange, &high)), Vec::<Value>::new());
    let best = &records(&find(&serving, strange, &json!({})))[0]["score"];
    assert!((0.1..0.6).contains(&best.as_f64().unwrap()), "{best}");
    let search = |query: &str| {
        serving.post("/api/v1/bases/default/search", "", &json!({ "query": query })).json()
    };
    for (query, similarity) in [("Varnsund", 1.0), (strange, best.as_f64().unwrap())] {
        let found = search(query);
        assert_eq!(
            (&found["similarity_by"], &found["hits"][0]["score"]),
            (&json!("words"), &json!(1.0))
        );
        assert_eq!(found["hits"][0]["similarity"], json!(similarity), "{query}");
    }
}

#[test]
fn conditions_filter_passages_by_the_metadata_of_documents() {
    let place = place();
    let serving = place.serve(&["--offline"]);
    let condition = |name: Value, operator: &str, value: Value| {
        let one = json!({"name": name, "comparison_operator": operator, "value": value});
        let all = json!({"logical_operator": "and", "conditions": [one]});
        find(&serving, "crane Hamburg", &json!({ "metadata_condition": all }))
    };
    // Dify sends a name as a text; its documentation also had a list.
    for name in [json!("path"), json!(["path"])] {
        let open = paths(&condition(name.clone(), "contains", json!("open")));
        assert!(!open.is_empty() && open.iter().all(|path| path.contains("open")), "{open:?}");
        assert_eq!(paths(&condition(name, "contains", json!("nowhere"))), Vec::<String>::new());
    }
    let clearance = json!("zyxclearance");
    let shut = paths(&condition(clearance.clone(), "in", json!(["low", "high"])));
    assert!(!shut.is_empty() && shut.iter().all(|path| path.contains("shut")), "{shut:?}");
    let open = paths(&condition(clearance.clone(), "not in", json!(["low", "high"])));
    assert!(!open.is_empty() && open.iter().all(|path| path.contains("open")), "{open:?}");
    let wrong = condition(clearance, "like", json!("high"));
    assert_eq!((wrong.status, wrong.json()["error_code"].clone()), (400, json!(1000)));
    let joined = |operator: &str| {
        let one = |value: &str| json!({"name": "path", "comparison_operator": "contains", "value": value});
        let all = json!({"logical_operator": operator, "conditions": [one("crane"), one("open")]});
        paths(&find(&serving, "crane Hamburg", &json!({ "metadata_condition": all })))
    };
    assert!(joined("xor").iter().all(|path| path.contains("shut")), "{:?}", joined("xor"));
    assert!(joined("xor").len() < joined("or").len());
    let none = json!({"metadata_condition": {"logical_operator": null, "conditions": null}});
    assert!(1 < records(&find(&serving, "crane Hamburg", &none)).len());
}

#[test]
fn errors_have_the_codes_of_dify() {
    let closed = place();
    closed.key("reader", &[]);
    let serving = closed.serve(&["--offline"]);
    let body = json!({"knowledge_id": "default", "query": "crane"}).to_string();
    let code = |headers: &[(&str, &str)]| {
        let all = [&[("Content-Type", "application/json")], headers].concat();
        let reply = serving.request("POST", "/retrieval", &all, body.as_bytes());
        assert!(reply.json()["error_msg"].is_string(), "{reply:?}");
        (reply.status, reply.json()["error_code"].as_u64().unwrap())
    };
    assert_eq!(code(&[]), (401, 1001));
    assert_eq!(code(&[("Authorization", "Basic abc")]), (401, 1001));
    assert_eq!(code(&[("Authorization", "Bearer abc")]), (401, 1002));
    drop(serving);
    let open = place();
    let serving = open.serve(&["--offline"]);
    let missing = find(&serving, "crane", &json!({"knowledge_id": "none"}));
    assert_eq!((missing.status, missing.json()["error_code"].clone()), (404, json!(2001)));
}
