//! Does the base keep what its two ports promise? (`KnowledgeBase`, `KnowledgeWriter`, `Ledger`)
#![cfg(test)]

use futures::future::join_all;
use pikerag_extract::{ChunkParams, document_graph};
use pikerag_knowledge::{
    Atom, AtomId, AtomKind, CallRecord, Child, ChunkId, Community, CommunityId, Entity, EntityId,
    EntityMention, ExtractBy, Extraction, FileRecord, KnowledgeBase, KnowledgeWriter, Ledger,
    NameKey, PutReport, RelationId, RelationMention, Report, SourceId, Stage, StoreError,
    Structure, Summary, SummaryId, Usage, Vector, VectorSet,
};
use pikerag_parse::{Limits, parse};
use pikerag_store::Base;
use tempfile::TempDir;

// What reasoning reads.

/// By cosine, ties by identifier; none below the least score, which itself counts; none of `exclude`.
#[tokio::test]
async fn the_nearest_chunks_in_order() {
    let (_folder, base) = fresh();
    let chunks = put_pages(&base, 6).await;
    let cosines = [0.4999, 0.5, 0.9, 0.9, 0.9, -1.0];
    let vectors = chunks.iter().zip(cosines).map(|(chunk, cosine)| (chunk.0, at(cosine))).collect();
    base.put_vectors(VectorSet::Chunks, "e", vectors).await.unwrap();
    let mut equals = chunks[2..5].to_vec();
    equals.sort_unstable();
    let [first, second, third] = equals[..] else { panic!() };

    let east = vec![at(1.0)];
    assert_eq!(near(&base, &east, 9, 0.5).await, [vec![first, second, third, chunks[1]]]);
    assert_eq!(near(&base, &east, 2, 0.5).await, [vec![first, second]]);
    assert_eq!(near(&base, &east, 9, -1.0).await[0].len(), 6);
    assert_eq!(near(&base, &east, 0, -1.0).await, [Vec::new()]);
    assert_eq!(near(&base, &[], 9, -1.0).await, Vec::<Vec<ChunkId>>::new());
    // One list per query, in the order of the queries; another length finds nothing.
    let queries = vec![at(-1.0), vec![1.0], at(1.0)];
    assert_eq!(near(&base, &queries, 1, 0.0).await, [vec![chunks[5]], vec![], vec![first]]);

    let unknown = ChunkId(7);
    let asked = [chunks[1], unknown, chunks[5]];
    let similar = base.similarities(&at(1.0), &asked).await.unwrap();
    assert_eq!(similar.len(), 3);
    for (found, exact) in similar.into_iter().zip([0.5_f32, 0.0, -1.0]) {
        assert!((found - exact).abs() < 0.01, "{found} {exact}");
    }
}

#[tokio::test]
async fn the_nearest_atoms_in_order_without_those_of_some_chunks() {
    let (_folder, base) = fresh();
    let chunks = put_pages(&base, 3).await;
    let mut all = Vec::new();
    for (chunk, texts) in chunks.iter().zip([["0.9", "0.6"], ["0.8", "0.5"], ["0.7", "0.4"]]) {
        all.push((*chunk, texts.map(|text| atom(*chunk, text)).to_vec()));
    }
    base.put_atoms(&questions(), all).await.unwrap();
    let set = VectorSet::Atoms(AtomKind::Question);
    let waiting = base.without_vector(set, "e", None, 99).await.unwrap();
    let vectors = waiting.into_iter().map(|(id, text)| (id, at(text.parse().unwrap()))).collect();
    base.put_vectors(set, "e", vectors).await.unwrap();
    let found = async |k, min_score, exclude: &[ChunkId]| -> Vec<String> {
        let kind = AtomKind::Question;
        let lists = base.nearest_atoms(kind, &[at(1.0)], k, min_score, exclude).await.unwrap();
        lists.into_iter().flatten().map(|hit| hit.item.text).collect()
    };
    assert_eq!(found(9, 0.5, &[]).await, ["0.9", "0.8", "0.7", "0.6", "0.5"]);
    assert_eq!(found(2, 0.5, &[]).await, ["0.9", "0.8"]);
    // What is left out makes room for others: k counts what is found.
    assert_eq!(found(2, 0.5, &chunks[..1]).await, ["0.8", "0.7"]);
    assert_eq!(found(9, -1.0, &chunks).await, Vec::<String>::new());
    let sentences = base.nearest_atoms(AtomKind::Sentence, &[at(1.0)], 9, -1.0, &[]).await;
    assert_eq!(sentences.unwrap(), [vec![]]);
}

