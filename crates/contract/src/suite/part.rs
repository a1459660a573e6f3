//! Tests that a snapshot shows one state of the base, and only the part that a filter admits.

use pikerag_knowledge::{
    ChunkId, ChunkResults, ChunkTags, ChunksOf, Filter, FoundTag, KeyedClass, KnowledgeBase,
    NameKey, Origin, StoreError, TagClass, TagEdit, VectorSet, Which, nearest_chunks,
};

use super::fixture::{at, fill_vectors, put_pages, with};
use crate::agree::filters_agree;
use crate::{Shelf, Store};

/// Later writes and deletions do not change a snapshot's reads.
pub async fn a_snapshot_stays_as_it_was(shelf: &Shelf<impl Store>) {
    let base = &shelf.store;
    let chunks = put_pages(shelf, 3).await;
    fill_vectors(base, VectorSet::Chunks, "e").await;
    let held = base.snapshot(&Filter::default(), &Filter::default()).await.unwrap();
    base.delete_file("01.txt").await.unwrap();
    shelf.put("new.txt", "A new page is here.").await;
    fill_vectors(base, VectorSet::Chunks, "e").await;
    base.refresh().await.unwrap();
    let seen = async |base: &dyn KnowledgeBase| {
        let hits = base.matching_chunks("page", 9).await.unwrap();
        let near = nearest_chunks(base, &[at(1.0)], 9, -1.0).await.unwrap().remove(0);
        let texts = base.chunks(&chunks).await.unwrap();
        let mut words: Vec<ChunkId> = hits.into_iter().map(|hit| hit.item).collect();
        words.sort_unstable();
        (words, near.len(), texts.len(), base.state().await.unwrap().chunks)
    };
    let mut all = chunks.clone();
    all.sort_unstable();
    assert_eq!(seen(held.as_ref()).await, (all, 3, 3, 3));
    let now = base.snapshot(&Filter::default(), &Filter::default()).await.unwrap();
    let (words, near, texts, count) = seen(now.as_ref()).await;
    assert_eq!((words.len(), near, texts, count), (3, 3, 2, 3));
    assert!(!words.contains(&chunks[1]));
}

/// The `k` best are taken among admitted items; items that are not admitted appear in no list,
/// count or text.
pub async fn a_filter_shows_only_what_it_admits(shelf: &Shelf<impl Store>) {
    let base = &shelf.store;
    for (path, text) in [
        (
            "law/a.md",
            "---\nauthor: Brandt\ndate: 2019-05-01\n---\n# Big Crane\n\nThe crane is big.",
        ),
        (
            "law/b.md",
            "---\nauthor: Ada, Brandt\ndate: 2021\n---\n# Crane\n\nSee [it](a.md). A crane.",
        ),
        ("tea.md", "# Tea\n\nNo crane, nor the Big Crane."),
    ] {
        shelf.put(path, text).await;
    }
    let sources = base.sources(Which::All).await.unwrap();
    let ids: Vec<_> = sources.iter().map(|source| source.id).collect();
    let lists = base.chunks_of(ChunksOf::Sources(&ids), 9).await.unwrap();
    let first: Vec<ChunkId> = lists.iter().map(|list| list.chunks[0]).collect();
    let vectors = first.iter().zip([0.1, 0.5, 0.9]).map(|(chunk, near)| with(*chunk, at(near)));
    base.put_vectors(VectorSet::Chunks, "e", vectors.collect()).await.unwrap();
    let class = TagClass::new("Drug", "", Vec::new(), Origin::Declared);
    let (of, key) = (class.id, NameKey::of_folded("aspirin"));
    let keyed = KeyedClass { key: NameKey::of_folded("drug"), class };
    base.edit_tags(TagEdit::AddClasses(vec![keyed])).await.unwrap();
    let tags = vec![FoundTag { class: of, key, text: "Aspirin".to_owned() }];
    let tagged = ChunkTags { chunk: first[2], classes: vec![of], tags };
    base.put_chunk_results(ChunkResults::Tags(vec![tagged])).await.unwrap();

    let found = async |conditions: &[&str]| -> Vec<usize> {
        let conditions = conditions.iter().map(|condition| condition.parse().unwrap()).collect();
        let part = base.snapshot(&Filter::default(), &Filter { conditions }).await.unwrap();
        let chunks = part.chunks(&first).await.unwrap();
        let near = nearest_chunks(part.as_ref(), &[at(1.0)], 1, -1.0).await.unwrap().remove(0);
        let words = part.matching_chunks("crane", 9).await.unwrap();
        let terms = part.term_counts(&["crane".to_owned()]).await.unwrap();
        let similar = part.similar_terms("crne", 1).await.unwrap();
        let similar: usize = similar.iter().map(|it| it.chunks).sum();
        assert_eq!(similar, chunks.len(), "only the words of admitted chunks");
        let names = part.chunks_by_title(&[NameKey::of_folded("big crane")], 9).await.unwrap();
        assert_eq!(part.sources(Which::All).await.unwrap().len(), chunks.len());
        assert_eq!(part.state().await.unwrap().chunks, chunks.len());
        assert_eq!((words.len(), terms[0]), (chunks.len(), chunks.len()));
        let last = chunks.iter().map(|chunk| chunk.id).next_back();
        assert_eq!(near.first().map(|hit| hit.item), last, "the nearest of those admitted");
        let borne = chunks.iter().any(|chunk| chunk.id == first[0]);
        assert_eq!(names[0].count, usize::from(borne));
        let place = |id| first.iter().position(|held| *held == id).unwrap();
        chunks.iter().map(|chunk| place(chunk.id)).collect()
    };
    assert_eq!(found(&[]).await, [0, 1, 2]);
    assert_eq!(found(&["folder=law"]).await, [0, 1]);
    assert_eq!(found(&["folder=law", "date>=2020"]).await, [1]);
    assert_eq!(found(&["meta:author=brandt"]).await, [0, 1]);
    assert_eq!(found(&["meta:author=Ada|Eve"]).await, [1]);
    assert_eq!(found(&["date<2021"]).await, [0]);
    assert_eq!(found(&["tag:Drug=ASPIRIN"]).await, [2]);
    assert_eq!(found(&["source=tea.md|law/a.md"]).await, [0, 2]);
    assert_eq!(found(&["tag:Drug=Aspirin", "folder=law"]).await, [0_usize; 0]);
}

