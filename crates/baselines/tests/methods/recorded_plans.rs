//! Tests the plans of five questions of `examples/plans` with the replies of a large language model, recorded on
//! 28 November 2026: the plan, what each step gave, the plan made again from it, and the answer.
//!
//! A reply is found by what the request is about, not by its wording or its passages, so that prompts and retrieval may change. Where
//! one is lacking, the test fails and, with `PIKERAG_LACKING=FOLDER`, writes each request there, for a model to answer.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pikerag_baselines::Method;
use pikerag_doubles::{ScriptedChat, prompt};
use pikerag_indexing::Params as IngestParams;
use pikerag_knowledge::{ChatModels, ChatRequest, ModelError, Question};
use pikerag_methods::pike::Params;
use pikerag_methods::{Ports, Tables};
use serde_json::{Value as Json, json};

use super::plans::shown;
use crate::common::{Files, Shelf, solve};

/// The parts of a prompt that say what it is about.
const ABOUT: [&str; 10] = [
    "Content",
    "Facts so far",
    "Fields",
    "Question",
    "Readings",
    "Record",
    "Records",
    "Results of the steps",
    "Results so far",
    "Tables",
];

#[tokio::test]
async fn the_part_that_failed_most_often() {
    let trace = asked("clinic", "c01").await;
    insta::assert_snapshot!(trace);
}

#[tokio::test]
async fn a_comparison_of_two_sums() {
    let trace = asked("clinic", "c05").await;
    insta::assert_snapshot!(trace);
}

#[tokio::test]
async fn a_figure_and_a_forecast() {
    let trace = asked("clinic", "c13").await;
    insta::assert_snapshot!(trace);
}

#[tokio::test]
async fn a_chinese_chain() {
    let trace = asked("notices", "n03").await;
    insta::assert_snapshot!(trace);
}

#[tokio::test]
async fn a_chinese_figure_and_rule() {
    let trace = asked("orchard", "o03").await;
    insta::assert_snapshot!(trace);
}

/// Asks a question of a set over its documents, searched by words, and returns its trace.
async fn asked(set: &str, id: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/plans");
    let question = questions(&folder).remove(id).unwrap();
    let mut pages: Vec<(String, String)> = Vec::new();
    for entry in fs::read_dir(folder.join(set).join("docs")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        pages.push((name, fs::read_to_string(&path).unwrap()));
    }
    pages.sort();
    let files: Files = pages.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let shelf = Shelf::empty();
    shelf.index(&files, None, None, &IngestParams::default()).await;
    let models = ChatModels { default: Some(recorded() as _), ..ChatModels::default() };
    let tables = Tables { engine: Some(Arc::new(pikerag_store::Tables)), ..Tables::default() };
    let ports = Ports { tables, ..Ports::new(shelf.base.clone(), None, models.into()) };
    let question = Question::new(id, question);
    match solve(&ports, &question, Method::Pike(Params::default())).await {
        Ok(answered) => shown(&answered),
        Err(error) => panic!("{id}: {error:?}"),
    }
}

fn questions(folder: &Path) -> BTreeMap<String, String> {
    let lines = fs::read_to_string(folder.join("questions.jsonl")).unwrap();
    let read = |line: &str| {
        let line: Json = serde_json::from_str(line).unwrap();
        let text = |name: &str| line[name].as_str().unwrap().to_owned();
        (text("id"), text("question"))
    };
    lines.lines().map(read).collect()
}

/// A model that gives the recorded replies.
fn recorded() -> Arc<ScriptedChat> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/methods/recorded_plans.jsonl");
    let replies: BTreeMap<String, String> = fs::read_to_string(here)
        .unwrap()
        .lines()
        .map(|line| {
            let line: Json = serde_json::from_str(line).unwrap();
            let text = |name: &str| line[name].as_str().unwrap().to_owned();
            (text("about"), text("reply"))
        })
        .collect();
    let is_missing = AtomicBool::new(false);
    Arc::new(ScriptedChat::by(move |request: &ChatRequest| {
        let asked = prompt(request).unwrap();
        let about = about(asked);
        if let Some(reply) = replies.get(&about) {
            return Ok(reply.clone());
        }
        // Passages that are read beside each other are all written; what comes after them rests on their replies.
        let is_record = asked.contains("\n# Record\n");
        let is_first = !is_missing.swap(true, Ordering::Relaxed);
        if let Ok(folder) = std::env::var("PIKERAG_LACKING")
            && (is_first || is_record)
        {
            let line = json!({"about": about, "prompt": asked}).to_string();
            fs::write(Path::new(&folder).join(format!("{about}.json")), line).unwrap();
            if is_record {
                return Ok(json!({"records": []}).to_string());
            }
        }
        Err(ModelError::NotRecorded { role: about, model: "recorded".to_owned() })
    }))
}

/// A hash of the first words of a prompt's task and of the parts that say what it is about.
fn about(prompt: &str) -> String {
    let mut parts: BTreeMap<&str, &str> = BTreeMap::new();
    for part in prompt.split("\n# ") {
        let (heading, text) = part.split_once('\n').unwrap_or((part, ""));
        parts.insert(heading.trim_start_matches("# "), text.trim());
    }
    let task: String = parts.get("Task").copied().unwrap_or_default().chars().take(24).collect();
    let mut hash = blake3::Hasher::new();
    hash.update(task.as_bytes());
    for heading in ABOUT {
        hash.update(parts.get(heading).copied().unwrap_or_default().as_bytes());
        hash.update(&[0]);
    }
    hash.finalize().to_hex()[..16].to_owned()
}