#[tokio::test]
async fn atoms_come_by_chunk_in_their_own_order() {
    let (_folder, base) = fresh();
    let chunks = put_pages(&base, 2).await;
    let texts = |chunk, texts: [&str; 3]| (chunk, texts.map(|text| atom(chunk, text)).to_vec());
    let atoms = vec![texts(chunks[0], ["c?", "a?", "b?"]), texts(chunks[1], ["z?", "y?", "x?"])];
    base.put_atoms(&questions(), atoms).await.unwrap();
    let asked = [chunks[1], chunks[0]];
    let found = base.atoms_of(AtomKind::Question, &asked).await.unwrap();
    let found: Vec<&str> = found.iter().map(|atom| atom.text.as_str()).collect();
    assert_eq!(found, ["z?", "y?", "x?", "c?", "a?", "b?"]);
    assert_eq!(base.atoms_of(AtomKind::Sentence, &asked).await.unwrap(), []);
}

#[tokio::test]
async fn words_find_chunks_best_first() {
    let (_folder, base) = fresh();
    put(&base, "a.txt", "The crane lifts and lifts, a crane of cranes.").await;
    put(&base, "b.txt", "One crane stands among many other things in the harbour.").await;
    put(&base, "c.txt", "起重机很高。").await;
    assert_eq!(matching(&base, "crane", 9).await, ["a.txt", "b.txt"]);
    assert_eq!(matching(&base, "crane", 1).await, ["a.txt"]);
    assert_eq!(matching(&base, "harbour crane", 9).await, ["b.txt", "a.txt"]);
    assert_eq!(matching(&base, "起重机", 9).await, ["c.txt"]);
    for nothing in ["", "?!", "zebra"] {
        assert_eq!(matching(&base, nothing, 9).await, Vec::<String>::new());
    }
    assert_eq!(matching(&base, "crane", 0).await, Vec::<String>::new());
}

/// Equal scores are listed by identifier. Which of them a small `k` keeps is decided by the order in
/// which they came, not by identifier: wrong, and not worth scoring every match for.
#[tokio::test]
async fn equal_matches_are_listed_by_identifier() {
    let (_folder, base) = fresh();
    for path in ["p.txt", "q.txt", "r.txt", "s.txt", "t.txt"] {
        put(&base, path, "A crane.").await;
        base.refresh().await.unwrap();
    }
    let ids = async |k| -> Vec<ChunkId> {
        let found = base.matching_chunks("crane", k).await.unwrap();
        found.into_iter().map(|hit| hit.item).collect()
    };
    let all = ids(9).await;
    assert_eq!(all.len(), 5);
    assert!(all.is_sorted());
    assert!(ids(3).await.is_sorted());
}

/// Deleted chunks count no more, merged or not.
#[tokio::test]
async fn terms_are_counted_in_what_is_there() {
    let (_folder, base) = fresh();
    for path in ["a.txt", "b.txt", "c.txt"] {
        put(&base, path, "A crane.").await;
    }
    let terms = ["crane".to_owned(), "zebra".to_owned()];
    assert_eq!(base.term_counts(&terms).await.unwrap(), [3, 0]);
    base.delete_file("b.txt").await.unwrap();
    assert_eq!(base.term_counts(&terms).await.unwrap(), [2, 0]);
    let scores = base.term_scores(&terms).await.unwrap();
    assert_eq!((scores[0].len(), scores[1].len()), (2, 0));
    assert!(scores[0].iter().all(|hit| 0.0 < hit.score));
    assert_eq!(base.term_scores(&[]).await.unwrap(), Vec::<Vec<_>>::new());
}

#[tokio::test]
async fn what_is_missing_is_an_error() {
    let (_folder, base) = fresh();
    let chunks = put_pages(&base, 1).await;
    assert_eq!(base.chunks(&[]).await.unwrap(), []);
    let twice = base.chunks(&[chunks[0], chunks[0]]).await.unwrap();
    assert_eq!(twice[0], twice[1]);
    let error = base.chunks(&[chunks[0], ChunkId(7)]).await.unwrap_err();
    assert!(matches!(error, StoreError::Missing { .. }));
    insta::assert_snapshot!(error, @"chunk 0000000000000007 is not in the knowledge base");
    let error = base.source_text(SourceId(7)).await.unwrap_err();
    insta::assert_snapshot!(error, @"source 0000000000000007 is not in the knowledge base");
}

