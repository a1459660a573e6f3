//! Tests that the base always holds exactly the content of its files, and that no call is paid
//! twice.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use pikerag_doubles::{HashEmbedder, ScriptedChat, ScriptedEmbedder, busy};
use pikerag_extract::ChunkParams;
use pikerag_indexing::estimate::estimate;
use pikerag_indexing::{
    Available, ChunkBy, FileError, FileReader, Outcome, Params, ReadFile, Report, Summarized,
    Tools, ingest,
};
use pikerag_knowledge::{
    AtomKind, AtomQuery, ChatModel, ChatModels, ChunkId, ChunkSet, CorpusReader, CorpusWriter,
    Embedder, ModelError, Parted, PartedVectors, Progress, PutReport, RefusalCause, RefusalWriter,
    Scored, SearchIndex, SearchWriter, Stage, StoreError, Vector, Which, nearest_chunks,
};
use pikerag_models::{Budget, Cap, Meter, Mode, Prices, Recorded};
use pikerag_parse::{Limits, NoTools, parse};
use proptest::prelude::*;
use tokio::sync::Barrier;

use crate::common::{Files, Shelf, block_on};

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// Deleting removes everything that derives from a file and nothing else, and costs no call;
    /// nor does adding the file again.
    #[test]
    fn deleting_leaves_the_base_of_the_other_files(ours in corpus("a"), theirs in corpus("b")) {
        block_on(async {
            let mut both = ours.clone();
            both.0.extend(theirs.0.clone());
            let (shelf, chat) = (Shelf::empty(), asking());
            index(&shelf, &both, chat).await;
            let (whole, calls) = (seen(&shelf).await, chat.requests().len());
            for path in theirs.0.keys() {
                let known = !shelf.base.files(Which::Of(&[path])).await.unwrap().is_empty();
                assert_eq!(shelf.base.delete_file(path).await.unwrap(), known);
            }
            shelf.base.refresh().await.unwrap();
            let fresh = Shelf::empty();
            index(&fresh, &ours, asking()).await;
            assert_eq!(seen(&shelf).await, seen(&fresh).await);
            index(&shelf, &both, chat).await;
            assert_eq!(seen(&shelf).await, whole);
            assert_eq!(chat.requests().len(), calls, "deleting and adding again made calls");
        });
    }

    /// A base that saw a file change equals the base that only ever saw the new content.
    #[test]
    fn an_update_equals_a_fresh_start(
        before in corpus("a"),
        (new, shared) in (content(), any::<bool>()),
        which in any::<prop::sample::Index>(),
    ) {
        let mut after = before.clone();
        let path = which.get(&before.0.keys().cloned().collect::<Vec<_>>()).clone();
        let old = before.0[&path].clone();
        // Half of the time the old content follows the new one.
        let text = text_of(&path, &new) + if shared { &old } else { "" };
        prop_assume!(parse(&path, text.as_bytes(), &Limits::default(), &NoTools).is_ok());
        after.0.insert(path, text);
        block_on(async {
            let (shelf, chat) = (Shelf::empty(), asking());
            index(&shelf, &before, chat).await;
            index(&shelf, &after, chat).await;
            let fresh = Shelf::empty();
            index(&fresh, &after, asking()).await;
            assert_eq!(seen(&shelf).await, seen(&fresh).await);
        });
    }
}

/// An embedder that reads the parts of a text with it: a part gets the vector of the whole text, so
/// that a test can recognise its origin.
struct PartReader {
    inner: ScriptedEmbedder,
    /// Refuses texts that contain this.
    refuses: Option<&'static str>,
}

#[async_trait]
impl Embedder for PartReader {
    fn name(&self) -> &'static str {
        "fake-embedder"
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vector>, ModelError> {
        if texts.iter().any(|text| self.refuses.is_some_and(|word| text.contains(word))) {
            return Err(ModelError::Refused {
                model: self.name().to_owned(),
                source: "not this text".into(),
            });
        }
        self.inner.embed(texts).await
    }

    fn reads_parts(&self) -> bool {
        true
    }

    async fn embed_parted(&self, texts: &[Parted]) -> Result<Vec<PartedVectors>, ModelError> {
        let wholes: Vec<String> = texts.iter().map(|parted| parted.text.clone()).collect();
        let vectors = self.embed(&wholes).await?.into_iter().zip(texts);
        let parts = |whole: &Vector, parted: &Parted| vec![whole.clone(); parted.parts.len()];
        Ok(vectors
            .map(|(whole, text)| PartedVectors { parts: parts(&whole, text), whole })
            .collect())
    }
}

