//! Tests that entities, communities and summaries are removed with their sources.

use pikerag_knowledge::{
    Child, ChunkId, ChunkList, ChunkResults, ChunkSet, ChunksOf, Community, CommunityId,
    CommunityReport, DescriptionsKey, Entity, EntityId, ExtractBy, Generation, Kept, LinkKind,
    ModelTexts, Report, Stage, SummaryId, VectorSet, Which,
};

use super::fixture::{
    at, community, entity, extraction, fill_vectors, found_in, put_pages, short, summary,
};
use crate::{Shelf, Store};

/// An entity combines the extractions of its chunks in reading order, and exists while one of them
/// mentions it.
pub async fn entities_exist_while_they_are_mentioned(shelf: &Shelf<impl Store>) {
    let base = &shelf.store;
    let chunks = put_pages(shelf, 3).await;
    let found = vec![
        found_in(chunks[2], extraction(&[("Oslo", "town", "On a fjord."), ("Bergen", "", "")])),
        found_in(
            chunks[0],
            extraction(&[("Oslo", "city", "A capital."), ("Bergen", "town", "Rainy.")]),
        ),
        found_in(chunks[1], extraction(&[("OSLO", "city", "A capital.")])),
    ];
    base.put_chunk_results(ChunkResults::Extractions(ExtractBy::Model, found)).await.unwrap();
    for by in [ExtractBy::Model, ExtractBy::Names] {
        assert_eq!(
            base.pending(&Stage::extract(by), ChunkSet::Searchable, None, 9).await.unwrap(),
            []
        );
    }
    let ids = [entity("bergen"), EntityId(7), entity("oslo")];
    let described = async || -> Vec<String> {
        let found = base.entities(&ids).await.unwrap();
        let line = |e: Entity| format!("{} ({}): {}", e.name, e.kind, e.description);
        found.into_iter().map(line).collect()
    };
    assert_eq!(described().await, ["Bergen (town): Rainy.", "Oslo (city): A capital. On a fjord."]);
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
    let mentioning = base.chunks_of(ChunksOf::EntitiesInOrder(&ids), usize::MAX).await.unwrap();
    assert_eq!(mentioning, [listed(&[chunks[0], chunks[2]]), listed(&[]), listed(&chunks)]);
    assert_eq!(
        base.links_of(&chunks[1..2], LinkKind::Entities).await.unwrap()[0].entities,
        [entity("oslo")]
    );
    // A new extraction replaces the chunk's earlier one.
    let again = vec![found_in(chunks[0], extraction(&[("Oslo", "city", "A capital.")]))];
    base.put_chunk_results(ChunkResults::Extractions(ExtractBy::Model, again)).await.unwrap();
    assert_eq!(related().await, [2.0]);
    base.delete_file("02.txt").await.unwrap();
    // Of two equally frequent spellings, the alphabetically first.
    assert_eq!(described().await, ["OSLO (city): A capital."]);
    assert_eq!(related().await, Vec::<f64>::new());
    let outline = base.outline().await.unwrap();
    assert_eq!((outline.entities.len(), outline.relations.len()), (1, 0));
    // A deleted chunk contributes nothing.
    let gone = vec![found_in(chunks[2], extraction(&[("Rome", "", "")]))];
    base.put_chunk_results(ChunkResults::Extractions(ExtractBy::Model, gone)).await.unwrap();
    assert_eq!(base.entities(&[entity("rome")]).await.unwrap(), []);
}

