//! Is every read the same? All identifiers that there are, and one that there is not, are asked for.

use std::collections::BTreeMap;

use pikerag_knowledge::{
    AtomKind, ChunkId, EntityId, ExtractBy, KnowledgeBase, NameKey, NodeId, Scored, SectionId,
    SourceId, Stage, StoreError, SummaryId, TagClass, VectorSet,
};
use pikerag_language::query_terms;

use super::happen::{ALL, SETS, chunks, tag_key, vector};
use crate::history::name;
use crate::{Oracle, Store};

/// What the scores of words are compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Words {
    /// By what the definition says.
    Exact,
    /// By which chunks are found: full text counts for a while what is gone.
    Found,
}

/// All that indexing asks for.
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
    same!(embedder(), files(), structures(), long_descriptions(5));
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
        same!(pending(stage, None, ALL), pending(stage, None, 2));
    }
    for set in SETS {
        same!(without_vector(set, "e", None, ALL), without_vector(set, "f", None, 3));
    }
    let (one, other) = (one.outline().await.unwrap(), other.outline().await.unwrap());
    assert_eq!((one.entities, one.relations), (other.entities, other.relations));
}

/// What there is to ask for.
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
        sources: whole.sources().await?.into_iter().map(|source| source.id).collect(),
        sections: Vec::new(),
        entities: whole.outline().await?.entities.into_iter().map(|it| it.id).collect(),
        summaries: Vec::new(),
        classes: whole.tag_classes().await?,
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

/// All that reasoning reads, asked for by what there is in the whole.
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
        sources(),
        sources_by_id(sources),
        chunks(chunks),
        neighbours(chunks),
        chunks_in_sources(sources, ALL),
        chunks_in_sources(sources, 1),
        chunks_in_sections(sections, ALL),
        chunks_in_sections(sections, 1),
        sample_titles(2),
        sample_titles(ALL),
        languages(),
        chunk_count(),
        figures(chunks),
        atoms_of(AtomKind::Question, chunks),
        records(None),
        records(Some("approval")),
        summary(),
    );
    for source in sources {
        same!(first_chunks(*source, 2));
        let (one, other) = (one.source_text(*source).await, other.source_text(*source).await);
        assert_eq!(one.ok(), other.ok(), "source_text");
    }
    same!(
        entities(entities),
        relations_of(entities),
        related_to(&entities[..1], 3),
        chunks_mentioning(entities),
        entity_mentions(entities, 1),
        entities_in(chunks),
        communities(),
        communities_of(entities),
        summaries(summaries),
        tag_classes(),
        any_class_dropped(),
        tags_of(chunks),
        tag_pairs(),
        verified(),
    );
    for kept in other.verified().await.unwrap() {
        same!(newer(kept.verified.id, chunks));
    }
    let keys: Vec<NameKey> = (0..6).flat_map(|n| [tag_key(n), name(n)]).collect();
    same!(tags_named(&keys), chunks_tagged(&keys), pairs_from(&keys));
    same!(links_of(chunks), chunks_by_title(&keys), mentions(&keys, ALL), mentions(&keys, 1));
    for class in classes {
        same!(tags_in(class.id, ALL), tags_in(class.id, 1));
    }
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
    for set in SETS {
        for (k, least) in [(1, -1.0), (3, 0.2), (ALL, -1.0), (0, 0.0)] {
            let found = one.nearest(set, &queries, k, least).await.unwrap();
            let wanted = other.nearest(set, &queries, k, least).await.unwrap();
            assert_eq!(found, wanted, "nearest in {set:?}");
        }
    }
    let (kind, chunks) = (AtomKind::Question, &known.chunks);
    for k in [1, ALL] {
        let found = one.nearest_chunks(&queries, k, 0.0).await.unwrap();
        assert_eq!(found, other.nearest_chunks(&queries, k, 0.0).await.unwrap());
        let exclude = &chunks[..1];
        let found = one.nearest_atoms(kind, &queries, k, -1.0, exclude).await.unwrap();
        assert_eq!(found, other.nearest_atoms(kind, &queries, k, -1.0, exclude).await.unwrap());
    }
    let nodes: Vec<NodeId> = chunks.iter().map(|chunk| (*chunk).into()).collect();
    let found = one.vectors(VectorSet::Chunks, &nodes).await.unwrap();
    assert_eq!(found, other.vectors(VectorSet::Chunks, &nodes).await.unwrap());
    let found = one.similarities(&queries[0], chunks).await.unwrap();
    let wanted = other.similarities(&queries[0], chunks).await.unwrap();
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
    // The seen ones, all of which have a score for some term, and one that is not there.
    let all = other.matching_chunks(&terms.join(" "), ALL).await.unwrap();
    let asked: Vec<ChunkId> = all.iter().map(|hit| hit.item).chain([ChunkId(0)]).collect();
    let found = one.term_scores(&terms, &asked).await.unwrap();
    let wanted = other.term_scores(&terms, &asked).await.unwrap();
    assert_eq!(found.len(), wanted.len());
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
            // Whatever is found is as good as what should have been.
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
