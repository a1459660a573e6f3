//! Tests that reads return the stored content in the promised order.

use pikerag_knowledge::{
    AtomKind, AtomQuery, BearerList, ChunkId, ChunkLinks, ChunkResults, ChunksOf, LinkKind,
    NameKey, SourceId, VectorSet, nearest_atoms,
};

use super::fixture::{
    at, atom, borne_by, found_in, matching, near, one, put_pages, questions, with,
};
use crate::{Shelf, Store};

/// By cosine, ties by identifier; none below the least score, which itself counts; none of
/// `exclude`.
pub async fn the_nearest_chunks_in_order(shelf: &Shelf<impl Store>) {
    let base = &shelf.store;
    let chunks = put_pages(shelf, 6).await;
    let cosines = [0.4999, 0.5, 0.9, 0.9, 0.9, -1.0];
    let vectors =
        chunks.iter().zip(cosines).map(|(chunk, cosine)| with(*chunk, at(cosine))).collect();
    base.put_vectors(VectorSet::Chunks, "e", vectors).await.unwrap();
    let mut equals = chunks[2..5].to_vec();
    equals.sort_unstable();
    let [first, second, third] = equals[..] else { panic!() };

    let east = vec![at(1.0)];
    assert_eq!(near(base, &east, 9, 0.5).await, [vec![first, second, third, chunks[1]]]);
    assert_eq!(near(base, &east, 2, 0.5).await, [vec![first, second]]);
    assert_eq!(near(base, &east, 9, -1.0).await[0].len(), 6);
    assert_eq!(near(base, &east, 0, -1.0).await, [Vec::new()]);
    assert_eq!(near(base, &[], 9, -1.0).await, Vec::<Vec<ChunkId>>::new());
    // One list per query, in the order of the queries; a vector of another length finds nothing.
    let queries = vec![at(-1.0), vec![1.0], at(1.0)];
    assert_eq!(near(base, &queries, 1, 0.0).await, [vec![chunks[5]], vec![], vec![first]]);

    let unknown = ChunkId(7);
    let asked = [chunks[1], unknown, chunks[5]];
    let similar = base.similarities(&at(1.0), &asked).await.unwrap();
    assert_eq!(similar.len(), 3);
    for (found, exact) in similar.into_iter().zip([0.5_f32, 0.0, -1.0]) {
        assert!((found - exact).abs() < 0.01, "{found} {exact}");
    }
}

pub async fn the_nearest_atoms_in_order_without_those_of_some_chunks(shelf: &Shelf<impl Store>) {
    let base = &shelf.store;
    let chunks = put_pages(shelf, 3).await;
    let mut all = Vec::new();
    for (chunk, texts) in chunks.iter().zip([["0.9", "0.6"], ["0.8", "0.5"], ["0.7", "0.4"]]) {
        all.push(found_in(*chunk, texts.map(|text| atom(*chunk, text)).to_vec()));
    }
    base.put_chunk_results(ChunkResults::Atoms(questions(), all)).await.unwrap();
    let set = VectorSet::Atoms(AtomKind::Question);
    let waiting = base.without_vector(set, "e", None, 99).await.unwrap();
    let vectors =
        waiting.into_iter().map(|it| with(it.node, at(it.text.parse().unwrap()))).collect();
    base.put_vectors(set, "e", vectors).await.unwrap();
    let found = async |k, min_score, exclude: &[ChunkId]| -> Vec<String> {
        let kind = AtomKind::Question;
        let lists = nearest_atoms(base, kind, &[at(1.0)], k, min_score, exclude).await.unwrap();
        lists.into_iter().flatten().map(|hit| hit.item.text).collect()
    };
    assert_eq!(found(9, 0.5, &[]).await, ["0.9", "0.8", "0.7", "0.6", "0.5"]);
    assert_eq!(found(2, 0.5, &[]).await, ["0.9", "0.8"]);
    // Excluded items do not count: k is the number of returned items.
    assert_eq!(found(2, 0.5, &chunks[..1]).await, ["0.8", "0.7"]);
    assert_eq!(found(9, -1.0, &chunks).await, Vec::<String>::new());
    let sentences = nearest_atoms(base, AtomKind::Sentence, &[at(1.0)], 9, -1.0, &[]).await;
    assert_eq!(sentences.unwrap(), [vec![]]);
}

pub async fn atoms_come_by_chunk_in_their_own_order(shelf: &Shelf<impl Store>) {
    let base = &shelf.store;
    let chunks = put_pages(shelf, 2).await;
    let texts =
        |chunk, texts: [&str; 3]| found_in(chunk, texts.map(|text| atom(chunk, text)).to_vec());
    let atoms = vec![texts(chunks[0], ["c?", "a?", "b?"]), texts(chunks[1], ["z?", "y?", "x?"])];
    base.put_chunk_results(ChunkResults::Atoms(questions(), atoms)).await.unwrap();
    let asked = [chunks[1], chunks[0]];
    let found = base.atoms(AtomQuery::InChunks(AtomKind::Question, &asked)).await.unwrap();
    let found: Vec<&str> = found.iter().map(|atom| atom.text.as_str()).collect();
    assert_eq!(found, ["z?", "y?", "x?", "c?", "a?", "b?"]);
    assert_eq!(base.atoms(AtomQuery::InChunks(AtomKind::Sentence, &asked)).await.unwrap(), []);
}

