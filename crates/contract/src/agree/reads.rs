//! Compares every read, with all known identifiers and one unknown.

use std::collections::BTreeMap;

use pikerag_knowledge::{
    AtomId, AtomKind, AtomQuery, ChunkId, ChunkKind, ChunkSet, ChunksOf, Derived, EntityId,
    ExtractBy, KnowledgeBase, LinkKind, NameKey, NodeId, RecordsOf, Scored, SectionId, SourceId,
    Stage, StoreError, SummaryId, TagClass, TagClassId, TagQuery, VectorSet, Which, nearest_chunks,
};
use pikerag_language::query_terms;

use super::happen::{ALL, SETS, chunks, kept_schema, tag_key, vector};
use crate::history::name;
use crate::{Oracle, Store};

/// How strictly the scores of words are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Words {
    /// The scores must match the definition.
    Exact,
    /// Only the found chunks must match: full-text statistics include deleted chunks for a while.
    Found,
}

/// Compares all reads of indexing.
pub(super) async fn same_progress(one: &impl Store, other: &impl Store) {
    macro_rules! same {
        ($($method:ident($($argument:expr),*)),* $(,)?) => {
            $(assert_eq!(
                one.$method($($argument),*).await.unwrap(),
                other.$method($($argument),*).await.unwrap(),
                stringify!($method)
            );)*
        };
    }
    same!(files(Which::All), files(Which::Of(&["law/0.md", "none"])), structures());
    same!(long_descriptions(5));
    same!(count_without_vector("e"), count_without_vector("none"));
    let stages = [
        Stage::atomize(AtomKind::Question),
        Stage::extract(ExtractBy::Model),
        Stage::extract(ExtractBy::Names),
        Stage("records:approval:0000000000000007:rules".to_owned()),
        Stage("sum".to_owned()),
        Stage("all".to_owned()),
    ];
    for stage in &stages {
        same!(pending(stage, ChunkSet::Searchable, None, ALL));
        same!(pending(stage, ChunkSet::Searchable, None, 2));
        same!(pending(stage, ChunkSet::OfKind(ChunkKind::Text), None, ALL));
    }
    for set in SETS {
        same!(without_vector(set, "e", None, ALL), without_vector(set, "f", None, 3));
    }
    let (one, other) = (one.outline().await.unwrap(), other.outline().await.unwrap());
    assert_eq!((one.entities, one.relations), (other.entities, other.relations));
}

/// The keys to read with.
struct Known {
    chunks: Vec<ChunkId>,
    sources: Vec<SourceId>,
    sections: Vec<SectionId>,
    entities: Vec<EntityId>,
    summaries: Vec<SummaryId>,
    classes: Vec<TagClass>,
}

async fn known(whole: &Oracle) -> Result<Known, StoreError> {
    use pikerag_knowledge::{CorpusReader as _, GraphWriter as _, Progress as _, TagReader as _};
    let mut known = Known {
        chunks: chunks(whole).await,
        sources: whole.sources(Which::All).await?.into_iter().map(|source| source.id).collect(),
        sections: Vec::new(),
        entities: whole.outline().await?.entities.into_iter().map(|it| it.id).collect(),
        summaries: Vec::new(),
        classes: whole.tag_classes().await?.classes,
    };
    let texts = whole.without_vector(VectorSet::Sections, "none", None, ALL).await?;
    known.sections.extend(texts.into_iter().map(|text| SectionId(text.node.0)));
    let texts = whole.without_vector(VectorSet::Summaries, "none", None, ALL).await?;
    known.summaries.extend(texts.into_iter().map(|text| SummaryId(text.node.0)));
    known.chunks.push(ChunkId(7));
    known.sources.push(SourceId(7));
    known.sections.push(SectionId(7));
    known.entities.push(EntityId(7));
    known.summaries.push(SummaryId(7));
    Ok(known)
}

/// Compares which documents and chunks are seen.
pub(super) async fn same_chunks(
    one: &(impl KnowledgeBase + ?Sized),
    other: &(impl KnowledgeBase + ?Sized),
) {
    let sources = one.sources(Which::All).await.unwrap();
    assert_eq!(sources, other.sources(Which::All).await.unwrap(), "sources");
    for source in sources {
        let [one, other] = [
            one.first_chunks(source.id, ALL).await.unwrap(),
            other.first_chunks(source.id, ALL).await.unwrap(),
        ];
        assert_eq!(one, other, "chunks of {}", source.uri);
    }
}