/// Everything that was made from a chunk's extraction is removed with it; results of other chunks
/// stay.
pub async fn results_of_a_deleted_chunk_are_removed_at_once(shelf: &Shelf<impl Store>) {
    let base = &shelf.store;
    let chunks = put_pages(shelf, 3).await;
    let found = vec![
        found_in(chunks[0], extraction(&[("Oslo", "", "One."), ("Bergen", "", "")])),
        found_in(chunks[1], extraction(&[("Oslo", "", "Two.")])),
        found_in(chunks[2], extraction(&[("Rome", "", "Three."), ("Milan", "", "")])),
    ];
    base.put_chunk_results(ChunkResults::Extractions(ExtractBy::Names, found)).await.unwrap();
    let long = base.long_descriptions(7).await.unwrap();
    let named: Vec<&str> = long.iter().map(|long| long.name.as_str()).collect();
    assert!(named.contains(&"Oslo"), "{named:?}");
    let made = long.iter().map(|long| short(long.node, long.key(), "In short.")).collect();
    base.put_texts(ModelTexts::Descriptions(made)).await.unwrap();
    assert_eq!(base.long_descriptions(7).await.unwrap(), []);
    // Made from an earlier set of descriptions.
    base.put_texts(ModelTexts::Descriptions(vec![short(
        entity("rome").into(),
        DescriptionsKey(7),
        "Wrong.",
    )]))
    .await
    .unwrap();
    fill_vectors(base, VectorSet::Entities, "e").await;

    let generation = base.state().await.unwrap().generation;
    let before = Generation(generation.0 - 1);
    // An identifier is unsigned: a database that keeps it signed must not put it first.
    let last = u64::MAX;
    let north = community(1, 0, None, &["oslo", "bergen"]);
    let communities = vec![
        north.clone(),
        community(2, 1, Some(1), &["oslo"]),
        community(last, 0, None, &["rome", "milan"]),
    ];
    assert!(!base.put_communities(before, communities.clone()).await.unwrap());
    assert!(base.put_communities(generation, communities.clone()).await.unwrap());
    let report = |title: &str| Report { title: title.to_owned(), ..Report::default() };
    let reports = [(1, "north"), (2, "town"), (last, "south"), (4, "nowhere")];
    let reports = reports
        .map(|(id, title)| CommunityReport { community: CommunityId(id), report: report(title) });
    let reports = reports.to_vec();
    base.put_texts(ModelTexts::Reports(reports)).await.unwrap();
    // Remaining communities keep their reports.
    assert!(base.put_communities(generation, communities).await.unwrap());
    let titles = async || -> Vec<String> {
        let held = base.communities(Which::All).await.unwrap();
        held.into_iter().map(|held| held.report.unwrap().title).collect()
    };
    assert_eq!(titles().await, ["north", "south", "town"]);
    let of = base.communities(Which::Of(&[entity("bergen")])).await.unwrap();
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
    base.put_texts(ModelTexts::Clusters(tree)).await.unwrap();
    fill_vectors(base, VectorSet::Summaries, "e").await;
    let held = async || -> Vec<u64> {
        let ids = [11, 12, 21, 22, 31, 32].map(SummaryId);
        base.summaries(&ids).await.unwrap().into_iter().map(|summary| summary.id.0).collect()
    };
    assert_eq!(held().await, [11, 12, 21, 22, 31]);
    assert_eq!(
        base.nearest(VectorSet::Summaries, &[at(1.0)], 9, -1.0, &[]).await.unwrap()[0].len(),
        5
    );

    base.delete_file("01.txt").await.unwrap();
    assert_eq!(titles().await, ["south"]);
    assert_eq!(held().await, [12, 22]);
    let oslo = base.entities(&[entity("oslo")]).await.unwrap();
    assert_eq!(oslo[0].description, "One.");
    let vectors =
        base.vectors(VectorSet::Entities, &[entity("oslo").into(), entity("rome").into()]).await;
    assert_eq!(vectors.unwrap(), [None, Some(at(1.0))]);
    assert_eq!(
        base.nearest(VectorSet::Summaries, &[at(1.0)], 9, -1.0, &[]).await.unwrap()[0].len(),
        2
    );
    base.keep_only(Kept::Summaries(1, &[])).await.unwrap();
    assert_eq!(held().await, Vec::<u64>::new());
}

fn listed(chunks: &[ChunkId]) -> ChunkList {
    ChunkList { count: chunks.len(), chunks: chunks.to_vec() }
}
