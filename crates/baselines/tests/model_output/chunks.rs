//! Tests that enhanced chunks, summaries and descriptions match the documents, and that no call is
//! made twice.

use std::collections::BTreeSet;

use pikerag_doubles::{ScriptedChat, busy};
use pikerag_extract::ChunkParams;
use pikerag_indexing::estimate::estimate;
use pikerag_indexing::{Available, ChunkBy, Outcome, Params, Summarized, TagParams};
use pikerag_knowledge::{
    AtomKind, ChatRequest, ChunkKind, ChunkSet, CorpusReader, CorpusWriter, Message, Origin,
    Progress, Role, SearchIndex, Structure, TagClass, Which,
};
use pikerag_retrieve::{Finder, Search, SearchParams, search as find};
use proptest::prelude::*;

use crate::common::{Files, Shelf, block_on};
use crate::model_output::fixture::{
    Pictured, capped, corpus, index_with, prompt, recorded, repeating, reply,
};
use crate::model_output::repeating::below;

proptest! {
    #![proptest_config(ProptestConfig { cases: 10, max_shrink_iters: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// However often and at whatever stage the budget ends the run, no call is made twice, and the
    /// base equals that of an undisturbed run.
    #[test]
    fn the_next_run_continues_after_a_spent_budget(files in corpus("a"), step in 1_u64..9) {
        block_on(async {
            let (whole, chat) = (Shelf::empty(), repeating());
            let report = index_with(&whole, &files, Some(recorded(&whole, chat)), &all()).await;
            assert!(report.is_whole(), "{report:?}");
            let calls = chat.requests().len();
            let (shelf, chat) = (Shelf::empty(), repeating());
            let mut runs = 0;
            loop {
                let report = index_with(&shelf, &files, Some(capped(&shelf, chat, step)), &all()).await;
                runs += 1;
                assert!(runs < 300, "{report:?}");
                if report.is_whole() {
                    break;
                }
                assert!(report.over_budget, "{report:?}");
            }
            let distinct: BTreeSet<String> =
                chat.requests().iter().map(|request| format!("{request:?}")).collect();
            assert_eq!((chat.requests().len(), distinct.len()), (calls, calls));
            assert_eq!(shelf.export(), whole.export());
        });
    }

    /// Deleting removes all model output about a document, and nothing else; adding it again is
    /// free.
    #[test]
    fn deleting_leaves_the_base_of_the_other_files(ours in corpus("a"), theirs in corpus("b")) {
        block_on(async {
            let mut both = ours.clone();
            both.0.extend(theirs.0.clone());
            let (shelf, chat) = (Shelf::empty(), repeating());
            let model = || Some(recorded(&shelf, chat));
            index_with(&shelf, &both, model(), &declared()).await;
            let (whole, calls) = (shelf.export(), chat.requests().len());
            for path in theirs.0.keys() {
                assert!(shelf.base.delete_file(path).await.unwrap());
            }
            let left = shelf.export().join("\n");
            for path in theirs.0.keys() {
                let word = path.replace(".md", "word");
                assert!(!left.contains(&word), "{word} is left: {left}");
            }
            index_with(&shelf, &ours, model(), &declared()).await;
            let fresh = Shelf::empty();
            index_with(&fresh, &ours, Some(recorded(&fresh, repeating())), &declared()).await;
            assert_eq!(shelf.export(), fresh.export());
            index_with(&shelf, &both, model(), &declared()).await;
            assert_eq!(shelf.export(), whole);
            assert_eq!(chat.requests().len(), calls, "deleting and adding again made calls");
        });
    }

    /// A base that saw a file change equals the base that only ever saw the new content.
    #[test]
    fn an_update_equals_a_fresh_start(before in corpus("a"), other in corpus("a"), enhanced in any::<bool>()) {
        block_on(async {
            let mut after = before.clone();
            after.0.extend(other.0);
            let (shelf, chat) = (Shelf::empty(), repeating());
            index_with(&shelf, &before, Some(recorded(&shelf, chat)), &declared()).await;
            // Half of the time structure decides from now on, and model output about text is
            // deleted.
            let chunk_by = if enhanced { declared().chunk_by } else { ChunkBy::Structure };
            let params = Params { chunk_by, ..declared() };
            index_with(&shelf, &after, Some(recorded(&shelf, chat)), &params).await;
            let fresh = Shelf::empty();
            index_with(&fresh, &after, Some(recorded(&fresh, repeating())), &params).await;
            assert_eq!(shelf.export(), fresh.export());
        });
    }
}

