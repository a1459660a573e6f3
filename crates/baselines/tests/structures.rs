//! Tests that the entity graph and the tree match the documents exactly, and that no call is paid
//! twice (GraphRAG, RAPTOR).

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use pikerag_doubles::{HashEmbedder, ScriptedChat};
use pikerag_extract::ChunkParams;
use pikerag_indexing::estimate::estimate;
use pikerag_indexing::{Available, MissingPart, Params, Report};
use pikerag_knowledge::{
    ChatModel, ChatRequest, ChunkId, CorpusReader, CorpusWriter, Embedder, Filter, GraphReader,
    Message, Role, SearchWriter, Structure, Which,
};
use pikerag_models::{Budget, Cap, Meter, Mode, Prices, Recorded};
use pikerag_retrieve::{Finder, LayerParams, layers};
use proptest::prelude::*;

use crate::common::{Files, Shelf, block_on};

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, max_shrink_iters: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// Deleting removes everything that derives from a file at once and without a call; the next
    /// run makes the base that never held it.
    #[test]
    fn deleting_leaves_the_base_of_the_other_files(ours in corpus("a"), theirs in corpus("b")) {
        block_on(async {
            let mut both = ours.clone();
            both.0.extend(theirs.0.clone());
            let (shelf, chat) = (Shelf::empty(), reading());
            index(&shelf, &both, chat).await;
            let calls = chat.requests().len();
            for path in theirs.0.keys() {
                assert!(shelf.base.delete_file(path).await.unwrap());
            }
            shelf.base.refresh().await.unwrap();
            assert_eq!(chat.requests().len(), calls);
            // Each file has a word of its own, and our model repeats all its input.
            let left = shelf.export().join("\n");
            for path in theirs.0.keys() {
                let word = path.replace(".txt", "word");
                assert!(!left.contains(&word), "{word} is left: {left}");
            }
            index(&shelf, &ours, chat).await;
            let fresh = Shelf::empty();
            index(&fresh, &ours, reading()).await;
            assert_eq!(shelf.export(), fresh.export());
            // Adding it again costs nothing: every call is recorded.
            let calls = chat.requests().len();
            index(&shelf, &both, chat).await;
            assert_eq!(chat.requests().len(), calls);
        });
    }

    /// However often the budget ends the run, the base comes out the same and no call is made
    /// twice.
    #[test]
    fn the_next_run_continues_after_a_spent_budget(files in corpus("a"), step in 3_u64..12) {
        block_on(async {
            let whole = Shelf::empty();
            let chat = reading();
            index(&whole, &files, chat).await;
            let calls = chat.requests().len();
            let (shelf, chat) = (Shelf::empty(), reading());
            let mut runs = 0;
            loop {
                let cap = Cap { calls: Some(step), ..Cap::default() };
                let budget = Budget::new(chat, Arc::new(Meter::new(Prices::new(), cap)));
                let chat = Arc::new(Recorded::new(budget, shelf.base.clone(), Mode::Record));
                let report = shelf.index(&files, Some(chat), Some(embedder()), &params()).await;
                runs += 1;
                assert!(runs < 200, "{report:?}");
                if report.is_whole() {
                    break;
                }
                assert!(report.over_budget, "{report:?}");
            }
            assert_eq!(chat.requests().len(), calls);
            let distinct: BTreeSet<String> =
                chat.requests().iter().map(|request| format!("{request:?}")).collect();
            assert_eq!(distinct.len(), calls);
            assert_eq!(shelf.export(), whole.export());
        });
    }
}

/// Every later run updates these structures, and keeps unchanged parts.
#[tokio::test]
async fn later_runs_update_built_structures() {
    let mut files = library();
    let (shelf, chat) = (Shelf::empty(), reading());
    let report = index(&shelf, &files, chat).await;
    assert!(report.is_whole(), "{report:?}");
    let summary = shelf.base.summary().await.unwrap();
    assert_eq!((summary.entities, summary.relations), (6, 6));
    assert_eq!((summary.communities, summary.reports, summary.summaries), (2, 2, 1));
    assert_eq!(shelf.reads_nodes_as_exported(&Filter::default()).await, shelf.nodes());
    let one = format!("source={}", files.0.keys().next().unwrap()).parse().unwrap();
    assert!(shelf.reads_nodes_as_exported(&Filter { conditions: vec![one] }).await < shelf.nodes());
    let calls = chat.requests().len();
    index(&shelf, &files, chat).await;
    assert_eq!(chat.requests().len(), calls);

    files.0.insert("c.txt".to_owned(), "Oslo trades with Bergen.".to_owned());
    let plain = Params { with: Vec::new(), ..params() };
    let model = Some(recorded(&shelf, chat));
    let report = shelf.index(&files, model, Some(embedder()), &plain).await;
    // The text about cranes did not change: one report and the root are new.
    assert_eq!((report.extracted, report.reports, report.summaries), (1, 1, 1), "{report:?}");
    let fresh = Shelf::empty();
    index(&fresh, &files, reading()).await;
    assert_eq!(shelf.export(), fresh.export());
}