/// What a filter admitted before a change is not shown after it.
pub async fn a_filter_follows_each_change(shelf: &Shelf<impl Store>) {
    filters_agree(&shelf.store).await;
}

pub async fn a_caller_learns_no_field_of_a_hidden_part(shelf: &Shelf<impl Store>) {
    shelf.put("open/a.md", "---\nauthor: Brandt\n---\nA crane.").await;
    shelf.put("shut/b.md", "---\nauthor: Eve\nclearance: high\n---\nA secret crane.").await;
    let base = &shelf.store;
    let sources = base.sources(Which::All).await.unwrap();
    let hidden = sources.iter().find(|source| source.uri.ends_with("b.md")).unwrap().id;
    let chunk = base.chunks_of(ChunksOf::Sources(&[hidden]), 9).await.unwrap()[0].chunks[0];
    let class = TagClass::new("Project", "", Vec::new(), Origin::Found);
    let (of, key) = (class.id, NameKey::of_folded("quillwort"));
    let keyed = KeyedClass { key: NameKey::of_folded("project"), class };
    base.edit_tags(TagEdit::AddClasses(vec![keyed])).await.unwrap();
    let tags = vec![FoundTag { class: of, key, text: "Quillwort".to_owned() }];
    let tagged = ChunkTags { chunk, classes: vec![of], tags };
    base.put_chunk_results(ChunkResults::Tags(vec![tagged])).await.unwrap();
    let filter = |text: &str| Filter { conditions: vec![text.parse().unwrap()] };
    let visible = filter("folder=open");
    for asked in ["meta:clearance=high", "meta:nothing=high", "tag:Project=Quillwort"] {
        let Err(error) = shelf.store.snapshot(&visible, &filter(asked)).await else {
            panic!("{asked}")
        };
        let (field, _) = asked.split_once('=').unwrap();
        assert_eq!(
            error.to_string(),
            format!(
                "`{field}` is no field of this base; there are: source, folder, date, meta:author"
            )
        );
    }
    let seen = async |visible: &str, asked: &str| {
        let seen = shelf.store.snapshot(&filter(visible), &filter(asked)).await.unwrap();
        seen.state().await.unwrap().chunks
    };
    assert_eq!(seen("folder=open", "meta:author=Eve").await, 0);
    assert_eq!(seen("folder=open", "meta:author=Brandt").await, 1);
    assert_eq!(seen("meta:nothing=high", "folder=open").await, 0);
}

pub async fn an_unknown_filter_field_lists_the_known_fields(shelf: &Shelf<impl Store>) {
    shelf.put("a.md", "---\nauthor: Brandt\n---\nA crane.").await;
    for unknown in ["meta:auther=Brandt", "tag:Drug=Aspirin", "record:approval.year=2019"] {
        let filter = Filter { conditions: vec![unknown.parse().unwrap()] };
        let Err(error) = shelf.store.snapshot(&Filter::default(), &filter).await else {
            panic!("{unknown}")
        };
        assert!(matches!(error, StoreError::NoField { .. }), "{error:?}");
        let (field, _) = unknown.split_once('=').unwrap();
        assert_eq!(
            error.to_string(),
            format!(
                "`{field}` is no field of this base; there are: source, folder, date, meta:author"
            )
        );
    }
}