/// All kinds of model output.
pub(crate) fn all() -> Params {
    Params {
        chunks: ChunkParams { max_tokens: 60, overlap_tokens: 0 },
        chunk_by: ChunkBy::Model { min_tokens: 20 },
        summarize: vec![Summarized::Tables, Summarized::Sources],
        describe: true,
        atoms: vec![AtomKind::Question],
        with: vec![Structure::Tags],
        parsers: 2,
        in_flight: 3,
        embed_batch: 3,
        ..Params::default()
    }
}

/// The same with a class that a person declared.
fn declared() -> Params {
    let class = TagClass::new("name", "names of all kinds", Vec::new(), Origin::Declared);
    Params { tags: TagParams { classes: vec![class], ..TagParams::default() }, ..all() }
}

fn lease() -> Files {
    let article = |n: usize, body: &str| format!("# 第{n}条\n\n{body}\n\n");
    let mut text = article(
        1,
        "承租人应当按照约定的期限支付租金。对支付租金的期限没有约定的，依照本法确定。租赁期限不满一年的，应当在租赁期限届满时支付。租赁期限一年以上的，应当在每届满一年时支付。剩余期限不满一年的，应当在租赁期限届满时支付。",
    );
    text += &article(2, "承租人无正当理由未支付租金的，出租人可以请求承租人在合理期限内支付。");
    Files::from_iter([("法.md", text.as_str())])
}

/// A chunk can be found by its summary, and its text is the source's own.
#[tokio::test]
async fn summaries_are_stored_with_exact_spans_and_found() {
    let chat: &'static ScriptedChat = Box::leak(Box::new(ScriptedChat::by(|request| {
        let prompt = prompt(request);
        Ok(match prompt.contains("# Pieces") {
            true => {
                let last = below(prompt, "Pieces").lines().count().min(3);
                format!("{{\"end\": {last}, \"summary\": \"租客何时交房租：{last}\"}}")
            }
            false => "关于租赁。".to_owned(),
        })
    })));
    let shelf = Shelf::empty();
    let params = Params {
        summarize: vec![],
        with: vec![],
        atoms: vec![],
        chunk_by: ChunkBy::Model { min_tokens: 10 },
        ..all()
    };
    let report = index_with(&shelf, &lease(), Some(recorded(&shelf, chat)), &params).await;
    assert!(report.is_whole() && report.undecided == 0, "{report:?}");
    let source = shelf.base.sources(Which::All).await.unwrap()[0].id;
    let text = shelf.base.source_text(source).await.unwrap();
    let chunks = shelf.base.first_chunks(source, 99).await.unwrap();
    assert!(3 <= chunks.len(), "{chunks:?}");
    for chunk in &chunks {
        assert_eq!(chunk.span.of(&text), Some(chunk.text.as_str()));
        assert!(chunk.summary.as_deref().unwrap().starts_with("租客"), "{chunk:?}");
    }
    let hits = shelf.base.matching_chunks("房租", 9).await.unwrap();
    assert_eq!(hits.len(), chunks.len());
    // Nothing is requested again: one call for the beginning and one for each chunk.
    assert_eq!(chat.requests().len(), chunks.len() + 1);
    index_with(&shelf, &lease(), Some(recorded(&shelf, chat)), &params).await;
    assert_eq!(chat.requests().len(), chunks.len() + 1);
}

/// Documents are split side by side, each from front to back.
#[tokio::test]
async fn documents_do_not_wait_for_each_other() {
    let slow = std::time::Duration::from_millis(3);
    let chat = ScriptedChat::by(|request| Ok(reply(request))).with_latency(slow);
    let chat: &'static ScriptedChat = Box::leak(Box::new(chat));
    let sentences: Vec<String> = (0..30).map(|n| format!("Sentence {n} is in here.")).collect();
    let sentences = sentences.join(" ");
    let file = |n: usize| (format!("{n}.txt"), format!("File {n}. {sentences}"));
    let files = Files((0..6).map(file).collect());
    let params = Params { summarize: vec![], with: vec![], atoms: vec![], ..all() };
    let shelf = Shelf::empty();
    index_with(&shelf, &files, Some(recorded(&shelf, chat)), &params).await;
    assert_eq!(chat.peak(), 3);
}