#[tokio::test]
async fn names_are_borne_mentioned_and_linked() {
    let (_folder, base) = fresh();
    put(&base, "crane.md", "# Big Crane\n\nIt belongs to [the yard](yard.md) of Ilse Brandt.")
        .await;
    put(&base, "yard.md", "# The Yard\n\nIlse Brandt owns it.").await;
    let [crane, yard] = [one(&base, "crane.md"), one(&base, "yard.md")];
    let names = ["big crane", "yard", "ilse brandt"].map(NameKey::of_folded);
    let borne = base.chunks_by_title(&names).await.unwrap();
    assert_eq!(borne, [vec![(crane, 100)], vec![(yard, 100)], vec![]]);
    let mentions = base.mentions(&names[2..], 2).await.unwrap();
    let mut both = [crane, yard];
    both.sort_unstable();
    assert_eq!((mentions[0].count, &mentions[0].chunks[..]), (2, &both[..]));
    // More than asked for: the count says so, and nobody is named.
    let mentions = base.mentions(&names[2..], 1).await.unwrap();
    assert_eq!((mentions[0].count, mentions[0].chunks.len()), (2, 0));
    let links = base.links_of(&[yard, crane]).await.unwrap();
    assert_eq!(links[0], []);
    assert_eq!(base.chunks_by_title(&links[1]).await.unwrap(), [vec![(yard, 100)]]);
    // A name that is gone is borne by nobody.
    base.delete_file("yard.md").await.unwrap();
    assert_eq!(base.chunks_by_title(&names[1..2]).await.unwrap(), [vec![]]);
}

// What indexing writes.

#[tokio::test]
async fn storing_a_file_says_what_changed() {
    let (_folder, base) = fresh();
    let report = |added, kept, removed| PutReport { added, kept, removed };
    let three = "# A\n\nOne.\n\n# B\n\nTwo.\n\n# C\n\nThree.";
    let other = "# A\n\nOne.\n\n# C\n\nThree.\n\n# D\n\nFour.\n\n# E\n\nFive.";
    assert_eq!(put(&base, "a.md", three).await, report(3, 0, 0));
    assert_eq!(put(&base, "a.md", three).await, report(0, 3, 0));
    let kept = one_of(&base, "Three").await;
    base.put_atoms(&questions(), vec![(kept, vec![atom(kept, "q?")])]).await.unwrap();
    assert_eq!(put(&base, "a.md", other).await, report(2, 2, 1));
    assert_eq!(base.atoms_of(AtomKind::Question, &[kept]).await.unwrap().len(), 1);
    assert_eq!(base.chunk_count().await.unwrap(), 4);
    assert_eq!(base.files().await.unwrap(), [record("a.md", other)]);
    assert_eq!(base.file("a.md").await.unwrap(), Some(record("a.md", other)));
    assert_eq!(base.file("b.md").await.unwrap(), None);
    // A file of records that loses one.
    let two = "{\"id\": \"x\", \"text\": \"One.\"}\n{\"id\": \"y\", \"text\": \"Two.\"}\n";
    assert_eq!(put(&base, "r.jsonl", two).await, report(2, 0, 0));
    let (first, _) = two.split_once('\n').unwrap();
    assert_eq!(put(&base, "r.jsonl", first).await, report(0, 1, 1));
    let uris: Vec<String> = base.sources().await.unwrap().into_iter().map(|it| it.uri).collect();
    assert_eq!(uris, ["a.md", "r.jsonl#x"]);
}

#[tokio::test]
async fn deleting_takes_all_that_derives_from_a_file() {
    let (_folder, base) = fresh();
    let chunks = put_pages(&base, 1).await;
    base.put_atoms(&questions(), vec![(chunks[0], vec![atom(chunks[0], "q?")])]).await.unwrap();
    fill_vectors(&base, VectorSet::Chunks, "e").await;
    fill_vectors(&base, VectorSet::Atoms(AtomKind::Question), "e").await;
    assert_eq!(base.summary().await.unwrap().vectors, 2);
    assert!(base.delete_file("00.txt").await.unwrap());
    assert!(!base.delete_file("00.txt").await.unwrap());
    assert_eq!(base.summary().await.unwrap(), pikerag_knowledge::BaseSummary::default());
    assert_eq!(near(&base, &[at(1.0)], 9, -1.0).await, [vec![]]);
    assert_eq!(matching(&base, "page", 9).await, Vec::<String>::new());
    // Results that come too late for it are dropped.
    base.put_atoms(&questions(), vec![(chunks[0], vec![atom(chunks[0], "q?")])]).await.unwrap();
    base.put_vectors(VectorSet::Chunks, "e", vec![(chunks[0].0, at(1.0))]).await.unwrap();
    assert_eq!(base.summary().await.unwrap(), pikerag_knowledge::BaseSummary::default());
}

