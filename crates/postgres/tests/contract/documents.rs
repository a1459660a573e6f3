//! Tests how documents, corrections and originals are stored in PostgreSQL.

use futures::future::join_all;
use pikerag_contract::{passages, record};
use pikerag_knowledge::{ChunkId, CorpusReader, CorpusWriter, Correction, PutReport, Which};

use super::server::Fresh;

fn correction(old: &str) -> Correction {
    let (fragment, new, by) = (String::new(), "new".to_owned(), "ada".to_owned());
    Correction { fragment, old: old.to_owned(), new, by, at: 1 }
}

#[tokio::test]
async fn corrections_of_the_same_moment_are_all_kept() {
    let Some(fresh) = Fresh::new().await else { return };
    let base = &fresh.base;
    let olds = ["one", "two", "three", "four"];
    let adding = olds.map(|old| base.add_corrections("a.md", "hash", vec![correction(old)]));
    assert!(join_all(adding).await.iter().all(Result::is_ok));
    let kept = base.corrections("a.md", "hash").await.unwrap();
    assert_eq!(kept.len(), olds.len());
    let removing = [0, 0].map(|place| base.remove_correction("a.md", "hash", place));
    assert!(join_all(removing).await.iter().all(Result::is_ok));
    assert_eq!(base.corrections("a.md", "hash").await.unwrap(), kept[2..]);
    assert_eq!(base.remove_correction("a.md", "hash", 2).await.unwrap(), None);
    fresh.remove().await;
}

#[tokio::test]
async fn a_moved_file_keeps_its_corrections() {
    let Some(fresh) = Fresh::new().await else { return };
    let base = &fresh.base;
    base.put_file(&record("old.md", "hash"), Vec::new()).await.unwrap();
    let kept = base.add_corrections("old.md", "hash", vec![correction("one")]).await.unwrap();
    assert!(base.delete_file("old.md").await.unwrap());
    base.put_file(&record("new.md", "hash"), Vec::new()).await.unwrap();
    assert_eq!(base.corrections("new.md", "hash").await.unwrap(), kept);
    assert_eq!(base.corrections("old.md", "other").await.unwrap(), []);
    fresh.remove().await;
}

#[tokio::test]
async fn texts_with_any_character_come_back() {
    let Some(fresh) = Fresh::new().await else { return };
    let base = &fresh.base;
    let graph = passages("a\u{f8fe}.md", &["nul \0 and", " private \u{f8fe}0", " 起重机"]);
    let report = base.put_file(&record("a\u{f8fe}.md", "1"), vec![graph.clone()]).await.unwrap();
    assert_eq!(report, PutReport { added: 3, kept: 0, removed: 0 });
    assert_eq!(base.source_text(graph.source.id).await.unwrap(), graph.text);
    assert_eq!(base.sources(Which::All).await.unwrap(), std::slice::from_ref(&graph.source));
    let ids: Vec<ChunkId> = graph.chunks.iter().map(|chunk| chunk.id).rev().collect();
    let mut chunks = base.chunks(&ids).await.unwrap();
    chunks.reverse();
    assert_eq!(chunks, graph.chunks);
    assert!(base.delete_file("a\u{f8fe}.md").await.unwrap());
    assert_eq!(base.chunks(&ids).await.unwrap(), []);
    fresh.remove().await;
}

/// A statement holds no row twice, so they are written one after another.
#[tokio::test]
async fn chunks_with_one_identity_are_stored_once() {
    let Some(fresh) = Fresh::new().await else { return };
    let base = &fresh.base;
    let graph = passages("a.md", &["same", "other", "same"]);
    base.put_file(&record("a.md", "1"), vec![graph.clone()]).await.unwrap();
    let chunks = base.first_chunks(graph.source.id, 10).await.unwrap();
    let ordinals: Vec<u32> = chunks.iter().map(|chunk| chunk.ordinal).collect();
    assert_eq!(ordinals, [1, 2]);
    fresh.remove().await;
}

#[tokio::test]
async fn an_original_goes_with_the_last_file_that_has_it() {
    let Some(fresh) = Fresh::new().await else { return };
    let base = &fresh.base;
    assert!(!base.keep_original("bytes", vec![1, 2]).await.unwrap());
    for path in ["a.md", "b.md"] {
        base.put_file(&record(path, "bytes"), Vec::new()).await.unwrap();
    }
    assert_eq!(base.files_without_original().await.unwrap().len(), 2);
    assert!(base.keep_original("bytes", vec![1, 2]).await.unwrap());
    let counted = base.originals().await.unwrap();
    assert_eq!((counted.files, counted.without, counted.bytes), (2, 0, 2));
    assert!(base.delete_file("a.md").await.unwrap());
    assert_eq!(base.original("bytes").await.unwrap(), Some(vec![1, 2]));
    assert!(base.delete_file("b.md").await.unwrap());
    assert_eq!(base.original("bytes").await.unwrap(), None);
    fresh.remove().await;
}

#[tokio::test]
async fn the_first_root_stays() {
    let Some(fresh) = Fresh::new().await else { return };
    let base = &fresh.base;
    assert_eq!(base.root().await.unwrap(), None);
    assert_eq!(base.keep_root("/law").await.unwrap(), "/law");
    assert_eq!(base.keep_root("/tea").await.unwrap(), "/law");
    base.add_mounts(vec!["/b".to_owned(), "/a".to_owned()]).await.unwrap();
    base.add_mounts(vec!["/b".to_owned()]).await.unwrap();
    assert_eq!(base.mounts().await.unwrap(), ["/a", "/b"]);
    fresh.remove().await;
}