#[tokio::test]
async fn unreadable_replies_fall_back_to_structure_and_are_counted() {
    let chat = Box::leak(Box::new(ScriptedChat::by(|_| Ok(" ".to_owned()))));
    let shelf = Shelf::empty();
    let files = Files::from_iter([(
        "a.md",
        "One sentence.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n[Figure x]\n",
    )]);
    let params = Params { atoms: vec![], with: vec![], ..all() };
    let report = index_with(&shelf, &files, Some(recorded(&shelf, chat)), &params).await;
    assert!(report.is_whole(), "{report:?}");
    // The beginning, the one chunk, the table, the figure, the document: each asked twice.
    assert_eq!((report.undecided, chat.requests().len()), (5, 10));
    let report = index_with(&shelf, &files, Some(recorded(&shelf, chat)), &params).await;
    assert_eq!((report.undecided, chat.requests().len()), (0, 10));
}

/// A failed call leaves its file for the next run; the others go on.
#[tokio::test]
async fn files_with_failed_calls_stay_pending() {
    let moody = ScriptedChat::by_turn(|turn, request| match turn {
        1 => Err(busy("fake")),
        _ => Ok(reply(request)),
    });
    let shelf = Shelf::empty();
    let chat: &'static ScriptedChat = Box::leak(Box::new(moody));
    let files = Files::from_iter([
        ("a.txt", "One is here."),
        ("b.txt", "Two is here."),
        ("c.txt", "Three is."),
    ]);
    let params = Params { in_flight: 1, atoms: vec![], with: vec![], summarize: vec![], ..all() };
    let report = index_with(&shelf, &files, Some(recorded(&shelf, chat)), &params).await;
    assert!(!report.is_whole() && report.stopped.is_none(), "{report:?}");
    assert!(matches!(&report.files[1].1, Outcome::Waiting { reason } if reason.contains("busy")));
    assert!(matches!(report.files[2].1, Outcome::Stored { .. }));
    let report = index_with(&shelf, &files, Some(recorded(&shelf, chat)), &params).await;
    assert!(report.is_whole(), "{report:?}");
    assert_eq!(chat.requests().len(), 4);
}

/// Without a model structure decides; chunks from a model stay unchanged.
#[tokio::test]
async fn without_a_model_structure_decides_and_nothing_is_undone() {
    let shelf = Shelf::empty();
    let params = Params { atoms: vec![AtomKind::Sentence], with: vec![], ..all() };
    let report = index_with(&shelf, &lease(), None, &params).await;
    assert!(report.is_whole(), "{report:?}");
    let by_structure = shelf.export();
    let chat = repeating();
    index_with(&shelf, &lease(), Some(recorded(&shelf, chat)), &params).await;
    let by_model = shelf.export();
    assert_ne!(by_structure, by_model);
    let report = index_with(&shelf, &lease(), None, &params).await;
    assert!(matches!(report.files[0].1, Outcome::Unchanged), "{report:?}");
    assert_eq!(shelf.export(), by_model);
}