#[tokio::test]
async fn chunks_wait_for_each_stage_page_by_page() {
    let (_folder, base) = fresh();
    let mut chunks = put_pages(&base, 7).await;
    chunks.sort_unstable();
    let (stage, other) = (questions(), Stage::atomize(AtomKind::Sentence));
    assert_eq!(base.pending(&stage, None, 3).await.unwrap(), chunks[..3]);
    assert_eq!(base.pending(&stage, Some(chunks[2]), 3).await.unwrap(), chunks[3..6]);
    assert_eq!(base.pending(&stage, Some(chunks[5]), 3).await.unwrap(), chunks[6..]);
    assert_eq!(base.pending(&stage, Some(chunks[6]), 3).await.unwrap(), []);
    assert_eq!(base.pending(&stage, None, 0).await.unwrap(), []);
    // Done is done, even without an atom; the other stage does not know.
    base.put_atoms(&stage, vec![(chunks[1], vec![])]).await.unwrap();
    assert_eq!(base.pending(&stage, None, 2).await.unwrap(), [chunks[0], chunks[2]]);
    assert_eq!(base.pending(&other, None, usize::MAX).await.unwrap(), chunks);
    assert_eq!(base.summary().await.unwrap().pending, [(stage.0, 6)]);
}

#[tokio::test]
async fn vectors_of_another_embedder_are_missing_ones() {
    let (_folder, base) = fresh();
    let chunks = put_pages(&base, 3).await;
    fill_vectors(&base, VectorSet::Chunks, "old").await;
    assert_eq!(base.without_vector(VectorSet::Chunks, "old", None, 99).await.unwrap(), []);
    let missing = base.without_vector(VectorSet::Chunks, "new", None, 2).await.unwrap();
    assert_eq!(missing.len(), 2);
    assert!(missing.iter().all(|(_, text)| text.contains("Page")), "{missing:?}");
    let after = missing.last().map(|(id, _)| *id);
    let rest = base.without_vector(VectorSet::Chunks, "new", after, 99).await.unwrap();
    assert_eq!(rest.len(), 1);
    assert!(!missing.contains(&rest[0]), "{rest:?}");
    // Of another length, too: what was made anew is found, what was not is left out.
    let all = base.without_vector(VectorSet::Chunks, "new", None, 99).await.unwrap();
    let vectors = all.iter().map(|(id, _)| (*id, vec![0.0, 0.0, 1.0])).collect();
    base.put_vectors(VectorSet::Chunks, "new", vectors).await.unwrap();
    assert_eq!(base.without_vector(VectorSet::Chunks, "new", None, 99).await.unwrap(), []);
    assert_eq!(near(&base, &[vec![0.0, 0.0, 1.0]], 9, 0.9).await[0].len(), chunks.len());
    assert_eq!(near(&base, &[at(1.0)], 9, -1.0).await, [vec![]]);
    let summary = base.summary().await.unwrap();
    assert_eq!((summary.vectors, summary.embedder.as_deref()), (3, Some("new")));
}

// What stays when the process goes.

/// Nothing was refreshed before the end: the next process finds it all the same.
#[tokio::test]
async fn the_indexes_follow_a_crash() {
    let (folder, base) = fresh();
    put(&base, "a.txt", "A crane.").await;
    base.refresh().await.unwrap();
    put(&base, "b.txt", "A heron.").await;
    base.delete_file("a.txt").await.unwrap();
    fill_vectors(&base, VectorSet::Chunks, "e").await;
    drop(base);
    let base = Base::open(folder.path()).unwrap();
    assert_eq!(matching(&base, "heron", 9).await, ["b.txt"]);
    assert_eq!(matching(&base, "crane", 9).await, Vec::<String>::new());
    assert_eq!(near(&base, &[at(1.0)], 9, -1.0).await[0].len(), 1);
    drop(base);
    // They are derived: without them, or with damaged ones, they are made anew.
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            std::fs::remove_dir_all(path).unwrap();
        } else if path.extension().is_some_and(|ending| ending == "codes") {
            std::fs::write(path, "damaged").unwrap();
        }
    }
    let base = Base::open(folder.path()).unwrap();
    assert_eq!(matching(&base, "heron", 9).await, ["b.txt"]);
    assert_eq!(near(&base, &[at(1.0)], 9, -1.0).await[0].len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sixty_four_calls_are_kept_at_once() {
    let (folder, base) = fresh();
    let mut tasks = Vec::new();
    for n in 0..64 {
        let base = base.clone();
        tasks.push(tokio::spawn(async move {
            let call = call(n, "first");
            base.keep(&call).await.unwrap();
            // Kept means kept: whoever awaited it can read it at once.
            assert_eq!(base.find(&call.key).await.unwrap(), Some(call));
        }));
    }
    join_all(tasks).await.into_iter().for_each(Result::unwrap);
    base.keep(&call(5, "second")).await.unwrap();
    assert_eq!(base.find("key 5").await.unwrap(), Some(call(5, "first")));
    assert_eq!(base.find("key 64").await.unwrap(), None);
    drop(base);
    let base = Base::open(folder.path()).unwrap();
    assert_eq!(base.find("key 63").await.unwrap(), Some(call(63, "first")));
    let summary = base.summary().await.unwrap();
    assert_eq!((summary.calls, summary.usage.prompt_tokens), (64, 64 * 3));
}

#[test]
fn what_is_not_ours_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("base.sqlite");
    let refused = |reason: &str| {
        let Err(error) = Base::open(folder.path()) else { panic!("opened: {reason}") };
        assert!(matches!(error, StoreError::NotOurs { .. }), "{error:?}");
        let error = error.to_string();
        assert!(error.contains(reason), "{error}");
    };
    refused("there is no knowledge base yet");
    assert!(!path.exists(), "opening makes nothing");

    let letter = "Dear reader, this is no database at all, however long it may be.".repeat(99);
    std::fs::write(&path, &letter).unwrap();
    refused("it is no database");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), letter);
    std::fs::remove_file(&path).unwrap();

    drop(Base::open_or_create(folder.path()).unwrap());
    let connection = rusqlite::Connection::open(&path).unwrap();
    let layout: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    connection.pragma_update(None, "user_version", layout + 1).unwrap();
    drop(connection);
    let newer = layout + 1;
    refused(&format!(
        "it has layout {newer}, and this version of pikerag knows layouts up to {layout}"
    ));
}