async fn index_with_parts(
    shelf: &Shelf,
    files: &Files,
    refuses: Option<&'static str>,
) -> (Report, Vec<String>) {
    let inner = ScriptedEmbedder::by(|texts| Ok(HashEmbedder::new(8).vectors(texts)));
    let embedder = Arc::new(PartReader { inner, refuses });
    let tools = Tools {
        base: shelf.base.clone(),
        reader: Arc::new(files.clone()),
        models: ChatModels::default(),
        embedder: Some(embedder.clone()),
    };
    let paths: Vec<String> = files.0.keys().cloned().collect();
    let params = Params { atoms: vec![AtomKind::Sentence], ..params() };
    let report = ingest(&tools, &paths, &params, &|_| {}).await.unwrap();
    (report, embedder.inner.requests().concat())
}

/// A sentence is read with its chunk, once; by itself only if the chunk could not be read.
#[tokio::test]
async fn sentences_are_read_with_their_chunks() {
    let text = "The crane stands here.  The mast\nis tall.\n";
    let files = Files::from_iter([("a.md", text)]);
    for (refuses, alone) in [(None, 0), (Some("tall"), 1)] {
        let shelf = Shelf::empty();
        let (report, texts) = index_with_parts(&shelf, &files, refuses).await;
        let sentences = ["The crane stands here.", "The mast is tall."];
        let read: Vec<_> = texts.iter().filter(|text| sentences.contains(&text.as_str())).collect();
        assert_eq!(read.len(), alone, "{texts:?}");
        let summary = shelf.base.summary().await.unwrap();
        // A chunk, its sentences and the document's title; the chunk and one sentence are refused.
        assert_eq!((summary.sentences, summary.vectors), (2, 4 - 2 * alone), "{report:?}");
        let (_, again) = index_with_parts(&shelf, &files, refuses).await;
        assert_eq!(again, Vec::<String>::new(), "finished work is not repeated");
    }
}

/// Files that count how many are parsed at a time. None finishes before the expected number runs.
struct Slow(Files, AtomicUsize, AtomicUsize, Barrier);

#[async_trait]
impl FileReader for Slow {
    async fn hash(&self, path: &str) -> Result<String, FileError> {
        self.0.hash(path).await
    }

    async fn parse(&self, path: &str) -> Result<ReadFile, FileError> {
        let now = 1 + self.1.fetch_add(1, Ordering::Relaxed);
        self.2.fetch_max(now, Ordering::Relaxed);
        let others = tokio::time::timeout(Duration::from_mins(1), self.3.wait());
        others.await.expect("too few are parsed side by side");
        self.1.fetch_sub(1, Ordering::Relaxed);
        self.0.parse(path).await
    }
}

/// Files and tables that record what is read, and when connections end.
struct Closing(Files, Mutex<Vec<String>>);

#[async_trait]
impl FileReader for Closing {
    async fn hash(&self, path: &str) -> Result<String, FileError> {
        self.0.hash(path).await
    }

    async fn parse(&self, path: &str) -> Result<ReadFile, FileError> {
        self.1.lock().unwrap().push(path.to_owned());
        self.0.parse(path).await
    }

    async fn finish(&self) {
        self.1.lock().unwrap().push("finish".to_owned());
    }
}

#[tokio::test]
async fn connections_end_before_files_are_read() {
    let tables = ["postgres://h/shop/public.a", "postgres://h/shop/public.b"];
    let paths: Vec<String> = tables.into_iter().chain(["c.txt"]).map(str::to_owned).collect();
    let files = Files([("c.txt".to_owned(), "The crane is in here.".to_owned())].into());
    let (shelf, closing) = (Shelf::empty(), Arc::new(Closing(files, Mutex::default())));
    let tools = Tools {
        base: shelf.base.clone(),
        reader: closing.clone(),
        models: ChatModels::default(),
        embedder: None,
    };
    let params = Params { parsers: 1, atoms: vec![], ..params() };
    ingest(&tools, &paths, &params, &|_| {}).await.unwrap();
    let events = closing.1.lock().unwrap();
    let (first, rest) = events.split_at(tables.len());
    // Tables are read in any order.
    let read: BTreeSet<&str> = first.iter().map(String::as_str).collect();
    assert_eq!(read, BTreeSet::from(tables));
    assert_eq!(rest, ["finish", "c.txt", "finish"]);
}

/// The number in the settings limits parsing, not the number of calls; files are reported in order.
#[tokio::test]
async fn files_are_parsed_side_by_side() {
    let file = |n: usize| (format!("{n}.txt"), format!("The Crane {n} is in here."));
    let files = Files((0..9).map(file).collect());
    let paths: Vec<String> = files.0.keys().cloned().collect();
    for chunk_by in [ChunkBy::Structure, ChunkBy::Model { min_tokens: 9 }] {
        let shelf = Shelf::empty();
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let slow = Arc::new(Slow(files.clone(), now, most, Barrier::new(3)));
        let chat = ScriptedChat::by(|_| Ok("{\"end\": 1, \"summary\": \"A crane.\"}".to_owned()));
        let tools = Tools {
            base: shelf.base.clone(),
            reader: slow.clone(),
            models: ChatModels::one(Arc::new(chat)),
            embedder: None,
        };
        let params = Params { parsers: 3, chunk_by, atoms: vec![], ..params() };
        let report = ingest(&tools, &paths, &params, &|_| {}).await.unwrap();
        assert_eq!(slow.2.load(Ordering::Relaxed), 3, "{chunk_by:?}");
        assert!(report.files.iter().map(|(path, _)| path).eq(&paths), "{report:?}");
        assert_eq!(shelf.base.sources(Which::All).await.unwrap().len(), 9);
    }
}

