//! Searches by the definition: compares every vector and counts every word.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use pikerag_knowledge::{
    Atom, AtomKind, Bearer, BearerList, ChunkId, NameKey, NameUse, NodeId, Scored, SearchIndex,
    SimilarTerm, StoreError, Vector, VectorSet,
};
use pikerag_language::{query_terms, terms, typing_errors};

use super::{Oracle, State};

/// BM25's saturation and length weights (Robertson and Zaragoza, 2009).
const K1: f32 = 1.2;
const B: f32 = 0.75;

#[async_trait]
impl SearchIndex for Oracle {
    async fn nearest(
        &self,
        set: VectorSet,
        queries: &[Vector],
        k: usize,
        min_score: f32,
        exclude: &[ChunkId],
    ) -> Result<Vec<Vec<Scored<NodeId>>>, StoreError> {
        let state = self.state();
        let chunk = |node: NodeId| match set {
            VectorSet::Chunks => Some(ChunkId(node.0)),
            VectorSet::Atoms(_) => {
                let mut atoms = state.atoms.values().flatten();
                atoms.find(|atom| atom.id.0 == node.0).map(|atom| atom.chunk)
            }
            _ => None,
        };
        let admits = |node| chunk(node).is_none_or(|chunk| !exclude.contains(&chunk));
        Ok(state.near(set, queries, k, min_score, admits))
    }

    async fn vectors(
        &self,
        set: VectorSet,
        nodes: &[NodeId],
    ) -> Result<Vec<Option<Vector>>, StoreError> {
        let state = self.state();
        let vector = |node: &NodeId| state.vectors.get(&(set, *node)).map(|held| held.1.clone());
        Ok(nodes.iter().map(vector).collect())
    }

    async fn similarities(
        &self,
        query: &Vector,
        chunks: &[ChunkId],
    ) -> Result<Vec<f32>, StoreError> {
        let state = self.state();
        let similarity = |chunk: &ChunkId| {
            let held = state.vectors.get(&(VectorSet::Chunks, (*chunk).into()));
            held.filter(|held| held.1.len() == query.len()).map_or(0.0, |held| dot(query, &held.1))
        };
        Ok(chunks.iter().map(similarity).collect())
    }

    /// Computed from every pair; a store may take a sample.
    async fn unrelated_similarity(
        &self,
        kind: AtomKind,
        share: f32,
    ) -> Result<Option<f32>, StoreError> {
        const FEWEST_PAIRS: usize = 100;
        let state = self.state();
        let state = state.whole.as_deref().unwrap_or(&state);
        let atoms: Vec<&Atom> = state.atoms.values().flatten().collect();
        let of = |atom: &&Atom| state.vectors.get(&(VectorSet::Atoms(kind), atom.id.into()));
        let held: Vec<(ChunkId, &Vector)> =
            atoms.iter().filter_map(|atom| Some((atom.chunk, &of(atom)?.1))).collect();
        let mut cosines = Vec::new();
        for (place, (chunk, one)) in held.iter().enumerate() {
            let others = held.iter().skip(place + 1).filter(|(other, _)| chunk != other);
            cosines.extend(others.map(|(_, other)| dot(one, other)));
        }
        cosines.sort_by(f32::total_cmp);
        if cosines.len() < FEWEST_PAIRS {
            return Ok(None);
        }
        let place = (share.clamp(0.0, 1.0) * (cosines.len() - 1) as f32) as usize;
        Ok(cosines.get(place).copied())
    }

