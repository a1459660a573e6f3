//! Tests that a store keeps verified answers and lists the changes since each.

use pikerag_knowledge::{Chunk, ChunkId, ChunkKind, Filter};

use super::fixture::put_pages;
use crate::agree::happen::verified;
use crate::{Shelf, Store, passages, record};

pub async fn verified_answers_stay_and_list_what_has_changed(shelf: &Shelf<impl Store>) {
    let base = &shelf.store;
    let pages = put_pages(shelf, 3).await;
    let chunks = base.chunks(&pages).await.unwrap();
    let (first, second) = (verified(0, &chunks[..2], Vec::new()), verified(1, &[], Vec::new()));
    base.put_verified(vec![first.clone(), second.clone()], true).await.unwrap();
    let listed = async || -> Vec<_> {
        let kept = base.verified().await.unwrap();
        kept.into_iter().map(|kept| (kept.verified, kept.changed)).collect()
    };
    let none = Vec::<String>::new();
    assert_eq!(listed().await, [(second.clone(), none.clone()), (first.clone(), none.clone())]);
    assert_eq!(base.newer(first.id, &pages).await.unwrap(), []);
    // Compared with an unknown answer, everything is new.
    assert_eq!(base.newer(verified(2, &[], Vec::new()).id, &pages).await.unwrap(), pages);
    shelf.put("01.txt", "Page 1 is elsewhere.").await;
    shelf.put("new.txt", "A new page is here.").await;
    let changed = vec!["01.txt".to_owned()];
    assert_eq!(listed().await, [(second.clone(), none.clone()), (first.clone(), changed)]);
    let now = base.matching_chunks("page", 9).await.unwrap();
    let now: Vec<_> = now.into_iter().map(|hit| hit.item).collect();
    assert_eq!(base.newer(first.id, &now).await.unwrap().len(), 2);
    // The original content is restored.
    shelf.put("01.txt", "Page 1 is here.").await;
    assert_eq!(listed().await, [(second.clone(), none.clone()), (first.clone(), none)]);
    // Repeating a judgment accepts the current state; an imported judgment does not.
    base.put_verified(vec![first.clone()], true).await.unwrap();
    assert_eq!(base.newer(first.id, &now).await.unwrap(), []);
    base.put_verified(vec![first.clone()], false).await.unwrap();
    assert_eq!(base.newer(first.id, &pages).await.unwrap(), pages);
    assert!(base.revoke_verified(first.id).await.unwrap());
    assert!(!base.revoke_verified(first.id).await.unwrap());
    assert_eq!(listed().await, [(second, Vec::new())]);
}

pub async fn a_kept_passage_that_is_shown_otherwise_is_newer(shelf: &Shelf<impl Store>) {
    let base = &shelf.store;
    let put = async |version: &str, change: fn(&mut Chunk)| {
        let mut document = passages("a.md", &["It holds.", "It turns."]);
        change(&mut document.chunks[0]);
        base.put_file(&record("a.md", version), vec![document]).await.unwrap();
    };
    let ids: Vec<ChunkId> =
        passages("a.md", &["It holds.", "It turns."]).chunks.iter().map(|chunk| chunk.id).collect();
    put("0", |_| {}).await;
    let judged = verified(0, &[], Vec::new());
    let changes: [fn(&mut Chunk); 3] = [
        |chunk| chunk.headings = vec!["Brakes".to_owned()],
        |chunk| chunk.kind = ChunkKind::Code,
        |chunk| chunk.ordinal = 7,
    ];
    for (nth, change) in changes.into_iter().enumerate() {
        base.put_verified(vec![judged.clone()], true).await.unwrap();
        assert_eq!(base.newer(judged.id, &ids).await.unwrap(), []);
        put(&format!("changed {nth}"), change).await;
        // The last one moves the passage alone.
        let newer = if nth < 2 { &ids[..1] } else { &[] };
        assert_eq!(base.newer(judged.id, &ids).await.unwrap(), newer, "change {nth}");
        put(&format!("back {nth}"), |_| {}).await;
    }
}

pub async fn verified_answers_are_visible_only_with_all_their_sources(shelf: &Shelf<impl Store>) {
    let base = &shelf.store;
    let pages = put_pages(shelf, 3).await;
    let chunks = base.chunks(&pages).await.unwrap();
    let answers = [
        verified(0, &chunks[..1], Vec::new()),
        verified(1, &chunks[..1], vec![pages[2]]),
        verified(2, &[], Vec::new()),
    ];
    base.put_verified(answers.to_vec(), true).await.unwrap();
    let seen = async |conditions: &[&str]| {
        let conditions = conditions.iter().map(|condition| condition.parse().unwrap()).collect();
        let part = base.snapshot(&Filter::default(), &Filter { conditions }).await.unwrap();
        part.verified().await.unwrap().len()
    };
    assert_eq!(seen(&[]).await, 3);
    assert_eq!(seen(&["source=00.txt"]).await, 1);
    assert_eq!(seen(&["source=00.txt|02.txt"]).await, 2);
    assert_eq!(seen(&["source=01.txt"]).await, 0);
}