/// A chunk of rows that is cut off from its header is read with it: a new header makes a new chunk.
#[tokio::test]
async fn a_new_table_header_reaches_every_row() {
    let rows =
        "| crane one | forty tons |\n| crane two | fifty tons |\n| crane three | sixty tons |\n";
    let before = format!("| machine | weight |\n|---|---|\n{rows}");
    let after = format!("| machine | capacity |\n|---|---|\n{rows}");
    let (shelf, chat) = (Shelf::empty(), asking());
    index(&shelf, &Files::from_iter([("a.md", before.as_str())]), chat).await;
    let changed = Files::from_iter([("a.md", after.as_str())]);
    index(&shelf, &changed, chat).await;
    let fresh = Shelf::empty();
    index(&fresh, &changed, asking()).await;
    assert_eq!(seen(&shelf).await, seen(&fresh).await);
}

/// The same holds for headings that begin or cease to repeat the title.
#[tokio::test]
async fn a_heading_that_repeats_the_title_is_kept_up_to_date() {
    let body = "One sentence stands here, long enough to fill a chunk of its own, yes.\n\nAnd another one stands here, as long as the first one was.\n";
    let before = format!("---\ntitle: Crane\n---\n# Crane\n\n{body}");
    let after = format!("---\ntitle: Crane\n---\n{body}");
    let (shelf, chat) = (Shelf::empty(), asking());
    index(&shelf, &Files::from_iter([("a.md", before.as_str())]), chat).await;
    let changed = Files::from_iter([("a.md", after.as_str())]);
    index(&shelf, &changed, chat).await;
    let fresh = Shelf::empty();
    index(&fresh, &changed, asking()).await;
    assert_eq!(seen(&shelf).await, seen(&fresh).await);
}

#[tokio::test]
async fn unchanged_bytes_cost_no_work() {
    let files =
        Files::from_iter([("a.md", "# Crane\n\nIt lifts."), ("b.md", "# Tea\n\nIt is hot.")]);
    let (shelf, chat) = (Shelf::empty(), asking());
    let first = index(&shelf, &files, chat).await;
    assert_eq!((first.atomized, first.atoms), (2, 4));
    let calls = chat.requests().len();
    let second = index(&shelf, &files, chat).await;
    assert_eq!(
        second.files.iter().map(|(_, outcome)| outcome).collect::<Vec<_>>(),
        [&Outcome::Unchanged, &Outcome::Unchanged]
    );
    assert_eq!((second.atomized, second.vectors, chat.requests().len()), (0, 0, calls));
    // Other settings are other work.
    let other = Params { chunks: ChunkParams { max_tokens: 99, overlap_tokens: 0 }, ..params() };
    let third = shelf.index(&files, Some(recorded(&shelf, chat)), Some(embedder(16)), &other).await;
    assert!(third.files.iter().all(|(_, outcome)| matches!(outcome, Outcome::Stored { .. })));
}

/// Files whose bytes change between hashing and reading.
struct Rewritten {
    hashed: Files,
    read: Files,
}

#[async_trait]
impl FileReader for Rewritten {
    async fn hash(&self, path: &str) -> Result<String, FileError> {
        self.hashed.hash(path).await
    }

    async fn parse(&self, path: &str) -> Result<ReadFile, FileError> {
        self.read.parse(path).await
    }
}

#[tokio::test]
async fn the_record_matches_the_parsed_bytes() {
    let [old, hashed, read] = ["Old.", "Looked at.", "Read."]
        .map(|text| Files::from_iter([("a.md", format!("# One\n\n{text}").as_str())]));
    let (shelf, chat) = (Shelf::empty(), asking());
    index(&shelf, &old, chat).await;
    let tools = Tools {
        base: shelf.base.clone(),
        reader: Arc::new(Rewritten { hashed: hashed.clone(), read }),
        models: ChatModels::default(),
        embedder: None,
    };
    ingest(&tools, &["a.md".to_owned()], &params(), &|_| {}).await.unwrap();
    // The content at hashing is not in the base.
    let report = index(&shelf, &hashed, chat).await;
    assert!(matches!(report.files[0].1, Outcome::Stored { .. }), "{report:?}");
}