pub async fn words_find_chunks_best_first(shelf: &Shelf<impl Store>) {
    let base = &shelf.store;
    shelf.put("a.txt", "The crane lifts and lifts, a crane of cranes.").await;
    shelf.put("b.txt", "One crane stands among many other things in the harbour.").await;
    shelf.put("c.txt", "起重机很高。").await;
    assert_eq!(matching(base, "crane", 9).await, ["a.txt", "b.txt"]);
    assert_eq!(matching(base, "crane", 1).await, ["a.txt"]);
    assert_eq!(matching(base, "harbour crane", 9).await, ["b.txt", "a.txt"]);
    assert_eq!(matching(base, "起重机", 9).await, ["c.txt"]);
    for nothing in ["", "?!", "zebra"] {
        assert_eq!(matching(base, nothing, 9).await, Vec::<String>::new());
    }
    assert_eq!(matching(base, "crane", 0).await, Vec::<String>::new());
}

/// Equal scores are listed by identifier, and a small `k` keeps those with the lowest.
pub async fn equal_matches_are_ordered_by_identifier(shelf: &Shelf<impl Store>) {
    let base = &shelf.store;
    for path in ["p.txt", "q.txt", "r.txt", "s.txt", "t.txt"] {
        shelf.put(path, "A crane.").await;
        base.refresh().await.unwrap();
    }
    let ids = async |k| -> Vec<ChunkId> {
        let found = base.matching_chunks("crane", k).await.unwrap();
        found.into_iter().map(|hit| hit.item).collect()
    };
    let all = ids(9).await;
    assert_eq!(all.len(), 5);
    assert!(all.is_sorted());
    assert_eq!(ids(3).await, all[..3]);
}

/// Deleted chunks do not count, whether the index is merged or not.
pub async fn terms_are_counted_in_existing_chunks_only(shelf: &Shelf<impl Store>) {
    let base = &shelf.store;
    for path in ["a.txt", "b.txt", "c.txt"] {
        shelf.put(path, "A crane.").await;
    }
    let terms = ["crane".to_owned(), "zebra".to_owned()];
    assert_eq!(base.term_counts(&terms).await.unwrap(), [3, 0]);
    base.delete_file("b.txt").await.unwrap();
    assert_eq!(base.term_counts(&terms).await.unwrap(), [2, 0]);
    let similar = base.similar_terms("crnae", 1).await.unwrap();
    let similar: Vec<_> =
        similar.iter().map(|it| (it.term.as_str(), it.errors, it.chunks)).collect();
    assert_eq!(similar, [("crane", 1, 2)]);
    assert!(base.similar_terms("zebra", 2).await.unwrap().is_empty());
    let found = base.matching_chunks("crane", 9).await.unwrap();
    let mut asked: Vec<ChunkId> = found.iter().map(|hit| hit.item).collect();
    asked.extend([ChunkId(7), asked[0]]);
    let scores = base.term_scores(&terms, &asked).await.unwrap();
    let exact = [found[0].score, found[1].score, 0.0, found[0].score];
    assert_eq!(scores, exact.map(|score| vec![score, 0.0]));
    assert_eq!(base.term_scores(&[], &asked[..1]).await.unwrap(), [Vec::<f32>::new()]);
    assert_eq!(base.term_scores(&terms, &[]).await.unwrap(), Vec::<Vec<f32>>::new());
}

/// A deleted chunk is left out; a deleted text is an error.
pub async fn missing_items_are_left_out(shelf: &Shelf<impl Store>) {
    let base = &shelf.store;
    let chunks = put_pages(shelf, 1).await;
    assert_eq!(base.chunks(&[]).await.unwrap(), []);
    let twice = base.chunks(&[chunks[0], ChunkId(7), chunks[0]]).await.unwrap();
    assert_eq!((twice.len(), &twice[0]), (2, &twice[1]));
    let error = base.source_text(SourceId(7)).await.unwrap_err();
    assert_eq!(error.to_string(), "source 0000000000000007 is not in the knowledge base");
}

pub async fn names_find_titles_mentions_and_links(shelf: &Shelf<impl Store>) {
    let base = &shelf.store;
    shelf.put("crane.md", "# Big Crane\n\nIt belongs to [the yard](yard.md) of Ilse Brandt.").await;
    shelf.put("yard.md", "# The Yard\n\nIlse Brandt owns it.").await;
    let [crane, yard] = [one(base, "crane.md").await, one(base, "yard.md").await];
    let names = ["big crane", "yard", "ilse brandt"].map(NameKey::of_folded);
    let borne = base.chunks_by_title(&names, 1).await.unwrap();
    assert_eq!(borne, [borne_by(&[crane]), borne_by(&[yard]), borne_by(&[])]);
    let too_many = BearerList { count: 1, bearers: vec![] };
    assert_eq!(base.chunks_by_title(&names[..1], 0).await.unwrap(), [too_many]);
    let mentions = base.chunks_of(ChunksOf::Names(&names[2..]), 2).await.unwrap();
    let mut both = [crane, yard];
    both.sort_unstable();
    assert_eq!((mentions[0].count, &mentions[0].chunks[..]), (2, &both[..]));
    // Above the limit, the list is empty and only the count is returned.
    let mentions = base.chunks_of(ChunksOf::Names(&names[2..]), 1).await.unwrap();
    assert_eq!((mentions[0].count, mentions[0].chunks.len()), (2, 0));
    let links = base.links_of(&[yard, crane], LinkKind::Names).await.unwrap();
    assert_eq!(links[0], ChunkLinks::default());
    assert_eq!(base.chunks_by_title(&links[1].names, 9).await.unwrap(), [borne_by(&[yard])]);
    // A deleted title belongs to no chunk.
    base.delete_file("yard.md").await.unwrap();
    assert_eq!(base.chunks_by_title(&names[1..2], 9).await.unwrap(), [borne_by(&[])]);
}