/// If set, scores spread to chunks with an entity in common, and to those of related entities.
#[tokio::test]
async fn entities_lead_to_other_chunks() {
    let fillers = ["Tea", "Nets", "Snow", "Rope", "Salt", "Iron", "Wool", "Coal"];
    let mut files = Files::from_iter([
        ("drawn.txt", "Brandt drew a crane."),
        ("known.txt", "Brandt knows Hale."),
        ("sails.txt", "Hale sails boats."),
    ]);
    for word in fillers {
        files.0.insert(format!("{word}.txt"), format!("{word} is sold."));
    }
    let shelf = Shelf::empty();
    let chat = Some(recorded(&shelf, reading()));
    let report = shelf.index(&files, chat, None, &params()).await;
    assert_eq!(report.extracted, files.0.len());
    let finder = Finder { base: shelf.base.as_ref(), embedder: None, memory: None };
    let led = async |relates: f32| {
        let params = LayerParams { relates, shares: 0.0, ..LayerParams::default() };
        let hits = layers(finder, "Who drew a crane?", 9, params).await.unwrap();
        let led = hits.iter().filter(|hit| hit.parts.contains_key("entities"));
        let led: Vec<ChunkId> = led.map(|hit| hit.chunk).collect();
        let chunks = shelf.base.chunks(&led).await.unwrap();
        chunks.into_iter().map(|chunk| chunk.uri).collect::<Vec<_>>()
    };
    assert_eq!(led(1.0).await, ["known.txt", "sails.txt"]);
    assert_eq!(led(0.0).await, Vec::<String>::new());
}

#[tokio::test]
async fn names_and_sentences_replace_a_missing_model() {
    let shelf = Shelf::empty();
    let report = shelf.index(&library(), None, Some(embedder()), &params()).await;
    assert_eq!(report.extracted, 2);
    assert_eq!(report.missing, [MissingPart::TreeModels]);
    assert!(!report.is_whole());
    let communities = shelf.base.communities(Which::All).await.unwrap();
    let reports: Vec<String> = communities
        .into_iter()
        .map(|community| community.report.unwrap())
        .map(|report| format!("{}: {} ({:?})", report.title, report.summary, report.model))
        .collect();
    let cranes = reports.iter().find(|reports| reports.contains("KX-40")).unwrap();
    assert!(cranes.contains("Brandt designed the KX-40."), "{reports:?}");
    assert!(reports.iter().all(|reports| reports.ends_with("(None)")));
    // With a model everything is found again, and the base equals the one that a model made.
    let chat = reading();
    index(&shelf, &library(), chat).await;
    let fresh = Shelf::empty();
    index(&fresh, &library(), reading()).await;
    let found = |shelf: &Shelf| -> Vec<String> {
        shelf.export().into_iter().filter(|line| line.contains("\"entity\"")).collect()
    };
    assert_eq!(found(&shelf), found(&fresh));
    assert_eq!(shelf.export(), fresh.export());
}

#[tokio::test]
async fn names_replace_unreadable_replies() {
    let chat = Arc::new(ScriptedChat::by(|_| Ok(" ".to_owned())));
    let shelf = Shelf::empty();
    let report = shelf.index(&library(), Some(chat.clone()), Some(embedder()), &params()).await;
    assert!(report.is_whole(), "{report:?}");
    let made = report.extracted + report.reports + report.summaries;
    assert_eq!((report.extracted, report.unextracted), (2, made));
    assert_eq!(chat.requests().len(), 2 * made);
    // It counts as done: the next run makes no call.
    shelf.index(&library(), Some(chat.clone()), Some(embedder()), &params()).await;
    assert_eq!(chat.requests().len(), 2 * made);
}

/// The model summarises long descriptions, and does so again only after a change.
#[tokio::test]
async fn long_descriptions_are_summarised() {
    let page = |n: usize| {
        let words: Vec<String> = (0..400).map(|word| format!("w{n}x{word}")).collect();
        (format!("{n}.txt"), format!("Oslo is {}.", words.join(" ")))
    };
    let mut files = Files((0..3).map(page).collect());
    let (shelf, chat) = (Shelf::empty(), reading());
    let wide = ChunkParams { max_tokens: 4000, overlap_tokens: 0 };
    let params = Params { chunks: wide, with: vec![Structure::Graph], ..params() };
    let described = || {
        let asks = |request: &ChatRequest| prompt(request).contains("# Descriptions");
        chat.requests().iter().filter(|request| asks(request)).count()
    };
    shelf.index(&files, Some(recorded(&shelf, chat)), None, &params).await;
    assert_eq!(described(), 1);
    let all = shelf.export().join("\n");
    assert!(all.contains("\"description\":\"In short: "), "{all}");
    shelf.index(&files, Some(recorded(&shelf, chat)), None, &params).await;
    assert_eq!(described(), 1);
    files.0.remove("2.txt");
    shelf.base.delete_file("2.txt").await.unwrap();
    assert!(!shelf.export().join("\n").contains("In short"));
    shelf.index(&files, Some(recorded(&shelf, chat)), None, &params).await;
    assert_eq!(described(), 2);
}