#[tokio::test]
async fn moved_files_lose_their_old_names_and_cost_nothing() {
    let (crane, tea) = ("# Crane\n\nIt lifts.", "# Tea\n\nIt is hot.");
    let (shelf, chat) = (Shelf::empty(), asking());
    index(&shelf, &Files::from_iter([("a.md", crane), ("b.md", tea)]), chat).await;
    let calls = chat.requests().len();
    let after = Files::from_iter([("new/a.md", crane)]);
    let gone = vec!["a.md".to_owned(), "b.md".to_owned()];
    let params = Params { gone, ..params() };
    let report =
        shelf.index(&after, Some(recorded(&shelf, chat)), Some(embedder(16)), &params).await;
    assert_eq!(report.moved, [("a.md".to_owned(), "new/a.md".to_owned())]);
    assert_eq!(chat.requests().len(), calls);
    // The same file under an earlier name is deleted with all its content.
    index(&shelf, &Files::from_iter([("/whole/b.md", "# Tea\n\nIt was hot.")]), chat).await;
    let renamed = vec![("/whole/b.md".to_owned(), "b.md".to_owned())];
    let params = Params { renamed: renamed.clone(), ..params };
    let b = Files::from_iter([("b.md", tea)]);
    let report = shelf.index(&b, Some(recorded(&shelf, chat)), Some(embedder(16)), &params).await;
    assert_eq!(report.moved, renamed);
    // Files that exist nowhere else stay.
    let fresh = Shelf::empty();
    index(&fresh, &Files::from_iter([("new/a.md", crane), ("b.md", tea)]), asking()).await;
    assert_eq!(seen(&shelf).await, seen(&fresh).await);
}

/// Only changes are paid for.
#[tokio::test]
async fn an_update_pays_for_the_new_chunks_alone() {
    let before = "# One\n\nFirst.\n\n# Two\n\nSecond.\n\n# Three\n\nThird.";
    let after = "# One\n\nFirst.\n\n# Two\n\nSecond, and more.\n\n# Three\n\nThird.";
    let (shelf, chat) = (Shelf::empty(), asking());
    index(&shelf, &Files::from_iter([("a.md", before)]), chat).await;
    assert_eq!(chat.requests().len(), 3);
    let report = index(&shelf, &Files::from_iter([("a.md", after)]), chat).await;
    let stored =
        Outcome::Stored { report: PutReport { added: 1, kept: 2, removed: 1 }, documents: 1 };
    assert_eq!(report.files[0].1, stored);
    assert_eq!(chat.requests().len(), 4);
    assert!(format!("{:?}", chat.requests()[3]).contains("Second, and more."));
}