/// Compares all reads of reasoning, with keys from the whole base.
pub(super) async fn same_reads(
    one: &(impl KnowledgeBase + ?Sized),
    other: &(impl KnowledgeBase + ?Sized),
    whole: &Oracle,
    words: Words,
) {
    let known = known(whole).await.unwrap();
    macro_rules! same {
        ($($method:ident($($argument:expr),*)),* $(,)?) => {
            $(assert_eq!(
                one.$method($($argument),*).await.unwrap(),
                other.$method($($argument),*).await.unwrap(),
                stringify!($method)
            );)*
        };
    }
    let Known { chunks, sources, sections, entities, summaries, classes } = &known;
    same!(
        sources(Which::All),
        sources(Which::Of(sources)),
        chunks(chunks),
        sample_titles(2),
        sample_titles(ALL),
        languages(),
        figures(chunks),
        atoms(AtomQuery::InChunks(AtomKind::Question, chunks)),
        records(RecordsOf::All),
        records(RecordsOf::Schema("approval")),
        records(RecordsOf::Chunks(chunks)),
        has(Derived::Atoms(AtomKind::Question)),
        has(Derived::Atoms(AtomKind::Sentence)),
        has(Derived::Entities),
        has(Derived::Summaries),
        has(Derived::Tags),
        summary(),
    );
    for source in sources {
        same!(first_chunks(*source, 2));
        let (one, other) = (one.source_text(*source).await, other.source_text(*source).await);
        let message = |error: StoreError| error.to_string();
        assert_eq!(one.map_err(message), other.map_err(message), "source_text");
    }
    same!(
        entities(entities),
        relations_of(entities),
        related_to(&entities[..1], 3),
        links_of(chunks, LinkKind::Names),
        links_of(chunks, LinkKind::Entities),
        links_of(chunks, LinkKind::Tags),
        communities(Which::All),
        communities(Which::Of(entities)),
        summaries(summaries),
        tag_classes(),
        tag_pairs(Which::All),
        verified(),
        kept_schemas(),
        passages_read(&kept_schema(0).schema),
        passages_read(&kept_schema(1).schema),
        passages_read(&kept_schema(2).schema),
        records(RecordsOf::Schema("kind0")),
    );
    for kept in other.verified().await.unwrap() {
        same!(newer(kept.verified.id, chunks));
    }
    let keys: Vec<NameKey> = (0..6).flat_map(|n| [tag_key(n), name(n)]).collect();
    same!(tag_pairs(Which::Of(&keys)), chunks_by_title(&keys, ALL));
    same!(chunks_by_title(&keys, 1));
    let classes: Vec<TagClassId> = classes.iter().map(|class| class.id).collect();
    for query in [TagQuery::Named(&keys), TagQuery::InClasses(&classes)] {
        same!(tags(query, ALL), tags(query, 1));
    }
    for of in [
        ChunksOf::Neighbours(chunks),
        ChunksOf::Sources(sources),
        ChunksOf::Sections(sections),
        ChunksOf::Entities(entities),
        ChunksOf::EntitiesInOrder(entities),
        ChunksOf::Names(&keys),
        ChunksOf::Tags(&keys),
    ] {
        same!(chunks_of(of, ALL), chunks_of(of, 1));
    }
    let (found, wanted) = (one.state().await.unwrap(), other.state().await.unwrap());
    assert_eq!((found.chunks, found.embedder), (wanted.chunks, wanted.embedder), "state");
    same_vectors(one, other, &known).await;
    same_words(one, other, words).await;
}

