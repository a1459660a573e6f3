//! Tests that the estimate equals the later cost, on the sample of the README.

use std::path::Path;

use pikerag_doubles::ScriptedChat;
use pikerag_extract::ChunkParams;
use pikerag_indexing::estimate::estimate;
use pikerag_indexing::{Available, ChunkBy, Params, Summarized, TagParams};
use pikerag_knowledge::{AtomKind, ChatRequest, Origin, Role, Structure, TagClass, Usage};
use pikerag_language::estimate_tokens;

use crate::common::{Files, Shelf};
use crate::model_output::fixture::{Pictured, index_with, prompt, recorded};
use crate::model_output::repeating::below;

/// A model with replies of realistic length; it ends chunks at a paragraph's end.
fn talking() -> &'static ScriptedChat {
    Box::leak(Box::new(ScriptedChat::by(|request| Ok(reply(request)))))
}

fn reply(request: &ChatRequest) -> String {
    let asked = prompt(request);
    let sentences =
        |n: usize| "This part says who does what, when and where, and what it costs. ".repeat(n);
    match request.role {
        Role::Atomize if asked.contains("{\"questions\":") => {
            serde_json::json!({"questions": []}).to_string()
        }
        Role::Tag if asked.contains("\n# Factors\n") => {
            let class = |n: usize| {
                serde_json::json!({
                "name": format!("class {n}"), "covers": "names of machines, of their parts and of who supplies them to the port",
                "examples": ["machine part 01", "machine part 11", "machine part 21", "machine part 31"]})
            };
            serde_json::json!({"classes": (0..5).map(class).collect::<Vec<_>>()}).to_string()
        }
        Role::Tag if asked.contains("\n# Passages\n") => {
            let passages = below(asked, "Passages").matches("\n\n[").count() + 1;
            let factors = (1..=passages).flat_map(|place| {
                (0..6).map(move |n| {
                serde_json::json!({"factor": format!("machine part {n}{place}"), "passage": place})
            })
            });
            serde_json::json!({"factors": factors.collect::<Vec<_>>()}).to_string()
        }
        Role::Tag => {
            let text = below(asked, "Passage");
            let tags = (0..=estimate_tokens(text) / 40)
                .map(|n| serde_json::json!({"class": 1, "tag": format!("harbour crane part {n}")}));
            serde_json::json!({"tags": tags.collect::<Vec<_>>()}).to_string()
        }
        _ if asked.contains("# Pieces") => {
            let (_, rest) = asked.split_once("{\"end\": an integer from ").unwrap();
            let (from, to) = rest.split_once(',').unwrap().0.split_once(" to ").unwrap();
            let (from, to): (usize, usize) = (from.parse().unwrap(), to.parse().unwrap());
            // Anywhere in the range: the estimate assumes the middle.
            let hash = blake3::hash(asked.as_bytes()).as_bytes()[0] as usize;
            let end = from + hash % (to - from + 1);
            format!("{{\"end\": {end}, \"summary\": \"{}\"}}", sentences(3))
        }
        Role::Describe => sentences(12),
        _ => sentences(4),
    }
}

fn harbour() -> Files {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/harbour/docs");
    let mut files = Files::default();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        files.0.insert(name, std::fs::read_to_string(&path).unwrap());
    }
    files.0.insert(
        "figures.md".to_owned(),
        "# Plan\n\nSee it.\n\n[Figure 1]\n\nAnd\n\n[Figure 2]\n".to_owned(),
    );
    files
}

fn params() -> Params {
    Params { chunks: ChunkParams::default(), atoms: vec![], ..Params::default() }
}

async fn compare(name: &str, params: &Params) -> (usize, usize, f64, f64) {
    let files = harbour();
    let paths: Vec<String> = files.0.keys().cloned().collect();
    let bill =
        estimate(None, &Pictured(files.clone()), &paths, params, &Available::all()).await.unwrap();
    let (shelf, chat) = (Shelf::empty(), talking());
    let report = index_with(&shelf, &files, Some(recorded(&shelf, chat)), params).await;
    assert!(report.is_whole(), "{report:?}");
    let mut paid = Usage::default();
    for request in chat.requests() {
        let images = match &request.messages[0] {
            pikerag_knowledge::Message::User { images, .. } => images.len() as u64,
            _ => 0,
        };
        paid.prompt_tokens += estimate_tokens(prompt(&request)) + 1000 * images;
        paid.completion_tokens += estimate_tokens(&reply(&request));
    }
    let share = |forecast: u64, paid: u64| forecast as f64 / paid as f64;
    let (prompts, replies) = (
        share(bill.usage.prompt_tokens, paid.prompt_tokens),
        share(bill.usage.completion_tokens, paid.completion_tokens),
    );
    let calls = chat.requests().len();
    println!(
        "{name}: calls {} of {calls}, prompt tokens × {prompts:.2}, reply tokens × {replies:.2}",
        bill.calls
    );
    (bill.calls, calls, prompts, replies)
}

fn is_near(share: f64) -> bool {
    (0.8..=1.2).contains(&share)
}

#[tokio::test]
async fn summaries_descriptions_and_tags_are_counted_exactly() {
    let both = vec![Summarized::Tables, Summarized::Sources];
    let described = Params { summarize: both, describe: true, ..params() };
    let class = TagClass::new("part", "parts of machines", vec![], Origin::Declared);
    let declared = TagParams { classes: vec![class], ..TagParams::default() };
    let tagged = Params { with: vec![Structure::Tags], tags: declared, ..params() };
    let found = Params { with: vec![Structure::Tags], ..params() };
    for (name, params) in
        [("described", described), ("tagged", tagged), ("tagged, classes found", found)]
    {
        let (forecast, paid, prompts, replies) = compare(name, &params).await;
        assert_eq!(forecast, paid, "{name}");
        assert!(is_near(prompts) && is_near(replies), "{name}: {prompts} {replies}");
    }
}

/// Each document of several chunks is read once more; how many questions a part has is the model's decision.
#[tokio::test]
async fn questions_of_sections_are_counted_exactly() {
    let params = Params {
        summarize: vec![Summarized::Sections],
        atoms: vec![AtomKind::Question],
        ..params()
    };
    let (forecast, paid, prompts, _) = compare("sections", &params).await;
    assert_eq!(forecast, paid);
    assert!(is_near(prompts), "{prompts}");
}

/// The model decides where chunks end, so the number of calls is approximate.
#[tokio::test]
async fn enhanced_chunking_is_counted_within_a_fifth() {
    let enhanced = Params { chunk_by: ChunkBy::Model { min_tokens: 80 }, ..params() };
    let (forecast, paid, prompts, replies) = compare("enhanced", &enhanced).await;
    assert!(is_near(forecast as f64 / paid as f64), "{forecast} of {paid}");
    assert!(is_near(prompts) && is_near(replies), "{prompts} {replies}");
}

/// Finished work costs nothing again.
#[tokio::test]
async fn finished_work_costs_nothing() {
    let all = Params { embed_batch: 64, ..crate::model_output::chunks::all() };
    let all = Params { atoms: vec![], ..all };
    let files = harbour();
    let paths: Vec<String> = files.0.keys().cloned().collect();
    let (shelf, chat) = (Shelf::empty(), talking());
    index_with(&shelf, &files, Some(recorded(&shelf, chat)), &all).await;
    let after = estimate(Some(&*shelf.base), &Pictured(files), &paths, &all, &Available::all())
        .await
        .unwrap();
    assert_eq!((after.calls, after.embedded_tokens), (0, 0));
}