    async fn matching_chunks(
        &self,
        words: &str,
        k: usize,
    ) -> Result<Vec<Scored<ChunkId>>, StoreError> {
        let state = self.state();
        let mut sums: BTreeMap<ChunkId, f32> = BTreeMap::new();
        for term in query_terms(words) {
            for (chunk, score) in state.bm25(&term) {
                *sums.entry(chunk).or_default() += score;
            }
        }
        let mut hits: Vec<Scored<ChunkId>> =
            sums.into_iter().map(|(item, score)| Scored { item, score }).collect();
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.item.cmp(&b.item)));
        hits.truncate(k);
        Ok(hits)
    }

    async fn term_scores(
        &self,
        terms: &[String],
        chunks: &[ChunkId],
    ) -> Result<Vec<Vec<f32>>, StoreError> {
        let state = self.state();
        let of_terms: Vec<BTreeMap<ChunkId, f32>> =
            terms.iter().map(|term| state.bm25(term).into_iter().collect()).collect();
        let of_chunk = |chunk: &ChunkId| {
            of_terms.iter().map(|of| of.get(chunk).copied().unwrap_or_default()).collect()
        };
        Ok(chunks.iter().map(of_chunk).collect())
    }

    async fn term_counts(&self, terms: &[String]) -> Result<Vec<usize>, StoreError> {
        let state = self.state();
        Ok(terms.iter().map(|term| state.bm25(term).len()).collect())
    }

    async fn similar_terms(&self, term: &str, most: usize) -> Result<Vec<SimilarTerm>, StoreError> {
        const RETURNED: usize = 32;
        let state = self.state();
        let mut near: BTreeMap<(usize, String), BTreeSet<ChunkId>> = BTreeMap::new();
        for chunk in state.chunks().filter(|chunk| chunk.is_searchable()) {
            for held in terms(&format!("{}\n{}", chunk.full_title(), chunk.searched_text())) {
                if let Some(errors) = typing_errors(term, &held, most) {
                    near.entry((errors, held)).or_default().insert(chunk.id);
                }
            }
        }
        let similar = near.into_iter().take(RETURNED).filter_map(|((errors, term), chunks)| {
            let first = *chunks.first()?;
            Some(SimilarTerm { term, errors, chunks: chunks.len(), first })
        });
        let mut similar: Vec<SimilarTerm> = similar.collect();
        similar.sort_by(SimilarTerm::order);
        Ok(similar)
    }

    async fn chunks_by_title(
        &self,
        names: &[NameKey],
        limit: usize,
    ) -> Result<Vec<BearerList>, StoreError> {
        let state = self.state();
        let bearers = |wanted: &NameKey| {
            let mut best: BTreeMap<ChunkId, u8> = BTreeMap::new();
            for (chunk, name) in state.names() {
                if let NameUse::Bears { key, weight } = name
                    && key == wanted
                {
                    let held = best.entry(*chunk).or_default();
                    *held = (*weight).max(*held).max(1);
                }
            }
            let count = best.len();
            let bearers = best.into_iter().map(|(chunk, weight)| Bearer { chunk, weight });
            let bearers = if limit < count { Vec::new() } else { bearers.collect() };
            BearerList { count: count.min(limit.saturating_add(1)), bearers }
        };
        Ok(names.iter().map(bearers).collect())
    }
}

fn dot(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(x, y)| x * y).sum()
}

impl State {
    fn near(
        &self,
        set: VectorSet,
        queries: &[Vector],
        k: usize,
        min_score: f32,
        admits: impl Fn(NodeId) -> bool,
    ) -> Vec<Vec<Scored<NodeId>>> {
        let of_set = || self.vectors.iter().filter(|((held, _), _)| *held == set);
        // The vectors of one set have the length of the first.
        let length = of_set().next().map_or(0, |(_, (_, vector))| vector.len());
        let list = |query: &Vector| {
            let mut hits = Vec::new();
            for ((_, node), (_, vector)) in of_set() {
                let score = dot(query, vector);
                let fits = query.len() == length && vector.len() == length && admits(*node);
                if fits && min_score <= score {
                    hits.push(Scored { item: *node, score });
                }
            }
            hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.item.cmp(&b.item)));
            hits.truncate(k);
            hits
        };
        queries.iter().map(list).collect()
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &(ChunkId, NameUse)> {
        self.documents.values().flat_map(|document| &document.graph.names)
    }

    /// The contribution of a term to each chunk's score: `idf · tf (k1 + 1) / (tf + k1 (1 - b + b ·
    /// length / mean length))`.
    fn bm25(&self, term: &str) -> Vec<(ChunkId, f32)> {
        let whole = self.whole.as_deref().unwrap_or(self);
        let texts: Vec<(ChunkId, Vec<String>)> = whole
            .chunks()
            .filter(|chunk| chunk.is_searchable())
            .map(|chunk| {
                let text = format!("{}\n{}", chunk.full_title(), chunk.searched_text());
                (chunk.id, terms(&text))
            })
            .collect();
        let n = texts.len() as f32;
        let mean = texts.iter().map(|(_, terms)| terms.len()).sum::<usize>() as f32 / n.max(1.0);
        let count = |terms: &[String]| terms.iter().filter(|held| *held == term).count();
        let having = texts.iter().filter(|(_, terms)| 0 < count(terms)).count() as f32;
        let idf = (1.0 + (n - having + 0.5) / (having + 0.5)).ln();
        let mut scores = Vec::new();
        for (chunk, terms) in texts {
            let times = count(&terms) as f32;
            if 0.0 < times && self.chunk(chunk).is_some() {
                let length = 1.0 - B + B * terms.len() as f32 / mean;
                scores.push((chunk, idf * times * (K1 + 1.0) / (times + K1 * length)));
            }
        }
        scores
    }
}
