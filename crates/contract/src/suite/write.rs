//! Tests that a store keeps the results of indexing, and removes what derives from deleted files.

use pikerag_knowledge::{
    AtomKind, AtomQuery, Backlog, ChunkResults, ChunkSet, PutReport, Stage, Structure,
    StructureChange, VectorSet, Wanted, Which,
};

use super::fixture::{
    at, atom, fill_vectors, found_in, matching, near, one_of, put_pages, questions, with,
};
use crate::{Shelf, Store, record};

pub async fn storing_a_file_reports_its_changes(shelf: &Shelf<impl Store>) {
    let base = &shelf.store;
    let report = |added, kept, removed| PutReport { added, kept, removed };
    let three = "# A\n\nOne.\n\n# B\n\nTwo.\n\n# C\n\nThree.";
    let other = "# A\n\nOne.\n\n# C\n\nThree.\n\n# D\n\nFour.\n\n# E\n\nFive.";
    assert_eq!(shelf.put("a.md", three).await, report(3, 0, 0));
    assert_eq!(shelf.put("a.md", three).await, report(0, 3, 0));
    let kept = one_of(base, "Three").await;
    base.put_chunk_results(ChunkResults::Atoms(
        questions(),
        vec![found_in(kept, vec![atom(kept, "q?")])],
    ))
    .await
    .unwrap();
    assert_eq!(shelf.put("a.md", other).await, report(2, 2, 1));
    assert_eq!(
        base.atoms(AtomQuery::InChunks(AtomKind::Question, &[kept])).await.unwrap().len(),
        1
    );
    assert_eq!(base.state().await.unwrap().chunks, 4);
    assert_eq!(base.files(Which::All).await.unwrap(), [record("a.md", other)]);
    let found = base.files(Which::Of(&["b.md", "a.md"])).await.unwrap();
    assert_eq!(found, [record("a.md", other)]);
    // A file of records that loses one.
    let two = "{\"id\": \"x\", \"text\": \"One.\"}\n{\"id\": \"y\", \"text\": \"Two.\"}\n";
    assert_eq!(shelf.put("r.jsonl", two).await, report(2, 0, 0));
    let (first, _) = two.split_once('\n').unwrap();
    assert_eq!(shelf.put("r.jsonl", first).await, report(0, 1, 1));
    let uris: Vec<String> =
        base.sources(Which::All).await.unwrap().into_iter().map(|it| it.uri).collect();
    assert_eq!(uris, ["a.md", "r.jsonl#x"]);
}

pub async fn deleting_a_file_removes_everything_derived_from_it(shelf: &Shelf<impl Store>) {
    let base = &shelf.store;
    let chunks = put_pages(shelf, 1).await;
    base.put_chunk_results(ChunkResults::Atoms(
        questions(),
        vec![found_in(chunks[0], vec![atom(chunks[0], "q?")])],
    ))
    .await
    .unwrap();
    fill_vectors(base, VectorSet::Chunks, "e").await;
    fill_vectors(base, VectorSet::Atoms(AtomKind::Question), "e").await;
    assert_eq!(base.summary().await.unwrap().vectors, 2);
    assert!(base.delete_file("00.txt").await.unwrap());
    assert!(!base.delete_file("00.txt").await.unwrap());
    assert_eq!(base.summary().await.unwrap(), pikerag_knowledge::BaseSummary::default());
    assert_eq!(near(base, &[at(1.0)], 9, -1.0).await, [vec![]]);
    assert_eq!(matching(base, "page", 9).await, Vec::<String>::new());
    // Results that arrive after the deletion are dropped.
    base.put_chunk_results(ChunkResults::Atoms(
        questions(),
        vec![found_in(chunks[0], vec![atom(chunks[0], "q?")])],
    ))
    .await
    .unwrap();
    base.put_vectors(VectorSet::Chunks, "e", vec![with(chunks[0], at(1.0))]).await.unwrap();
    assert_eq!(base.summary().await.unwrap(), pikerag_knowledge::BaseSummary::default());
}