#[tokio::test]
async fn a_file_that_fails_is_named_and_the_others_go_on() {
    let (shelf, chat) = (Shelf::empty(), asking());
    index(&shelf, &Files::from_iter([("b.txt", "It was good once.")]), chat).await;
    let files = Files::from_iter([
        ("a.json", "{\"title\": "),
        ("b.txt", " "),
        ("c.pdf", "%PDF-1.7 ..."),
        ("d.txt", "This one is fine."),
    ]);
    let report = index(&shelf, &files, chat).await;
    let lines: Vec<String> = report
        .files
        .iter()
        .map(|(path, outcome)| match outcome {
            Outcome::Failed { reason } => format!("{path}: {reason}"),
            other => format!("{path}: {other:?}"),
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @"
    a.json: `a.json` is not readable as JSON: line 1: EOF while parsing a value, column 10; open it in its program and save it again; if it is plain text, rename it to .txt
    b.txt: `b.txt` holds no text: check that it is the file you meant
    c.pdf: `c.pdf` is not readable as PDF: its structure is damaged and no page can be found; open it in its program and save it again; if it is plain text, rename it to .txt
    d.txt: Stored { report: PutReport { added: 1, kept: 0, removed: 0 }, documents: 1 }
    ");
    assert_eq!(report.failed_files(), 3);
    assert!(!report.is_whole());
    // The content from an earlier version is kept.
    let uris: Vec<String> = shelf
        .base
        .sources(Which::All)
        .await
        .unwrap()
        .into_iter()
        .map(|source| source.uri)
        .collect();
    assert_eq!(uris, ["b.txt", "d.txt"]);
}

/// A spent budget ends the run; the next one continues, and no chunk is paid for twice.
#[tokio::test]
async fn the_next_run_continues_after_a_spent_budget() {
    let files = many(12);
    for latency in [0, 3] {
        let chat = asking_slowly(latency);
        let shelf = Shelf::empty();
        let capped = |calls| -> Option<Arc<dyn ChatModel>> {
            let cap = Cap { calls: Some(calls), ..Cap::default() };
            let budget = Budget::new(chat, Arc::new(Meter::new(Prices::new(), cap)));
            Some(Arc::new(Recorded::new(budget, shelf.base.clone(), Mode::Record)))
        };
        let first = shelf.index(&files, capped(5), Some(embedder(16)), &params()).await;
        assert!(first.over_budget && !first.is_whole(), "{first:?}");
        assert!(first.stopped.as_ref().unwrap().contains("the budget of 5 calls is spent"));
        // Calls that were running at the end are awaited and stored.
        assert_eq!((first.atomized, chat.requests().len()), (5, 5));
        let second = shelf.index(&files, capped(7), Some(embedder(16)), &params()).await;
        assert!(second.is_whole(), "{second:?}");
        assert_eq!((second.atomized, chat.requests().len()), (7, 12));
        // Of chunks, of their documents, of their atoms.
        assert_eq!(first.vectors + second.vectors, 12 + 12 + 24);
    }
}

/// If an embedder starts to fail, the run ends with the stored part, and nothing hangs.
#[tokio::test]
async fn a_failing_embedder_ends_the_run() {
    let files = many(40);
    for good_calls in [0, 1, 5] {
        let shelf = Shelf::empty();
        let chat: Arc<dyn ChatModel> = Arc::new(asking());
        let failing = ScriptedEmbedder::by_turn(move |turn, texts| match turn < good_calls {
            true => Ok(HashEmbedder::new(16).vectors(texts)),
            false => Err(busy("fake")),
        });
        let one_by_one = Params { embeds_in_flight: 1, ..params() };
        let run = shelf.index(&files, Some(chat), Some(Arc::new(failing)), &one_by_one);
        let report = tokio::time::timeout(Duration::from_mins(1), run).await.expect("it hangs");
        assert_eq!((report.atomized, report.vectors), (40, 3 * good_calls));
        assert!(report.stopped.unwrap().contains("busy or does not answer"));
    }
}

/// A text with an unusable vector, such as one of zeros, gets none; all others get theirs. If no
/// vector is usable, the run ends.
#[tokio::test]
async fn texts_with_unusable_vectors_are_left_out() {
    let broken = || ModelError::Broken { model: "fake".to_owned(), source: "all zero".into() };
    let zero_for = |word: &'static str| {
        let vectors = move |texts: &[String]| match texts.iter().any(|text| text.contains(word)) {
            true => Err(broken()),
            false => Ok(HashEmbedder::new(8).vectors(texts)),
        };
        Arc::new(ScriptedEmbedder::by(vectors))
    };
    let shelf = Shelf::empty();
    let params = Params { embed_batch: 8, ..params() };
    let report = shelf.index(&many(8), None, Some(zero_for("Page 3")), &params).await;
    // Each page and its document have a vector, except one page.
    assert_eq!((report.vectors, &report.stopped), (2 * 8 - 1, &None), "{report:?}");
    let summary = shelf.base.summary().await.unwrap();
    let counted: Vec<_> =
        summary.refused.iter().map(|refused| (refused.cause, refused.count)).collect();
    assert_eq!(counted, [(RefusalCause::Unreadable, 1)]);
    // The next run does not ask for it again unless that is requested.
    let again = zero_for("Page 3");
    shelf.index(&many(8), None, Some(again.clone()), &params).await;
    assert_eq!(again.requests(), Vec::<Vec<String>>::new());

    let report = Shelf::empty().index(&many(8), None, Some(zero_for("e")), &params).await;
    assert!(report.stopped.unwrap().contains("breaks the protocol"));
}

/// A failed call leaves its chunk for the next run; a model that refuses every call ends this one.
#[tokio::test]
async fn failed_calls_are_listed_and_tried_again() {
    let files = many(12);
    let shelf = Shelf::empty();
    let moody = ScriptedChat::by_turn(|turn, request| match turn {
        2 | 5 => Err(busy("fake")),
        _ => Ok(two_questions(request)),
    });
    let one_by_one = Params { in_flight: 1, ..params() };
    let report = shelf.index(&files, Some(Arc::new(moody)), None, &one_by_one).await;
    assert_eq!((report.atomized, report.failures, report.failed.len()), (10, 2, 2));
    assert_eq!(report.stopped, None);
    assert!(report.failed[0].1.contains("fake is busy or does not answer"), "{report:?}");
    let chat = asking();
    let report = index(&shelf, &files, chat).await;
    assert!(report.is_whole());
    assert_eq!(chat.requests().len(), 2);

    let refusing = ScriptedChat::in_order(Vec::<String>::new());
    let refusing: &'static ScriptedChat =
        Box::leak(Box::new(refusing.with_latency(Duration::from_millis(1))));
    let shelf = Shelf::empty();
    let report = shelf.index(&files, Some(recorded(&shelf, refusing)), None, &one_by_one).await;
    assert!(report.stopped.is_some() && !report.over_budget, "{report:?}");
    // One more may have begun when the first failure was seen.
    assert!((1..=3).contains(&refusing.requests().len()), "{}", refusing.requests().len());
}

/// Refusals, however many in a row, stop neither their stage nor the next: rules replace the model,
/// the reason is kept, and on request the model is asked again. The base then equals that of a
/// willing model.
#[tokio::test]
async fn refused_chunks_are_marked_and_retried_on_request() {
    let files = many(12);
    let shelf = Shelf::empty();
    let filtering = ScriptedChat::by_turn(|turn, request| match turn {
        2..8 | 14..18 => Err(ModelError::Refused {
            model: "fake".to_owned(),
            source: "HTTP 400: the content filter was triggered".into(),
        }),
        _ => Ok(two_questions(request)),
    });
    let embedder = || Some(embedder(16));
    let params = Params { in_flight: 1, summarize: vec![Summarized::Sources], ..params() };
    let report = shelf.index(&files, Some(Arc::new(filtering)), embedder(), &params).await;
    assert_eq!((report.refused, report.failures, &report.stopped), (10, 0, &None), "{report:?}");
    assert!(report.refusals[0].1.contains("content filter"), "{report:?}");
    assert!(!report.is_whole());
    let summary = shelf.base.summary().await.unwrap();
    let counted: Vec<_> =
        summary.refused.iter().map(|refused| (refused.stage.as_str(), refused.count)).collect();
    assert_eq!(counted, [("atomize:question", 4), ("describe:source", 6)]);
    assert!(summary.refused[0].reason.contains("content filter"), "{:?}", summary.refused);
    assert_eq!(summary.pending, []);

    // Without a request nothing is asked again.
    let willing = asking();
    let report = shelf.index(&files, Some(recorded(&shelf, willing)), embedder(), &params).await;
    assert!(report.is_whole(), "{report:?}");
    assert_eq!(willing.requests().len(), 0);

    assert_eq!(shelf.base.retry_refused().await.unwrap(), 10);
    let report = shelf.index(&files, Some(recorded(&shelf, willing)), embedder(), &params).await;
    assert!(report.is_whole(), "{report:?}");
    assert_eq!(shelf.base.summary().await.unwrap().refused, []);
    let fresh = Shelf::empty();
    fresh.index(&files, Some(recorded(&fresh, asking())), embedder(), &params).await;
    assert_eq!(shelf.export(), fresh.export());
}

/// A question that several chunks of a document answer together leads to each of them; a document of one chunk needs no call.
/// Finished work costs nothing again, and a changed document is read again.
#[tokio::test]
async fn questions_of_sections_lead_to_all_their_chunks() {
    const BOTH: &str = "How do the crane and the tea differ?";
    let chat = ScriptedChat::by(|request| {
        let asked = pikerag_doubles::prompt(request).unwrap();
        Ok(match asked.contains("are a part of one document") {
            true => {
                format!(r#"{{"questions": [{{"question": "{BOTH}", "passages": [1, 2, 7]}}]}}"#)
            }
            false => two_questions(request),
        })
    });
    let chat: &'static ScriptedChat = Box::leak(Box::new(chat));
    let mut files = Files::from_iter([
        (
            "both.md",
            "# Crane\n\nThe crane lifts forty tons of coal.\n\n# Tea\n\nThe tea in the kitchen is very hot.",
        ),
        ("alone.md", "# Nets\n\nNets hold fish."),
    ]);
    let params = Params { summarize: vec![Summarized::Sections], ..params() };
    let shelf = Shelf::empty();
    let asked = async |files: &Files| -> (usize, Vec<String>) {
        let before = chat.requests().len();
        let report =
            shelf.index(files, Some(recorded(&shelf, chat)), Some(embedder(16)), &params).await;
        assert!(report.is_whole(), "{report:?}");
        let none = Stage("none".to_owned());
        let chunks = shelf.base.pending(&none, ChunkSet::Searchable, None, 99).await.unwrap();
        let atoms =
            shelf.base.atoms(AtomQuery::InChunks(AtomKind::Question, &chunks)).await.unwrap();
        let of_both = atoms.iter().filter(|atom| atom.text == BOTH);
        let mut titles = Vec::new();
        for atom in of_both {
            titles.push(shelf.base.chunks(&[atom.chunk]).await.unwrap()[0].full_title());
        }
        titles.sort();
        (chat.requests().len() - before, titles)
    };
    let titles = ["Crane", "Crane › Tea"].map(str::to_owned).to_vec();
    assert_eq!(asked(&files).await, (4, titles.clone()), "three chunks and one document");
    assert_eq!(asked(&files).await, (0, titles.clone()));
    files.0.get_mut("both.md").unwrap().push_str(" It is green.");
    assert_eq!(asked(&files).await.0, 2, "one chunk and its document");
    assert_eq!(shelf.base.summary().await.unwrap().pending, []);
}

/// Unreadable chunks do not count as new: there is no bill then.
#[tokio::test]
async fn a_base_that_cannot_be_read_gives_no_bill() {
    let mut files = Files::from_iter([("a.md", "# A\n\nThe crane lifts forty tons.")]);
    let shelf = Shelf::empty();
    index(&shelf, &files, asking()).await;
    let database = shelf.base.folder().join(pikerag_store::DATABASE);
    let connection = rusqlite::Connection::open(database).unwrap();
    connection.execute("UPDATE chunks SET headings = 'no list'", []).unwrap();
    files.0.get_mut("a.md").unwrap().push_str("\n\n# B\n\nThe tea is hot.");
    let paths = ["a.md".to_owned()];
    let (params, available) = (params(), Available::all());
    let bill = estimate(Some(&*shelf.base), &files, &paths, &params, &available).await;
    assert!(matches!(bill, Err(StoreError::Failed { .. })), "{bill:?}");
}

#[tokio::test]
async fn sentences_replace_unreadable_questions() {
    let files = Files::from_iter([("a.txt", "The crane lifts. The tea is hot.")]);
    let shelf = Shelf::empty();
    let chat = Arc::new(ScriptedChat::in_order(["I cannot.", "Really not."]));
    let report = shelf.index(&files, Some(chat.clone()), None, &params()).await;
    assert_eq!((report.unreadable, report.atomized, report.atoms), (1, 1, 2));
    assert!(report.is_whole());
    assert_eq!(atoms(&shelf).await, ["The crane lifts.", "The tea is hot."]);
    assert_eq!(chat.requests().len(), 2);
    // It counts as done: the next run makes no call.
    shelf.index(&files, Some(chat.clone()), None, &params()).await;
    assert_eq!(chat.requests().len(), 2);
}

#[tokio::test]
async fn repeated_questions_and_mere_pronouns_are_dropped_and_counted() {
    let files = Files::from_iter([("a.txt", "Ada wrote the first program.")]);
    let shelf = Shelf::empty();
    let chat = ScriptedChat::in_order([r#"{"questions": ["Who wrote the first program?",
        "who wrote the FIRST program", "What did she write?", "What did Ada write?"]}"#]);
    let report = shelf.index(&files, Some(Arc::new(chat)), None, &params()).await;
    assert_eq!((report.duplicates, report.pronouns, report.atoms), (1, 1, 2));
    assert_eq!(atoms(&shelf).await, ["Who wrote the first program?", "What did Ada write?"]);
}

#[tokio::test]
async fn a_new_embedder_recomputes_all_vectors_without_calls() {
    let files = many(5);
    let (shelf, chat) = (Shelf::empty(), asking());
    index(&shelf, &files, chat).await;
    let calls = chat.requests().len();
    let report =
        shelf.index(&files, Some(recorded(&shelf, chat)), Some(embedder(24)), &params()).await;
    assert_eq!((report.atomized, report.vectors), (0, 5 + 5 + 10));
    assert_eq!(chat.requests().len(), calls);
    assert_eq!(shelf.base.summary().await.unwrap().embedder.as_deref(), Some("hash-24"));
    let query = HashEmbedder::new(24).vectors(&["Page 3".to_owned()]);
    assert_eq!(nearest_chunks(shelf.base.as_ref(), &query, 9, -1.0).await.unwrap()[0].len(), 5);
    let again =
        shelf.index(&files, Some(recorded(&shelf, chat)), Some(embedder(24)), &params()).await;
    assert_eq!(again.vectors, 0);
}

/// The estimate equals the calls of indexing, and stored content costs nothing.
#[tokio::test]
async fn the_estimate_counts_the_calls() {
    let files = many(7);
    let paths: Vec<String> = files.0.keys().cloned().collect();
    let before = estimate(None, &files, &paths, &params(), &Available::all()).await.unwrap();
    let (shelf, chat) = (Shelf::empty(), asking());
    let part = Files(files.0.clone().into_iter().take(3).collect());
    index(&shelf, &part, chat).await;
    let rest =
        estimate(Some(&*shelf.base), &files, &paths, &params(), &Available::all()).await.unwrap();
    index(&shelf, &files, chat).await;
    assert_eq!((before.files, before.calls, chat.requests().len()), (7, 7, 7));
    assert_eq!((rest.files, rest.unchanged, rest.calls), (4, 3, 4));
    let after =
        estimate(Some(&*shelf.base), &files, &paths, &params(), &Available::all()).await.unwrap();
    assert_eq!((after.unchanged, after.calls, after.embedded_tokens), (7, 0, 0));
}

// The fixture.

const POOL: [&str; 8] = [
    "The crane lifts forty tons.",
    "Ilse Brandt designed the KX-40. She likes tea.",
    "起重机由青砚厂制造。它可吊四十吨。",
    "# Crane",
    "## Tea",
    "See [the crane](a0.md) and [the tea](b1.md).",
    "- first\n- second",
    "Varnsund has 41000 inhabitants, of whom many build cranes, drink tea and mend nets in winter.",
];

fn content() -> impl Strategy<Value = Vec<String>> {
    let paragraph = prop_oneof![
        3 => prop::sample::select(POOL.to_vec()).prop_map(str::to_owned),
        1 => "[A-Za-z][a-z 中文。.]{0,40}",
    ];
    prop::collection::vec(paragraph, 1..6)
}

/// Up to three files of four formats, named `{prefix}0.md` and so on.
fn corpus(prefix: &'static str) -> impl Strategy<Value = Files> {
    let endings = prop::sample::select(vec!["md", "txt", "csv", "jsonl"]);
    prop::collection::vec((endings, content()), 1..4).prop_map(move |files| {
        let mut corpus = Files::default();
        for (n, (ending, content)) in files.into_iter().enumerate() {
            let path = format!("{prefix}{n}.{ending}");
            let text = text_of(&path, &content);
            corpus.0.insert(path, text);
        }
        corpus
    })
}

fn text_of(path: &str, paragraphs: &[String]) -> String {
    let mut lines = Vec::new();
    for (n, paragraph) in paragraphs.iter().enumerate() {
        lines.push(match path.rsplit('.').next() {
            Some("csv") => format!("{n},\"{}\"\n", paragraph.replace('"', "")),
            Some("jsonl") => {
                let record = serde_json::json!({"title": format!("Record {n}"), "text": paragraph});
                format!("{record}\n")
            }
            _ => format!("{paragraph}\n\n"),
        });
    }
    lines.concat()
}

fn many(n: usize) -> Files {
    Files((0..n).map(|n| (format!("{n:02}.txt"), format!("Page {n} is here."))).collect())
}

fn params() -> Params {
    Params {
        chunks: ChunkParams { max_tokens: 16, overlap_tokens: 0 },
        atoms: vec![AtomKind::Question],
        embed_batch: 3,
        ..Params::default()
    }
}

fn embedder(dimension: usize) -> Arc<dyn Embedder> {
    Arc::new(HashEmbedder::new(dimension))
}

/// A model that finds two questions in every chunk, and counts its calls.
fn asking() -> &'static ScriptedChat {
    asking_slowly(0)
}

fn asking_slowly(milliseconds: u64) -> &'static ScriptedChat {
    let chat = ScriptedChat::by(|request| Ok(two_questions(request)));
    Box::leak(Box::new(chat.with_latency(Duration::from_millis(milliseconds))))
}