/// The model sees a figure as a picture, with the document's words about it. Output from these
/// words alone is made again after the description. Before that, a figure without words has no
/// chunk.
#[tokio::test]
async fn figures_are_described_and_their_descriptions_atomized() {
    let text = "# Sales\n\nSee below.\n\n[Figure 1]\n\nThey rose.\n\n[Figure of cranes]\n";
    let files = Files::from_iter([("a.md", text)]);
    let (shelf, chat) = (Shelf::empty(), repeating());
    let blind = Params { describe: false, chunk_by: ChunkBy::Structure, with: vec![], ..all() };
    let paths = ["a.md".to_owned()];
    let bill =
        estimate(None, &Pictured(files.clone()), &paths, &blind, &Available::all()).await.unwrap();
    index_with(&shelf, &files, Some(recorded(&shelf, chat)), &blind).await;
    let before = chat.requests().len();
    assert_eq!((bill.calls, before), (4, 4), "two texts, a figure with words, the document");
    let found = shelf.base.matching_chunks("figure", 9).await.unwrap();
    let found =
        shelf.base.chunks(&found.iter().map(|hit| hit.item).collect::<Vec<_>>()).await.unwrap();
    assert_eq!(
        found.iter().map(|chunk| chunk.text.as_str()).collect::<Vec<_>>(),
        ["[Figure of cranes]"]
    );
    let finder = Finder { base: shelf.base.as_ref(), embedder: None, memory: None };
    for search in [Search::Layers, Search::Hops] {
        let hits =
            find(finder, search, "figure of Sales", 9, SearchParams::default()).await.unwrap();
        let ids: Vec<_> = hits.iter().map(|hit| hit.chunk).collect();
        let chunks = shelf.base.chunks(&ids).await.unwrap();
        assert!(chunks.iter().all(|chunk| chunk.text != "[Figure 1]"), "{search:?}: {chunks:?}");
        assert_eq!(chunks.len(), 3, "{search:?}");
    }
    let seeing = Params { describe: true, ..blind };
    let report = index_with(&shelf, &files, Some(recorded(&shelf, chat)), &seeing).await;
    assert_eq!(report.described, 2, "{report:?}");
    assert_eq!(shelf.base.matching_chunks("figure", 9).await.unwrap().len(), 2);
    let asked = chat.requests();
    let mut describing = asked[before..before + 2].iter();
    let is_first = |request: &&ChatRequest| prompt(request).contains("\n[Figure 1]\n\n# Around");
    let describing = describing.find(is_first).unwrap();
    assert_eq!(describing.role, Role::Describe);
    let Message::User { text, images } = &describing.messages[0] else { panic!() };
    assert_eq!(images, &["data:image/png;base64,cGljdHVyZSBvZiBbRmlndXJlIDFd"]);
    assert_eq!(
        below(text, "Around the picture"),
        "# Sales See below.\n…\nThey rose. [Figure of cranes]".replace("# S", " # S")
    );
    // Questions are requested with the descriptions, one of them again.
    assert_eq!(asked.len(), before + 4);
    for request in &asked[before + 2..] {
        assert!(prompt(request).contains("[What a model sees on it: A picture with"));
    }
    let fresh = Shelf::empty();
    index_with(&fresh, &files, Some(recorded(&fresh, repeating())), &seeing).await;
    assert_eq!(shelf.export(), fresh.export());
    let left = shelf
        .base
        .pending(
            &pikerag_knowledge::Stage::describe(ChunkKind::Figure),
            ChunkSet::OfKind(ChunkKind::Figure),
            None,
            9,
        )
        .await;
    assert_eq!(left.unwrap(), []);
}

/// An interrupted run, at whatever stage, costs at most the calls that were running.
#[tokio::test]
async fn interrupted_runs_lose_only_running_calls() {
    let sentences: Vec<String> = (0..12).map(|n| format!("The Crane {n} is in here.")).collect();
    let body = format!("{}\n\n| a | b |\n|---|---|\n| 1 | 2 |\n", sentences.join(" "));
    let file = |n: usize| (format!("{n}.md"), format!("# File {n}\n\n{body}\n\n[Figure {n}]\n"));
    let files = Files((0..4).map(file).collect());
    let slowly = || -> &'static ScriptedChat {
        let chat = ScriptedChat::by(|request| Ok(reply(request)));
        Box::leak(Box::new(chat.with_latency(std::time::Duration::from_millis(4))))
    };
    let (whole, chat) = (Shelf::empty(), slowly());
    index_with(&whole, &files, Some(recorded(&whole, chat)), &all()).await;
    let calls = chat.requests().len();
    let (shelf, chat) = (Shelf::empty(), slowly());
    let mut cuts = 0;
    loop {
        let reached = chat.requests().len();
        let params = all();
        let run = index_with(&shelf, &files, Some(recorded(&shelf, chat)), &params);
        let mut run = std::pin::pin!(run);
        // Interrupt once a few more calls have begun.
        let ended = loop {
            let tick = std::time::Duration::from_millis(1);
            if tokio::time::timeout(tick, &mut run).await.is_ok() {
                break true;
            }
            if reached + 5 <= chat.requests().len() {
                break false;
            }
        };
        if ended {
            break;
        }
        cuts += 1;
    }
    let distinct: BTreeSet<String> =
        chat.requests().iter().map(|request| format!("{request:?}")).collect();
    let repeated = chat.requests().len() - distinct.len();
    println!("{cuts} cuts, {repeated} of {calls} calls made twice");
    assert_eq!(distinct.len(), calls);
    assert!(5 < cuts && repeated <= 3 * cuts, "{repeated} calls made twice in {cuts} cuts");
    assert_eq!(shelf.export(), whole.export());
}
