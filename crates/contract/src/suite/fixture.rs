//! Provides the content that the promises store.

use pikerag_knowledge::{
    Atom, AtomId, AtomKind, Bearer, BearerList, Child, ChunkId, ChunksOf, Community, CommunityId,
    DescriptionsKey, EntityId, EntityMention, Extraction, InChunk, NodeId, NodeVector, RelationId,
    RelationMention, ShortDescription, SourceId, Stage, Summary, SummaryId, Vector, VectorSet,
    nearest_chunks,
};

use crate::{Shelf, Store};

/// Stores files `00.txt` onward, of one chunk each, and returns their chunks in this order.
pub(super) async fn put_pages(shelf: &Shelf<impl Store>, n: usize) -> Vec<ChunkId> {
    let mut chunks = Vec::new();
    for page in 0..n {
        let path = format!("{page:02}.txt");
        shelf.put(&path, &format!("Page {page} is here.")).await;
        chunks.push(one(&shelf.store, &path).await);
    }
    chunks
}

/// The first chunk of a file.
pub(super) async fn one(base: &impl Store, path: &str) -> ChunkId {
    base.chunks_of(ChunksOf::Sources(&[SourceId::of(path)]), 99).await.unwrap()[0].chunks[0]
}

/// The chunk that contains this word.
pub(super) async fn one_of(base: &impl Store, word: &str) -> ChunkId {
    base.matching_chunks(word, 1).await.unwrap()[0].item
}

pub(super) fn with(node: impl Into<NodeId>, vector: Vector) -> NodeVector {
    NodeVector { node: node.into(), vector }
}

pub(super) fn found_in<T>(chunk: ChunkId, found: T) -> InChunk<T> {
    InChunk { chunk, found }
}

pub(super) fn short(node: NodeId, made_from: DescriptionsKey, text: &str) -> ShortDescription {
    ShortDescription { node, made_from, text: text.to_owned() }
}

/// What a name leads to that these chunks bear as their title.
pub(super) fn borne_by(chunks: &[ChunkId]) -> BearerList {
    let bearers = chunks.iter().map(|chunk| Bearer { chunk: *chunk, weight: 100 });
    BearerList { count: chunks.len(), bearers: bearers.collect() }
}

pub(super) fn atom(chunk: ChunkId, text: &str) -> Atom {
    let id = AtomId::of(chunk, "question", text);
    Atom { id, chunk, kind: AtomKind::Question, text: text.to_owned() }
}

pub(super) fn questions() -> Stage {
    Stage::atomize(AtomKind::Question)
}

/// A unit vector with this cosine to the first axis.
pub(super) fn at(cosine: f32) -> Vector {
    vec![cosine, (1.0 - cosine * cosine).sqrt()]
}

pub(super) async fn fill_vectors(base: &impl Store, set: VectorSet, embedder: &str) {
    let missing = base.without_vector(set, embedder, None, 99).await.unwrap();
    let vectors = missing.into_iter().map(|it| with(it.node, at(1.0))).collect();
    base.put_vectors(set, embedder, vectors).await.unwrap();
}

pub(super) async fn near(
    base: &impl Store,
    queries: &[Vector],
    k: usize,
    min_score: f32,
) -> Vec<Vec<ChunkId>> {
    let lists = nearest_chunks(base, queries, k, min_score).await.unwrap();
    lists.into_iter().map(|list| list.into_iter().map(|hit| hit.item).collect()).collect()
}

/// The URIs of the chunks that match words.
pub(super) async fn matching(base: &impl Store, words: &str, k: usize) -> Vec<String> {
    let hits = base.matching_chunks(words, k).await.unwrap();
    let ids: Vec<ChunkId> = hits.into_iter().map(|hit| hit.item).collect();
    base.chunks(&ids).await.unwrap().into_iter().map(|chunk| chunk.uri).collect()
}

pub(super) fn entity(folded: &str) -> EntityId {
    EntityId::of_folded(folded)
}

/// These entities (name, kind, description), each related to the next one with a weight of 2.
pub(super) fn extraction(entities: &[(&str, &str, &str)]) -> Extraction {
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

pub(super) fn community(id: u64, level: u8, parent: Option<u64>, members: &[&str]) -> Community {
    let mut members: Vec<EntityId> = members.iter().map(|name| entity(name)).collect();
    members.sort_unstable();
    let parent = parent.map(CommunityId);
    Community { id: CommunityId(id), level, parent, members, report: None }
}

pub(super) fn summary(id: u64, level: u8, children: impl Iterator<Item = Child>) -> Summary {
    let text = format!("Summary {id}.");
    Summary { id: SummaryId(id), level, text, children: children.collect() }
}