/// Extraction is counted exactly, the later stages approximately.
#[tokio::test]
async fn the_estimate_counts_extraction() {
    let files = library();
    let paths: Vec<String> = files.0.keys().cloned().collect();
    let graph = Params { with: vec![Structure::Graph], ..params() };
    let before = estimate(None, &files, &paths, &graph, &Available::all()).await.unwrap();
    assert_eq!(before.calls, 2 + 1);
    let tree = Params { with: vec![Structure::Tree], ..params() };
    assert_eq!(estimate(None, &files, &paths, &tree, &Available::all()).await.unwrap().calls, 1);
    let (shelf, chat) = (Shelf::empty(), reading());
    index(&shelf, &files, chat).await;
    let after =
        estimate(Some(&*shelf.base), &files, &paths, &params(), &Available::all()).await.unwrap();
    assert_eq!(after.calls, 0);
}

// The fixture.

fn library() -> Files {
    Files::from_iter([
        ("a.txt", "Brandt designed the KX-40. The KX-40 stands in Varnsund. Varnsund bore Brandt."),
        ("b.txt", "Hale went to Oslo. Oslo lies near Bergen. Bergen likes Hale."),
    ])
}

/// Up to five files, named `{prefix}0.txt` and so on, each with a word of its own.
fn corpus(prefix: &'static str) -> impl Strategy<Value = Files> {
    let names = ["Oslo", "Bergen", "Brandt", "Hale", "KX-40", "Varnsund", "Heron", "Gate", "Moss"];
    let sentence = prop::sample::subsequence(names.to_vec(), 2..4);
    let page = prop::collection::vec(sentence, 1..4);
    prop::collection::vec(page, 1..6).prop_map(move |pages| {
        let page = |(n, page): (usize, Vec<Vec<&str>>)| {
            let mut text = format!("This is {prefix}{n}word.");
            for names in page {
                let _ = write!(text, "\n\n{} met at {prefix}{n}word.", names.join(" saw "));
            }
            (format!("{prefix}{n}.txt"), text)
        };
        Files(pages.into_iter().enumerate().map(page).collect())
    })
}

fn params() -> Params {
    Params {
        chunks: ChunkParams { max_tokens: 40, overlap_tokens: 0 },
        atoms: Vec::new(),
        with: vec![Structure::Graph, Structure::Tree],
        in_flight: 3,
        embed_batch: 3,
        ..Params::default()
    }
}

fn embedder() -> Arc<dyn Embedder> {
    Arc::new(HashEmbedder::new(16))
}

fn prompt(request: &ChatRequest) -> &str {
    let Some(Message::User { text, .. }) = request.messages.first() else { panic!() };
    text
}

/// A model that finds an entity in every capitalised word and a relation between neighbours,
/// repeats its input in every report, and counts its calls.
fn reading() -> &'static ScriptedChat {
    let reply = |request: &ChatRequest| {
        let prompt = prompt(request);
        let (_, body) = prompt.rsplit_once("\n# ").unwrap().1.split_once('\n').unwrap();
        let text = body.split_whitespace().collect::<Vec<_>>().join(" ");
        Ok(match request.role {
            Role::Extract => entities(&text),
            _ if prompt.contains("# Reports on parts") => {
                let all = prompt.split_once("# Reports on parts").unwrap().1;
                let all = all.split_whitespace().collect::<Vec<_>>().join(" ");
                serde_json::json!({"title": "Report", "summary": all, "rating": 5, "findings": [text]})
                    .to_string()
            }
            _ => format!("In short: {text}"),
        })
    };
    Box::leak(Box::new(ScriptedChat::by(reply)))
}

fn entities(text: &str) -> String {
    let (mut entities, mut relations) = (Vec::new(), Vec::new());
    for sentence in text.split_inclusive(". ") {
        let words = sentence.split([' ', '.']);
        let names: Vec<&str> = words
            .filter(|word| word.starts_with(char::is_uppercase) && !["This", "The"].contains(word))
            .collect();
        for name in &names {
            entities
                .push(serde_json::json!({"name": name, "type": "thing", "description": sentence}));
        }
        for pair in names.windows(2) {
            let relation = serde_json::json!({
                "source": pair[0], "target": pair[1], "description": sentence, "weight": 2
            });
            relations.push(relation);
        }
    }
    serde_json::json!({"entities": entities, "relations": relations}).to_string()
}

fn recorded(shelf: &Shelf, chat: &'static ScriptedChat) -> Arc<dyn ChatModel> {
    Arc::new(Recorded::new(chat, shelf.base.clone(), Mode::Record))
}

async fn index(shelf: &Shelf, files: &Files, chat: &'static ScriptedChat) -> Report {
    shelf.index(files, Some(recorded(shelf, chat)), Some(embedder()), &params()).await
}