/// Somebody else's database gets no tables of ours.
#[test]
fn a_foreign_database_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("base.sqlite");
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch("CREATE TABLE notes (text TEXT)").unwrap();
    for version in [0, 1] {
        connection.pragma_update(None, "user_version", version).unwrap();
        let Err(error) = Base::open(folder.path()) else { panic!("opened") };
        assert!(matches!(error, StoreError::NotOurs { .. }), "{error:?}");
    }
    drop(connection);
    let connection = rusqlite::Connection::open(&path).unwrap();
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).unwrap();
    assert_eq!(tables, 1);
}

#[tokio::test]
async fn an_export_depends_on_the_content_alone() {
    let files = [
        ("b.md", "# B\n\nSee [a](a.md).\n\n## Part\n\nMore."),
        ("a.md", "# A\n\nText."),
        ("c.csv", "name,born\nAda,1815\n"),
    ];
    let mut exports = Vec::new();
    for order in [[0, 1, 2], [2, 1, 0]] {
        let (folder, base) = fresh();
        for n in order {
            put(&base, files[n].0, files[n].1).await;
        }
        exports.push(export(&base));
        drop(base);
        exports.push(export(&Base::open(folder.path()).unwrap()));
    }
    assert!(exports.iter().all(|export| *export == exports[0]));
    let uris: Vec<&str> = exports[0]
        .iter()
        .filter(|line| line["node"] == "source")
        .map(|line| line["uri"].as_str().unwrap())
        .collect();
    assert_eq!(uris, ["a.md", "b.md", "c.csv"]);
    let count = |edge: &str| exports[0].iter().filter(|line| line["edge"] == edge).count();
    assert_eq!((count("refers_to"), count("next")), (1, 1));
    // Nodes first, then edges.
    assert!(exports[0].is_sorted_by_key(|line| line.get("edge").is_some()));
}

/// Each handle sees at its next call what the other has committed.
#[tokio::test]
async fn two_handles_see_each_other() {
    let (folder, one) = fresh();
    let other = Base::open(folder.path()).unwrap();
    put(&one, "a.txt", "A crane.").await;
    assert_eq!(matching(&other, "crane", 9).await, ["a.txt"]);
    put(&other, "heron.txt", "A crane, too.").await;
    assert_eq!(matching(&one, "crane", 9).await.len(), 2);
    fill_vectors(&other, VectorSet::Chunks, "e").await;
    assert_eq!(near(&one, &[at(1.0)], 9, -1.0).await[0].len(), 2);
    let key = [NameKey::of_folded("heron")];
    assert_eq!(one.chunks_by_title(&key).await.unwrap()[0].len(), 1);
    one.delete_file("heron.txt").await.unwrap();
    assert_eq!(other.chunks_by_title(&key).await.unwrap()[0].len(), 0);
    assert_eq!(matching(&other, "crane", 9).await, ["a.txt"]);
    assert_eq!(near(&other, &[at(1.0)], 9, -1.0).await[0].len(), 1);
    one.keep(&call(1, "x")).await.unwrap();
    assert_eq!(other.find("key 1").await.unwrap(), Some(call(1, "x")));
}

