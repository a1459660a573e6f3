//! Tests edits of passages over REST: they become corrections, which are shown and can be removed.

use serde_json::{Value, json};

use crate::common::Place;
use crate::serve::finds;
use crate::serving::{Reply, Serving};

const BASE: &str = "/api/v1/bases/default";

fn wait_for_job(serving: &Serving, reply: &Reply) {
    let job = reply.json()["job"].as_u64().unwrap_or_else(|| panic!("{reply:?}"));
    serving.wait_until(&format!("{BASE}/jobs/{job}"), "", |job| job["stand"] == "done");
}

/// The only document and its first passage.
fn shown(serving: &Serving) -> (String, Value) {
    let source = serving.get(&format!("{BASE}/sources"), "").json()[0]["id"].clone();
    let source = source.as_str().unwrap().to_owned();
    let chunks = serving.get(&format!("{BASE}/sources/{source}"), "").json()["chunks"].clone();
    (source, chunks[0].clone())
}

fn edit(serving: &Serving, chunk: &Value, text: &str) -> Reply {
    let path = format!("{BASE}/chunks/{}", chunk["id"].as_str().unwrap());
    let headers = [("Content-Type", "application/json")];
    serving.request("PATCH", &path, &headers, json!({"text": text}).to_string().as_bytes())
}

#[test]
fn an_edited_passage_keeps_its_old_text_as_corrections() {
    let place = Place::new();
    let serving = place.serve(&["--offline"]);
    let text =
        "# Crane\n\nThe crane Quillw0rt lifts forty tons.\n\nIt was built in Varnsund by Ada.\n";
    let sent = serving.post(&format!("{BASE}/texts"), "", &json!({"text": text, "name": "a.md"}));
    wait_for_job(&serving, &sent);
    let (_, chunk) = shown(&serving);
    let old = chunk["text"].as_str().unwrap().to_owned();
    assert!(old.contains("Quillw0rt") && old.contains("Varnsund"), "{chunk}");
    for no_word in [" \n", "\u{200b}\u{feff}"] {
        assert_eq!(edit(&serving, &chunk, no_word).status, 400, "{no_word:?}");
    }
    // Joined paragraphs are refused, and nothing is changed.
    let joined = old.replace("tons.\n\nIt was", "tons; it was");
    let refused = edit(&serving, &chunk, &joined);
    assert_eq!((refused.status, refused.json()["code"].clone()), (409, json!("misfit")));

    let new = old.replace("Quillw0rt", "Quillwort").replace("Varnsund", "Harrowgate");
    let edited = edit(&serving, &chunk, &new);
    assert_eq!(edited.status, 202, "{edited:?}");
    assert_eq!(edited.json()["corrections"].as_array().unwrap().len(), 2, "{edited:?}");
    wait_for_job(&serving, &edited);
    assert!(finds(&serving, "Quillwort") && finds(&serving, "Harrowgate"));
    assert!(!finds(&serving, "Quillw0rt") && !finds(&serving, "Varnsund"));
    // The edited passage is another one and shows its corrections with the old words.
    let (source, now) = shown(&serving);
    assert_eq!(now["text"], new.as_str());
    assert_eq!(edit(&serving, &chunk, &new).status, 404);
    let path = format!("{BASE}/chunks/{}", now["id"].as_str().unwrap());
    let corrections = serving.get(&path, "").json()["corrections"].clone();
    let olds = corrections.to_string();
    assert!(olds.contains("Quillw0rt") && olds.contains("Varnsund"), "{olds}");
    // An answer marks the citation, and the kept run has the mark.
    let question = json!({"question": "What does the crane Quillwort lift?"});
    let asked = serving.post(&format!("{BASE}/ask"), "", &question).json();
    let cited = asked["answer"]["citations"].as_array().unwrap();
    assert!(cited.iter().any(|citation| citation["corrected"] == true), "{asked}");
    let run = serving.get(&format!("{BASE}/runs/{}", asked["run"].as_str().unwrap()), "").json();
    assert_eq!(run["answer"]["citations"], asked["answer"]["citations"]);
    // It stays when the file is read again.
    let again = json!({"files": ["a.md"], "reread": true});
    let again = serving.post(&format!("{BASE}/index"), "", &again).json();
    let job = again["id"].as_u64().unwrap();
    serving.wait_until(&format!("{BASE}/jobs/{job}"), "", |job| job["stand"] == "done");
    assert!(finds(&serving, "Quillwort"));
    // Without its corrections, the text is that of the file.
    for _ in 0..2 {
        let path = format!("{BASE}/sources/{source}/corrections/1");
        wait_for_job(&serving, &serving.request("DELETE", &path, &[], b""));
    }
    let (_, back) = shown(&serving);
    assert_eq!(back["text"], old.as_str());
    let path = format!("{BASE}/chunks/{}", back["id"].as_str().unwrap());
    assert_eq!(serving.get(&path, "").json().get("corrections"), None);
}
