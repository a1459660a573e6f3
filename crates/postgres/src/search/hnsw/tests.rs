//! Tests that an index finds what a comparison of all vectors finds.

use std::collections::{BTreeMap, BTreeSet};

use pikerag_contract::{passages, record};
use pikerag_knowledge::{
    ChunkId, CorpusWriter, NodeId, NodeVector, Scored, SearchIndex, SearchWriter, cosine,
};
use pikerag_test_support::absent;

use super::*;
use crate::database::Connections;
use crate::location::Location;

const CHUNKS: u32 = 3000;
const DIMS: usize = 32;

/// Numbers from -1 to 1 that look random.
struct Noise(u64);

impl Noise {
    fn value(&mut self) -> f32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / 8_388_608.0 - 1.0
    }

    fn unit(&mut self) -> Vec<f32> {
        let vector: Vec<f32> = (0..DIMS).map(|_| self.value()).collect();
        let norm = cosine(&vector, &vector).sqrt();
        vector.iter().map(|value| value / norm).collect()
    }
}

/// The nodes that a search finds.
fn nodes(list: &[Scored<NodeId>]) -> BTreeSet<NodeId> {
    list.iter().map(|hit| hit.item).collect()
}

/// An index finds nearly what a comparison of all vectors finds, with equal scores, also if most of
/// the vectors are left out.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_index_finds_what_a_comparison_finds() {
    let Ok(address) = std::env::var("PIKERAG_TEST_POSTGRES") else {
        return absent("a PostgreSQL server", "is not named by PIKERAG_TEST_POSTGRES");
    };
    let sign = if address.contains('?') { '&' } else { '?' };
    let address = format!("{address}{sign}base=hnsw-{}", std::process::id());
    let location = Location::parse(&address).unwrap();
    let database = Database::connect(&location, Connections::default()).await.unwrap();
    let base = Base::open_or_create(&database, &location).await.unwrap();
    let texts: Vec<String> = (0..CHUNKS).map(|n| format!("Passage {n}.")).collect();
    let document = passages("many.md", &texts);
    let chunks: Vec<ChunkId> = document.chunks.iter().map(|chunk| chunk.id).collect();
    base.put_file(&record("many.md", "h"), vec![document]).await.unwrap();
    let mut noise = Noise(7);
    let vector = |chunk: &ChunkId| NodeVector { node: (*chunk).into(), vector: noise.unit() };
    let vectors = chunks.iter().map(vector).collect();
    base.put_vectors(VectorSet::Chunks, "e", vectors).await.unwrap();
    let queries: Vec<Vec<f32>> = (0..20).map(|_| noise.unit()).collect();
    let mostly = &chunks[..chunks.len() - 100];
    let search = async |exclude: &[ChunkId]| {
        base.nearest(VectorSet::Chunks, &queries, 10, -1.0, exclude).await.unwrap()
    };
    let (exact, few) = (search(&[]).await, search(mostly).await);
    let is_ready =
        || base.reading(DOING, |tx| async move { is_ready(&tx, VectorSet::Chunks, DIMS).await });
    build_above(&base, i64::from(CHUNKS) + 1).await.unwrap();
    assert!(!is_ready().await.unwrap());
    build_above(&base, i64::from(CHUNKS)).await.unwrap();
    assert!(is_ready().await.unwrap());
    let found = search(&[]).await;
    let mut hits = 0;
    for (found, exact) in found.iter().zip(&exact) {
        assert_eq!(found.len(), exact.len());
        hits += nodes(found).intersection(&nodes(exact)).count();
        let scores: BTreeMap<NodeId, f32> = exact.iter().map(|hit| (hit.item, hit.score)).collect();
        for hit in found {
            assert!(scores.get(&hit.item).is_none_or(|score| score.total_cmp(&hit.score).is_eq()));
        }
    }
    assert!(190 <= hits, "{hits} of 200");
    for (found, exact) in search(mostly).await.iter().zip(&few) {
        assert_eq!(found.len(), 10);
        assert!(9 <= nodes(found).intersection(&nodes(exact)).count());
    }
    build_above(&base, i64::MAX).await.unwrap();
    assert!(!is_ready().await.unwrap());
    base.settled().await;
    assert!(database.remove(location.base()).await.unwrap());
}

#[test]
fn each_length_has_an_expression_or_none() {
    assert_eq!(indexed(2000).map(|it| it.1), Some("vector_ip_ops"));
    assert_eq!(indexed(2001).map(|it| it.1), Some("halfvec_ip_ops"));
    assert_eq!(indexed(4001), None);
    for dims in [0, 1, 2000, 2001, 4000, 4001] {
        assert_eq!(indexed(dims).is_some(), distance(dims).is_some());
        let Some((expression, _)) = indexed(dims) else { continue };
        assert!(distance(dims).unwrap().starts_with(&format!("v.{expression} <#> ")));
    }
    assert_eq!(name(3, VectorSet::Chunks, 384), "hnsw_3_chunks_384");
}