pub async fn chunks_wait_for_each_stage_page_by_page(shelf: &Shelf<impl Store>) {
    let base = &shelf.store;
    let mut chunks = put_pages(shelf, 7).await;
    chunks.sort_unstable();
    let (stage, other) = (questions(), Stage::atomize(AtomKind::Sentence));
    assert_eq!(base.pending(&stage, ChunkSet::Searchable, None, 3).await.unwrap(), chunks[..3]);
    assert_eq!(
        base.pending(&stage, ChunkSet::Searchable, Some(chunks[2]), 3).await.unwrap(),
        chunks[3..6]
    );
    assert_eq!(
        base.pending(&stage, ChunkSet::Searchable, Some(chunks[5]), 3).await.unwrap(),
        chunks[6..]
    );
    assert_eq!(base.pending(&stage, ChunkSet::Searchable, Some(chunks[6]), 3).await.unwrap(), []);
    assert_eq!(base.pending(&stage, ChunkSet::Searchable, None, 0).await.unwrap(), []);
    // A chunk without an atom is finished too; the other stage is independent.
    base.put_chunk_results(ChunkResults::Atoms(stage.clone(), vec![found_in(chunks[1], vec![])]))
        .await
        .unwrap();
    assert_eq!(
        base.pending(&stage, ChunkSet::Searchable, None, 2).await.unwrap(),
        [chunks[0], chunks[2]]
    );
    assert_eq!(base.pending(&other, ChunkSet::Searchable, None, usize::MAX).await.unwrap(), chunks);
    assert_eq!(base.summary().await.unwrap().pending, [Backlog { stage: stage.0, count: 6 }]);
}

pub async fn vectors_of_another_embedder_count_as_missing(shelf: &Shelf<impl Store>) {
    let base = &shelf.store;
    let chunks = put_pages(shelf, 3).await;
    fill_vectors(base, VectorSet::Chunks, "old").await;
    assert_eq!(base.without_vector(VectorSet::Chunks, "old", None, 99).await.unwrap(), []);
    let missing = base.without_vector(VectorSet::Chunks, "new", None, 2).await.unwrap();
    assert_eq!(missing.len(), 2);
    assert!(missing.iter().all(|it| it.text.contains("Page")), "{missing:?}");
    let after = missing.last().map(|it| it.node);
    let rest = base.without_vector(VectorSet::Chunks, "new", after, 99).await.unwrap();
    assert_eq!(rest.len(), 1);
    assert!(!missing.contains(&rest[0]), "{rest:?}");
    // Vectors of another length: new ones are found, old ones are left out.
    let all = base.without_vector(VectorSet::Chunks, "new", None, 99).await.unwrap();
    let vectors = all.iter().map(|it| with(it.node, vec![0.0, 0.0, 1.0])).collect();
    base.put_vectors(VectorSet::Chunks, "new", vectors).await.unwrap();
    assert_eq!(base.without_vector(VectorSet::Chunks, "new", None, 99).await.unwrap(), []);
    assert_eq!(near(base, &[vec![0.0, 0.0, 1.0]], 9, 0.9).await[0].len(), chunks.len());
    assert_eq!(near(base, &[at(1.0)], 9, -1.0).await, [vec![]]);
    let summary = base.summary().await.unwrap();
    assert_eq!((summary.vectors, summary.embedder.as_deref()), (3, Some("new")));
}

pub async fn structures_are_wanted_until_they_are_rebuilt(shelf: &Shelf<impl Store>) {
    let base = &shelf.store;
    assert_eq!(base.structures().await.unwrap(), []);
    base.change_structure(Structure::Graph, StructureChange::Built("1")).await.unwrap();
    assert_eq!(base.structures().await.unwrap(), []);
    base.change_structure(Structure::Tree, StructureChange::Wanted).await.unwrap();
    base.change_structure(Structure::Graph, StructureChange::Wanted).await.unwrap();
    base.change_structure(Structure::Graph, StructureChange::Built("1")).await.unwrap();
    base.change_structure(Structure::Graph, StructureChange::Wanted).await.unwrap();
    let wanted = [(Structure::Graph, "1"), (Structure::Tree, "")]
        .map(|(structure, stamp)| Wanted { structure, stamp: stamp.to_owned() });
    assert_eq!(base.structures().await.unwrap(), wanted);
}