/// Both write at the same time, and nothing is lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_handles_write_at_once() {
    let (folder, one) = fresh();
    let other = Base::open(folder.path()).unwrap();
    let mut tasks = Vec::new();
    for n in 0..16 {
        let base = if n % 2 == 0 { one.clone() } else { other.clone() };
        tasks.push(tokio::spawn(async move {
            put(&base, &format!("{n}.txt"), "A crane.").await;
            base.keep(&call(n, "x")).await.unwrap();
            matching(&base, "crane", 99).await
        }));
    }
    join_all(tasks).await.into_iter().for_each(|task| drop(task.unwrap()));
    for base in [one, other] {
        assert_eq!(matching(&base, "crane", 99).await.len(), 16);
        assert_eq!(base.summary().await.unwrap().calls, 16);
    }
}

// Entities, communities, summaries.

/// An entity is what its chunks say together, in reading order, and lives while one of them mentions it.
#[tokio::test]
async fn entities_live_by_their_mentions() {
    let (_folder, base) = fresh();
    let chunks = put_pages(&base, 3).await;
    let found = vec![
        (chunks[2], extraction(&[("Oslo", "town", "On a fjord."), ("Bergen", "", "")])),
        (chunks[0], extraction(&[("Oslo", "city", "A capital."), ("Bergen", "town", "Rainy.")])),
        (chunks[1], extraction(&[("OSLO", "city", "A capital.")])),
    ];
    base.put_extractions(ExtractBy::Model, found).await.unwrap();
    for by in [ExtractBy::Model, ExtractBy::Names] {
        assert_eq!(base.pending(&Stage::extract(by), None, 9).await.unwrap(), []);
    }
    let ids = [entity("bergen"), EntityId(7), entity("oslo")];
    let told = async || -> Vec<String> {
        let found = base.entities(&ids).await.unwrap();
        let line = |e: Entity| format!("{} ({}): {}", e.name, e.kind, e.description);
        found.into_iter().map(line).collect()
    };
    assert_eq!(told().await, ["Bergen (town): Rainy.", "Oslo (city): A capital. On a fjord."]);
    let related = async || {
        let found = base.relations_of(&[entity("bergen")]).await.unwrap();
        found.into_iter().map(|relation| relation.weight).collect::<Vec<_>>()
    };
    assert_eq!(related().await, [4.0]);
    for (of, other) in [("oslo", "bergen"), ("bergen", "oslo")] {
        assert_eq!(base.related_to(&[entity(of)], 9).await.unwrap(), [entity(other)]);
    }
    assert_eq!(base.related_to(&ids[..1], 0).await.unwrap(), []);
    assert_eq!(base.related_to(&ids, 9).await.unwrap(), []);
    let mentioning = base.chunks_mentioning(&ids).await.unwrap();
    assert_eq!(mentioning, [vec![chunks[0], chunks[2]], vec![], chunks.clone()]);
    assert_eq!(base.entities_in(&chunks[1..2]).await.unwrap(), [vec![entity("oslo")]]);
    // What a chunk said before is forgotten when it is read again.
    let again = vec![(chunks[0], extraction(&[("Oslo", "city", "A capital.")]))];
    base.put_extractions(ExtractBy::Model, again).await.unwrap();
    assert_eq!(related().await, [2.0]);
    base.delete_file("02.txt").await.unwrap();
    // Of two spellings used alike, the first in the alphabet.
    assert_eq!(told().await, ["OSLO (city): A capital."]);
    assert_eq!(related().await, Vec::<f64>::new());
    let outline = base.outline().await.unwrap();
    assert_eq!((outline.entities.len(), outline.relations.len()), (1, 0));
    // A chunk that is gone says nothing.
    let gone = vec![(chunks[2], extraction(&[("Rome", "", "")]))];
    base.put_extractions(ExtractBy::Model, gone).await.unwrap();
    assert_eq!(base.entities(&[entity("rome")]).await.unwrap(), []);
}