async fn same_vectors(
    one: &(impl KnowledgeBase + ?Sized),
    other: &(impl KnowledgeBase + ?Sized),
    known: &Known,
) {
    let queries = [1, 2, 3].map(|n| vector(NodeId(n * 0x1234_5678_9abc)));
    let queries = [queries.to_vec(), vec![vec![1.0]]].concat();
    let chunks = &known.chunks;
    for set in SETS {
        for (k, least) in [(1, -1.0), (3, 0.2), (ALL, -1.0), (0, 0.0)] {
            let found = one.nearest(set, &queries, k, least, &chunks[..1]).await.unwrap();
            let wanted = other.nearest(set, &queries, k, least, &chunks[..1]).await.unwrap();
            assert_eq!(found, wanted, "nearest in {set:?}");
        }
    }
    for k in [1, ALL] {
        let found = nearest_chunks(one, &queries, k, 0.0).await.unwrap();
        assert_eq!(found, nearest_chunks(other, &queries, k, 0.0).await.unwrap());
    }
    let set = VectorSet::Atoms(AtomKind::Question);
    let found = other.nearest(set, &queries[..1], ALL, -1.0, &[]).await.unwrap().remove(0);
    let atoms: Vec<AtomId> =
        found.into_iter().map(|hit| AtomId(hit.item.0)).chain([AtomId(7)]).collect();
    let found = one.atoms(AtomQuery::These(&atoms)).await.unwrap();
    assert_eq!(found, other.atoms(AtomQuery::These(&atoms)).await.unwrap());
    let nodes: Vec<NodeId> = chunks.iter().map(|chunk| (*chunk).into()).collect();
    let found = one.vectors(VectorSet::Chunks, &nodes).await.unwrap();
    assert_eq!(found, other.vectors(VectorSet::Chunks, &nodes).await.unwrap());
    let found = one.similarities(&queries[0], chunks).await.unwrap();
    let wanted = other.similarities(&queries[0], chunks).await.unwrap();
    assert_eq!(found.len(), wanted.len(), "similarities");
    for (found, wanted) in found.into_iter().zip(wanted) {
        assert!((found - wanted).abs() <= 0.011, "{found} {wanted}");
    }
}

async fn same_words(
    one: &(impl KnowledgeBase + ?Sized),
    other: &(impl KnowledgeBase + ?Sized),
    words: Words,
) {
    let terms = query_terms("crane harbour 起重机 sensors letter title part zebra");
    let counts = one.term_counts(&terms).await.unwrap();
    assert_eq!(counts, other.term_counts(&terms).await.unwrap(), "term_counts");
    for typed in ["crne", "harbuor", "sensr", "zebra", ""] {
        let similar = one.similar_terms(typed, 2).await.unwrap();
        assert_eq!(similar, other.similar_terms(typed, 2).await.unwrap(), "similar_terms {typed}");
    }
    // All visible chunks that match a term, and one that does not exist.
    let all = other.matching_chunks(&terms.join(" "), ALL).await.unwrap();
    let asked: Vec<ChunkId> = all.iter().map(|hit| hit.item).chain([ChunkId(0)]).collect();
    let found = one.term_scores(&terms, &asked).await.unwrap();
    let wanted = other.term_scores(&terms, &asked).await.unwrap();
    for scores in [&found, &wanted] {
        assert_eq!(scores.len(), asked.len(), "term_scores");
        assert!(scores.iter().all(|of_chunk| of_chunk.len() == terms.len()), "term_scores");
    }
    for nth in 0..terms.len() {
        let of_term = |scores: &[Vec<f32>]| -> BTreeMap<ChunkId, f32> {
            let scores = asked.iter().copied().zip(scores.iter().map(|of| of[nth]));
            scores.filter(|(_, score)| *score != 0.0).collect()
        };
        same_scores(&of_term(&found), &of_term(&wanted), words);
    }
    for query in ["crane", "a harbour crane", "起重机 title", "zebra", ""] {
        let all = other.matching_chunks(query, ALL).await.unwrap();
        let exact: BTreeMap<ChunkId, f32> = by_chunk(all.clone());
        same_scores(&by_chunk(one.matching_chunks(query, ALL).await.unwrap()), &exact, words);
        for k in [0, 1, 3] {
            let found = one.matching_chunks(query, k).await.unwrap();
            assert_eq!(found.len(), k.min(all.len()), "{query}");
            let in_order = |a: &Scored<ChunkId>, b: &Scored<ChunkId>| {
                b.score.total_cmp(&a.score).then(a.item.cmp(&b.item)).is_lt()
            };
            assert!(found.is_sorted_by(in_order), "{query}: {found:?}");
            // Every hit scores as high as the expected one.
            for (found, wanted) in found.iter().zip(&all) {
                let exact = exact.get(&found.item).copied().unwrap();
                assert!(words == Words::Found || (exact - wanted.score).abs() < 1e-4, "{query}");
            }
        }
    }
}

fn by_chunk(found: Vec<Scored<ChunkId>>) -> BTreeMap<ChunkId, f32> {
    found.into_iter().map(|hit| (hit.item, hit.score)).collect()
}

fn same_scores(found: &BTreeMap<ChunkId, f32>, wanted: &BTreeMap<ChunkId, f32>, words: Words) {
    let (one, other): (Vec<_>, Vec<_>) = (found.keys().collect(), wanted.keys().collect());
    assert_eq!(one, other);
    for (found, wanted) in found.values().zip(wanted.values()) {
        assert!(words == Words::Found || (found - wanted).abs() < 1e-4, "{found} {wanted}");
    }
}
