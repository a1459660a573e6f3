//! Tests that sources and sections have vectors exactly as long as they have the embedded text.
#![cfg(test)]

use pikerag_extract::{ChunkParams, document_graph};
use pikerag_knowledge::{
    ChunkId, ChunkList, ChunksOf, CorpusReader, CorpusWriter, FileRecord, GraphReader, NodeId,
    NodeVector, Progress, SearchIndex, SearchWriter, SectionId, VectorSet, Which,
};
use pikerag_parse::{Limits, parse};
use pikerag_store::Base;

const PAGE: &str = "# Harbour\n\nThe quay.\n\n## Cranes\n\nTwo of them.\n\n### Load\n\nForty tons.";

#[tokio::test]
async fn titles_and_paths_of_headings_are_embedded() {
    let (_folder, base) = fresh();
    put(&base, "a.md", PAGE).await;
    put(&base, "b.md", "# Tea\n\nFrom leaves.").await;
    assert_eq!(texts(&base, VectorSet::Sources).await, ["Harbour", "Tea"]);
    assert_eq!(
        texts(&base, VectorSet::Sections).await,
        ["Harbour", "Harbour › Cranes", "Harbour › Cranes › Load", "Tea"]
    );
    fill(&base).await;
    for set in [VectorSet::Sources, VectorSet::Sections] {
        assert_eq!(texts(&base, set).await, Vec::<String>::new());
        // Another embedder needs new vectors.
        assert!(!base.without_vector(set, "other", None, 9).await.unwrap().is_empty());
    }
}

/// `index(A+B) − B == index(A)`, for vectors too; an update leaves no vector of earlier words.
#[tokio::test]
async fn vectors_go_with_their_texts() {
    let (_folder, base) = fresh();
    put(&base, "a.md", PAGE).await;
    fill(&base).await;
    let alone = found(&base).await;
    put(&base, "b.md", "# Tea\n\n## Leaves\n\nGreen.").await;
    fill(&base).await;
    assert_ne!(found(&base).await, alone);
    assert!(base.delete_file("b.md").await.unwrap());
    assert_eq!(found(&base).await, alone);
    // Another title needs another vector; an unchanged title keeps its vector.
    put(&base, "a.md", &PAGE.replace("# Harbour", "# Port")).await;
    assert_eq!(texts(&base, VectorSet::Sources).await, ["Port"]);
    fill(&base).await;
    put(&base, "a.md", &PAGE.replace("# Harbour", "# Port").replace("quay", "mole")).await;
    assert_eq!(texts(&base, VectorSet::Sources).await, Vec::<String>::new());
    assert_eq!(base.summary().await.unwrap().vectors, 1);
}

#[tokio::test]
async fn chunks_are_found_in_reading_order_and_by_neighbour() {
    let (_folder, base) = fresh();
    put(&base, "a.md", PAGE).await;
    let source = base.sources(Which::All).await.unwrap().remove(0).id;
    let all = base.chunks_of(ChunksOf::Sources(&[source]), 9).await.unwrap().remove(0).chunks;
    let texts: Vec<String> =
        base.chunks(&all).await.unwrap().into_iter().map(|chunk| chunk.text).collect();
    assert_eq!(all.len(), texts.len());
    let [first, .., last] = all[..] else { panic!("{texts:?}") };
    let beside = base.chunks_of(ChunksOf::Neighbours(&[first, last, ChunkId(7)]), 9).await.unwrap();
    let beside: Vec<_> = beside.into_iter().map(|list| list.chunks).collect();
    assert_eq!(beside, [vec![all[1]], vec![all[all.len() - 2]], vec![]]);
    let few = base.chunks_of(ChunksOf::Sources(&[source]), all.len() - 1).await.unwrap();
    assert_eq!(few, [ChunkList { count: all.len(), chunks: Vec::new() }]);
    let chunk = base.chunks(&[last]).await.unwrap().remove(0);
    let around: [SectionId; 1] = [chunk.section.unwrap()];
    assert_eq!(base.chunks_of(ChunksOf::Sections(&around), 9).await.unwrap()[0].chunks, [last]);
}

fn fresh() -> (tempfile::TempDir, Base) {
    let folder = tempfile::tempdir().unwrap();
    let base = Base::open_or_create(folder.path()).unwrap();
    (folder, base)
}

async fn put(base: &Base, path: &str, text: &str) {
    let parsed = parse(path, text.as_bytes(), &Limits::default(), &pikerag_parse::NoTools).unwrap();
    let graph = |document| document_graph(path, document, ChunkParams::default());
    let file = FileRecord { path: path.to_owned(), hash: String::new(), recipe: String::new() };
    base.put_file(&file, parsed.documents.into_iter().map(graph).collect()).await.unwrap();
}

async fn texts(base: &Base, set: VectorSet) -> Vec<String> {
    let found = base.without_vector(set, "e", None, 99).await.unwrap();
    let mut texts: Vec<String> = found.into_iter().map(|waiting| waiting.text).collect();
    texts.sort();
    texts
}

/// Stores for each text a vector with the text's length.
async fn fill(base: &Base) {
    for set in [VectorSet::Sources, VectorSet::Sections] {
        let waiting = base.without_vector(set, "e", None, 99).await.unwrap();
        let vector = |text: &str| vec![text.len() as f32, 1.0];
        let vectors = waiting
            .into_iter()
            .map(|waiting| NodeVector { node: waiting.node, vector: vector(&waiting.text) })
            .collect();
        base.put_vectors(set, "e", vectors).await.unwrap();
    }
}

/// All that a search finds in both sets.
async fn found(base: &Base) -> Vec<Vec<NodeId>> {
    let mut all = Vec::new();
    for set in [VectorSet::Sources, VectorSet::Sections] {
        let lists = base.nearest(set, &[vec![1.0, 0.0]], 99, -1.0e9, &[]).await.unwrap();
        all.push(lists.into_iter().flatten().map(|hit| hit.item).collect());
    }
    all
}