/// All that was made of what a chunk said goes with it; what was made of the rest stays.
#[tokio::test]
async fn what_was_made_of_a_deleted_chunk_goes_at_once() {
    let (_folder, base) = fresh();
    let chunks = put_pages(&base, 3).await;
    let found = vec![
        (chunks[0], extraction(&[("Oslo", "", "One."), ("Bergen", "", "")])),
        (chunks[1], extraction(&[("Oslo", "", "Two.")])),
        (chunks[2], extraction(&[("Rome", "", "Three."), ("Milan", "", "")])),
    ];
    base.put_extractions(ExtractBy::Names, found).await.unwrap();
    let long = base.long_descriptions(7).await.unwrap();
    let named: Vec<&str> = long.iter().map(|long| long.name.as_str()).collect();
    assert!(named.contains(&"Oslo"), "{named:?}");
    let made = long.iter().map(|long| (long.node, long.key(), "In short.".to_owned())).collect();
    base.put_descriptions(made).await.unwrap();
    assert_eq!(base.long_descriptions(7).await.unwrap(), []);
    // Made of something else than what is said now.
    base.put_descriptions(vec![(entity("rome").0, 7, "Wrong.".to_owned())]).await.unwrap();
    fill_vectors(&base, VectorSet::Entities, "e").await;

    let generation = base.generation().await.unwrap();
    let north = community(1, 0, None, &["oslo", "bergen"]);
    let communities = vec![
        north.clone(),
        community(2, 1, Some(1), &["oslo"]),
        community(3, 0, None, &["rome", "milan"]),
    ];
    assert!(!base.put_communities(generation - 1, communities.clone()).await.unwrap());
    assert!(base.put_communities(generation, communities.clone()).await.unwrap());
    let report = |title: &str| Report { title: title.to_owned(), ..Report::default() };
    let reports = [(1, "north"), (2, "town"), (3, "south"), (4, "nowhere")];
    let reports = reports.map(|(id, title)| (CommunityId(id), report(title))).to_vec();
    base.put_reports(reports).await.unwrap();
    // Communities that stay keep their reports.
    assert!(base.put_communities(generation, communities).await.unwrap());
    let titles = async || -> Vec<String> {
        let held = base.communities().await.unwrap();
        held.into_iter().map(|held| held.report.unwrap().title).collect()
    };
    assert_eq!(titles().await, ["north", "south", "town"]);
    let of = base.communities_of(&[entity("bergen")]).await.unwrap();
    assert_eq!(of, [Community { report: Some(report("north")), ..north }]);

    let leaf = |n: u64, chunks: &[ChunkId]| summary(n, 1, chunks.iter().map(|c| Child::Chunk(*c)));
    let above = |n, level, below: &[u64]| {
        summary(n, level, below.iter().map(|id| Child::Summary(SummaryId(*id))))
    };
    let tree = vec![
        leaf(11, &chunks[..2]),
        leaf(12, &chunks[2..]),
        above(21, 2, &[11]),
        above(22, 2, &[12]),
        above(31, 3, &[21, 22]),
        above(32, 3, &[99]),
    ];
    base.put_summaries(tree).await.unwrap();
    fill_vectors(&base, VectorSet::Summaries, "e").await;
    let held = async || -> Vec<u64> {
        let ids = [11, 12, 21, 22, 31, 32].map(SummaryId);
        base.summaries(&ids).await.unwrap().into_iter().map(|summary| summary.id.0).collect()
    };
    assert_eq!(held().await, [11, 12, 21, 22, 31]);
    assert_eq!(base.nearest(VectorSet::Summaries, &[at(1.0)], 9, -1.0).await.unwrap()[0].len(), 5);

    base.delete_file("01.txt").await.unwrap();
    assert_eq!(titles().await, ["south"]);
    assert_eq!(held().await, [12, 22]);
    let oslo = base.entities(&[entity("oslo")]).await.unwrap();
    assert_eq!(oslo[0].description, "One.");
    let vectors = base.vectors(VectorSet::Entities, &[entity("oslo").0, entity("rome").0]).await;
    assert_eq!(vectors.unwrap(), [None, Some(at(1.0))]);
    assert_eq!(base.nearest(VectorSet::Summaries, &[at(1.0)], 9, -1.0).await.unwrap()[0].len(), 2);
    let all = export(&base).iter().map(ToString::to_string).collect::<String>();
    assert!(!all.contains("Two.") && all.contains("Three."), "{all}");
    base.keep_summaries(1, &[]).await.unwrap();
    assert_eq!(held().await, Vec::<u64>::new());
}

#[tokio::test]
async fn structures_are_wanted_until_they_are_built_anew() {
    let (_folder, base) = fresh();
    assert_eq!(base.structures().await.unwrap(), []);
    base.mark_built(Structure::Graph, "1").await.unwrap();
    assert_eq!(base.structures().await.unwrap(), []);
    base.request(Structure::Tree).await.unwrap();
    base.request(Structure::Graph).await.unwrap();
    base.mark_built(Structure::Graph, "1").await.unwrap();
    base.request(Structure::Graph).await.unwrap();
    let wanted = [(Structure::Graph, "1".to_owned()), (Structure::Tree, String::new())];
    assert_eq!(base.structures().await.unwrap(), wanted);
}

// The fixture.

fn fresh() -> (TempDir, Base) {
    let folder = tempfile::tempdir().unwrap();
    let base = Base::open_or_create(folder.path()).unwrap();
    (folder, base)
}

fn record(path: &str, text: &str) -> FileRecord {
    let hash = blake3::hash(text.as_bytes()).to_hex().to_string();
    FileRecord { path: path.to_owned(), hash, recipe: "r".to_owned() }
}