fn two_questions(request: &pikerag_knowledge::ChatRequest) -> String {
    let hash = blake3::hash(format!("{:?}", request.messages).as_bytes()).to_hex();
    let name = &hash[..8];
    format!(r#"{{"questions": ["What is X{name}?", "Who has X{name}?"]}}"#)
}

/// The model behind the base's own ledger, as in the product.
fn recorded(shelf: &Shelf, chat: &'static ScriptedChat) -> Arc<dyn ChatModel> {
    Arc::new(Recorded::new(chat, shelf.base.clone(), Mode::Record))
}

async fn index(shelf: &Shelf, files: &Files, chat: &'static ScriptedChat) -> Report {
    shelf.index(files, Some(recorded(shelf, chat)), Some(embedder(16)), &params()).await
}

/// The observable state of a base: its export, the chunks by word, the neighbours by vector.
#[derive(Debug, PartialEq)]
struct Seen {
    export: Vec<String>,
    words: Vec<BTreeSet<ChunkId>>,
    counts: Vec<usize>,
    close: Vec<Vec<Scored<ChunkId>>>,
}

async fn seen(shelf: &Shelf) -> Seen {
    let words = ["crane", "tea", "weight", "capacity", "record", "起重机"];
    let mut found = Vec::new();
    for word in words {
        let hits = shelf.base.matching_chunks(word, 999).await.unwrap();
        found.push(hits.into_iter().map(|hit| hit.item).collect());
    }
    let terms: Vec<String> = words.into_iter().flat_map(pikerag_language::query_terms).collect();
    let counts = shelf.base.term_counts(&terms).await.unwrap();
    let queries = HashEmbedder::new(16).vectors(&words.map(str::to_owned));
    let close = nearest_chunks(shelf.base.as_ref(), &queries, 999, -1.0).await.unwrap();
    Seen { export: shelf.export(), words: found, counts, close }
}

/// The texts of all question atoms, by chunk.
async fn atoms(shelf: &Shelf) -> Vec<String> {
    let mut chunks = Vec::new();
    shelf
        .base
        .export(|line| {
            if line["node"] == "chunk" {
                chunks.push(line["id"].as_str().unwrap().parse().unwrap());
            }
            Ok(())
        })
        .unwrap();
    let atoms = shelf.base.atoms(AtomQuery::InChunks(AtomKind::Question, &chunks)).await.unwrap();
    atoms.into_iter().map(|atom| atom.text).collect()
}