async fn put(base: &Base, path: &str, text: &str) -> PutReport {
    let parsed = parse(path, text.as_bytes(), &Limits::default(), &pikerag_parse::NoTools).unwrap();
    let graph = |document| document_graph(path, document, ChunkParams::default());
    let graphs = parsed.documents.into_iter().map(graph).collect();
    base.put_file(&record(path, text), graphs).await.unwrap()
}

/// Files `00.txt` and on, of one chunk each; their chunks by file.
async fn put_pages(base: &Base, n: usize) -> Vec<ChunkId> {
    let mut chunks = Vec::new();
    for page in 0..n {
        let path = format!("{page:02}.txt");
        put(base, &path, &format!("Page {page} is here.")).await;
        chunks.push(one(base, &path));
    }
    chunks
}

/// The one chunk of a file.
fn one(base: &Base, path: &str) -> ChunkId {
    let source = SourceId::of(path).to_string();
    let lines = export(base);
    let chunk = lines.iter().find(|line| line["node"] == "chunk" && line["source"] == source);
    chunk.unwrap()["id"].as_str().unwrap().parse().unwrap()
}

/// The chunk with this word.
async fn one_of(base: &Base, word: &str) -> ChunkId {
    base.matching_chunks(word, 1).await.unwrap()[0].item
}

fn atom(chunk: ChunkId, text: &str) -> Atom {
    let id = AtomId::of(chunk, "question", text);
    Atom { id, chunk, kind: AtomKind::Question, text: text.to_owned() }
}

fn questions() -> Stage {
    Stage::atomize(AtomKind::Question)
}

/// A unit vector with this cosine to the first axis.
fn at(cosine: f32) -> Vector {
    vec![cosine, (1.0 - cosine * cosine).sqrt()]
}

async fn fill_vectors(base: &Base, set: VectorSet, embedder: &str) {
    let missing = base.without_vector(set, embedder, None, 99).await.unwrap();
    let vectors = missing.into_iter().map(|(id, _)| (id, at(1.0))).collect();
    base.put_vectors(set, embedder, vectors).await.unwrap();
}

async fn near(base: &Base, queries: &[Vector], k: usize, min_score: f32) -> Vec<Vec<ChunkId>> {
    let lists = base.nearest_chunks(queries, k, min_score).await.unwrap();
    lists.into_iter().map(|list| list.into_iter().map(|hit| hit.item).collect()).collect()
}

/// The URIs of the chunks that words find.
async fn matching(base: &Base, words: &str, k: usize) -> Vec<String> {
    let hits = base.matching_chunks(words, k).await.unwrap();
    let ids: Vec<ChunkId> = hits.into_iter().map(|hit| hit.item).collect();
    base.chunks(&ids).await.unwrap().into_iter().map(|chunk| chunk.uri).collect()
}

fn entity(folded: &str) -> EntityId {
    EntityId::of_folded(folded)
}

/// These entities (name, kind, description), each related to the next one with a weight of 2.
fn extraction(entities: &[(&str, &str, &str)]) -> Extraction {
    let mention = |(name, kind, description): &(&str, &str, &str)| EntityMention {
        id: entity(&name.to_lowercase()),
        name: (*name).to_owned(),
        kind: (*kind).to_owned(),
        description: (*description).to_owned(),
    };
    let entities: Vec<EntityMention> = entities.iter().map(mention).collect();
    let relation = |pair: &[EntityMention]| RelationMention {
        id: RelationId::of(pair[0].id, pair[1].id),
        subject: pair[0].id,
        object: pair[1].id,
        description: "near".to_owned(),
        weight: 2.0,
    };
    Extraction { relations: entities.windows(2).map(relation).collect(), entities }
}

fn community(id: u64, level: u8, parent: Option<u64>, members: &[&str]) -> Community {
    let mut members: Vec<EntityId> = members.iter().map(|name| entity(name)).collect();
    members.sort_unstable();
    let parent = parent.map(CommunityId);
    Community { id: CommunityId(id), level, parent, members, report: None }
}

fn summary(id: u64, level: u8, children: impl Iterator<Item = Child>) -> Summary {
    let text = format!("Summary {id}.");
    Summary { id: SummaryId(id), level, text, children: children.collect() }
}

fn call(n: u64, reply: &str) -> CallRecord {
    CallRecord {
        key: format!("key {n}"),
        role: "answer".to_owned(),
        model: "m".to_owned(),
        request: "{}".to_owned(),
        reply: reply.to_owned(),
        usage: Usage { prompt_tokens: 3, completion_tokens: n },
    }
}

fn export(base: &Base) -> Vec<pikerag_store::ExportLine> {
    let mut lines = Vec::new();
    base.export(|line| {
        lines.push(line);
        Ok(())
    })
    .unwrap();
    lines
}
